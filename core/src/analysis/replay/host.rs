//! The threads of the host as nodes: calls of the runtime, waits for data, idle periods, and the code between them.

use super::graph::{GraphNode, NodeId, NodeKind};
use crate::analysis::device::idle::{Cause, Host};
use crate::analysis::device::ranges::Ranges;
use crate::analysis::intervals::Interval;
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
use crate::trace::table::tracks::TrackId;
use crate::trace::tree::{Lane, Position};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// A thread that does nothing for longer than this, in ns, may wait for another thread.
const IDLE_NS: i64 = 20_000;

/// A wait for data that takes longer than this, in ns, ended because the data arrived.
const BLOCKED_NS: i64 = 500_000;

/// The threads of the host: nodes, and the node of each call.
pub(super) struct Threads {
    pub(super) nodes: Vec<GraphNode>,
    pub(super) places: Vec<Range<usize>>,
    pub(super) tracks: Vec<TrackId>,
    /// The node of each call, by row; of a call within another call, the node of that.
    pub(super) of_call: Vec<Option<NodeId>>,
}

/// Returns the threads that launched work of devices, or ran operators.
pub(super) fn threads(trace: &Trace, host: &Host<'_>) -> Threads {
    let mut threads = Threads {
        nodes: Vec::with_capacity(trace.links.launch_of.len() * 3),
        places: Vec::new(),
        tracks: Vec::new(),
        of_call: vec![None; trace.table.len()],
    };
    let ranges = Ranges::new(&trace.table.names);
    for track in tracks(trace, host) {
        let start = threads.nodes.len();
        add(trace, (host, &ranges), track, &mut threads);
        if threads.nodes.len() > start {
            threads.places.push(start..threads.nodes.len());
            threads.tracks.push(track);
        }
    }
    threads
}

fn tracks(trace: &Trace, host: &Host<'_>) -> Vec<TrackId> {
    let mut is_known = vec![false; trace.table.tracks.all().len()];
    for &(_, call) in &trace.links.launch_of {
        is_known[trace.table.track_id(call).0 as usize] = true;
    }
    for thread in host.threads() {
        is_known[thread.0 as usize] = true;
    }
    (0..is_known.len()).filter(|&track| is_known[track]).map(|track| TrackId(track as u32)).collect()
}

fn add(trace: &Trace, (host, ranges): (&Host<'_>, &Ranges), track: TrackId, threads: &mut Threads) {
    let (table, tree) = (&trace.table, &trace.tree);
    let spans = spans(trace, track);
    let Some(&first) = spans.first() else { return };
    let start = table.ts(tree.row(first));
    let mut line = Line { nodes: &mut threads.nodes, at: start };
    // Until when the thread did something, until when it was in a call or a wait for data, and until when in anything.
    let (mut busy, mut closed, mut end) = (line.at, line.at, line.at);
    // A thread without operators, such as one of Gloo, shows by annotations when it is busy.
    let has_operators = spans.iter().any(|&at| ranges.is_operator(table, tree.row(at)));
    let is_annotation = |row| !has_operators && table.category(row) == Category::UserAnnotation;
    let is_work = |row| ranges.is_operator(table, row) || is_annotation(row);
    let mut call = None;
    for (index, &at) in spans.iter().enumerate() {
        let row = tree.row(at);
        let time = (table.ts(row), table.end(row));
        let category = table.category(row);
        end = end.max(time.1);
        let is_loading = ranges.is_loading(table, row);
        if !category.is_launch_call() && !is_loading && !is_work(row) {
            continue;
        }
        if time.0 > busy + IDLE_NS {
            line.push(None, NodeKind::Idle, (busy, time.0));
        }
        busy = busy.max(time.1);
        if category.is_launch_call() && time.0 >= closed {
            let cause = host.cause(at).unwrap_or(Cause::Unknown);
            call = Some(line.push(Some(row), NodeKind::Call(cause), time));
            closed = time.1;
        } else if is_loading && waits_for_data(trace, &spans[index..]) {
            call = Some(line.push(Some(row), NodeKind::Data, time));
            closed = time.1;
        }
        if category.is_launch_call() {
            threads.of_call[row.index()] = call;
        }
    }
    line.until(end);
}

/// The nodes of a thread, as far as they are known.
struct Line<'a> {
    nodes: &'a mut Vec<GraphNode>,
    at: i64,
}

impl Line<'_> {
    /// Adds the code up to an instant.
    fn until(&mut self, instant: i64) {
        if self.at < instant {
            self.add(None, NodeKind::Host, (self.at, instant));
        }
    }

    /// Adds the code before a period, and the period. What overlaps the node before is left out.
    fn push(&mut self, row: Option<Row>, kind: NodeKind, time: Interval) -> NodeId {
        self.until(time.0);
        self.add(row, kind, (self.at, time.1.max(self.at)))
    }

    fn add(&mut self, row: Option<Row>, kind: NodeKind, time: Interval) -> NodeId {
        self.at = time.1;
        self.nodes.push(GraphNode { row, kind, time });
        NodeId::new(self.nodes.len() - 1)
    }
}

/// Whether the first of some spans is a long wait for other processes, without calls of the runtime inside of it.
fn waits_for_data(trace: &Trace, spans: &[Position]) -> bool {
    let table = &trace.table;
    let row = |at: &Position| trace.tree.row(*at);
    let wait = row(&spans[0]);
    let inside = spans.iter().map(row).take_while(|&row| table.ts(row) < table.end(wait));
    table.name(wait).contains("MultiProcessing")
        && table.dur(wait) > BLOCKED_NS
        && !inside.map(|row| table.category(row)).any(Category::is_launch_call)
}

/// The spans of a thread in order of time, parents first.
fn spans(trace: &Trace, track: TrackId) -> Vec<Position> {
    let start = |at: Position| (trace.table.ts(trace.tree.row(at)), i64::from(at));
    let [main, others @ ..] = trace.tree.lanes_of(track) else { return Vec::new() };
    let mut others: Vec<Position> = others.iter().flat_map(Lane::positions).collect();
    sort_by_key(&mut others, |&at| start(at));
    let mut spans = Vec::with_capacity(main.positions().len() + others.len());
    let mut others = others.into_iter().peekable();
    for at in main.positions() {
        while let Some(other) = others.next_if(|&other| start(other) < start(at)) {
            spans.push(other);
        }
        spans.push(at);
    }
    spans.extend(others);
    spans
}
