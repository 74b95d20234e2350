//! Flows: which slices each arrow connects.

use crate::analysis::timeline::flow_slices::slice_of;
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::tree::Position;
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
            if let (Some(from), Some(to)) = (slice_of(trace, start), slice_of(trace, end)) {
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
