//! Reading and writing of varints, texts and blocks.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// Appends values to a file.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn unsigned(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(crate) fn signed(&mut self, value: i64) {
        self.unsigned(((value << 1) ^ (value >> 63)) as u64);
    }

    /// A value or nothing.
    pub(crate) fn optional(&mut self, value: Option<i64>) {
        self.unsigned(u64::from(value.is_some()));
        if let Some(value) = value {
            self.signed(value);
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.unsigned(text.len() as u64);
        self.raw(text.as_bytes());
    }

    /// The number of items, then each of them.
    pub(crate) fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Writer, &T)) {
        self.unsigned(items.len() as u64);
        for item in items {
            write(self, item);
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads values from a file; `None` where they are damaged.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn raw(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        Some(self.raw(1)?[0])
    }

    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A value or nothing; the outer `None` is damage.
    #[expect(clippy::option_option, reason = "damage and absence differ")]
    pub(crate) fn optional(&mut self) -> Option<Option<i64>> {
        match self.unsigned()? {
            0 => Some(None),
            _ => self.signed().map(Some),
        }
    }

    /// A length and as many bytes.
    pub(crate) fn block(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.unsigned()?).ok()?;
        self.raw(length)
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        Some(core::str::from_utf8(self.block()?).ok()?.to_owned())
    }

    pub(crate) fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = usize::try_from(self.unsigned()?).ok()?;
        // Each item has at least one byte, so a wrong length ends early.
        let mut items = Vec::with_capacity(length.min(self.len()));
        for _ in 0..length {
            items.push(read(self)?);
        }
        Some(items)
    }
}
