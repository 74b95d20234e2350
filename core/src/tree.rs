//! Spans nested on their lanes: parents before children, depth, self time.
//!
//! A track whose spans nest has one lane. A span that overlaps another without nesting goes to the first further lane of
//! its track where it fits, so that nothing is dropped and nothing is measured twice.
//!
//! Nesting rule: a span is a child of the innermost span of its lane that began no later and ends no earlier, and did
//! not end at or before its start.

use crate::diagnostics::{Code, Diagnostics};
use crate::table::events::{Row, Table};
use crate::table::tracks::TrackId;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Where a span has no parent.
pub const NO_PARENT: u32 = u32::MAX;

/// A run of spans that nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lane {
    /// The track that the lane belongs to.
    pub track: TrackId,
    /// 0 for the track's main lane.
    pub extra: u32,
    /// The lane's first position in the tree.
    pub start: u32,
    /// The position after the lane's last.
    pub end: u32,
    /// How many levels its spans nest.
    pub depth: u32,
}

/// All spans of a trace, lane by lane. A position in the tree is an index into `rows` and `parents`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Tree {
    /// The lanes, ordered by track and then by `extra`.
    pub lanes: Vec<Lane>,
    /// The event of each position.
    pub rows: Vec<Row>,
    /// The position of each span's parent, or [`NO_PARENT`].
    pub parents: Vec<u32>,
}

/// Builds the tree of all spans.
pub fn build(table: &Table, diagnostics: &mut Diagnostics) -> Tree {
    let mut tree = Tree::default();
    let (mut rows, ends) = rows_by_track(table);
    tree.rows.reserve_exact(rows.len());
    tree.parents.reserve_exact(rows.len());
    let mut at = 0;
    for (track, &end) in ends.iter().enumerate().map(|(track, end)| (TrackId(track as u32), end)) {
        let slice = &mut rows[at..end];
        at = end;
        table.sort_by_start(slice);
        lay(table, diagnostics, &mut tree, track, slice);
    }
    tree
}

/// All spans grouped by track in file order, and where each track's group ends.
fn rows_by_track(table: &Table) -> (Vec<Row>, Vec<usize>) {
    let mut ends = alloc::vec![0usize; table.tracks.all().len()];
    for row in table.rows().filter(|&row| table.is_span(row)) {
        ends[table.track_id(row).0 as usize] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        let count = *end;
        *end = total;
        total += count;
    }
    let mut rows = alloc::vec![0; total];
    for row in table.rows().filter(|&row| table.is_span(row)) {
        let end = &mut ends[table.track_id(row).0 as usize];
        rows[*end] = row;
        *end += 1;
    }
    (rows, ends)
}

/// Lays the sorted spans of one track on lanes.
fn lay(table: &Table, diagnostics: &mut Diagnostics, tree: &mut Tree, track: TrackId, rows: &[Row]) {
    let start = tree.rows.len() as u32;
    let mut open: Vec<(u32, i64)> = Vec::new();
    let mut left: Vec<Row> = Vec::new();
    let mut depth = 0;
    for &row in rows {
        let Some(parent) = fit(&mut open, table.ts(row), table.end(row)) else {
            left.push(row);
            continue;
        };
        open.push((tree.rows.len() as u32, table.end(row)));
        depth = depth.max(open.len() as u32);
        tree.rows.push(row);
        tree.parents.push(parent);
    }
    let end = tree.rows.len() as u32;
    if end > start {
        tree.lanes.push(Lane { track, extra: 0, start, end, depth });
    }
    if let Some(&first) = left.first() {
        let example = table.name(first).as_bytes();
        diagnostics.record_many(Code::OverlappingSpans, left.len() as u64, None, example);
        lay_extra(table, tree, track, &left);
    }
}

/// Closes what ended and returns the parent that a span would have on a lane; `None` when it does not nest there.
fn fit(open: &mut Vec<(u32, i64)>, begin: i64, end: i64) -> Option<u32> {
    while open.last().is_some_and(|&(_, top)| top <= begin) {
        open.pop();
    }
    match open.last() {
        None => Some(NO_PARENT),
        Some(&(parent, top)) => (end <= top).then_some(parent),
    }
}

#[derive(Default)]
struct ExtraLane {
    open: Vec<(u32, i64)>,
    spans: Vec<(Row, u32)>,
    depth: u32,
}

/// How many extra lanes are tried one by one; past them a span takes a lane that is empty again, so that the work stays
/// near linear however many spans overlap.
const TRIED: usize = 32;

fn lay_extra(table: &Table, tree: &mut Tree, track: TrackId, rows: &[Row]) {
    let mut lanes: Vec<ExtraLane> = Vec::new();
    let mut busy: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    for &row in rows {
        let (begin, end) = (table.ts(row), table.end(row));
        let mut tried = lanes.iter_mut().take(TRIED).enumerate();
        let found = tried.find_map(|(i, lane)| fit(&mut lane.open, begin, end).map(|p| (i, p)));
        let (at, parent) = found.unwrap_or_else(|| {
            let free = busy.peek().filter(|free| free.0.0 <= begin).map(|free| free.0.1 as usize);
            if let Some(lane) = free {
                busy.pop();
                lanes[lane].open.clear();
            }
            (free.unwrap_or(lanes.len()), NO_PARENT)
        });
        if at == lanes.len() {
            lanes.push(ExtraLane::default());
        }
        if at >= TRIED {
            busy.push(Reverse((end, at as u32)));
        }
        let lane = &mut lanes[at];
        lane.open.push((lane.spans.len() as u32, end));
        lane.depth = lane.depth.max(lane.open.len() as u32);
        lane.spans.push((row, parent));
    }
    for (extra, lane) in (1..).zip(lanes) {
        let start = tree.rows.len() as u32;
        for (row, parent) in lane.spans {
            tree.rows.push(row);
            tree.parents.push(if parent == NO_PARENT { parent } else { parent + start });
        }
        tree.lanes.push(Lane { track, extra, start, end: tree.rows.len() as u32, depth: lane.depth });
    }
}

impl Tree {
    /// How many spans there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No span at all.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Of each span of a lane, the duration less that of its children, in ns.
    pub fn self_times(&self, table: &Table, lane: &Lane) -> Vec<i64> {
        let range = lane.start as usize..lane.end as usize;
        let duration = |at: usize| table.dur(self.rows[at]).max(0);
        let mut self_ns: Vec<i64> = range.clone().map(duration).collect();
        for at in range {
            let parent = self.parents[at];
            if parent != NO_PARENT {
                self_ns[(parent - lane.start) as usize] -= duration(at);
            }
        }
        self_ns
    }

    /// How many ancestors a span has.
    pub fn depth(&self, at: u32) -> u32 {
        self.ancestors(at).count() as u32
    }

    /// The ancestors of a span, innermost first.
    pub fn ancestors(&self, at: u32) -> impl Iterator<Item = u32> {
        let parent = move |at: u32| Some(self.parents[at as usize]).filter(|&p| p != NO_PARENT);
        core::iter::successors(parent(at), move |&at| parent(at))
    }
}
