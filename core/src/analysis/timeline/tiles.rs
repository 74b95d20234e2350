//! What a timeline draws of one track between two times: boxes, merged where they would be narrower than a pixel.
//!
//! Invariants: a span of at least a pixel is a box of its own; of the narrower spans of one level that begin within the
//! same pixel, one box is made, which counts them and names the longest. So a level has at most two boxes a pixel,
//! however many events there are, and the counts of all boxes add up to the spans that are visible.

use super::tracks::lanes;
use crate::names::NameId;
use crate::table::events::{Row, Table};
use crate::table::tracks::TrackId;
use crate::trace::Trace;
use crate::tree::{Lane, Position, Tree};
use alloc::vec::Vec;

/// What part of a track is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The track.
    pub track: TrackId,
    /// Its left edge, in ns after the start of the recording.
    pub start_ns: i64,
    /// Its right edge.
    pub end_ns: i64,
    /// How many pixels lie between the two; at least 1 is taken.
    pub pixels: u32,
}

/// One box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tile {
    /// The level, 0 for the outermost spans; further lanes of the track lie below the main one.
    pub depth: u32,
    /// When it begins, in ns after the start of the recording; it may begin before the window.
    pub start_ns: i64,
    /// When it ends.
    pub end_ns: i64,
    /// How many spans it stands for.
    pub count: u32,
    /// The event, or the longest of the merged ones.
    pub row: Row,
    /// That event's name.
    pub name: NameId,
}

/// The boxes of a window, level by level within a lane's order of time.
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
    for lane in lanes(trace, window.track) {
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
    /// Of each level, the box that came last.
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
        // Only a box of narrow spans takes further ones in.
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
