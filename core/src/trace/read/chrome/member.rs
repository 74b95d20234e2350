//! Reads the members of the top-level object: `traceEvents`, and metadata, which is kept as JSON text.
//!
//! A member that is not valid JSON is repaired. A member that cannot be repaired is dropped up to the next line,
//! because Kineto writes one member per line.

use super::{Progress, Reader, Resume, State};
use crate::base::diagnostics::{Code, Diagnostics};
use crate::trace::read::repair::{Effort, repair};
use crate::trace::read::scan::{Stop, container_end, next, skip_space, text_end, token_end};
use crate::trace::table::metadata::Source;
use alloc::string::String;
use alloc::vec::Vec;

/// A repaired member: its key, its value, the position after it, and the diagnostics.
type RepairedMember = (String, Vec<u8>, usize, Diagnostics);

impl Reader {
    /// Reads a member of the top-level object.
    pub(super) fn key(&mut self, buf: &[u8], at: usize, finished: bool) -> Progress {
        let at = skip_space(buf, at);
        match buf.get(at) {
            None => return Progress::More(at),
            Some(b',') => return Progress::To(at + 1),
            Some(b'}') => {
                self.state = State::After;
                return Progress::To(at + 1);
            }
            Some(b'"') => {}
            // The array of events was closed by a stray bracket.
            Some(b'{') if self.found_events => {
                self.diagnostics.record(Code::StrayBytes, Some(self.offset + at as u64), b"]");
                self.state = State::Events;
                return Progress::To(at);
            }
            Some(_) => return self.stray_byte(buf, at, finished),
        }
        self.stray = false;
        match self.member(buf, at) {
            Ok(to) => Progress::To(to),
            Err(Stop::More) if buf.len() - at > self.longest_member() => self.skip_value(buf, at),
            Err(Stop::More) if !finished => Progress::More(at),
            Err(stop) => self.damaged_member(buf, at, finished, stop),
        }
    }

    fn member(&mut self, buf: &[u8], at: usize) -> Result<usize, Stop> {
        let (key_end, _) = text_end(buf, at + 1)?;
        let (colon, after) = next(buf, key_end + 1)?;
        let (first, value) = next(buf, after + 1)?;
        if colon != b':' {
            return Err(Stop::Damaged);
        }
        let key: String = serde_json::from_slice(&buf[at..=key_end]).map_err(|_| Stop::Damaged)?;
        if key == "traceEvents" && first == b'[' {
            self.begin_events();
            return Ok(value + 1);
        }
        if first == b'['
            && let Some(source) = self.records(&key, next(buf, value + 1)?.0)
        {
            self.table.metadata.source = source;
            self.begin_events();
            return Ok(value + 1);
        }
        let end = match first {
            b'"' => text_end(buf, value + 1)?.0 + 1,
            b'[' | b'{' => container_end(buf, value, self.limits.depth)?,
            _ => token_end(buf, value)?,
        };
        // An unescaped quote inside a string ends it too early. The next byte shows this.
        if !matches!(next(buf, end)?.0, b',' | b'}') {
            return Err(Stop::Damaged);
        }
        let text = &buf[value..end];
        let parsed: Result<serde_json::Value, _> = serde_json::from_slice(text);
        if parsed.is_err() {
            return Err(Stop::Damaged);
        }
        self.metadata(key, text);
        Ok(end)
    }

    /// The kind of elements of an array whose content begins with `first`: lists of a legacy profiler's records, the
    /// events of a profiling result, or the nodes of an execution trace.
    fn records(&self, key: &str, first: u8) -> Option<Source> {
        match (key, first) {
            ("threads", b'[') if !self.found_events => Some(Source::LegacyRecords),
            ("events", b'{' | b']') if self.table.metadata.text("trace_start_ns").is_some() => {
                Some(Source::KinetoEvents)
            }
            ("nodes", b'{' | b']') if !self.found_events && self.table.metadata.text("schema").is_some() => {
                Some(Source::ExecutionTrace)
            }
            _ => None,
        }
    }

    fn metadata(&mut self, key: String, text: &[u8]) {
        let text = String::from_utf8_lossy(text).into_owned();
        if key == "baseTimeNanoseconds" {
            self.table.metadata.base_ns = text.trim_matches('"').parse().unwrap_or(0);
        }
        self.table.metadata.trailing += usize::from(self.found_events);
        self.table.metadata.entries.push((key, text));
    }

    /// The longest member that is held in memory, in bytes.
    fn longest_member(&self) -> usize {
        self.limits.metadata_bytes.min(self.limits.memory_bytes)
    }

    /// Repairs a member of the top-level object that is not valid JSON, or drops it up to the next line.
    fn damaged_member(&mut self, buf: &[u8], at: usize, finished: bool, stop: Stop) -> Progress {
        let line = buf[at..].iter().position(|&b| b == b'\n').map(|n| at + n + 1);
        if line.is_none() && buf.len() - at > self.longest_member() {
            self.effort.fail();
            self.note(Code::DamagedMetadata, buf, at);
            return Progress::To(buf.len());
        }
        if !finished && (line.is_none() || Reader::waits(buf, at, finished)) {
            return Progress::More(at);
        }
        let line = line.unwrap_or(buf.len());
        match self.repair_member(buf, at, line, finished) {
            Ok((key, text, end, codes)) => {
                self.diagnostics.append(&codes);
                self.metadata(key, &text);
                Progress::To(end)
            }
            Err(Stop::More) if !finished => Progress::More(at),
            Err(_) => {
                self.effort.fail();
                self.note(if stop == Stop::More { Code::Truncated } else { Code::DamagedMetadata }, buf, at);
                Progress::To(line)
            }
        }
    }

    fn repair_member(
        &mut self,
        buf: &[u8],
        at: usize,
        line: usize,
        finished: bool,
    ) -> Result<RepairedMember, Stop> {
        let (key, key_codes, colon) = self.repair_key(buf, at, line)?;
        let value = next(buf, colon + 1)?.1;
        let mut repaired = repair(buf, value, self.limits.depth, (finished, self.offset), &mut self.effort)?;
        repaired.codes.append(&key_codes);
        Ok((key, repaired.text, repaired.end, repaired.codes))
    }

    /// Reads a key whose backslashes may be unescaped, and the position of its colon. The key must end on its line.
    fn repair_key(&self, buf: &[u8], at: usize, line: usize) -> Result<(String, Diagnostics, usize), Stop> {
        let mut quote = at + 1;
        loop {
            let rest = buf.get(quote..line).ok_or(Stop::Damaged)?;
            quote += rest.iter().position(|&b| b == b'"').ok_or(Stop::Damaged)?;
            if let Ok((b':', colon)) = next(&buf[..line], quote + 1) {
                let array = [b"[", &buf[at..=quote], b"]"].concat();
                let repaired = repair(&array, 0, 4, (true, self.offset + at as u64), &mut Effort::default())?;
                let [key]: [String; 1] = serde_json::from_slice(&repaired.text).map_err(|_| Stop::Damaged)?;
                return Ok((key, repaired.codes, colon));
            }
            quote += 1;
        }
    }

    fn skip_value(&mut self, buf: &[u8], at: usize) -> Progress {
        self.note(Code::DamagedMetadata, buf, at);
        if let Ok((end, _)) = text_end(buf, at + 1) {
            self.dropped_keys.push(String::from_utf8_lossy(&buf[at + 1..end]).into_owned());
            self.state = State::Skip { depth: 0, in_text: false, escaped: false, resume: Resume::Key };
            return Progress::To(end + 1);
        }
        self.stray_byte(buf, at, true)
    }
}
