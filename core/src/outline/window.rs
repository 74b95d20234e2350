//! The events of a window of time, which a second pass reads.

use super::total::is_timeless;
use super::{Block, Outline};
use crate::diagnostics::Diagnostics;
use crate::error::Error;
use crate::read::limits::Limits;
use crate::table::events::{Row, Table};
use crate::trace::TextReader;
use alloc::vec::Vec;

/// The fewest events after which those outside of the window are removed.
const LEAST_EVENTS: usize = 1 << 13;

/// Reads the events that overlap a window, from the text of which the [`Outline`] was read.
///
/// Metadata events and events without a time are read as well. A begin or end event counts where it is: the other one of the pair may
/// be outside.
#[derive(Clone, Debug)]
pub struct WindowReader {
    text: TextReader,
    /// Start and end of the window in ns after the base.
    window: (i64, i64),
    /// The start of the recording in ns after the base.
    start_ns: i64,
    /// The blocks without events in the window, which are passed over, the last one first.
    passed: Vec<Block>,
    /// The number of bytes of text so far.
    offset: u64,
    /// The number of following bytes that are ignored.
    skip: u64,
    restrict_at: usize,
}

impl WindowReader {
    /// Creates a reader of the events between two times in ns after the start of the recording.
    pub fn new(outline: &Outline, (from, to): (i64, i64), limits: Limits) -> WindowReader {
        let start_ns = outline.start_ns();
        let window = (start_ns.saturating_add(from), start_ns.saturating_add(to));
        let is_outside = |(start, end): (i64, i64)| end < window.0 || window.1 < start;
        let outside = outline.blocks.iter().rev().filter(|block| block.time.is_some_and(is_outside));
        WindowReader {
            text: TextReader::new(limits),
            window,
            start_ns,
            passed: outside.cloned().collect(),
            offset: 0,
            skip: 0,
            restrict_at: LEAST_EVENTS,
        }
    }

    /// The number of events so far, with those that were passed over.
    pub fn events(&self) -> usize {
        self.text.events_read()
    }

    /// The number of following bytes that need not be passed: call [`WindowReader::skip`] instead.
    pub fn skippable(&self) -> u64 {
        self.skip
    }

    /// Continues after this many of the bytes that need not be passed.
    pub fn skip(&mut self, bytes: u64) {
        let bytes = bytes.min(self.skip);
        self.skip -= bytes;
        self.offset += bytes;
    }

    /// Reads the next chunk of decompressed text.
    ///
    /// # Errors
    /// As [`TextReader::feed`].
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), Error> {
        let mut rest = chunk;
        while !rest.is_empty() {
            let skipped = self.skip.min(rest.len() as u64);
            self.skip(skipped);
            rest = &rest[skipped as usize..];
            let until =
                self.passed.last().map_or(u64::MAX, |next| next.range.start.saturating_sub(self.offset));
            let (read, after) = rest.split_at(usize::try_from(until).unwrap_or(usize::MAX).min(rest.len()));
            self.text.feed(read)?;
            self.offset += read.len() as u64;
            rest = after;
            self.pass_over();
        }
        if self.text.table().len() >= self.restrict_at {
            self.restrict();
        }
        Ok(())
    }

    /// Passes over the next block, if it begins here.
    fn pass_over(&mut self) {
        let Some(Block { range, events, .. }) = self.passed.pop_if(|next| next.range.start <= self.offset)
        else {
            return;
        };
        let length = range.end - range.start;
        if range.start == self.offset && self.text.pass_over(length, events, &Diagnostics::default()) {
            self.skip = length;
        }
    }

    fn restrict(&mut self) {
        let window = self.window;
        self.text.retain(|table| restrict(table, window));
        // Doubling keeps the cost linear.
        self.restrict_at = self.text.table().len() * 2 + LEAST_EVENTS;
    }

    /// Ends the text. The times of the table count from the start of the complete recording.
    ///
    /// # Errors
    /// As [`TextReader::finish`].
    pub fn finish(self) -> Result<(Table, Diagnostics), Error> {
        let (mut table, diagnostics) = self.text.finish()?;
        restrict(&mut table, self.window);
        table.metadata.origin = Some(self.start_ns);
        Ok((table, diagnostics))
    }
}

/// Removes the events that do not overlap the window.
fn restrict(table: &mut Table, window: (i64, i64)) {
    let is_kept = |&row: &Row| {
        let ts = table.ts(row);
        is_timeless(table, row) || (ts <= window.1 && window.0 <= table.end(row))
    };
    let kept: Vec<Row> = table.rows().filter(is_kept).collect();
    table.retain(&kept);
}
