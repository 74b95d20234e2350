//! Tiles: the boxes of one track in a window of time, merged where they would be narrower than a pixel.
//!
//! Invariants: a span of at least a pixel has its own box. The narrower spans of one level that begin within the same
//! pixel are merged to one box with their count and the name of the longest. So a level has at most two boxes per
//! pixel, regardless of the number of events, and the counts of all boxes add up to the number of visible spans.

use crate::base::names::NameId;
use crate::trace::Trace;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::TrackId;
use crate::trace::tree::{Lane, Position, Tree};
use alloc::vec::Vec;

/// The part of a track to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The track.
    pub track: TrackId,
    /// The left edge, in ns after the start of the recording.
    pub start_ns: i64,
    /// The right edge, in ns after the start of the recording.
    pub end_ns: i64,
    /// The number of pixels between the two edges; 0 counts as 1.
    pub pixels: u32,
}

/// A box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tile {
    /// The level, 0 for the outermost spans; further lanes of the track are below the main one.
    pub depth: u32,
    /// The start, in ns after the start of the recording; it can lie before the window.
    pub start_ns: i64,
    /// The end, in ns after the start of the recording.
    pub end_ns: i64,
    /// The number of spans that it represents.
    pub count: u32,
    /// The event, or the longest of the merged events.
    pub row: Row,
    /// The name of that event.
    pub name: NameId,
}

/// Returns the boxes of a window, lane by lane.
pub fn tiles(trace: &Trace, window: Window) -> Vec<Tile> {
    let origin = trace.start_ns;
    let mut drawing = Drawing {
        table: &trace.table,
        origin,
        start: origin.saturating_add(window.start_ns),
        end: origin.saturating_add(window.end_ns),
        pixel: (window.end_ns.saturating_sub(window.start_ns) / i64::from(window.pixels.max(1))).max(1),
        last: Vec::new(),
        tiles: Vec::new(),
    };
    let mut below = 0;
    for lane in trace.tree.lanes_of(window.track) {
        drawing.lane(&trace.tree, lane, below);
        below += lane.depth;
    }
    drawing.tiles
}

struct Drawing<'a> {
    table: &'a Table,
    origin: i64,
    start: i64,
    end: i64,
    pixel: i64,
    /// The latest box of narrow spans of each level.
    last: Vec<Option<usize>>,
    tiles: Vec<Tile>,
}

impl Drawing<'_> {
    fn lane(&mut self, tree: &Tree, lane: &Lane, below: u32) {
        let before = tree.rows_of(lane).partition_point(|&row| self.table.ts(row) < self.start);
        let mut positions = lane.positions();
        let mut open: Vec<Position> = Vec::new();
        if let Some(last) = before.checked_sub(1).and_then(|last| positions.nth(last)) {
            open.push(last);
            open.extend(tree.ancestors(last));
            open.reverse();
        }
        self.last = alloc::vec![None; lane.depth as usize];
        for (depth, &at) in open.iter().enumerate() {
            let row = tree.row(at);
            if self.table.end(row) > self.start && self.table.ts(row) < self.end {
                self.span(row, depth, below);
            }
        }
        for at in positions {
            let row = tree.row(at);
            if self.table.ts(row) >= self.end {
                break;
            }
            let parent = tree.parent(at);
            while open.last().is_some_and(|&top| parent != Some(top)) {
                open.pop();
            }
            self.span(row, open.len(), below);
            open.push(at);
        }
    }

    fn span(&mut self, row: Row, depth: usize, below: u32) {
        let (start, end) = (self.table.ts(row), self.table.end(row));
        let narrow = end - start < self.pixel;
        let of_pixel = |ns: i64| ns.saturating_sub(self.start).div_euclid(self.pixel);
        if let Some(last) = self.last[depth].filter(|_| narrow) {
            let tile = &mut self.tiles[last];
            let begins = tile.start_ns.saturating_add(self.origin);
            if of_pixel(begins) == of_pixel(start) {
                tile.count += 1;
                tile.end_ns = tile.end_ns.max(end.saturating_sub(self.origin));
                if end - start > self.table.dur(tile.row).max(0) {
                    (tile.row, tile.name) = (row, self.table.name_id(row));
                }
                return;
            }
        }
        // Only a box of narrow spans can take further spans.
        self.last[depth] = narrow.then_some(self.tiles.len());
        self.tiles.push(Tile {
            depth: below + depth as u32,
            start_ns: start.saturating_sub(self.origin),
            end_ns: end.saturating_sub(self.origin),
            count: 1,
            row,
            name: self.table.name_id(row),
        });
    }
}
