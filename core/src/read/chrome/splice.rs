//! Uses events that were parsed ahead.

use super::{LATER_BYTES, Progress, Reader};
use crate::read::segment::Segment;
use crate::table::metadata::Source;

/// How much more memory the events of a segment can take in this table than in their own, which has other ids.
const GROWTH: usize = 4;

impl Reader {
    /// Appends the events of the segment that begins at `at`, if there is one.
    #[inline]
    pub(super) fn splice(&mut self, at: usize) -> Option<Progress> {
        let (offset, segment) = self.ahead.as_ref()?;
        let is_here = offset + segment.start as u64 == self.offset + at as u64;
        if is_here && self.accepts(segment) { self.append_segment(at) } else { None }
    }

    /// Whether the events of a segment would be read as they were parsed: records are counted by other rules, and where the limit of
    /// the memory is near, each event is checked.
    fn accepts(&self, segment: &Segment) -> bool {
        let added = segment.table.heap_bytes() * GROWTH + segment.table.len() * LATER_BYTES;
        let fits = self.memory().saturating_add(added) <= self.limits.memory_bytes;
        fits && self.table.metadata.source == Source::Chrome
    }

    fn append_segment(&mut self, at: usize) -> Option<Progress> {
        let (offset, segment) = self.ahead.take()?;
        self.table.append(&segment.table);
        self.diagnostics.append_at(&segment.diagnostics, offset);
        self.expects_comma = true;
        Some(Progress::To(at + segment.end - segment.start))
    }
}
