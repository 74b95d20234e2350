//! What a thread of the host was doing at any instant.

use super::cause::{Cause, Sign, sign};
use crate::analysis::device::attributes::copy_name;
use crate::analysis::intervals::Interval;
use crate::index::Index;
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::tracks::TrackId;
use crate::trace::Trace;
use crate::tree::{Lane, Position};
use alloc::vec;
use alloc::vec::Vec;

/// What stood behind idle time, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    pub(crate) cause: Cause,
    /// The span that is named.
    pub(crate) behind: Option<Row>,
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
}

/// The threads of a trace.
pub(crate) struct Host<'a> {
    trace: &'a Trace,
    /// By position in the tree.
    doing: Vec<Option<Doing>>,
    copies: Index,
    /// The tracks with overhead of the profiler.
    overhead: Vec<TrackId>,
    /// The threads with operators or annotations, with their number, in the order of the tree.
    threads: Vec<(TrackId, usize)>,
}

impl<'a> Host<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Host<'a> {
        let (table, tree) = (&trace.table, &trace.tree);
        let mut doing: Vec<Option<Doing>> = vec![None; tree.len()];
        let mut signs = Signs { known: vec![None; table.names.len()] };
        let copies = copies(trace);
        let (mut overhead, mut threads) = (Vec::new(), Vec::<(TrackId, usize)>::new());
        for lane in tree.lanes() {
            let (mut spans, mut has_overhead) = (0, false);
            for at in lane.positions() {
                let row = tree.row(at);
                let category = table.category(row);
                if category.is_on_device() || category == Category::Window {
                    continue;
                }
                has_overhead |= category == Category::Overhead;
                spans += usize::from(matches!(category, Category::CpuOp | Category::UserAnnotation));
                let around = tree.parent(at).and_then(|around| doing[around.index()]);
                let copy = if category.is_launch_call() { copy_of(&copies, row) } else { None };
                let sign = copy.map_or_else(|| signs.of(table, row), Sign::Call);
                doing[at.index()] = Some(inside(around, row, sign));
            }
            if has_overhead && !overhead.contains(&lane.track) {
                overhead.push(lane.track);
            }
            if spans > 0 {
                threads.push((lane.track, spans));
            }
        }
        Host { trace, doing, copies, overhead, threads }
    }

    /// What the host does in a call that launches work.
    pub(super) fn launch(&self, call: Row) -> Cause {
        copy_of(&self.copies, call).unwrap_or(Cause::Launch)
    }

    /// The threads with operators or annotations.
    pub(crate) fn threads(&self) -> impl Iterator<Item = TrackId> {
        self.threads.iter().map(|thread| thread.0)
    }

    /// The main thread: the one with the most operators and annotations.
    pub(crate) fn main(&self) -> Option<TrackId> {
        self.most(|_| true)
    }

    /// The main thread of a thread's process, which is consulted while that one does nothing.
    fn main_of(&self, thread: TrackId) -> Option<TrackId> {
        let pid = |track: TrackId| self.trace.table.tracks.get(track).pid;
        self.most(|track| pid(track) == pid(thread))
    }

    fn most(&self, fits: impl Fn(TrackId) -> bool) -> Option<TrackId> {
        let fitting = self.threads.iter().rev().filter(|thread| fits(thread.0));
        fitting.max_by_key(|thread| thread.1).map(|thread| thread.0)
    }

    /// What the host does while the span at a position is the innermost one.
    pub(crate) fn cause(&self, at: Position) -> Option<Cause> {
        self.doing[at.index()].map(|doing| doing.cause)
    }

    /// Starts a walk through the periods of the threads.
    pub(super) fn walk(&self) -> Walk<'_> {
        Walk { host: self, is_alone: false, cursors: Vec::new() }
    }

    /// Starts a walk in which only the thread itself decides.
    pub(crate) fn walk_alone(&self) -> Walk<'_> {
        Walk { is_alone: true, ..self.walk() }
    }
}

