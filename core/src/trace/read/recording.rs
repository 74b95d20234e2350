//! Reads a recording of Kinetoscope into a table. [`kinetoscope_stream`] specifies the format.
//!
//! Blocks are read one after the other, whatever the chunks. A damaged block is counted, and reading continues at the
//! next valid one. Rows are in the order in which the blocks of their threads were written. Within a thread, a span
//! precedes its children.

mod activities;
mod clock;
mod close;
mod kept;
mod rows;
mod state;
mod tracks;

pub(crate) use state::Recording;

use super::chrome;
use super::limits::{Limits, memory_in_the_end};
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::error::Error;
use crate::trace::table::bounds::count_sizes;
use crate::trace::table::events::Table;
use alloc::format;
use kinetoscope_stream::block::{Block, BlockKind, Found, HEAD_BYTES, MAGIC, find, low_at, u64_at};
use kinetoscope_stream::record::FIRST_NAME;
use serde_json::Value;
use state::Window;

/// The members of the first metadata of a recording.
const HEAD: [&str; 3] = ["recorder", "pid", "clock"];

/// The member with the time that the trace's times are relative to, in ns since 1970.
const BASE: &str = "baseTimeNanoseconds";

/// Whether bytes may be the start of a recording.
pub(crate) fn is_recording(head: &[u8]) -> bool {
    let known = head.len().min(MAGIC.len());
    head[..known] == MAGIC[..known]
}

