//! The events of a window of time, which a second pass reads.

use super::total::is_common;
use super::{Block, Outline};
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::error::Error;
use crate::trace::read::limits::Limits;
use crate::trace::table::events::{Row, Table};
use crate::trace::{TextReader, Trace};
use alloc::vec::Vec;
use core::ops::Range;

/// The fewest events after which those outside of the window are removed.
const LEAST_EVENTS: usize = 1 << 13;

/// Reads the events that overlap a window, from the text of which the [`Outline`] was read.
///
/// Metadata events, events without a time and parts of V8 profiles are read as well. A begin or end event counts where it is: the other one of the pair may
/// be outside.
#[derive(Clone, Debug)]
pub struct WindowReader {
    text: TextReader,
    /// Start and end of the window in ns after the base.
    window: (i64, i64),
    /// The start of the recording in ns after the base.
    start_ns: i64,
    /// What is passed over, the last one first.
    passed: Vec<Passed>,
    /// The number of bytes of text so far.
    offset: u64,
    /// The number of following bytes that are ignored.
    skip: u64,
    restrict_at: usize,
    /// The number of events of the complete text.
    all_events: u64,
}

impl WindowReader {
    /// Creates a reader of the events between two times in ns after the start of the recording.
    pub fn new(outline: &Outline, (from, to): (i64, i64), limits: Limits) -> WindowReader {
        let start_ns = outline.start_ns();
        let window = (start_ns.saturating_add(from), start_ns.saturating_add(to));
        let mut passed = passed(outline, window);
        passed.reverse();
        WindowReader {
            text: TextReader::new(limits),
            window,
            start_ns,
            passed,
            offset: 0,
            skip: 0,
            restrict_at: LEAST_EVENTS,
            all_events: outline.events(),
        }
    }

    /// The number of events so far, with those that were passed over.
    pub fn events(&self) -> usize {
        self.text.events_read()
    }

    /// Whether the memory limit was reached. Further text is ignored.
    pub fn is_full(&self) -> bool {
        self.text.is_full()
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
        let Some(Passed { range, events }) = self.passed.pop_if(|next| next.range.start <= self.offset)
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

    /// Ends the text. The times of the table count from the start of the complete recording. The diagnostics count the events outside of
    /// the window, and otherwise only what was read.
    ///
    /// # Errors
    /// As [`TextReader::finish`].
    pub fn finish(self) -> Result<(Table, Diagnostics), Error> {
        // After the memory limit no more events are counted.
        let all = if self.is_full() { self.events() as u64 } else { self.all_events };
        let (mut table, mut diagnostics) = self.text.finish()?;
        restrict(&mut table, self.window);
        let outside = all.saturating_sub(table.len() as u64);
        diagnostics.record_many(Code::OutsideWindow, outside, None, b"");
        table.metadata.origin = Some(self.start_ns);
        table.metadata.window = Some(self.window);
        Ok((table, diagnostics))
    }
}

/// Refuses a window of a file whose times are nanoseconds, unless the window has all of its events.
///
/// # Errors
/// Returns [`Error::BadOption`].
pub fn check_window(trace: &Trace) -> Result<(), Error> {
    let table = &trace.table;
    let Some(window) = table.metadata.window.filter(|_| trace.diagnostics.count(Code::Nanoseconds) > 0)
    else {
        return Ok(());
    };
    let is_inside = |row: Row| window.0 <= table.ts(row) && table.end(row) <= window.1;
    if table.rows().all(|row| is_common(table, row) || is_inside(row)) {
        return Ok(());
    }
    let message = "window: the times of this file are nanoseconds, which windows do not read; read all of it";
    Err(Error::BadOption(message.into()))
}

/// A part of the text without events in the window.
#[derive(Clone, Debug)]
struct Passed {
    range: Range<u64>,
    /// The number of its events.
    events: usize,
}

/// Returns the blocks without events in the window. Those with no other events between them become one, so that a file is read from
/// another place less often.
fn passed(outline: &Outline, window: (i64, i64)) -> Vec<Passed> {
    let mut passed: Vec<Passed> = Vec::new();
    let mut follows = false;
    for Block { range, events, time, before } in &outline.blocks {
        let is_passed = time.are_outside(window);
        match passed.last_mut() {
            Some(last) if is_passed && follows && before.1.are_outside(window) => {
                last.range.end = range.end;
                last.events += before.0 + events;
            }
            _ if is_passed => passed.push(Passed { range: range.clone(), events: *events }),
            _ => {}
        }
        follows = is_passed;
    }
    passed
}

/// Removes the events that do not overlap the window.
fn restrict(table: &mut Table, window: (i64, i64)) {
    let is_kept = |&row: &Row| {
        let ts = table.ts(row);
        is_common(table, row) || (ts <= window.1 && window.0 <= table.end(row))
    };
    let kept: Vec<Row> = table.rows().filter(is_kept).collect();
    table.retain(&kept);
}
