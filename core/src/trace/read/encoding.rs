//! Converts text from UTF-16 to UTF-8 and strips byte order marks, in chunks of any size.

use crate::base::diagnostics::{Code, Diagnostics};
use alloc::vec::Vec;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Unknown,
    Utf8,
    Utf16 { big_endian: bool },
}

/// Converts chunks of text to UTF-8. UTF-8 input is passed on unchanged, valid or not.
#[derive(Clone, Debug)]
pub(crate) struct Decoder {
    form: Form,
    pending: Vec<u8>,
    high: Option<u16>,
    seen: u64,
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder { form: Form::Unknown, pending: Vec::new(), high: None, seen: 0 }
    }
}

impl Decoder {
    /// Whether chunks are passed on unchanged.
    pub(crate) fn is_utf8(&self) -> bool {
        self.form == Form::Utf8
    }

    /// Returns `chunk` as UTF-8: a part of it, or what is written to `out`.
    pub(crate) fn feed<'a>(
        &mut self,
        chunk: &'a [u8],
        out: &'a mut Vec<u8>,
        diagnostics: &mut Diagnostics,
    ) -> &'a [u8] {
        if self.form == Form::Unknown && self.pending.is_empty() && chunk.len() >= 4 {
            let mark = self.choose(chunk, diagnostics);
            return self.feed(&chunk[mark..], out, diagnostics);
        }
        if self.form == Form::Utf8 {
            return chunk;
        }
        out.clear();
        self.pending.extend_from_slice(chunk);
        if self.form == Form::Unknown && self.pending.len() >= 4 {
            self.choose_pending(diagnostics);
        }
        self.drain(out, diagnostics);
        out
    }

    /// Appends the pending bytes.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>, diagnostics: &mut Diagnostics) {
        if self.form == Form::Unknown {
            self.choose_pending(diagnostics);
        }
        self.drain(out, diagnostics);
        if self.high.take().is_some() || !self.pending.is_empty() {
            diagnostics.record(Code::InvalidUtf8, Some(self.seen), &self.pending);
            out.extend_from_slice("\u{fffd}".as_bytes());
            self.pending.clear();
        }
    }

    fn choose_pending(&mut self, diagnostics: &mut Diagnostics) {
        let pending = core::mem::take(&mut self.pending);
        let mark = self.choose(&pending, diagnostics);
        self.pending = pending;
        self.pending.drain(..mark);
    }

    /// Chooses the form by the first bytes. Returns the length of the byte order mark.
    fn choose(&mut self, head: &[u8], diagnostics: &mut Diagnostics) -> usize {
        let (form, mark) = match head {
            [0xef, 0xbb, 0xbf, ..] => (Form::Utf8, 3),
            [0xff, 0xfe, ..] => (Form::Utf16 { big_endian: false }, 2),
            [0xfe, 0xff, ..] => (Form::Utf16 { big_endian: true }, 2),
            [b'{' | b'[', 0, ..] => (Form::Utf16 { big_endian: false }, 0),
            [0, b'{' | b'[', ..] => (Form::Utf16 { big_endian: true }, 0),
            _ => (Form::Utf8, 0),
        };
        match form {
            Form::Utf16 { .. } => diagnostics.record(Code::Utf16, Some(0), b""),
            _ if mark > 0 => diagnostics.record(Code::ByteOrderMark, Some(0), b""),
            _ => {}
        }
        self.form = form;
        self.seen = mark as u64;
        mark
    }

    fn drain(&mut self, out: &mut Vec<u8>, diagnostics: &mut Diagnostics) {
        match self.form {
            Form::Unknown => {}
            Form::Utf8 => out.append(&mut self.pending),
            Form::Utf16 { big_endian } => {
                let complete_bytes = self.pending.len() / 2 * 2;
                for at in (0..complete_bytes).step_by(2) {
                    let bytes = [self.pending[at], self.pending[at + 1]];
                    let unit = if big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
                    self.unit(unit, out, diagnostics);
                    self.seen += 2;
                }
                self.pending.drain(..complete_bytes);
            }
        }
    }

    fn unit(&mut self, unit: u16, out: &mut Vec<u8>, diagnostics: &mut Diagnostics) {
        let mut push = |c: char| out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        if let Some(high) = self.high.take() {
            if let Some(Ok(c)) = char::decode_utf16([high, unit]).next() {
                push(c);
                return;
            }
            diagnostics.record(Code::LoneSurrogate, Some(self.seen), b"");
            push('\u{fffd}');
        }
        if (0xd800..0xdc00).contains(&unit) {
            self.high = Some(unit);
            return;
        }
        let c = char::from_u32(u32::from(unit));
        if c.is_none() {
            diagnostics.record(Code::LoneSurrogate, Some(self.seen), b"");
        }
        push(c.unwrap_or('\u{fffd}'));
    }
}