impl Recording {
    pub(crate) fn new(limits: Limits) -> Recording {
        Recording { limits, ..Recording::default() }
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(crate) fn feed(&mut self, chunk: &[u8]) {
        if self.buffer.is_empty() {
            let read = self.advance(chunk, false);
            self.buffer.extend_from_slice(&chunk[read..]);
            return;
        }
        self.buffer.extend_from_slice(chunk);
        if self.buffer.len() >= self.needed {
            self.advance_buffer(false);
        }
    }

    fn advance_buffer(&mut self, finished: bool) {
        let buffer = core::mem::take(&mut self.buffer);
        let read = self.advance(&buffer, finished);
        self.buffer = buffer;
        self.buffer.drain(..read);
    }

    /// Reads the complete blocks. Returns the number of bytes read.
    fn advance(&mut self, buffer: &[u8], finished: bool) -> usize {
        let mut at = 0;
        self.needed = HEAD_BYTES;
        while at < buffer.len() {
            match find(&buffer[at..]) {
                Found::Block(block) => {
                    self.in_damage = false;
                    if !self.is_full {
                        self.block(block);
                    }
                    at += HEAD_BYTES + block.payload.len();
                    self.offset += (HEAD_BYTES + block.payload.len()) as u64;
                }
                Found::Partial(needed) if !finished => {
                    self.needed = needed;
                    break;
                }
                // An apparent start of a block may be the content of a damaged one, so other blocks may follow.
                found => {
                    let code =
                        if matches!(found, Found::Damage) { Code::StrayBytes } else { Code::Truncated };
                    if !core::mem::replace(&mut self.in_damage, true) {
                        self.diagnostics.record(code, Some(self.offset), b"");
                    }
                    let rest = &buffer[at + 1..];
                    let skip = 1 + rest.iter().position(|&b| b == MAGIC[0]).unwrap_or(rest.len());
                    at += skip;
                    self.offset += skip as u64;
                }
            }
        }
        at
    }

    fn block(&mut self, block: Block<'_>) {
        let payload = block.payload;
        match block.kind {
            BlockKind::Meta => self.meta(payload),
            BlockKind::Clock => {
                for pair in payload.chunks_exact(16) {
                    self.clock.add(u64_at(pair, 0), u64_at(pair, 8) as i64);
                }
            }
            BlockKind::Names => self.names(payload),
            BlockKind::Sites => self.sites(payload),
            BlockKind::Thread => self.thread(block.thread, payload),
            BlockKind::Window => self.window(payload),
            BlockKind::Records => {
                self.records(block.thread, payload);
                self.check_memory();
            }
            BlockKind::Activities => {
                if let Err(code) = self.activities.keep(payload) {
                    self.diagnostics.record(code, Some(self.offset), b"");
                }
                self.check_memory();
            }
            BlockKind::DeviceClock => {
                for pair in payload.chunks_exact(16) {
                    self.activities.clock.add(u64_at(pair, 0), u64_at(pair, 8) as i64);
                }
            }
        }
    }

    fn check_memory(&mut self) {
        if memory_in_the_end(&self.table) + self.activities.heap_bytes() > self.limits.memory_bytes {
            self.diagnostics.record(Code::MemoryLimit, Some(self.offset), b"");
            self.is_full = true;
        }
    }

    /// Reads the members of a `META` block. Each block is validated separately, so that an invalid one does not affect
    /// others.
    fn meta(&mut self, payload: &[u8]) {
        let text = core::str::from_utf8(payload).unwrap_or("");
        let parsed: Option<Value> = serde_json::from_str(&format!("{{{text}}}")).ok();
        let fits = self.members.len() + text.len() <= self.limits.metadata_bytes;
        let Some(parsed) = parsed.filter(|_| fits) else {
            self.diagnostics.record(Code::DamagedMetadata, Some(self.offset), payload);
            return;
        };
        if HEAD.iter().all(|key| parsed.get(key).is_some()) {
            if self.has_begun() {
                self.end_recording();
            }
            self.pid = parsed.get("pid").and_then(Value::as_i64).unwrap_or(0);
            let name = parsed.get("process_name").and_then(Value::as_str);
            self.process_name = name.unwrap_or("").into();
        }
        // All times of the trace are relative to one base, which is the same for three months.
        if let Some(base) = parsed.get(BASE).and_then(Value::as_i64)
            && *self.base.get_or_insert(base) != base
        {
            self.diagnostics.record(Code::DamagedMetadata, Some(self.offset), payload);
            return;
        }
        self.members.push_str(text);
        self.members.push(',');
    }

    fn names(&mut self, payload: &[u8]) {
        let mut rest = payload;
        while rest.len() >= 8 {
            let (id, length) = (low_at(rest, 0), low_at(rest, 4) as usize);
            let Some(text) = rest.get(8..8 + length).and_then(|t| core::str::from_utf8(t).ok()) else {
                self.diagnostics.record(Code::DamagedEvent, Some(self.offset), b"");
                return;
            };
            if id >= FIRST_NAME {
                let name = self.table.names.intern(text);
                self.names.set((i64::from(id), 0), name.0);
            }
            rest = rest.get(8 + length.next_multiple_of(8)..).unwrap_or(&[]);
        }
    }

    fn sites(&mut self, payload: &[u8]) {
        for site in payload.chunks_exact(16) {
            let (id, last) = (low_at(site, 0), low_at(site, 12));
            let name = self.name(low_at(site, 4));
            self.sites.set((i64::from(id), 0), name.0);
            self.sites.set((i64::from(id), 1), last & 255);
        }
    }

    fn thread(&mut self, number: u32, payload: &[u8]) {
        let name = payload.get(8..).and_then(|name| core::str::from_utf8(name).ok()).unwrap_or("");
        let at = self.thread_at(number);
        let id = u64_at(payload, 0);
        if self.threads[at].id == id && id != 0 {
            // The same thread with a better name.
            self.threads[at].name = name.into();
            return;
        }
        let key = (id as i64, self.windows.len() as i64);
        let earlier = self.same_ids.get(key).unwrap_or(0);
        self.same_ids.set(key, earlier + 1);
        let thread = &mut self.threads[at];
        (thread.id, thread.tid) = (id, id.wrapping_add(u64::from(earlier) << 32));
        thread.name = name.into();
    }

    fn window(&mut self, payload: &[u8]) {
        let window =
            Window { start: u64_at(payload, 0), end: u64_at(payload, 8), cycle: u64_at(payload, 16) };
        match self.windows.last_mut() {
            Some(last) if last.start == window.start => *last = window,
            _ => {
                self.windows.push(window);
                let first = i64::try_from(u64_at(payload, 24)).unwrap_or(1);
                self.tail.last_id = self.tail.last_id.max(first - 1);
            }
        }
    }

    /// Whether the recording does not end with the end of a window.
    fn is_cut_off(&self) -> bool {
        self.windows.last().is_none_or(|window| window.end == 0)
    }

    /// Ends the input and returns the table and the diagnostics.
    pub(crate) fn finish(mut self) -> Result<(Table, Diagnostics), Error> {
        self.advance_buffer(true);
        if self.members.is_empty() && self.table.is_empty() {
            let (looks_like, hint) = ("a recording without a complete block", "");
            return Err(Error::NotATrace { looks_like, hint, offset: 0 });
        }
        self.end_recording();
        let mut reader = chrome::Reader::new(self.limits);
        reader.feed(format!("{{{}\"traceEvents\":[]}}", self.members).as_bytes())?;
        let (document, diagnostics) = reader.finish()?;
        self.diagnostics.append(&diagnostics);
        self.table.metadata = document.metadata;
        self.close();
        count_sizes(&self.table, &mut self.diagnostics);
        Ok((self.table, self.diagnostics))
    }
}
