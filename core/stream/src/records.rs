//! Iterates over the records of a `RECORDS` block.

use crate::block::u64_at;
use crate::record::{SLOT_BYTES, Short, Tag, WORD_BYTES, Word};

/// A decoded record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The tagged word; that of the long form if the record is a [`Short`].
    pub word: Word,
    /// The time, in ticks.
    pub ticks: u64,
    /// The slots after the head.
    pub args: &'a [u8],
    /// The encoded record.
    pub bytes: &'a [u8],
}

impl Record<'_> {
    /// The kind of the record; `None` if it is unknown.
    pub fn tag(&self) -> Option<Tag> {
        Tag::from_number(self.word.tag)
    }

    /// Whether the record is a [`Short`].
    pub fn is_short(&self) -> bool {
        self.bytes.len() == WORD_BYTES
    }
}

/// An iterator over the records of a block. It ends before an incomplete record.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    base: u64,
    rest: &'a [u8],
    is_damaged: bool,
}

impl<'a> Records<'a> {
    /// Begins with the payload of a `RECORDS` block.
    pub fn new(payload: &'a [u8]) -> Records<'a> {
        Records {
            base: u64_at(payload, 0),
            rest: payload.get(WORD_BYTES..).unwrap_or(&[]),
            is_damaged: false,
        }
    }

    /// Whether the iterator ended before an incomplete record.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        if self.rest.len() < WORD_BYTES {
            return None;
        }
        let first = u64_at(self.rest, 0);
        let (word, ticks, length) = if let Some(short) = Short::decode(first, self.base) {
            (Word::from(short), short.ticks, WORD_BYTES)
        } else {
            let word = Word::decode(first);
            (word, u64_at(self.rest, WORD_BYTES), (1 + usize::from(word.slots)) * SLOT_BYTES)
        };
        let Some((bytes, rest)) = self.rest.split_at_checked(length) else {
            self.is_damaged = true;
            self.rest = &[];
            return None;
        };
        self.rest = rest;
        Some(Record { word, ticks, args: bytes.get(SLOT_BYTES..).unwrap_or(&[]), bytes })
    }
}
