//! Reads the document of a Chrome trace in chunks of any size: `{"traceEvents": […], …}` with its keys in any order, a
//! bare array of events, or an event a line (JSON Lines), which other members may precede on a line of their own.
//!
//! The reader is a state machine because a trace can be larger than memory, end anywhere, and be damaged in the middle.
//! It holds the bytes of at most one unfinished event or metadata member and nothing else of the text.
//!
//! Invariants:
//! - The result does not depend on the chunk boundaries.
//! - Every object of `traceEvents` becomes a row or is counted in the diagnostics.
//! - An event is first parsed as it is, then repaired. If both fail, reading continues at the next position that looks
//!   like the start of an event.

mod damage;
mod lines;
mod member;
mod splice;

use super::event::EventReader;
use super::limits::{Limits, memory_in_the_end};
use super::repair::Effort;
use super::scan::{Found, Stop, find_event, skip_separators, skip_space};
use super::sniff;
use crate::base::diagnostics::{Code, Diagnostics, EXAMPLE_BYTES};
use crate::base::error::Error;
use crate::trace::table::events::Table;
use crate::trace::table::metadata::Source;
use alloc::string::String;
use alloc::vec::Vec;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the document.
    Start,
    /// Inside the top-level object, before a key.
    Key,
    /// Inside the array of events.
    Events,
    /// After damage, searching for the next event.
    Resync,
    /// Inside a value that exceeds its limit, up to its closing bracket.
    Skip { depth: usize, in_text: bool, escaped: bool, resume: Resume },
    /// After the document.
    After,
    /// The memory limit was reached; the rest is ignored.
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resume {
    Key,
    Events,
}

/// The result of one step of the state machine.
enum Progress {
    /// Continue at this position.
    To(usize),
    /// More bytes are needed from this position on.
    More(usize),
}

/// Reads a Chrome trace from chunks.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    limits: Limits,
    table: Table,
    diagnostics: Diagnostics,
    events: EventReader,
    state: State,
    buf: Vec<u8>,
    /// Offset of `buf` in the text.
    offset: u64,
    /// The number of bytes that `buf` must hold before an unfinished event is parsed again.
    retry_at: usize,
    bare: bool,
    /// Whether the document is JSON Lines.
    lines: bool,
    /// Whether the position is inside a list of records.
    in_list: bool,
    cleared: usize,
    /// The number of events at which the memory is checked next.
    check_at: usize,
    found_events: bool,
    stray: bool,
    /// Commas since the last element.
    commas: usize,
    /// Whether the last element was not followed by a comma yet.
    expects_comma: bool,
    /// Whether the array of events or a list in it was opened last.
    is_opened: bool,
    dropped_keys: Vec<String>,
    first_non_event: Vec<u8>,
    effort: Effort,
    head: Vec<u8>,
}

const HEAD: usize = 512;

/// The fewest bytes that are added to those that are kept, if there are as many.
const LEAST_ADDED: usize = 4096;

/// The number of events between two checks of the memory.
const CHECK_EVERY: usize = 4096;

/// The number of events at which the memory is checked next: a multiple, so that it does not matter whether events are appended one by one.
fn next_check(table: &Table) -> usize {
    (table.len() / CHECK_EVERY + 1) * CHECK_EVERY
}

impl Default for Reader {
    fn default() -> Self {
        Reader::new(Limits::default())
    }
}

impl Reader {
    /// Creates a reader with these limits.
    pub(crate) fn new(limits: Limits) -> Self {
        let mut table = Table::default();
        let events = EventReader::new(limits, &mut table);
        Reader {
            limits,
            table,
            diagnostics: Diagnostics::default(),
            events,
            state: State::Start,
            buf: Vec::new(),
            offset: 0,
            retry_at: 0,
            bare: false,
            lines: false,
            in_list: false,
            cleared: 0,
            check_at: CHECK_EVERY,
            found_events: false,
            stray: false,
            commas: 0,
            expects_comma: false,
            is_opened: false,
            dropped_keys: Vec::new(),
            first_non_event: Vec::new(),
            effort: Effort::default(),
            head: Vec::new(),
        }
    }

    /// The number of events read so far.
    pub(crate) fn events_read(&self) -> usize {
        self.cleared + self.table.len()
    }

    /// Removes the events read so far; see [`Table::clear_events`].
    pub(crate) fn clear_events(&mut self) {
        self.cleared += self.table.len();
        self.table.clear_events();
        self.check_at = CHECK_EVERY;
    }

    /// Removes some of the events read so far.
    pub(crate) fn retain(&mut self, retain: impl FnOnce(&mut Table)) {
        let before = self.table.len();
        retain(&mut self.table);
        self.cleared += before - self.table.len();
        self.check_at = next_check(&self.table);
    }

