//! Uses events that were parsed ahead.

use super::{Reader, State};
use crate::base::diagnostics::Diagnostics;
use crate::trace::read::limits::{LATER_BYTES, memory_in_the_end};
use crate::trace::read::segment::Segment;
use crate::trace::table::metadata::Source;

/// How much more memory the events of a segment can take in this table than in their own, which has other ids.
const GROWTH: usize = 4;

impl Reader {
    /// Passes over events without appending them, if the next byte begins one. Returns whether it did.
    pub(crate) fn pass_over(&mut self, bytes: u64, events: usize, diagnostics: &Diagnostics) -> bool {
        if !self.is_at_event() || self.table.metadata.source != Source::Chrome {
            return false;
        }
        self.begin_spliced();
        self.diagnostics.append_at(diagnostics, self.offset);
        self.cleared += events;
        self.end_spliced(bytes);
        true
    }

    /// Appends the events of a segment and continues after them, if the next byte begins an event and the segment would be read as it
    /// was parsed. Returns whether it did.
    pub(crate) fn splice(&mut self, segment: &Segment) -> bool {
        if !self.is_at_event() || !self.accepts(segment) {
            return false;
        }
        self.begin_spliced();
        segment.append_to(&mut self.table);
        self.diagnostics.append_at(segment.diagnostics(), self.offset);
        self.end_spliced(segment.range().len() as u64);
        if self.table.len() >= self.check_at {
            self.check_memory(0);
        }
        true
    }

    /// Whether the next byte is read as an element of the array of events.
    fn is_at_event(&self) -> bool {
        self.state == State::Events && self.buf.is_empty()
    }

    fn begin_spliced(&mut self) {
        self.end_separators(b'{', self.offset);
        self.stray = false;
    }

    fn end_spliced(&mut self, bytes: u64) {
        self.expects_comma = true;
        self.offset += bytes;
    }

    /// Whether the events of a segment would be read as they were parsed: records are counted by other rules, and where the limit of
    /// the memory is near, each event is checked.
    fn accepts(&self, segment: &Segment) -> bool {
        let added = segment.heap_bytes() * GROWTH + segment.len() * LATER_BYTES;
        let fits = memory_in_the_end(&self.table).saturating_add(added) <= self.limits.memory_bytes;
        fits && self.table.metadata.source == Source::Chrome
    }
}