/// A walk through periods in the order of their starts.
pub(crate) struct Walk<'a> {
    host: &'a Host<'a>,
    /// Whether other threads are left out.
    is_alone: bool,
    /// The cursors of each thread that was visited.
    cursors: Vec<(TrackId, Vec<Cursor<'a>>)>,
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
        let cursors = self.cursors_of(thread);
        let start = |at: Position| host.trace.table.ts(host.trace.tree.row(at));
        let mut from = period.0;
        while from < period.1 {
            let mut until = period.1;
            // The track, with the start of the innermost span and what it shows.
            let mut open: Option<(TrackId, i64, Doing)> = None;
            for cursor in &mut *cursors {
                let track = cursor.lane.track;
                if open.is_some_and(|(other, ..)| other != track) {
                    break;
                }
                let (at, change) = cursor.at(host.trace, from);
                until = until.min(change);
                let Some((at, doing)) = at.and_then(|at| Some((at, host.doing[at.index()]?))) else {
                    continue;
                };
                if cursor.is_overhead && host.trace.table.category(doing.behind) != Category::Overhead {
                    continue;
                }
                // Of several lanes of a track, the span that began last is inside of the other one.
                open = Some(match open {
                    Some((_, known, around)) if known <= start(at) => (track, start(at), both(around, doing)),
                    Some((_, known, inside)) => (track, known, both(doing, inside)),
                    None => (track, start(at), doing),
                });
            }
            let reason = match open {
                Some((_, _, Doing { cause, behind, .. })) => Reason { cause, behind: Some(behind) },
                None => Reason { cause: Cause::Unknown, behind: None },
            };
            each((from, until), reason);
            from = until;
        }
    }

    fn cursors_of(&mut self, thread: TrackId) -> &mut [Cursor<'a>] {
        let host = self.host;
        let at = self.cursors.iter().position(|known| known.0 == thread).unwrap_or_else(|| {
            // The first that does something decides: the profiler, the thread itself, the main thread.
            let lanes = |track: TrackId| host.trace.tree.lanes_of(track).iter();
            let cursor =
                |is_overhead| move |lane| Cursor { lane, is_overhead, begun: 0, open: (None, i64::MIN) };
            let mut cursors: Vec<Cursor<'a>> = Vec::new();
            if !self.is_alone {
                cursors.extend(host.overhead.iter().flat_map(|&track| lanes(track)).map(cursor(true)));
            }
            cursors.extend(lanes(thread).map(cursor(false)));
            if !self.is_alone {
                let main = host.main_of(thread).filter(|&main| main != thread);
                cursors.extend(main.into_iter().flat_map(lanes).map(cursor(false)));
            }
            self.cursors.push((thread, cursors));
            self.cursors.len() - 1
        });
        &mut self.cursors[at].1
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
fn inside(around: Option<Doing>, row: Row, sign: Sign) -> Doing {
    let operator = around.and_then(|around| around.operator);
    let is = |cause: Cause| around.is_some_and(|around| around.cause == cause);
    if let Some(around) = around.filter(|around| around.is_whole) {
        return around;
    }
    match sign {
        Sign::Whole(cause) => Doing { cause, behind: row, is_whole: true, operator },
        Sign::Call(cause) => Doing { cause, behind: operator.unwrap_or(row), is_whole: true, operator },
        Sign::Code(Cause::Operator) if is(Cause::Optimizer) || is(Cause::Operator) => Doing {
            operator: operator.or(Some(row)),
            ..around.unwrap_or(Doing { cause: Cause::Operator, behind: row, is_whole: false, operator })
        },
        Sign::Code(Cause::Operator) => {
            Doing { cause: Cause::Operator, behind: row, is_whole: false, operator: Some(row) }
        }
        Sign::Code(Cause::UserCode) if around.is_some() && !is(Cause::UserCode) => {
            around.unwrap_or(Doing { cause: Cause::UserCode, behind: row, is_whole: false, operator })
        }
        Sign::Code(cause) => Doing { cause, behind: row, is_whole: false, operator },
    }
}

/// What the host does in a span of one lane, while a span of another lane is open around it.
fn both(around: Doing, inside: Doing) -> Doing {
    let is_code = inside.cause == Cause::UserCode && around.cause != Cause::UserCode;
    let is_part = inside.cause == Cause::Operator && around.cause == Cause::Optimizer;
    if around.is_whole || is_code || is_part { around } else { inside }
}

/// The signs of spans. The last one of each name is known, with its category: few names have several.
struct Signs {
    known: Vec<Option<(Category, Sign)>>,
}

impl Signs {
    fn of(&mut self, table: &Table, row: Row) -> Sign {
        let category = table.category(row);
        let known = &mut self.known[table.name_id(row).0 as usize];
        match *known {
            Some((same, sign)) if same == category => sign,
            _ => known.insert((category, sign(category, table.name(row)))).1,
        }
    }
}

/// The innermost open span of a lane, while time passes.
struct Cursor<'a> {
    lane: &'a Lane,
    /// Whether only the profiler's overhead counts.
    is_overhead: bool,
    /// The number of spans of the lane that have begun.
    begun: usize,
    /// The open span, and when that changes.
    open: (Option<Position>, i64),
}

impl Cursor<'_> {
    /// Returns the span that is open at an instant, which never decreases, and when that changes.
    fn at(&mut self, trace: &Trace, instant: i64) -> (Option<Position>, i64) {
        if instant >= self.open.1 {
            self.open = self.advance(trace, instant);
        }
        self.open
    }

    fn advance(&mut self, trace: &Trace, instant: i64) -> (Option<Position>, i64) {
        let (table, tree) = (&trace.table, &trace.tree);
        let rows = tree.rows_of(self.lane);
        self.begun += begun(table, &rows[self.begun..], instant);
        let next = rows.get(self.begun).map_or(i64::MAX, |&row| table.ts(row));
        let mut open = self.begun.checked_sub(1).map(|at| Position::new(self.lane.first() + at));
        while let Some(ended) = open.filter(|&at| table.end(tree.row(at)) <= instant) {
            open = tree.parent(ended);
        }
        (open, open.map_or(next, |at| next.min(table.end(tree.row(at)))))
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
