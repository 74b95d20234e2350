//! Handling of damaged events and non-events: repair them, skip them, or search for the next event.

use super::{Progress, Reader, Resume, State};
use crate::base::diagnostics::Code;
use crate::trace::read::repair::repair;
use crate::trace::read::scan::{Found, Stop, container_end, find_event, text_end, token_end};
use crate::trace::table::metadata::Source;

impl Reader {
    /// Skips an event that exceeds a limit.
    pub(super) fn skip_event(&mut self, code: Code, buf: &[u8], at: usize, finished: bool) -> Progress {
        if Reader::waits(buf, at, finished) {
            return Progress::More(at);
        }
        self.note(code, buf, at);
        self.state = State::Skip { depth: 0, in_text: false, escaped: false, resume: Resume::Events };
        Progress::To(at)
    }

    pub(super) fn damaged(&mut self, buf: &[u8], at: usize, finished: bool) -> Progress {
        match self.repaired(buf, at, finished) {
            Ok(end) => Progress::To(end),
            Err(Stop::More) if !finished && buf.len() - at <= self.limits.event_bytes => Progress::More(at),
            Err(Stop::TooDeep) => self.skip_event(Code::NestingTooDeep, buf, at, finished),
            Err(_) if Reader::waits(buf, at, finished) => Progress::More(at),
            Err(stop) => {
                self.effort.fail();
                let last = stop == Stop::More && !matches!(find_event(buf, at + 1), Found::Event(_));
                self.note(if last { Code::Truncated } else { Code::DamagedEvent }, buf, at);
                self.state = State::Resync;
                Progress::To(at + 1)
            }
        }
    }

    /// Repairs the event at `at`, appends it and returns the position after it.
    fn repaired(&mut self, buf: &[u8], at: usize, finished: bool) -> Result<usize, Stop> {
        let end = buf.len().min(at + self.limits.event_bytes + 1);
        let is_whole = end == buf.len();
        let input = (finished && is_whole, self.offset);
        let repaired = repair(&buf[..end], at, self.limits.depth, input, &mut self.effort);
        let repaired = repaired.map_err(|stop| if is_whole { stop } else { Stop::Damaged })?;
        self.events.read(&mut self.table, &repaired.text, 0).map_err(|_| Stop::Damaged)?;
        if self.events.ph() == 0 && self.table.metadata.source == Source::Chrome {
            self.events.discard(&mut self.table);
            return Err(Stop::Damaged);
        }
        self.commit(buf, at, repaired.end);
        self.diagnostics.append(&repaired.codes);
        Ok(repaired.end)
    }

    /// Searches for the next event after damage.
    pub(super) fn resync(&mut self, buf: &[u8], at: usize, finished: bool) -> Progress {
        let candidate = match find_event(buf, at) {
            Found::Event(candidate) => candidate,
            Found::Perhaps(start) if !finished && buf.len() - start <= self.limits.event_bytes => {
                return Progress::More(start);
            }
            Found::Perhaps(start) => return Progress::To(start + 1),
            Found::Nothing => return Progress::More(buf.len()),
        };
        match self.events.read(&mut self.table, buf, candidate) {
            Ok(end) if self.events.ph() != 0 => {
                self.commit(buf, candidate, end);
                self.state = State::Events;
                Progress::To(end)
            }
            Ok(_) => {
                self.events.discard(&mut self.table);
                Progress::To(candidate + 1)
            }
            Err(Stop::More) if !finished && buf.len() - candidate <= self.limits.event_bytes => {
                Progress::More(candidate)
            }
            Err(_) => match self.repaired(buf, candidate, finished) {
                Ok(end) => {
                    self.state = State::Events;
                    Progress::To(end)
                }
                Err(Stop::More) if !finished && buf.len() - candidate <= self.limits.event_bytes => {
                    Progress::More(candidate)
                }
                Err(_) => {
                    self.effort.fail();
                    Progress::To(candidate + 1)
                }
            },
        }
    }

    pub(super) fn non_event(&mut self, buf: &[u8], at: usize, finished: bool) -> Progress {
        let end = match buf[at] {
            b'"' => text_end(buf, at + 1).map(|(end, _)| end + 1),
            b'[' => container_end(buf, at, self.limits.depth),
            _ => token_end(buf, at),
        };
        match end {
            Err(Stop::More) if !finished && buf.len() - at <= self.limits.event_bytes => Progress::More(at),
            _ if Reader::waits(buf, at, finished) => Progress::More(at),
            result => {
                self.expects_comma = true;
                if self.first_non_event.is_empty() {
                    self.first_non_event.push(buf[at]);
                }
                self.note(Code::NotAnObject, buf, at);
                match result {
                    Ok(end) if end > at => Progress::To(end),
                    _ => {
                        self.state = State::Resync;
                        Progress::To(at + 1)
                    }
                }
            }
        }
    }

    pub(super) fn stray_byte(&mut self, buf: &[u8], at: usize, finished: bool) -> Progress {
        if !self.stray && Reader::waits(buf, at, finished) {
            return Progress::More(at);
        }
        if !self.stray {
            self.note(Code::StrayBytes, buf, at);
        }
        self.stray = true;
        Progress::To(at + 1)
    }

    pub(super) fn skip(&mut self, buf: &[u8], mut at: usize) -> Progress {
        let State::Skip { mut depth, mut in_text, mut escaped, resume } = self.state else {
            return Progress::To(at);
        };
        while let Some(&b) = buf.get(at) {
            at += 1;
            if in_text {
                in_text = escaped || b != b'"';
                escaped = !escaped && b == b'\\';
                continue;
            }
            match b {
                b'"' => in_text = true,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && matches!(b, b'}' | b']') {
                self.state = match resume {
                    Resume::Key => State::Key,
                    Resume::Events => State::Events,
                };
                self.expects_comma = true;
                return Progress::To(at);
            }
        }
        self.state = State::Skip { depth, in_text, escaped, resume };
        Progress::More(at)
    }
}
