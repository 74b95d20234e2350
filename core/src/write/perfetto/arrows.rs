//! Flows: which slices each arrow connects.

use crate::order::sort_by_key;
use crate::table::events::Row;
use crate::trace::Trace;
use crate::tree::Position;
use alloc::vec::Vec;

/// An end of an arrow.
#[derive(Clone, Copy, Debug)]
struct End {
    slice: Position,
    /// The number of the arrow.
    arrow: u64,
    is_last: bool,
}

/// The ends of all arrows between slices, by slice.
#[derive(Debug, Default)]
pub(super) struct Arrows {
    ends: Vec<End>,
}

impl Arrows {
    /// Finds the slices at the ends of the flows of a trace.
    pub(super) fn new(trace: &Trace) -> Arrows {
        let mut ends = Vec::new();
        let flows = (1..).zip(&trace.pairs.flows);
        for (arrow, &(start, end)) in flows {
            if let (Some(from), Some(to)) = (around(trace, start), around(trace, end)) {
                ends.push(End { slice: from, arrow, is_last: false });
                ends.push(End { slice: to, arrow, is_last: true });
            }
        }
        sort_by_key(&mut ends, |end| (i64::from(end.slice), end.arrow as i64));
        Arrows { ends }
    }

    /// The arrows at a slice, and whether each ends there.
    pub(super) fn at(&self, slice: Position) -> impl Iterator<Item = (u64, bool)> {
        let first = self.ends.partition_point(|end| end.slice < slice);
        self.ends[first..]
            .iter()
            .take_while(move |end| end.slice == slice)
            .map(|end| (end.arrow, end.is_last))
    }
}

/// The slice of a flow event: the event itself if it is a span, else the innermost slice on its track that is open at its time. Device work has a track of its own with the
/// same ids.
fn around(trace: &Trace, event: Row) -> Option<Position> {
    let tracks = &trace.table.tracks;
    let track = trace.table.track_id(event);
    let on = |track| trace.tree.open_at(&trace.table, track, trace.table.ts(event));
    if trace.table.is_span(event) {
        let open = on(track)?;
        let mut above = core::iter::once(open).chain(trace.tree.ancestors(open));
        return above.find(|&at| trace.tree.row(at) == event).or(Some(open));
    }
    tracks.find_on_device(track).and_then(on).or_else(|| on(track))
}