    /// The events read so far.
    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// Reads the next chunk of UTF-8 text.
    ///
    /// # Errors
    /// Returns [`Error::NotATrace`] as soon as the bytes cannot become a trace.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Result<(), Error> {
        if self.head.len() < HEAD {
            self.head.extend_from_slice(&chunk[..chunk.len().min(HEAD - self.head.len())]);
        }
        let mut rest = chunk;
        while !rest.is_empty() {
            rest = if self.buf.is_empty() { self.feed_whole(rest)? } else { self.feed_after_kept(rest)? };
        }
        Ok(())
    }

    /// Reads a chunk in place and keeps what is unfinished at its end.
    fn feed_whole<'a>(&mut self, chunk: &'a [u8]) -> Result<&'a [u8], Error> {
        let read = self.advance(chunk, false)?;
        self.buf.extend_from_slice(&chunk[read..]);
        Ok(&[])
    }

    /// Adds a part of the chunk to the bytes that are kept, until they are read. Returns the rest of the chunk.
    fn feed_after_kept<'a>(&mut self, chunk: &'a [u8]) -> Result<&'a [u8], Error> {
        let mut buf = core::mem::take(&mut self.buf);
        let kept = buf.len();
        // Doubling keeps the cost linear however small the chunks are.
        let wanted = (kept * 2).max(self.retry_at).max(kept + LEAST_ADDED) - kept;
        let added = wanted.min(chunk.len());
        buf.extend_from_slice(&chunk[..added]);
        let read = if buf.len() < self.retry_at { 0 } else { self.advance(&buf, false)? };
        if read >= kept {
            buf.clear();
            self.buf = buf;
            return Ok(&chunk[read - kept..]);
        }
        buf.drain(..read);
        self.buf = buf;
        Ok(&chunk[added..])
    }

    /// Ends the input and returns the table and the diagnostics.
    ///
    /// # Errors
    /// Returns [`Error::Empty`] or [`Error::NotATrace`] if the input has no trace.
    pub(crate) fn finish(mut self) -> Result<(Table, Diagnostics), Error> {
        let buf = core::mem::take(&mut self.buf);
        self.advance(&buf, true)?;
        if matches!(self.state, State::Start) && self.events_read() == 0 {
            return Err(sniff::binary(&self.head));
        }
        if !self.found_events {
            return Err(sniff::object(&self.table.metadata, &self.dropped_keys).at(self.offset));
        }
        let strange = self.events_read() == 0 && !self.first_non_event.is_empty();
        let phaseless = self.diagnostics.count(Code::MissingPhase) == self.events_read() as u64;
        if self.lines && phaseless {
            return Err(sniff::lines());
        }
        if self.bare && (strange || (phaseless && self.events_read() > 0)) {
            let first = if strange { self.first_non_event.as_slice() } else { b"{" };
            return Err(sniff::array(first));
        }
        if !self.lines && !matches!(self.state, State::After | State::Full) {
            self.diagnostics.record(Code::Unclosed, Some(self.offset), b"");
        }
        Ok((self.table, self.diagnostics))
    }

    /// Reads `buf`. Returns the number of bytes that were read; the rest needs more bytes.
    fn advance(&mut self, buf: &[u8], finished: bool) -> Result<usize, Error> {
        let mut at = 0;
        let read = loop {
            let progress = match self.state {
                State::Start => self.start(buf, at, finished)?,
                State::Key => self.key(buf, at, finished),
                State::Events => self.event(buf, at, finished),
                State::Resync => self.resync(buf, at, finished),
                State::Skip { .. } => self.skip(buf, at),
                State::After => self.after(buf, at, finished),
                State::Full => Progress::More(buf.len()),
            };
            match progress {
                Progress::To(to) => {
                    at = to;
                    if self.table.len() >= self.check_at {
                        self.check_memory(at);
                    }
                }
                Progress::More(from) => break from,
            }
        };
        let kept = buf.len() - read;
        self.retry_at = if kept > 4096 { kept * 2 } else { 0 };
        self.offset += if finished { buf.len() } else { read } as u64;
        Ok(read)
    }

    fn check_memory(&mut self, at: usize) {
        self.check_at = next_check(&self.table);
        if memory_in_the_end(&self.table) > self.limits.memory_bytes {
            self.diagnostics.record(Code::MemoryLimit, Some(self.offset + at as u64), b"");
            self.state = State::Full;
        }
    }

    /// Whether the memory limit was reached. Further input is ignored.
    pub(crate) fn is_full(&self) -> bool {
        self.state == State::Full
    }

    /// Whether to wait for more bytes before a diagnostic is recorded, because its example must not depend on the
    /// chunks.
    fn waits(buf: &[u8], at: usize, finished: bool) -> bool {
        !finished && buf.len() < at + EXAMPLE_BYTES
    }

    fn note(&mut self, code: Code, buf: &[u8], at: usize) {
        let example = &buf[at.min(buf.len())..(at + EXAMPLE_BYTES).min(buf.len())];
        self.diagnostics.record(code, Some(self.offset + at as u64), example);
    }

    fn start(&mut self, buf: &[u8], at: usize, finished: bool) -> Result<Progress, Error> {
        let at = skip_space(buf, at);
        match buf.get(at) {
            None => return Ok(Progress::More(at)),
            Some(b'[') => {
                self.bare = true;
                self.table.metadata.bare_array = true;
                self.begin_events();
            }
            Some(b'{') => return Ok(self.first_object(buf, at, finished)),
            Some(_) if self.head.len() < HEAD && !finished => return Ok(Progress::More(at)),
            Some(_) => return Err(sniff::binary(&self.head)),
        }
        Ok(Progress::To(at + 1))
    }

    /// Reads an element of the array of events.
    fn event(&mut self, buf: &[u8], at: usize, finished: bool) -> Progress {
        let (at, commas) = skip_separators(buf, at);
        self.commas += commas;
        let Some(&b) = buf.get(at) else { return Progress::More(at) };
        self.end_separators(b, self.offset + at as u64);
        match b {
            b']' if self.in_list => {
                self.in_list = false;
                self.expects_comma = true;
                Progress::To(at + 1)
            }
            b']' => {
                self.state = if self.bare { State::After } else { State::Key };
                Progress::To(at + 1)
            }
            b'[' if self.table.metadata.source == Source::LegacyRecords && !self.in_list => {
                self.in_list = true;
                self.is_opened = true;
                self.table.metadata.lists.push(self.table.len());
                Progress::To(at + 1)
            }
            b'{' => {
                self.stray = false;
                self.object(buf, at, finished)
            }
            b'[' | b'"' | b'-' | b'0'..=b'9' | b'n' | b't' | b'f' => self.non_event(buf, at, finished),
            _ => self.stray_byte(buf, at, finished),
        }
    }

    /// Counts missing and superfluous commas before a byte that ends the separators.
    fn end_separators(&mut self, byte: u8, offset: u64) {
        let code = match self.commas {
            0 if self.expects_comma && !self.lines && matches!(byte, b'{' | b'[' | b'"') => {
                Some(Code::MissingComma)
            }
            0 => None,
            n if n > 1 || byte == b']' || self.is_opened => Some(Code::TrailingComma),
            _ => None,
        };
        if let Some(code) = code {
            self.diagnostics.record(code, Some(offset), b"");
        }
        // Damage between events is counted where it is found; its commas are not counted.
        self.commas = 0;
        self.expects_comma = false;
        self.is_opened = false;
    }

    /// Continues after the bracket that opens the array of events.
    fn begin_events(&mut self) {
        self.found_events = true;
        self.is_opened = true;
        self.state = State::Events;
    }

    fn object(&mut self, buf: &[u8], at: usize, finished: bool) -> Progress {
        let stop = match self.events.read(&mut self.table, buf, at) {
            Ok(end) => {
                self.commit(buf, at, end);
                return Progress::To(end);
            }
            Err(stop) => stop,
        };
        if stop == Stop::Damaged {
            return self.damaged(buf, at, finished);
        }
        if stop == Stop::More && !finished && buf.len() - at <= self.limits.event_bytes {
            return Progress::More(at);
        }
        if stop == Stop::More && finished {
            return self.damaged(buf, at, finished);
        }
        let code = match stop {
            Stop::TooDeep => Code::NestingTooDeep,
            Stop::TooLong => Code::NameTooLong,
            _ => Code::EventTooLarge,
        };
        self.skip_event(code, buf, at, finished)
    }

    /// Appends the event that was read from `at` to `end`.
    fn commit(&mut self, buf: &[u8], at: usize, end: usize) {
        let offset = self.offset + at as u64;
        self.events.commit(&mut self.table, &mut self.diagnostics, offset, &buf[at..end]);
        self.expects_comma = true;
    }

    fn after(&mut self, buf: &[u8], at: usize, finished: bool) -> Progress {
        let at = skip_space(buf, at);
        match buf.get(at) {
            None => Progress::More(at),
            Some(b'{' | b'[') if Reader::waits(buf, at, finished) => Progress::More(at),
            Some(b'{') if !self.found_events && find_event(buf, at) == Found::Event(at) => {
                // A first event that is damaged was read as members of the document.
                if self.table.metadata.text("ph").is_some() {
                    self.diagnostics.record(Code::DamagedEvent, Some(0), b"");
                }
                self.begin_lines();
                Progress::To(at)
            }
            Some(b'{' | b'[') => {
                self.note(Code::TrailingDocument, buf, at);
                self.stray = false;
                // A single event after the array belongs to it.
                if find_event(buf, at) == Found::Event(at) {
                    self.state = State::Events;
                    return Progress::To(at);
                }
                self.state = State::Key;
                if buf[at] == b'[' {
                    self.begin_events();
                }
                Progress::To(at + 1)
            }
            Some(_) => self.stray_byte(buf, at, finished),
        }
    }
}
