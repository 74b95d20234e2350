//! torch's experimental event tree: operators, ranges, Python calls and allocations by who was open when they began.
//!
//! It differs from the tree of function events: before an event starts, all that ended strictly earlier is closed, and
//! with an event everything that is still open below it; the innermost open event of the thread is the parent, even of
//! an event that sticks out of it. A thread with nothing open hangs its events on what the forward thread has open.

use super::forward::forward_threads;
use crate::analysis::children::{Children, NONE};
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

/// The tree; nodes are in the order of their starts.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EventTree {
    /// The row of each node.
    pub rows: Vec<Row>,
    /// The parent of each node, or [`NONE`].
    pub parents: Vec<u32>,
    /// The children of each node.
    pub children: Children,
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
            open: vec![NONE; table.tracks.all().len()],
            closed: vec![false; rows.len()],
            ends: BinaryHeap::new(),
        };
        for (node, &row) in (0u32..).zip(&rows) {
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

    /// The parent of a node.
    pub fn parent(&self, node: u32) -> Option<u32> {
        Some(self.parents[node as usize]).filter(|&parent| parent != NONE)
    }

    /// A node and its ancestors, innermost first.
    pub fn and_above(&self, node: u32) -> impl Iterator<Item = u32> {
        core::iter::successors(Some(node), move |&node| self.parent(node))
    }
}

struct Replay {
    parents: Vec<u32>,
    tracks: Vec<u32>,
    /// The innermost open node of each track.
    open: Vec<u32>,
    closed: Vec<bool>,
    ends: BinaryHeap<Reverse<(i64, u32)>>,
}

impl Replay {
    fn start(&mut self, node: u32, (start, end): (i64, i64), forward: Option<u32>) {
        while let Some(&Reverse((earliest, ended))) = self.ends.peek()
            && earliest < start
        {
            self.ends.pop();
            self.close(ended);
        }
        let track = self.tracks[node as usize] as usize;
        let mut parent = self.open[track];
        if parent == NONE
            && let Some(forward) = forward
        {
            parent = self.open[forward as usize];
        }
        self.parents.push(parent);
        if end > start {
            self.open[track] = node;
            self.ends.push(Reverse((end, node)));
        }
    }

    /// Closes a node and all that is open below it on its track.
    fn close(&mut self, node: u32) {
        if self.closed[node as usize] {
            return;
        }
        let track = self.tracks[node as usize] as usize;
        let mut open = self.open[track];
        while open != node && open != NONE {
            self.closed[open as usize] = true;
            open = self.parents[open as usize];
        }
        self.closed[node as usize] = true;
        self.open[track] = self.parents[node as usize];
    }
}
