//! PyTorch's experimental event tree: operators, annotations, Python calls, allocations, calls of the device's runtime
//! and what they caused, nested by the events that were open when they began.
//!
//! It differs from the tree of function events. Before an event starts, all events that ended strictly earlier are
//! closed, each together with everything still open below it. The parent is the innermost open event of the thread,
//! even of an event that extends beyond it. On a thread without open events, the parent is the innermost open event of
//! the forward thread. Device work and synchronizations belong to the call with their correlation id, whenever they run.
//! The profiler's overhead and the annotations of streams are on the main thread. Ranges that were open when the
//! recording ended have no end of their own: they are closed with their parent.

use super::device_type::DeviceType;
use super::forward::forward_threads;
use super::main_thread::MainThreads;
use super::open_ranges::{OpenRanges, has_open_ranges, is_open};
use super::overloads::Overloads;
use crate::analysis::children::Children;
use crate::analysis::intervals::Interval;
use crate::base::handle::{handle, run};
use crate::base::index::Index;
use crate::base::names::NameSet;
use crate::base::order::sort_by_key;
use crate::base::time;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::table::merged::is_merged;
use crate::trace::table::tracks::TrackId;
use crate::trace::versions::margin_ns;
use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

handle! {
    /// The index of a node in an [`EventTree`].
    pub struct EventNode;
}

/// The tree; nodes are ordered by start.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventTree {
    rows: Vec<Row>,
    parents: Vec<Option<EventNode>>,
    overloads: Overloads,
    /// Whether the annotations of streams are 1 ns longer at each end than PyTorch's events.
    has_wide_annotations: bool,
    open_ranges: OpenRanges,
    /// The children of each node.
    pub children: Children<EventNode>,
}

/// Whether the tree of what a program did contains an event: operators, annotations, Python calls and allocations.
fn is_of_program(table: &Table, row: Row) -> bool {
    let category = table.category(row);
    let is_range = matches!(category, Category::CpuOp | Category::UserAnnotation | Category::PythonFunction);
    table.ts(row) != time::NONE && (is_range && table.is_span(row) || category == Category::CpuInstant)
}

/// Whether PyTorch's tree has an event in addition: calls of the runtime, device work, overhead.
fn is_of_kineto(table: &Table, row: Row) -> bool {
    let category = table.category(row);
    table.is_span(row) && (category.is_launch_call() || is_of_call(category) || is_of_main_thread(category))
}

/// Whether an event belongs to the call that caused it.
fn is_of_call(category: Category) -> bool {
    category.is_device_work() || category == Category::Sync
}

/// Whether PyTorch assigns an event to the main thread.
fn is_of_main_thread(category: Category) -> bool {
    matches!(category, Category::Overhead | Category::GpuUserAnnotation)
}

impl EventTree {
    /// Builds the event tree of a trace.
    pub fn new(trace: &Trace) -> EventTree {
        let table = &trace.table;
        let is_node = |&row: &Row| is_of_program(table, row) || is_of_kineto(table, row);
        let rows = sorted(table, is_node);
        let main = MainThreads::new(table);
        let main = |row: Row| main.at(table, row).filter(|_| is_of_main_thread(table.category(row)));
        let track = |row: Row| main(row).unwrap_or(table.track_id(row));
        let mut causes = Causes::new(trace);
        let parents = replay(trace, &rows, track, |node| {
            let place = causes.place(rows[node.index()]);
            causes.add(node, &rows);
            place
        });
        let (rows, parents) = without_device_roots(table, &rows, &parents);
        EventTree::from_parents(trace, rows, parents)
    }

    /// Builds the tree of what a program did, without the calls of the runtime and what they caused.
    pub(crate) fn from_program(trace: &Trace) -> EventTree {
        let table = &trace.table;
        let rows = sorted(table, |&row| is_of_program(table, row));
        let parents = replay(trace, &rows, |row| table.track_id(row), |_| NodePlace::Nested);
        EventTree::from_parents(trace, rows, parents)
    }

