//! Repairs a damaged value into valid JSON text by fixed rules, and counts each repair.
//!
//! | damage | rule |
//! |---|---|
//! | `"` inside a string | a quote ends a string only if a matching `,`, `:`, `}` or `]` follows it |
//! | `\` that does not begin an escape | kept as a literal backslash |
//! | raw control character, bad UTF-8, half a surrogate pair | escaped, U+FFFD, U+FFFD |
//! | `NaN`, `Infinity`, `N/A`, … as a value | becomes a string |
//! | `007`, `+1`, `1.`, `1e400` | becomes a string |
//! | `,` before a closing bracket, missing `,` | dropped, added |
//!
//! Other damage returns [`Stop::Damaged`], and the caller continues at the next event. Texts that hide many begins of events would
//! be scanned again from each of them, so that the bytes that failed repairs have scanned are bounded by those of the file
//! ([`Effort`]). Events beyond that are dropped, as those that cannot be repaired.

use super::escape::unicode_escape;
use super::number::is_finite;
use super::scan::{Stop, next, token_end};
use crate::base::diagnostics::{Code, Diagnostics};
use alloc::vec::Vec;

/// A repaired value.
pub(super) struct Repaired {
    /// Valid JSON.
    pub(super) text: Vec<u8>,
    /// The position after the damaged text.
    pub(super) end: usize,
    /// The diagnostics of the repairs.
    pub(super) codes: Diagnostics,
}

/// The bytes that failed repairs have scanned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    scanned: u64,
    /// Those of the last repair.
    last: u64,
}

/// Failed repairs may scan each byte of the file this many times.
const TIMES: u64 = 16;

/// What they may scan in addition.
const LEAST: u64 = 1 << 20;

impl Effort {
    /// Whether a value at an offset of the file can be repaired.
    fn is_left(self, offset: u64) -> bool {
        self.scanned <= offset.saturating_mul(TIMES).saturating_add(LEAST)
    }

    /// Counts the bytes that the last repair scanned, which is not tried again.
    pub(super) fn fail(&mut self) {
        self.scanned += core::mem::take(&mut self.last);
    }
}

/// Repairs the value that begins at `start`. `finished` means that no bytes follow; `offset` is that of `buf`.
pub(super) fn repair(
    buf: &[u8],
    start: usize,
    depth: usize,
    (finished, offset): (bool, u64),
    effort: &mut Effort,
) -> Result<Repaired, Stop> {
    effort.last = 0;
    if !effort.is_left(offset + start as u64) {
        return Err(Stop::Damaged);
    }
    let mut repairer = Repairer { buf, finished, depth, out: Vec::new(), notes: Vec::new(), reached: start };
    let result = repairer.value(start, 0);
    effort.last = (repairer.reached - start) as u64;
    let end = result?;
    let mut codes = Diagnostics::default();
    for (code, count, at) in repairer.notes {
        let example = &buf[at.saturating_sub(24).max(start)..(at + 48).min(end).max(at)];
        codes.record_many(code, count, Some(offset + at as u64), example);
    }
    Ok(Repaired { text: repairer.out, end, codes })
}

struct Repairer<'a> {
    buf: &'a [u8],
    finished: bool,
    depth: usize,
    out: Vec<u8>,
    /// Each code with its number of occurrences and the position of the first one.
    notes: Vec<(Code, u64, usize)>,
    /// The position up to which the text is scanned, at least.
    reached: usize,
}

