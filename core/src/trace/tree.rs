//! The spans of each track, nested on lanes: parents before children, with depth and self time.
//!
//! A track whose spans nest has one lane. A span that overlaps another one without nesting is placed on the first
//! additional lane of its track where it nests, so no span is dropped or counted twice.
//!
//! Synchronizations (`cuda_sync`) are on additional lanes, if their track has other spans. They have the times of a wait of
//! the host, and cross the work of the stream.
//!
//! Nesting rule: a span is a child of the innermost span of its lane that started no later, ends no earlier, and did
//! not end at or before its start.

mod asynchronous;

pub(crate) use asynchronous::build_asynchronous;

use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::handle::{handle, run};
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::TrackId;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

handle! {
    /// The position of a span in a [`Tree`].
    pub struct Position;
}

/// A sequence of nested spans of one track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lane {
    /// The track that the lane belongs to.
    pub track: TrackId,
    /// 0 for the track's main lane.
    pub extra: u32,
    /// The number of nesting levels.
    pub depth: u32,
    start: u32,
    end: u32,
}

impl Lane {
    /// The positions of its spans, in the order of their starts.
    pub fn positions(&self) -> impl DoubleEndedIterator<Item = Position> + ExactSizeIterator + Clone + use<> {
        run(self.range())
    }

    /// The index of its first position.
    pub(crate) fn first(&self) -> usize {
        self.start as usize
    }

    /// The index of a span within the lane.
    pub(crate) fn offset(&self, at: Position) -> usize {
        at.index() - self.start as usize
    }

    fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// All spans of a trace, lane by lane, each after its parent.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    lanes: Vec<Lane>,
    /// The event of each position.
    rows: Vec<Row>,
    /// The position of each span's parent.
    parents: Vec<Option<Position>>,
}

/// Builds the tree of all spans.
pub fn build(table: &Table, diagnostics: &mut Diagnostics) -> Tree {
    let mut tree = Tree::default();
    let (rows, ends) = sorted_by_track(table, |row| table.is_span(row));
    tree.rows.reserve_exact(rows.len());
    tree.parents.reserve_exact(rows.len());
    let mut at = 0;
    for (track, &end) in ends.iter().enumerate().map(|(track, end)| (TrackId(track as u32), end)) {
        append(table, diagnostics, &mut tree, track, &rows[at..end]);
        at = end;
    }
    tree
}

/// The rows that `is_kept` chooses, by track and then by start, the longest first; and the end of each track's group.
pub(crate) fn sorted_by_track(table: &Table, is_kept: impl Fn(Row) -> bool) -> (Vec<Row>, Vec<usize>) {
    let mut ends = alloc::vec![0usize; table.tracks.all().len()];
    for row in table.rows().filter(|&row| is_kept(row)) {
        ends[table.track_id(row).0 as usize] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        let count = *end;
        *end = total;
        total += count;
    }
    let mut rows = alloc::vec![Row::new(0); total];
    for row in table.rows().filter(|&row| is_kept(row)) {
        let end = &mut ends[table.track_id(row).0 as usize];
        rows[*end] = row;
        *end += 1;
    }
    let mut at = 0;
    for &end in &ends {
        table.sort_by_start(&mut rows[at..end]);
        at = end;
    }
    (rows, ends)
}

/// Appends the sorted spans of one track, on one or more lanes.
fn append(table: &Table, diagnostics: &mut Diagnostics, tree: &mut Tree, track: TrackId, rows: &[Row]) {
    let start = tree.rows.len() as u32;
    let mut open: Vec<(Position, i64)> = Vec::new();
    let mut left: Vec<Row> = Vec::new();
    let has_work = rows.iter().any(|&row| !is_wait(table, row));
    let mut depth = 0;
    let mut overlapping = 0;
    let mut example = None;
    for &row in rows {
        if has_work && is_wait(table, row) {
            left.push(row);
            continue;
        }
        let (begin, end) = (table.ts(row), table.end(row));
        let enclosing = innermost(&mut open, begin);
        if enclosing.is_some_and(|(_, top)| end > top) {
            left.push(row);
            overlapping += 1;
            example = example.or(Some(row));
            continue;
        }
        tree.parents.push(enclosing.map(|(parent, _)| parent));
        open.push((Position::new(tree.rows.len()), end));
        depth = depth.max(open.len() as u32);
        tree.rows.push(row);
    }
    let end = tree.rows.len() as u32;
    if end > start {
        tree.lanes.push(Lane { track, extra: 0, start, end, depth });
    }
    if let Some(example) = example {
        diagnostics.record_many(Code::OverlappingSpans, overlapping, None, table.name(example).as_bytes());
    }
    append_extra(table, tree, track, &left);
}

/// Whether a span of a device track is a wait of the host.
fn is_wait(table: &Table, row: Row) -> bool {
    table.category(row) == Category::Sync
}

/// Closes the spans that end at or before `begin`, and returns the innermost open span with its end.
fn innermost(open: &mut Vec<(Position, i64)>, begin: i64) -> Option<(Position, i64)> {
    while let Some(&last) = open.last() {
        if last.1 > begin {
            return Some(last);
        }
        open.pop();
    }
    None
}

#[derive(Default)]
struct ExtraLane {
    /// Positions are relative to the start of the lane.
    open: Vec<(Position, i64)>,
    spans: Vec<(Row, Option<Position>)>,
    depth: u32,
}

/// The number of extra lanes that are searched linearly. Beyond them, a span takes a lane without open spans, so that
/// the cost stays nearly linear for any number of overlapping spans.
const TRIED: usize = 32;