    fn from_parents(trace: &Trace, rows: Vec<Row>, parents: Vec<Option<EventNode>>) -> EventTree {
        let (children, overloads) = (Children::new(&parents), Overloads::new(&trace.table));
        let has_wide_annotations = trace.has_wide_annotations;
        let open_ranges = OpenRanges::find(&trace.table, &rows, |at| parents[at].map(EventNode::index));
        EventTree { rows, parents, overloads, has_wide_annotations, open_ranges, children }
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns every node.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = EventNode> + ExactSizeIterator + Clone + use<> {
        run(0..self.rows.len())
    }

    /// Returns the row of a node.
    pub fn row(&self, node: EventNode) -> Row {
        self.rows[node.index()]
    }

    /// Returns the start and the end of a node, in ns after the table's base.
    pub fn time(&self, table: &Table, node: EventNode) -> Interval {
        let row = self.row(node);
        let margin = margin_ns(self.has_wide_annotations, table, row);
        let end = self.open_ranges.end(table, row);
        (table.ts(row).saturating_add(margin), end.saturating_sub(margin))
    }

    /// Returns the ranges that were open when the recording ended.
    pub(super) fn into_open_ranges(self) -> OpenRanges {
        self.open_ranges
    }

    /// Returns the name of a node, without the overload name.
    pub fn name<'t>(&self, table: &'t Table, node: EventNode) -> &'t str {
        self.overloads.name(table, self.row(node))
    }

    /// Returns the names of a trace that fit without their overload names.
    pub(crate) fn names_that(&self, table: &Table, fits: impl Fn(&str) -> bool) -> NameSet {
        self.overloads.names_that(&table.names, fits)
    }

    /// Returns the parent of a node.
    pub fn parent(&self, node: EventNode) -> Option<EventNode> {
        self.parents[node.index()]
    }

    /// Returns a node and its ancestors, innermost first.
    pub fn and_above(&self, node: EventNode) -> impl Iterator<Item = EventNode> {
        core::iter::successors(Some(node), move |&node| self.parent(node))
    }
}

/// Returns the rows of a tree, by start and then in the order of the file.
fn sorted(table: &Table, is_node: impl FnMut(&Row) -> bool) -> Vec<Row> {
    let mut rows: Vec<Row> = table.rows().filter(is_node).collect();
    sort_by_key(&mut rows, |&row| (table.ts(row), i64::from(row)));
    rows
}

/// Returns the parents of nodes, which are sorted.
fn replay(
    trace: &Trace,
    rows: &[Row],
    track: impl Fn(Row) -> TrackId,
    mut place: impl FnMut(EventNode) -> NodePlace,
) -> Vec<Option<EventNode>> {
    let table = &trace.table;
    let forward = forward_threads(trace);
    // What follows in a merged trace is of another recording.
    let has_open = has_open_ranges(table) && !is_merged(table);
    let mut replay = Replay {
        parents: Vec::with_capacity(rows.len()),
        tracks: rows.iter().map(|&row| track(row).0).collect(),
        open: vec![None; table.tracks.all().len()],
        closed: vec![false; rows.len()],
        ends: BinaryHeap::new(),
    };
    for (at, &row) in rows.iter().enumerate() {
        let node = EventNode::new(at);
        if let NodePlace::Below(cause) = place(node) {
            replay.parents.push(cause);
            continue;
        }
        let thread = table.int(row, Key::FwdThreadId).unwrap_or(0);
        let end = if has_open && is_open(table, row) { i64::MAX } else { table.end(row) };
        replay.start(node, (table.ts(row), end), forward.get((thread, 0)));
    }
    replay.parents
}

/// Removes the nodes of devices without a parent, and all nodes below them, as PyTorch does.
fn without_device_roots(
    table: &Table,
    rows: &[Row],
    parents: &[Option<EventNode>],
) -> (Vec<Row>, Vec<Option<EventNode>>) {
    let mut kept: Vec<EventNode> = Vec::new();
    // The new position of each node that is kept. A parent precedes its children.
    let mut moved: Vec<Option<EventNode>> = Vec::with_capacity(rows.len());
    for (at, &parent) in parents.iter().enumerate() {
        let stays = match parent {
            Some(parent) => moved[parent.index()].is_some(),
            None => !is_of_device(table, rows[at]),
        };
        moved.push(stays.then(|| EventNode::new(kept.len())));
        kept.extend(stays.then(|| EventNode::new(at)));
    }
    let new_parent = |node: &EventNode| parents[node.index()].and_then(|parent| moved[parent.index()]);
    let parents = kept.iter().map(new_parent).collect();
    (kept.iter().map(|node| rows[node.index()]).collect(), parents)
}

/// Whether an event is of a device: its work, an annotation of a stream, or an allocation of its memory.
fn is_of_device(table: &Table, row: Row) -> bool {
    let category = table.category(row);
    if category != Category::CpuInstant {
        return category.is_on_device();
    }
    DeviceType::from_event(table, row).is_some_and(|device| !device.is_host())
}

/// Where a node is in the tree.
enum NodePlace {
    /// Below the innermost open node of its thread.
    Nested,
    /// Below the call of device work, which may be unknown, or below the operator of a call.
    Below(Option<EventNode>),
}

