//! What a thread of the host was doing at any instant.

use super::cause::{Cause, Sign, sign};
use super::phases::{Capture, Phases};
use crate::analysis::device::attributes::copy_name;
use crate::analysis::intervals::Interval;
use crate::base::index::{Index, Keyed};
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::TrackId;
use crate::trace::tree::{Lane, Position};
use alloc::collections::{BTreeMap, BinaryHeap};
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// What stood behind idle time, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    pub(crate) cause: Cause,
    /// The span that is named.
    pub(crate) behind: Option<Row>,
}

impl Reason {
    /// Whether the thread can wait for another one: it does nothing, or only an annotation is open.
    pub(crate) fn can_wait(self, table: &Table) -> bool {
        self.behind.is_none_or(|row| can_wait(table, row, sign(table.category(row), table.name(row))))
    }
}

/// What a span shows about the host: inherited from the spans around it, unless it says more.
#[derive(Clone, Copy, Debug)]
struct Doing {
    cause: Cause,
    behind: Row,
    /// Whether spans inside have the same cause.
    is_whole: bool,
    /// The outermost operator.
    operator: Option<Row>,
    /// Whether the thread can wait for the backward pass of another thread.
    can_wait: bool,
}

impl Doing {
    fn new(cause: Cause, behind: Row, is_whole: bool, operator: Option<Row>) -> Doing {
        Doing { cause, behind, is_whole, operator, can_wait: false }
    }
}

/// The threads of a trace.
pub(crate) struct Host<'a> {
    trace: &'a Trace,
    /// By position in the tree.
    doing: Vec<Option<Doing>>,
    copies: Index,
    phases: Phases,
    /// The tracks with overhead of the profiler.
    overhead: Vec<TrackId>,
    /// The threads with operators or annotations, in the order of the tree.
    threads: Vec<TrackId>,
    /// The threads of each process that run backward passes, as far as they are consulted.
    backward: Keyed<Vec<TrackId>>,
    /// The main thread of each process, and the one of all.
    mains: Keyed<Option<(TrackId, usize)>>,
    main: Option<TrackId>,
}

impl<'a> Host<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Host<'a> {
        let (table, tree) = (&trace.table, &trace.tree);
        let mut doing: Vec<Option<Doing>> = vec![None; tree.len()];
        let mut signs = Signs { known: vec![None; table.names.len()] };
        let (copies, phases) = (copies(trace), Phases::new(trace));
        let (mut overhead, mut threads) = (Vec::new(), Vec::<(TrackId, usize)>::new());
        let mut backward: Keyed<Vec<TrackId>> = Keyed::default();
        let nodes = table.names.that(is_backward_node);
        for lane in tree.lanes() {
            let (mut spans, mut has_overhead, mut is_backward) = (0, false, false);
            let mut captures = phases.captures(lane.track).iter().peekable();
            for at in lane.positions() {
                let row = tree.row(at);
                let category = table.category(row);
                if category.is_on_device() || category == Category::Window {
                    continue;
                }
                has_overhead |= category == Category::Overhead;
                spans += usize::from(matches!(category, Category::CpuOp | Category::UserAnnotation));
                let enclosing = tree.parent(at).and_then(|parent| doing[parent.index()]);
                while captures.next_if(|capture| capture.time.1 <= table.ts(row)).is_some() {}
                let is_captured = captures.peek().is_some_and(|capture| capture.time.0 <= table.ts(row));
                let known = match category {
                    _ if is_captured => Some(Sign::Whole(Cause::GraphCapture)),
                    Category::Runtime | Category::Driver => {
                        phases.cause(row).or_else(|| copy_of(&copies, row)).map(Sign::Call)
                    }
                    _ => None,
                };
                let sign = known.unwrap_or_else(|| signs.sign(table, row));
                is_backward |= sign == Sign::Code(Cause::Autograd) || nodes.has(table.name_id(row));
                let mut doing_here = inside(enclosing, row, sign);
                doing_here.can_wait = doing_here.behind == row && can_wait(table, row, sign);
                doing[at.index()] = Some(doing_here);
            }
            // The lanes of a track follow each other.
            if has_overhead && overhead.last() != Some(&lane.track) {
                overhead.push(lane.track);
            }
            if is_backward {
                let known = backward.entry((i64::from(table.tracks.get(lane.track).pid.0), 0));
                if known.len() < MOST_BACKWARD && known.last() != Some(&lane.track) {
                    known.push(lane.track);
                }
            }
            if spans > 0 {
                threads.push((lane.track, spans));
            }
        }
        let mains = mains(table, &threads);
        let main = threads.iter().rev().max_by_key(|thread| thread.1).map(|thread| thread.0);
        let threads = threads.into_iter().map(|thread| thread.0).collect();
        Host { trace, doing, copies, phases, overhead, threads, backward, mains, main }
    }

    /// What the host does in a call that launches work.
    pub(super) fn launch(&self, call: Row) -> Cause {
        self.phases.cause(call).or_else(|| copy_of(&self.copies, call)).unwrap_or(Cause::Launch)
    }

    /// The threads with operators or annotations.
    pub(crate) fn threads(&self) -> impl Iterator<Item = TrackId> {
        self.threads.iter().copied()
    }

    /// The main thread: the one with the most operators and annotations.
    pub(crate) fn main(&self) -> Option<TrackId> {
        self.main
    }

    /// The main thread of a thread's process, which is consulted while that one does nothing.
    fn main_of(&self, thread: TrackId) -> Option<TrackId> {
        let pid = self.trace.table.tracks.get(thread).pid;
        self.mains.get((i64::from(pid.0), 0))?.map(|thread| thread.0)
    }

    /// Whether a thread runs backward passes for another one.
    pub(crate) fn is_backward(&self, thread: TrackId) -> bool {
        self.backward_of(thread).contains(&thread) && self.main_of(thread) != Some(thread)
    }

    /// The threads of a thread's process that run backward passes.
    fn backward_of(&self, thread: TrackId) -> &[TrackId] {
        let pid = self.trace.table.tracks.get(thread).pid;
        self.backward.get((i64::from(pid.0), 0)).map_or(&[], Vec::as_slice)
    }

    /// What the host does while the span at a position is the innermost one.
    pub(crate) fn cause(&self, at: Position) -> Option<Cause> {
        self.doing[at.index()].map(|doing| doing.cause)
    }

    /// Starts a walk through the periods of the threads.
    pub(crate) fn walk(&self) -> Walk<'_> {
        Walk { host: self, is_alone: false, visited: Index::default(), tracks: Vec::new() }
    }

    /// Starts a walk in which only the thread itself decides.
    pub(crate) fn walk_alone(&self) -> Walk<'_> {
        Walk { is_alone: true, ..self.walk() }
    }
}

