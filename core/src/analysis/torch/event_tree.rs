//! torch's experimental event tree: operators, ranges, Python calls and allocations by who was open when they began.
//!
//! It differs from the tree of function events: before an event starts, all that ended strictly earlier is closed, and
//! with an event everything that is still open below it; the innermost open event of the thread is the parent, even of
//! an event that sticks out of it. A thread with nothing open hangs its events on what the forward thread has open.

use super::forward::forward_threads;
use crate::analysis::children::Children;
use crate::handle::{handle, run};
use crate::order::sort_by_key;
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::layout::Key;
use crate::time;
use crate::trace::Trace;
use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

handle! {
    /// The number of an event in an [`EventTree`].
    pub struct Node;
}

/// The tree; nodes are in the order of their starts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventTree {
    rows: Vec<Row>,
    parents: Vec<Option<Node>>,
    /// The children of each node.
    pub children: Children<Node>,
}

/// Whether torch's tree has the event.
fn is_node(table: &Table, row: Row) -> bool {
    let category = table.category(row);
    let is_range = matches!(category, Category::CpuOp | Category::UserAnnotation | Category::PythonFunction);
    table.ts(row) != time::NONE && (is_range && table.is_span(row) || category == Category::CpuInstant)
}

impl EventTree {
    /// The event tree of a trace.
    pub fn new(trace: &Trace) -> EventTree {
        let table = &trace.table;
        let mut rows: Vec<Row> = table.rows().filter(|&row| is_node(table, row)).collect();
        sort_by_key(&mut rows, |&row| (table.ts(row), i64::from(row)));
        let forward = forward_threads(trace);
        let mut replay = Replay {
            parents: Vec::with_capacity(rows.len()),
            tracks: rows.iter().map(|&row| table.track_id(row).0).collect(),
            open: vec![None; table.tracks.all().len()],
            closed: vec![false; rows.len()],
            ends: BinaryHeap::new(),
        };
        for (at, &row) in rows.iter().enumerate() {
            let node = Node::new(at);
            let thread = table.int(row, Key::FwdThreadId).unwrap_or(0);
            replay.start(node, (table.ts(row), table.end(row)), forward.get((thread, 0)));
        }
        let parents = replay.parents;
        EventTree { children: Children::new(&parents), rows, parents }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No node at all.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Every node.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + ExactSizeIterator + Clone + use<> {
        run(0..self.rows.len())
    }

    /// The row of a node.
    pub fn row(&self, node: Node) -> Row {
        self.rows[node.index()]
    }

    /// The parent of a node.
    pub fn parent(&self, node: Node) -> Option<Node> {
        self.parents[node.index()]
    }

    /// A node and its ancestors, innermost first.
    pub fn and_above(&self, node: Node) -> impl Iterator<Item = Node> {
        core::iter::successors(Some(node), move |&node| self.parent(node))
    }
}

struct Replay {
    parents: Vec<Option<Node>>,
    tracks: Vec<u32>,
    /// The innermost open node of each track.
    open: Vec<Option<Node>>,
    closed: Vec<bool>,
    /// When each open node ends, by its index: the heap is that of the lanes of [`tree`](crate::tree), compiled once.
    ends: BinaryHeap<Reverse<(i64, u32)>>,
}

impl Replay {
    fn start(&mut self, node: Node, (start, end): (i64, i64), forward: Option<u32>) {
        while let Some(&Reverse((earliest, ended))) = self.ends.peek()
            && earliest < start
        {
            self.ends.pop();
            self.close(Node::new(ended as usize));
        }
        let track = self.tracks[node.index()] as usize;
        let of_forward = || self.open[forward? as usize];
        let parent = self.open[track].or_else(of_forward);
        self.parents.push(parent);
        if end > start {
            self.open[track] = Some(node);
            self.ends.push(Reverse((end, node.index() as u32)));
        }
    }

    /// Closes a node and all that is open below it on its track.
    fn close(&mut self, node: Node) {
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
