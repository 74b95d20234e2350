//! What a thread of the host was doing at any instant.

use super::cause::{Cause, Sign, sign};
use super::purposes::{Capture, Purposes};
use crate::analysis::context::Analysis;
use crate::analysis::device::attributes::copy_name;
use crate::analysis::intervals::Interval;
use crate::base::index::{Index, Keyed};
use crate::base::names::ByName;
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::TrackId;
use crate::trace::tree::{Lane, Position};
use alloc::vec;
use alloc::vec::Vec;

/// What stood behind idle time, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reason {
    pub(crate) cause: Cause,
    /// The span that is named.
    pub(crate) behind: Option<Row>,
    /// Whether the thread can wait for another one: it does nothing, or only an annotation is open.
    pub(crate) can_wait: bool,
    /// Whether an operator is open.
    pub(crate) in_operator: bool,
}

impl Reason {
    pub(crate) fn new(cause: Cause, behind: Option<Row>) -> Reason {
        Reason { cause, behind, can_wait: behind.is_none(), in_operator: false }
    }
}

/// What a span shows about the host: inherited from the spans around it, unless it says more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doing {
    cause: Cause,
    behind: Row,
    /// Whether spans inside have the same cause.
    is_whole: bool,
    /// The outermost operator.
    operator: Option<Row>,
    /// Whether the thread can wait for the backward pass of another thread.
    pub(super) can_wait: bool,
}

impl Doing {
    pub(super) fn new(cause: Cause, behind: Row, is_whole: bool, operator: Option<Row>) -> Doing {
        Doing { cause, behind, is_whole, operator, can_wait: false }
    }

    pub(super) fn reason(self) -> Reason {
        let Doing { cause, behind, can_wait, operator, .. } = self;
        Reason { cause, behind: Some(behind), can_wait, in_operator: operator.is_some() }
    }
}

/// The waits of the host in spans of one name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits {
    /// The time, and the number of spans that waited.
    pub(crate) host_ns: i64,
    pub(crate) count: usize,
    /// The longest wait, and its span.
    pub(crate) longest: Option<(i64, Row)>,
}

impl Waits {
    fn add(&mut self, ns: i64, row: Row) {
        self.host_ns = self.host_ns.saturating_add(ns);
        self.longest = self.longest.filter(|longest| longest.0 >= ns).or(Some((ns, row)));
    }
}

/// The threads of a trace.
pub(crate) struct Host<'a> {
    pub(super) trace: &'a Trace,
    /// By position in the tree.
    pub(super) doing: Vec<Option<Doing>>,
    copies: Index,
    pub(super) purposes: &'a Purposes,
    /// When the profiler worked on any thread, in order and without overlap.
    pub(super) overhead: Vec<(Interval, Reason)>,
    /// The threads with operators or annotations, in the order of the tree.
    threads: Vec<TrackId>,
    /// The threads of each process that run backward passes, as far as they are consulted.
    backward: Keyed<Vec<TrackId>>,
    /// The main thread of each process, and the one of all.
    mains: Keyed<Option<(TrackId, usize)>>,
    main: Option<TrackId>,
}

impl<'a> Host<'a> {
    pub(crate) fn new(analysis: &'a Analysis<'_>) -> Host<'a> {
        let (trace, purposes) = (analysis.trace, analysis.purposes());
        let (table, tree) = (&trace.table, &trace.tree);
        let mut doing: Vec<Option<Doing>> = vec![None; tree.len()];
        let mut signs = Signs { known: vec![None; table.names.len()] };
        let copies = copies(trace);
        let (mut overhead, mut threads) = (Vec::<(Interval, Reason)>::new(), Vec::<(TrackId, usize)>::new());
        let mut backward: Keyed<Vec<TrackId>> = Keyed::default();
        let nodes = table.names.that(is_backward_node);
        for lane in tree.lanes() {
            let (mut spans, mut is_backward) = (0, false);
            let mut captures = purposes.captures(lane.track).iter().peekable();
            for at in lane.positions() {
                let row = tree.row(at);
                let category = table.category(row);
                if category.is_on_device() || category == Category::Window {
                    continue;
                }
                spans += usize::from(matches!(category, Category::CpuOp | Category::UserAnnotation));
                let enclosing = tree.parent(at).and_then(|parent| doing[parent.index()]);
                while captures.next_if(|capture| capture.time.1 <= table.ts(row)).is_some() {}
                let is_captured = captures.peek().is_some_and(|capture| capture.time.0 <= table.ts(row));
                let known = match category {
                    _ if is_captured => Some(Sign::Whole(Cause::GraphCapture)),
                    Category::Runtime | Category::Driver => {
                        purposes.cause(row).or_else(|| copy_of(&copies, row)).map(Sign::Call)
                    }
                    _ => None,
                };
                let sign = known.unwrap_or_else(|| signs.sign(table, row));
                is_backward |= sign == Sign::Code(Cause::Autograd) || nodes.has(table.name_id(row));
                let mut doing_here = inside(enclosing, row, sign);
                doing_here.can_wait = doing_here.behind == row && can_wait(table, row, sign);
                doing[at.index()] = Some(doing_here);
                if category == Category::Overhead && doing_here.behind == row {
                    overhead.push(((table.ts(row), table.end(row)), doing_here.reason()));
                }
            }
            // The lanes of a track follow each other.
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
        Host {
            trace,
            doing,
            copies,
            purposes,
            overhead: without_overlap(overhead),
            threads,
            backward,
            mains,
            main,
        }
    }