fn append_extra(table: &Table, tree: &mut Tree, track: TrackId, rows: &[Row]) {
    let mut lanes: Vec<ExtraLane> = Vec::new();
    let mut busy: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    for &row in rows {
        let (begin, end) = (table.ts(row), table.end(row));
        let nests = |lane: &mut ExtraLane| innermost(&mut lane.open, begin).is_none_or(|(_, top)| end <= top);
        let found = lanes.iter_mut().take(TRIED).position(nests);
        let at = found.unwrap_or_else(|| {
            let free = busy.peek().filter(|free| free.0.0 <= begin).map(|free| free.0.1 as usize);
            if let Some(lane) = free {
                busy.pop();
                lanes[lane].open.clear();
            }
            free.unwrap_or(lanes.len())
        });
        if at == lanes.len() {
            lanes.push(ExtraLane::default());
        }
        if at >= TRIED {
            busy.push(Reverse((end, at as u32)));
        }
        let lane = &mut lanes[at];
        let parent = lane.open.last().map(|&(parent, _)| parent);
        lane.open.push((Position::new(lane.spans.len()), end));
        lane.depth = lane.depth.max(lane.open.len() as u32);
        lane.spans.push((row, parent));
    }
    for (extra, lane) in (1..).zip(lanes) {
        let start = tree.rows.len();
        for (row, parent) in lane.spans {
            tree.rows.push(row);
            tree.parents.push(parent.map(|parent| Position::new(start + parent.index())));
        }
        let (start, end) = (start as u32, tree.rows.len() as u32);
        tree.lanes.push(Lane { track, extra, start, end, depth: lane.depth });
    }
}

impl Tree {
    /// The number of spans.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no spans.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lanes, ordered by track and then by `extra`.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The lanes of a track, the main one first.
    pub(crate) fn lanes_of(&self, track: TrackId) -> &[Lane] {
        let start = self.lanes.partition_point(|lane| lane.track < track);
        let end = self.lanes.partition_point(|lane| lane.track <= track);
        &self.lanes[start..end]
    }

    /// The innermost span on a track that is open at this time, in ns after the table's base.
    pub(crate) fn open_at(&self, table: &Table, track: TrackId, instant: i64) -> Option<Position> {
        let open = self.lanes_of(track).iter().filter_map(|lane| self.open_in(lane, table, instant).next());
        open.max_by_key(|&at| table.ts(self.row(at)))
    }

    /// The first span on a track that begins at this time or later.
    pub(crate) fn next_at(&self, table: &Table, track: TrackId, instant: i64) -> Option<Position> {
        let next = self.lanes_of(track).iter().filter_map(|lane| {
            let begun = self.rows_of(lane).partition_point(|&row| table.ts(row) < instant);
            lane.positions().nth(begun)
        });
        next.min_by_key(|&at| table.ts(self.row(at)))
    }

    /// The spans of a lane that are open at this time, innermost first.
    pub(crate) fn open_in(&self, lane: &Lane, table: &Table, instant: i64) -> impl Iterator<Item = Position> {
        let begun = self.rows_of(lane).partition_point(|&row| table.ts(row) <= instant);
        let last = begun.checked_sub(1).and_then(|begun| lane.positions().nth(begun));
        let above = last.into_iter().flat_map(|last| core::iter::once(last).chain(self.ancestors(last)));
        above.filter(move |&at| table.end(self.row(at)) >= instant)
    }

    /// Every position, lane by lane.
    pub fn positions(&self) -> impl DoubleEndedIterator<Item = Position> + ExactSizeIterator + Clone + use<> {
        run(0..self.rows.len())
    }

    /// The events of all positions, in order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The events of a lane's positions, in order.
    pub fn rows_of(&self, lane: &Lane) -> &[Row] {
        &self.rows[lane.range()]
    }

    /// The event of a position.
    #[inline]
    pub fn row(&self, at: Position) -> Row {
        self.rows[at.index()]
    }

    /// The parent of a span.
    #[inline]
    pub fn parent(&self, at: Position) -> Option<Position> {
        self.parents[at.index()]
    }

    /// The self time of each span of a lane: its duration minus that of its children, in ns.
    pub fn self_times(&self, table: &Table, lane: &Lane) -> Vec<i64> {
        let duration = |row: Row| table.dur(row).max(0);
        let mut self_ns: Vec<i64> = self.rows_of(lane).iter().map(|&row| duration(row)).collect();
        for at in lane.positions() {
            if let Some(parent) = self.parent(at) {
                self_ns[lane.offset(parent)] -= duration(self.row(at));
            }
        }
        self_ns
    }

    /// The number of ancestors of a span.
    pub fn depth(&self, at: Position) -> u32 {
        self.ancestors(at).count() as u32
    }

    /// The ancestors of a span, innermost first.
    pub fn ancestors(&self, at: Position) -> impl Iterator<Item = Position> {
        core::iter::successors(self.parent(at), |&at| self.parent(at))
    }
}

/// Deliberate damage, for tests of code that compares trees.
#[cfg(test)]
impl Tree {
    pub(crate) fn set_parent(&mut self, at: Position, parent: Option<Position>) {
        self.parents[at.index()] = parent;
    }

    pub(crate) fn remove_last(&mut self) {
        self.rows.pop();
        self.parents.pop();
        if let Some(lane) = self.lanes.last_mut() {
            lane.end -= 1;
        }
    }
}
