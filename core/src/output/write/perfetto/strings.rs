//! Interned strings: each is written before its first use, and its id is that of the table's string plus one.

use super::message::{bytes, message, number};
use crate::base::names::{NameId, Names};
use alloc::vec::Vec;

/// What an interned string is: its field of `InternedData`.
#[derive(Clone, Copy)]
pub(super) enum InternedField {
    Category = 1,
    EventName = 2,
    ArgumentName = 3,
    ArgumentText = 29,
}

/// Which strings were written, and those that the next packet has to write.
#[derive(Debug, Default)]
pub(super) struct Strings {
    /// One bit for each kind, by string.
    written: Vec<u8>,
    /// The `InternedData` of the next packet.
    pub(super) new: Vec<u8>,
}

impl Strings {
    /// Returns the id of a string. Adds it to the next packet if it is new.
    pub(super) fn id(&mut self, kind: InternedField, name: NameId, names: &Names) -> u64 {
        let bit = match kind {
            InternedField::Category => 1,
            InternedField::EventName => 2,
            InternedField::ArgumentName => 4,
            InternedField::ArgumentText => 8,
        };
        let at = name.0 as usize;
        if self.written.len() <= at {
            self.written.resize(names.len(), 0);
        }
        let id = u64::from(name.0) + 1;
        if self.written[at] & bit == 0 {
            self.written[at] |= bit;
            message(&mut self.new, kind as u32, |entry| {
                number(entry, 1, id);
                bytes(entry, 2, names.get(name).as_bytes());
            });
        }
        id
    }
}