/// The main thread of each process by its `pid`: the first one with the most operators and annotations.
fn mains(table: &Table, threads: &[(TrackId, usize)]) -> Keyed<Option<(TrackId, usize)>> {
    let mut most: Keyed<Option<(TrackId, usize)>> = Keyed::default();
    for &thread in threads {
        let known = most.entry((i64::from(table.tracks.get(thread.0).pid.0), 0));
        if known.is_none_or(|known| known.1 < thread.1) {
            *known = Some(thread);
        }
    }
    most
}

/// A walk through periods in the order of their starts.
pub(crate) struct Walk<'a> {
    host: &'a Host<'a>,
    /// Whether other threads are left out.
    is_alone: bool,
    /// The tracks that decide about each thread that was visited, by its number.
    visited: Index,
    tracks: Vec<Vec<TrackCursor<'a>>>,
}

impl<'a> Walk<'a> {
    /// Calls `each` with the parts of a period and what a thread was doing in them.
    pub(crate) fn parts(
        &mut self,
        thread: TrackId,
        period: Interval,
        each: &mut dyn FnMut(Interval, Reason),
    ) {
        if period.0 >= period.1 {
            return;
        }
        let host = self.host;
        let tracks = self.tracks_of(thread);
        let mut from = period.0;
        while from < period.1 {
            let mut until = period.1;
            let mut open: Option<Doing> = None;
            // The first that does something decides, unless it waits for another.
            for track in &mut *tracks {
                if open.is_some() && track.role != Role::Backward {
                    continue;
                }
                let (doing, change) = track.at(host, from);
                until = until.min(change);
                open = doing.or(open);
                if open.is_some_and(|doing| !doing.can_wait) {
                    break;
                }
            }
            let reason = match open {
                Some(Doing { cause, behind, .. }) => Reason { cause, behind: Some(behind) },
                None => Reason { cause: Cause::Unknown, behind: None },
            };
            each((from, until), reason);
            from = until;
        }
    }

    /// The tracks that decide about a thread: the profiler's overhead, the thread itself, the main thread, and while that waits,
    /// those that run the backward pass.
    fn tracks_of(&mut self, thread: TrackId) -> &mut [TrackCursor<'a>] {
        let host = self.host;
        let key = (i64::from(thread.0), 0);
        let at = self.visited.get(key).map_or(self.tracks.len(), |at| at as usize);
        if at == self.tracks.len() {
            let mut tracks = Vec::from([(thread, Role::Thread)]);
            if !self.is_alone {
                let main = host.main_of(thread);
                let overhead = host.overhead.iter().map(|&track| (track, Role::Overhead));
                tracks.splice(0..0, overhead);
                tracks.extend(main.filter(|&main| main != thread).map(|main| (main, Role::Thread)));
                let others = host.backward_of(thread).iter().filter(|&&other| other != thread);
                tracks.extend(others.map(|&other| (other, Role::Backward)));
            }
            self.tracks
                .push(tracks.into_iter().map(|(track, role)| TrackCursor::new(host, track, role)).collect());
            self.visited.set(key, at as u32);
        }
        &mut self.tracks[at]
    }
}

