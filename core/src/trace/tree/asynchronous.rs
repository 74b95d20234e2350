//! The tree of asynchronous spans, for traces that have no others.
//!
//! Spans nest only within others with the same id and another name: two tasks at the same time have nothing to do with each other, and
//! two calls of one name that overlap are more likely concurrent than recursive. Each group of nested spans takes a lane of the track on which its outermost span begins.

use super::{Lane, Position, Tree, sorted_by_track};
use crate::base::index::{Index, Keyed};
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::TrackId;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Builds the tree of the begins of asynchronous spans, each with the number of its id.
pub(crate) fn build_asynchronous(table: &Table, ids: &[(Row, u32)]) -> Tree {
    let mut groups = Index::default();
    for &(row, id) in ids {
        groups.set((i64::from(row), 0), id);
    }
    let group = |row: Row| groups.get((i64::from(row), 0));
    let (rows, ends) = sorted_by_track(table, |row| group(row).is_some());
    let mut tree = Tree::default();
    let mut at = 0;
    for (track, &end) in (0..).map(TrackId).zip(&ends) {
        let mut lanes = Lanes::default();
        for &row in &rows[at..end] {
            lanes.add(table, row, group(row).unwrap_or_default());
        }
        lanes.append_to(&mut tree, track);
        at = end;
    }
    tree
}

/// The lanes of one track.
#[derive(Default)]
struct Lanes {
    all: Vec<Spans>,
    /// The lane of the last group of each id.
    lane_of: Keyed<Option<usize>>,
    /// The ends of the outermost spans that are open, with their lanes.
    busy: BinaryHeap<Reverse<(i64, usize)>>,
}

#[derive(Default)]
struct Spans {
    id: u32,
    /// The open spans, as indexes into `spans`.
    open: Vec<usize>,
    spans: Vec<(Row, Option<usize>)>,
    depth: u32,
}

impl Lanes {
    fn add(&mut self, table: &Table, row: Row, id: u32) {
        let (begin, end) = (table.ts(row), table.end(row));
        let current = *self.lane_of.entry((i64::from(id), 0));
        let nested = current.filter(|&lane| self.all[lane].id == id && self.all[lane].takes(table, row));
        let lane = nested.unwrap_or_else(|| self.free(begin));
        let spans = &mut self.all[lane];
        if nested.is_none() {
            spans.open.clear();
            spans.id = id;
            self.busy.push(Reverse((end, lane)));
            *self.lane_of.entry((i64::from(id), 0)) = Some(lane);
        }
        spans.spans.push((row, spans.open.last().copied()));
        spans.open.push(spans.spans.len() - 1);
        spans.depth = spans.depth.max(spans.open.len() as u32);
    }

    /// A lane whose spans have ended.
    fn free(&mut self, begin: i64) -> usize {
        if let Some(&Reverse((end, lane))) = self.busy.peek()
            && end <= begin
        {
            self.busy.pop();
            return lane;
        }
        self.all.push(Spans::default());
        self.all.len() - 1
    }

    fn append_to(self, tree: &mut Tree, track: TrackId) {
        for (extra, Spans { spans, depth, .. }) in (0..).zip(self.all) {
            let start = tree.rows.len();
            for (row, parent) in spans {
                tree.rows.push(row);
                tree.parents.push(parent.map(|parent| Position::new(start + parent)));
            }
            let (start, end) = (start as u32, tree.rows.len() as u32);
            tree.lanes.push(Lane { track, extra, depth, start, end });
        }
    }
}

impl Spans {
    /// Whether a span is within one that is open, and none of its name is. Closes those that ended before it begins.
    fn takes(&mut self, table: &Table, row: Row) -> bool {
        let open_row = |spans: &Self, at: usize| spans.spans[at].0;
        while let Some(&last) = self.open.last()
            && table.end(open_row(self, last)) <= table.ts(row)
        {
            self.open.pop();
        }
        let has_name = |&at: &usize| table.name_id(open_row(self, at)) == table.name_id(row);
        !self.open.iter().any(has_name)
            && self.open.last().is_some_and(|&last| table.end(row) <= table.end(open_row(self, last)))
    }
}