impl Repairer<'_> {
    fn note(&mut self, code: Code, at: usize) {
        match self.notes.iter_mut().find(|n| n.0 == code) {
            Some(note) => note.1 += 1,
            None => self.notes.push((code, 1, at)),
        }
    }

    fn value(&mut self, at: usize, depth: usize) -> Result<usize, Stop> {
        match self.buf.get(at).ok_or(Stop::More)? {
            b'{' | b'[' if depth >= self.depth => Err(Stop::TooDeep),
            b'{' => self.container(at, depth, b'}'),
            b'[' => self.container(at, depth, b']'),
            b'"' => self.text(at, Role::Value),
            b',' | b'}' | b']' | b':' => Err(Stop::Damaged),
            _ => self.token(at),
        }
    }

    fn container(&mut self, at: usize, depth: usize, close: u8) -> Result<usize, Stop> {
        self.out.push(self.buf[at]);
        let mut at = at + 1;
        let mut first = true;
        loop {
            let mut commas = 0;
            self.reached = at;
            let (mut b, mut here) = next(self.buf, at)?;
            while b == b',' {
                commas += 1;
                (b, here) = next(self.buf, here + 1)?;
            }
            if commas > usize::from(!first) || (commas > 0 && b == close) {
                self.note(Code::TrailingComma, here);
            }
            if b == close {
                self.out.push(close);
                return Ok(here + 1);
            }
            if !first {
                self.out.push(b',');
                if commas == 0 {
                    self.note(Code::MissingComma, here);
                }
            }
            first = false;
            at = if close == b'}' { self.member(here, depth)? } else { self.value(here, depth + 1)? };
        }
    }

    fn member(&mut self, at: usize, depth: usize) -> Result<usize, Stop> {
        if self.buf[at] != b'"' {
            return Err(Stop::Damaged);
        }
        let end = self.text(at, Role::Key)?;
        let (colon, at) = next(self.buf, end)?;
        if colon != b':' {
            return Err(Stop::Damaged);
        }
        self.out.push(b':');
        let (_, at) = next(self.buf, at + 1)?;
        self.value(at, depth + 1)
    }

    fn token(&mut self, at: usize) -> Result<usize, Stop> {
        let end = token_end(self.buf, at)?;
        let token = &self.buf[at..end];
        if token.is_empty() {
            return Err(Stop::Damaged);
        }
        if matches!(token, b"null" | b"true" | b"false") || is_finite(token) {
            self.out.extend_from_slice(token);
            return Ok(end);
        }
        let word = matches!(
            token,
            b"NaN"
                | b"nan"
                | b"-NaN"
                | b"-nan"
                | b"Infinity"
                | b"-Infinity"
                | b"+Infinity"
                | b"inf"
                | b"-inf"
                | b"+inf"
                | b"N/A"
                | b"n/a"
                | b"None"
                | b"True"
                | b"False"
                | b"undefined"
        );
        let number_like = token.iter().all(|b| b.is_ascii_digit() || b"+-.eExX".contains(b));
        if !word && !number_like {
            return Err(Stop::Damaged);
        }
        self.note(if word { Code::BareWord } else { Code::BadNumber }, at);
        self.out.push(b'"');
        self.out.extend_from_slice(token);
        self.out.push(b'"');
        Ok(end)
    }

    /// Repairs a string whose opening quote is at `at`.
    fn text(&mut self, at: usize, role: Role) -> Result<usize, Stop> {
        self.out.push(b'"');
        let mut i = at + 1;
        loop {
            self.reached = i;
            let b = *self.buf.get(i).ok_or(Stop::More)?;
            i = match b {
                b'"' if self.ends_text(i, role)? => {
                    self.out.push(b'"');
                    return Ok(i + 1);
                }
                b'"' => {
                    self.note(Code::UnescapedQuote, i);
                    self.out.extend_from_slice(b"\\\"");
                    i + 1
                }
                b'\\' => self.backslash(i, role)?,
                0..0x20 => {
                    self.note(Code::ControlCharacter, i);
                    let hex = b"0123456789abcdef";
                    self.out.extend_from_slice(b"\\u00");
                    self.out.extend([hex[usize::from(b >> 4)], hex[usize::from(b & 15)]]);
                    i + 1
                }
                0x20..0x80 => {
                    self.out.push(b);
                    i + 1
                }
                _ => self.multibyte(i)?,
            };
        }
    }

    fn backslash(&mut self, at: usize, role: Role) -> Result<usize, Stop> {
        let Some(&escape) = self.buf.get(at + 1) else { return Err(Stop::More) };
        match escape {
            // A backslash before the closing quote of the string is literal: `"C:\"`.
            b'"' if self.is_strict_end(at + 1, role)? => {}
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                self.out.extend([b'\\', escape]);
                return Ok(at + 2);
            }
            b'u' => {
                let rest = &self.buf[at..];
                if rest.len() < 12 && !self.finished {
                    return Err(Stop::More);
                }
                if let Some((_, length)) = unicode_escape(rest) {
                    self.out.extend_from_slice(&rest[..length]);
                    return Ok(at + length);
                }
                if rest.len() >= 6 && rest[2..6].iter().all(u8::is_ascii_hexdigit) {
                    self.note(Code::LoneSurrogate, at);
                    self.out.extend_from_slice("\u{fffd}".as_bytes());
                    return Ok(at + 6);
                }
            }
            _ => {}
        }
        self.note(Code::UnescapedBackslash, at);
        self.out.extend_from_slice(b"\\\\");
        Ok(at + 1)
    }

    fn multibyte(&mut self, at: usize) -> Result<usize, Stop> {
        let rest = &self.buf[at..(at + 4).min(self.buf.len())];
        let valid = match core::str::from_utf8(rest) {
            Ok(text) => text.len(),
            Err(e) => e.valid_up_to(),
        };
        if valid > 0 {
            let text = core::str::from_utf8(&rest[..valid]).unwrap_or_default();
            let length = text.chars().next().map_or(1, char::len_utf8);
            self.out.extend_from_slice(&rest[..length]);
            return Ok(at + length);
        }
        if rest.len() < 4 && !self.finished {
            return Err(Stop::More);
        }
        self.note(Code::InvalidUtf8, at);
        self.out.extend_from_slice("\u{fffd}".as_bytes());
        Ok(at + 1)
    }

    /// Whether the quote at `at` ends its string, judged by the bytes after it.
    fn ends_text(&self, at: usize, role: Role) -> Result<bool, Stop> {
        let (b, here) = match next(self.buf, at + 1) {
            Err(Stop::More) if self.finished => return Ok(true),
            other => other?,
        };
        Ok(match (role, b) {
            (Role::Key, b':') | (Role::Value, b'}' | b']') => true,
            (Role::Value, b',') => self.element_follows(here + 1)?,
            // A comma is missing and the next key is on a line of its own.
            (Role::Value, b'"') => self.buf[at + 1..here].contains(&b'\n'),
            _ => false,
        })
    }

    /// Whether the text after a comma can be the next member or element.
    fn element_follows(&self, at: usize) -> Result<bool, Stop> {
        let (b, here) = match next(self.buf, at) {
            Err(Stop::More) if self.finished => return Ok(true),
            other => other?,
        };
        if b != b'"' {
            return Ok(!b.is_ascii_alphabetic() || self.word_follows(here)?);
        }
        // `", "` inside a name looks like an end. A real end is followed by a key and a colon, or by another string of
        // an array.
        let mut i = here + 1;
        while let Some(&b) = self.buf.get(i) {
            match b {
                b'\\' => i += 1,
                b'"' => break,
                _ => {}
            }
            i += 1;
        }
        match next(self.buf, i + 1) {
            Err(Stop::More) if self.finished => Ok(true),
            Err(stop) => Err(stop),
            Ok((b, _)) => Ok(matches!(b, b':' | b',' | b']')),
        }
    }

    fn word_follows(&self, at: usize) -> Result<bool, Stop> {
        let end = match token_end(self.buf, at) {
            Err(Stop::More) if self.finished => self.buf.len(),
            other => other?,
        };
        Ok(matches!(
            &self.buf[at..end],
            b"null" | b"true" | b"false" | b"NaN" | b"Infinity" | b"N/A" | b"nan" | b"inf"
        ))
    }

    /// Whether the quote at `at` must end its string, because a comma, a key and a colon follow.
    fn is_strict_end(&self, at: usize, role: Role) -> Result<bool, Stop> {
        let found = self.next_key_end(at, role);
        if found == Err(Stop::More) && self.finished { Ok(false) } else { found }
    }

    fn next_key_end(&self, at: usize, role: Role) -> Result<bool, Stop> {
        let (comma, here) = next(self.buf, at + 1)?;
        if role != Role::Value || comma != b',' {
            return Ok(false);
        }
        let (quote, key) = next(self.buf, here + 1)?;
        if quote != b'"' {
            return Ok(false);
        }
        let end = self.buf[key + 1..].iter().position(|&b| b == b'"').ok_or(Stop::More)?;
        Ok(next(self.buf, key + 2 + end)?.0 == b':')
    }
}

/// The role of a string in its object.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Key,
    Value,
}