/// The causes of idle time in calls that copy.
const COPIES: [Cause; 2] = [Cause::HostToDeviceCopy, Cause::Synchronization];

/// The calls that copy between host and device, with an index into [`COPIES`]: copies to the host wait for the device.
fn copies(trace: &Trace) -> Index {
    let table = &trace.table;
    let mut copies = Index::default();
    for &(work, call) in
        trace.links.launch_of.iter().filter(|link| table.category(link.0) == Category::Memcpy)
    {
        let name = copy_name(table, work);
        let name = name.as_deref().unwrap_or(table.name(work));
        let at = if name.contains("HtoD") { Some(0) } else { name.contains("DtoH").then_some(1) };
        if let Some(at) = at {
            copies.set((i64::from(call), 0), at);
        }
    }
    copies
}

/// The cause of idle time in a call, if it copies.
fn copy_of(copies: &Index, call: Row) -> Option<Cause> {
    copies.get((i64::from(call), 0)).map(|at| COPIES[at as usize])
}

/// What the host does in a span, from what it does around it.
fn inside(enclosing: Option<Doing>, row: Row, sign: Sign) -> Doing {
    let operator = enclosing.and_then(|enclosing| enclosing.operator);
    let is = |cause: Cause| enclosing.is_some_and(|enclosing| enclosing.cause == cause);
    if let Some(enclosing) = enclosing.filter(|enclosing| enclosing.is_whole) {
        return enclosing;
    }
    match sign {
        Sign::Whole(cause) => Doing::new(cause, row, true, operator),
        Sign::Call(cause) => Doing::new(cause, operator.unwrap_or(row), true, operator),
        Sign::Code(Cause::Operator) if is(Cause::Optimizer) || is(Cause::Operator) => Doing {
            operator: operator.or(Some(row)),
            ..enclosing.unwrap_or(Doing::new(Cause::Operator, row, false, operator))
        },
        Sign::Code(Cause::Operator) => Doing::new(Cause::Operator, row, false, Some(row)),
        Sign::Code(Cause::UserCode) | Sign::Waiting if enclosing.is_some() && !is(Cause::UserCode) => {
            enclosing.unwrap_or(Doing::new(Cause::UserCode, row, false, operator))
        }
        Sign::Code(cause) => Doing::new(cause, row, false, operator),
        Sign::Waiting => Doing::new(Cause::UserCode, row, false, operator),
    }
}

/// Whether a thread can wait for a backward pass while a span is the innermost one: an annotation, or the function of PyTorch that
/// waits for the threads of autograd.
fn can_wait(table: &Table, row: Row, sign: Sign) -> bool {
    let is_annotation = table.category(row) == Category::UserAnnotation;
    sign == Sign::Waiting || (is_annotation && sign == Sign::Code(Cause::UserCode))
}

/// What the host does in a span of one lane, while a span of another lane is open around it.
fn both(enclosing: Doing, inside: Doing) -> Doing {
    let is_code = inside.cause == Cause::UserCode && enclosing.cause != Cause::UserCode;
    let is_part = inside.cause == Cause::Operator && enclosing.cause == Cause::Optimizer;
    if enclosing.is_whole || is_code || is_part { enclosing } else { inside }
}

/// The signs of spans. The last one of each name is known, with its category: few names have several.
struct Signs {
    known: Vec<Option<(Category, Sign)>>,
}

impl Signs {
    fn sign(&mut self, table: &Table, row: Row) -> Sign {
        let category = table.category(row);
        let known = &mut self.known[table.name_id(row).0 as usize];
        match *known {
            Some((same, sign)) if same == category => sign,
            _ => known.insert((category, sign(category, table.name(row)))).1,
        }
    }
}

/// Why a track decides about a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Only the profiler's overhead counts.
    Overhead,
    /// It is the thread itself, or the main thread.
    Thread,
    /// It runs the backward pass that the thread can wait for.
    Backward,
}

/// What a track does, while time passes.
struct TrackCursor<'a> {
    role: Role,
    /// The captures of graphs, those that are over left out.
    captures: &'a [Capture],
    cursors: Vec<Cursor<'a>>,
    /// When the open spans of lanes change, the next first.
    changes: BinaryHeap<Reverse<(i64, usize)>>,
    /// What the innermost open span of each lane shows, by its start and its lane.
    open: BTreeMap<(i64, usize), Doing>,
}

