//! PyTorch's experimental event tree: operators, annotations, Python calls and allocations, nested by the events that
//! were open when they began.
//!
//! It differs from the tree of function events. Before an event starts, all events that ended strictly earlier are
//! closed, each together with everything still open below it. The parent is the innermost open event of the thread,
//! even of an event that extends beyond it. On a thread without open events, the parent is the innermost open event of
//! the forward thread.

use super::forward::forward_threads;
use super::overloads::Overloads;
use crate::analysis::children::Children;
use crate::handle::{handle, run};
use crate::names::NameSet;
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
    /// The index of a node in an [`EventTree`].
    pub struct Node;
}

/// The tree; nodes are ordered by start.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventTree {
    rows: Vec<Row>,
    parents: Vec<Option<Node>>,
    overloads: Overloads,
    /// The children of each node.
    pub children: Children<Node>,
}

/// Returns whether PyTorch's tree contains the event.
fn is_node(table: &Table, row: Row) -> bool {
    let category = table.category(row);
    let is_range = matches!(category, Category::CpuOp | Category::UserAnnotation | Category::PythonFunction);
    table.ts(row) != time::NONE && (is_range && table.is_span(row) || category == Category::CpuInstant)
}

impl EventTree {
    /// Builds the event tree of a trace.
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
        EventTree { children: Children::new(&parents), rows, parents, overloads: Overloads::of(table) }
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
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + ExactSizeIterator + Clone + use<> {
        run(0..self.rows.len())
    }

    /// Returns the row of a node.
    pub fn row(&self, node: Node) -> Row {
        self.rows[node.index()]
    }

    /// Returns the name of a node, without the overload name.
    pub fn name<'t>(&self, table: &'t Table, node: Node) -> &'t str {
        self.overloads.name(table, self.row(node))
    }

    /// Returns the names of a trace that fit without their overload names.
    pub(crate) fn names_that(&self, table: &Table, fits: impl Fn(&str) -> bool) -> NameSet {
        self.overloads.names_that(&table.names, fits)
    }

    /// Returns the parent of a node.
    pub fn parent(&self, node: Node) -> Option<Node> {
        self.parents[node.index()]
    }

    /// Returns a node and its ancestors, innermost first.
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
    /// The end and index of each open node. The heap has the type of the one in [`tree`](crate::tree), to be compiled
    /// once.
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

    /// Closes a node and all nodes that are open below it on its track.
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
