//! Device activities that were read and not yet converted to rows.

use super::clock::Clock;
use crate::base::diagnostics::Code;
use alloc::vec::Vec;
use kinetoscope_stream::activity::{Activity, Record, WORDS};
use kinetoscope_stream::block::u64_at;
use kinetoscope_stream::record::WORD_BYTES;

/// Device activities that were read and not yet converted to rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Activities {
    words: Vec<u64>,
    pub(super) clock: Clock,
}

impl Activities {
    pub(super) fn heap_bytes(&self) -> usize {
        self.words.capacity() * WORD_BYTES
    }

    /// Keeps the activities of a block, up to the first that is cut or of an unknown kind.
    pub(super) fn keep(&mut self, payload: &[u8]) -> Result<(), Code> {
        let mut rest = payload;
        while rest.len() >= WORD_BYTES {
            let length = Record::length(u64_at(rest, 0)) * WORD_BYTES;
            let complete = rest.get(..length).filter(|record| record.len() >= WORDS * WORD_BYTES);
            let record = complete.ok_or(Code::DamagedEvent)?;
            Activity::from_number(record[0]).ok_or(Code::UnknownKind)?;
            self.words.extend(record.chunks_exact(WORD_BYTES).map(|word| u64_at(word, 0)));
            rest = &rest[length..];
        }
        Ok(())
    }

    pub(super) fn records(&self) -> impl Iterator<Item = Record<'_>> {
        let mut rest = self.words.as_slice();
        core::iter::from_fn(move || {
            let (record, behind) = rest.split_at_checked(Record::length(*rest.first()?))?;
            rest = behind;
            Record::parse(record)
        })
    }
}