/// Whether a name is that of a node of a backward pass, such as `AddmmBackward0`. Old traces have no other sign of them.
fn is_backward_node(name: &str) -> bool {
    name.trim_end_matches(|digit: char| digit.is_ascii_digit()).ends_with("Backward")
}

/// The number of threads of a process that are consulted for the backward pass: PyTorch has one for each device.
const MOST_BACKWARD: usize = 16;

/// The number of lanes whose spans decide together, those that began last: more spans of a thread cannot overlap without nesting
/// in a sound trace.
const MOST_LANES: usize = 64;

impl<'a> TrackCursor<'a> {
    fn new(host: &'a Host<'a>, track: TrackId, role: Role) -> TrackCursor<'a> {
        let lanes = host.trace.tree.lanes_of(track);
        let cursors: Vec<Cursor<'a>> =
            lanes.iter().map(|lane| Cursor { lane, begun: 0, open: None }).collect();
        let changes = (0..cursors.len()).map(|lane| Reverse((i64::MIN, lane))).collect();
        let captures = host.phases.captures(track);
        TrackCursor { role, captures, cursors, changes, open: BTreeMap::new() }
    }

    /// Returns what the track does at an instant, which never decreases, and when that can change.
    fn at(&mut self, host: &Host<'_>, instant: i64) -> (Option<Doing>, i64) {
        while let [capture, later @ ..] = self.captures
            && capture.time.1 <= instant
        {
            self.captures = later;
        }
        let (doing, change) = self.spans_at(host, instant);
        match self.captures.first().filter(|_| self.role != Role::Overhead) {
            Some(&Capture { time, begin, .. }) if time.0 <= instant => {
                (Some(Doing::new(Cause::GraphCapture, begin, true, None)), time.1)
            }
            Some(capture) => (doing, change.min(capture.time.0)),
            None => (doing, change),
        }
    }

    /// What the spans of the track show.
    fn spans_at(&mut self, host: &Host<'_>, instant: i64) -> (Option<Doing>, i64) {
        let trace = host.trace;
        let start = |at: Position| trace.table.ts(trace.tree.row(at));
        while let Some(&Reverse((change, lane))) = self.changes.peek()
            && change <= instant
        {
            self.changes.pop();
            let cursor = &mut self.cursors[lane];
            if let Some(before) = cursor.open {
                self.open.remove(&(start(before), lane));
            }
            self.changes.push(Reverse((cursor.advance(trace, instant), lane)));
            let doing = cursor.open.and_then(|at| Some((start(at), host.doing[at.index()]?)));
            let counts = |doing: &Doing| {
                self.role != Role::Overhead || trace.table.category(doing.behind) == Category::Overhead
            };
            if let Some((start, doing)) = doing.filter(|(_, doing)| counts(doing)) {
                self.open.insert((start, lane), doing);
            }
        }
        // Of several lanes of a track, the span that began last is inside of the other ones.
        let doing = self.open.values().rev().take(MOST_LANES);
        let change = self.changes.peek().map_or(i64::MAX, |next| next.0.0);
        (doing.copied().reduce(|inside, enclosing| both(enclosing, inside)), change)
    }
}

/// The innermost open span of a lane, while time passes.
struct Cursor<'a> {
    lane: &'a Lane,
    /// The number of spans of the lane that have begun.
    begun: usize,
    open: Option<Position>,
}

impl Cursor<'_> {
    /// Finds the span that is open at an instant, which never decreases. Returns when that changes.
    fn advance(&mut self, trace: &Trace, instant: i64) -> i64 {
        let (table, tree) = (&trace.table, &trace.tree);
        let rows = tree.rows_of(self.lane);
        let more = begun(table, &rows[self.begun..], instant);
        if more > 0 {
            self.begun += more;
            self.open = Some(Position::new(self.lane.first() + self.begun - 1));
        }
        // A span that has ended is passed once: later spans are not inside of it.
        while let Some(ended) = self.open.filter(|&at| table.end(tree.row(at)) <= instant) {
            self.open = tree.parent(ended);
        }
        let next = rows.get(self.begun).map_or(i64::MAX, |&row| table.ts(row));
        self.open.map_or(next, |at| next.min(table.end(tree.row(at))))
    }
}

/// The number of spans that have begun at an instant; they are ordered by start. Most periods are short, so the search
/// looks at the next spans first.
fn begun(table: &Table, rows: &[Row], instant: i64) -> usize {
    const NEXT: usize = 8;
    let next = rows.iter().take(NEXT).take_while(|&&row| table.ts(row) <= instant).count();
    if next < NEXT {
        return next;
    }
    let (mut known, mut step) = (next, NEXT);
    while known + step <= rows.len() && table.ts(rows[known + step - 1]) <= instant {
        known += step;
        step *= 2;
    }
    let last = rows.len().min(known + step);
    known + rows[known..last].partition_point(|&row| table.ts(row) <= instant)
}