/// The nodes that have an id, as far as the replay has come: other nodes belong to them whenever they begin. Of several
/// with the same id, it is that of the same process, and the latest.
struct Causes<'a> {
    trace: &'a Trace,
    /// Calls, by correlation id.
    calls: Index,
    /// Calls, by row.
    call_of: Index,
    /// The correlation ids that calls of several processes have.
    shared: Index,
    /// Operators, by external id and process.
    operators: Index,
}

impl Causes<'_> {
    fn new(trace: &Trace) -> Causes<'_> {
        let (calls, call_of, shared, operators) = Default::default();
        Causes { trace, calls, call_of, shared, operators }
    }

    /// Adds a node, which begins after those that were added before.
    fn add(&mut self, node: EventNode, rows: &[Row]) {
        let (table, row) = (&self.trace.table, rows[node.index()]);
        let process = |row: Row| i64::from(table.track(row).pid.0);
        let (ids, key) = match table.category(row) {
            Category::CpuOp => (&mut self.operators, Key::ExternalId),
            Category::Runtime | Category::Driver => (&mut self.calls, Key::Correlation),
            _ => return,
        };
        let Some(id) = id(table, row, key) else { return };
        let key = (id, if table.category(row) == Category::CpuOp { process(row) } else { 0 });
        let known = ids.get_or_insert(key, node.index() as u32) as usize;
        // A call of the driver inside of one of the runtime has its id.
        if known != node.index() && table.end(rows[known]) <= table.ts(row) {
            ids.set(key, node.index() as u32);
        }
        if table.category(row) != Category::CpuOp {
            self.call_of.set((i64::from(row), 0), node.index() as u32);
            if process(rows[known]) != process(row) {
                self.shared.insert((id, 0));
            }
        }
    }

    fn place(&self, row: Row) -> NodePlace {
        let table = &self.trace.table;
        let category = table.category(row);
        let node = |at: u32| EventNode::new(at as usize);
        let correlation = id(table, row, Key::Correlation);
        if is_of_call(category) {
            let by_id = || self.calls.get((correlation?, 0)).map(node);
            let is_shared = correlation.is_some_and(|id| self.shared.get((id, 0)).is_some());
            let linked = || self.call_of.get((i64::from(self.trace.links.launch(row)?), 0)).map(node);
            return NodePlace::Below(if is_shared { linked().or_else(by_id) } else { by_id() });
        }
        // In some traces the external id of a call without an operator is its own correlation id.
        let external = id(table, row, Key::ExternalId).filter(|&id| Some(id) != correlation);
        let process = i64::from(table.track(row).pid.0);
        let operator = external.filter(|_| category.is_launch_call());
        let operator = operator.and_then(|id| self.operators.get((id, process)));
        operator.map_or(NodePlace::Nested, |operator| NodePlace::Below(Some(node(operator))))
    }
}

/// Returns an id that a row has; 0 is none.
fn id(table: &Table, row: Row, key: Key) -> Option<i64> {
    table.int(row, key).filter(|&id| id != 0)
}

struct Replay {
    parents: Vec<Option<EventNode>>,
    tracks: Vec<u32>,
    /// The innermost open node of each track.
    open: Vec<Option<EventNode>>,
    closed: Vec<bool>,
    /// The end and index of each open node. The heap has the type of the one in [`tree`](crate::trace::tree), to be compiled
    /// once.
    ends: BinaryHeap<Reverse<(i64, u32)>>,
}

impl Replay {
    fn start(&mut self, node: EventNode, (start, end): (i64, i64), forward: Option<u32>) {
        while let Some(&Reverse((earliest, ended))) = self.ends.peek()
            && earliest < start
        {
            self.ends.pop();
            self.close(EventNode::new(ended as usize));
        }
        let track = self.tracks[node.index()] as usize;
        let of_forward = || self.open[forward? as usize];
        let parent = self.open[track].or_else(of_forward);
        self.parents.push(parent);
        if end > start {
            self.open[track] = Some(node);
        }
        if end > start && end < i64::MAX {
            self.ends.push(Reverse((end, node.index() as u32)));
        }
    }

    /// Closes a node and all nodes that are open below it on its track.
    fn close(&mut self, node: EventNode) {
        if self.closed[node.index()] {
            return;
        }
        let track = self.tracks[node.index()] as usize;
        let mut open = self.open[track];
        while let Some(inner) = open.filter(|&inner| inner != node) {
            self.closed[inner.index()] = true;
            open = self.parents[inner.index()];
        }
        self.closed[node.index()] = true;
        self.open[track] = self.parents[node.index()];
    }
}