    /// What the host does in a call that launches work.
    pub(super) fn launch(&self, call: Row) -> Cause {
        self.purposes.cause(call).or_else(|| copy_of(&self.copies, call)).unwrap_or(Cause::Launch)
    }

    /// The calls that create contexts or load code.
    pub(crate) fn first_uses(&self) -> &[Row] {
        &self.purposes.first_uses
    }

    /// The captures of CUDA graphs on all threads.
    pub(crate) fn captures(&self) -> impl Iterator<Item = &Capture> {
        self.purposes.all_captures()
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
    pub(super) fn main_of(&self, thread: TrackId) -> Option<TrackId> {
        let pid = self.trace.table.tracks.get(thread).pid;
        self.mains.get((i64::from(pid.0), 0))?.map(|thread| thread.0)
    }

    /// Whether a thread runs backward passes for another one.
    pub(crate) fn is_backward(&self, thread: TrackId) -> bool {
        self.backward_of(thread).contains(&thread) && self.main_of(thread) != Some(thread)
    }

    /// The threads of a thread's process that run backward passes.
    pub(super) fn backward_of(&self, thread: TrackId) -> &[TrackId] {
        let pid = self.trace.table.tracks.get(thread).pid;
        self.backward.get((i64::from(pid.0), 0)).map_or(&[], Vec::as_slice)
    }

    /// What the host does while the span at a position is the innermost one.
    pub(crate) fn cause(&self, at: Position) -> Option<Cause> {
        self.doing[at.index()].map(|doing| doing.cause)
    }

    /// The waits of the main thread and those that run backward passes, by the name of what stood behind them.
    pub(crate) fn waits(&self) -> ByName<Waits> {
        let (table, tree) = (&self.trace.table, &self.trace.tree);
        // Queries return at once.
        let queries = table.names.that(|name| name.contains("Query"));
        let waiting = |at: Position| {
            let doing = self.doing[at.index()].filter(|doing| doing.cause == Cause::Synchronization);
            doing.filter(|_| !queries.has(table.name_id(tree.row(at))))
        };
        let (mut waits, mut waited) = (ByName::<Waits>::default(), Index::default());
        let others = self.main.map_or(&[][..], |main| self.backward_of(main));
        let threads = others.iter().filter(|&&thread| Some(thread) != self.main).chain(&self.main);
        for at in threads.flat_map(|&thread| tree.lanes_of(thread)).flat_map(Lane::positions) {
            let Some(Doing { behind, .. }) = waiting(at) else { continue };
            if tree.parent(at).and_then(waiting).is_none() {
                let known = waits.entry(table.name_id(behind));
                known.add(table.dur(tree.row(at)).max(0), behind);
                known.count += usize::from(waited.insert((i64::from(behind), 0)));
            }
        }
        waits
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

/// Periods in order of time; of those that overlap, the one that began first counts.
fn without_overlap(mut periods: Vec<(Interval, Reason)>) -> Vec<(Interval, Reason)> {
    sort_by_key(&mut periods, |period| (period.0.0, 0));
    let mut reached = i64::MIN;
    periods.retain_mut(|(time, _)| {
        time.0 = time.0.max(reached);
        reached = reached.max(time.1);
        time.0 < time.1
    });
    periods
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
pub(super) fn both(enclosing: Doing, inside: Doing) -> Doing {
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

/// Whether a name is that of a node of a backward pass, such as `AddmmBackward0`. Old traces have no other sign of them.
fn is_backward_node(name: &str) -> bool {
    name.trim_end_matches(|digit: char| digit.is_ascii_digit()).ends_with("Backward")
}

/// The number of threads of a process that are consulted for the backward pass: PyTorch has one for each device.
const MOST_BACKWARD: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_counted_by_operator() {
        let trace = Trace::read(
            br#"[{"ph":"X","cat":"cpu_op","name":"aten::item","pid":1,"tid":1,"ts":10,"dur":50},
            {"ph":"X","cat":"cpu_op","name":"aten::_local_scalar_dense","pid":1,"tid":1,"ts":11,"dur":48},
            {"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":1,"tid":1,"ts":12,"dur":30,"args":{"correlation":1}},
            {"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":1,"tid":1,"ts":43,"dur":10},
            {"ph":"X","cat":"cuda_runtime","name":"cudaEventQuery","pid":1,"tid":1,"ts":54,"dur":3},
            {"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":70,"dur":9},
            {"ph":"X","cat":"cuda_runtime","name":"cudaEventQuery","pid":1,"tid":1,"ts":71,"dur":3},
            {"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":1,"ts":80,"dur":7},
            {"ph":"X","cat":"cpu_op","name":"aten::mul","pid":1,"tid":2,"ts":10,"dur":9},
            {"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":2,"ts":30,"dur":70},
            {"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH (Device -> Pageable)","pid":0,"tid":7,"ts":20,"dur":2,"args":{"correlation":1}}]"#,
        )
        .expect("a trace");
        let waits = Host::new(&Analysis::new(&trace)).waits();
        let found: Vec<_> = waits
            .entries()
            .iter()
            .map(|(name, waits)| {
                let longest = waits.longest.map(|longest| longest.0);
                (trace.table.names.get(*name), waits.count, waits.host_ns, longest)
            })
            .collect();
        assert_eq!(
            found,
            [("aten::item", 1, 40_000, Some(30_000)), ("cudaDeviceSynchronize", 1, 7_000, Some(7_000))]
        );
    }
}
