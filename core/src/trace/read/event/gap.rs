//! The text between the values of an event: punctuation, white space, a key, and `ph` and `cat` with their values.

use super::EventReader;
use crate::base::names::NameId;
use crate::trace::read::scan::{Stop, next, text_end};
use crate::trace::table::events::Table;
use crate::trace::table::layout::{FieldPlace, is_phase};

/// What a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Slot {
    Name,
    Pid,
    Tid,
    Start,
    Duration,
    Field {
        key: NameId,
        place: FieldPlace,
    },
    /// There is no value: the event has ended.
    #[default]
    End,
}

impl Slot {
    /// Whether a value of this slot can begin at `at`.
    #[inline]
    pub(super) fn begins(self, buf: &[u8], at: usize) -> bool {
        match self {
            Slot::End => true,
            Slot::Name => buf.get(at) == Some(&b'"'),
            _ => buf.get(at).is_some_and(|&b| b > b' '),
        }
    }
}

/// What the text between two values says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Gap {
    /// Whether any of the next four is part of the text.
    pub(super) has_values: bool,
    pub(super) ph: Option<u8>,
    pub(super) cat: Option<NameId>,
    pub(super) pid: Option<NameId>,
    pub(super) tid: Option<NameId>,
    /// The value that follows.
    pub(super) slot: Slot,
    /// Whether the same text means the same before any value that the slot can have.
    pub(super) repeats: bool,
    /// The keys of columns in the text, one bit for each, and whether one of them occurs twice.
    pub(super) keys: u8,
    pub(super) has_key_twice: bool,
}

/// The keys of the columns of the table.
const COLUMNS: [&[u8]; 7] = [b"ph", b"cat", b"pid", b"tid", b"ts", b"dur", b"name"];

impl Gap {
    fn add_key(&mut self, key: &[u8]) {
        let bit = COLUMNS.iter().position(|column| *column == key).map_or(0, |at| 1 << at);
        self.has_key_twice |= self.keys & bit != 0;
        self.keys |= bit;
    }
}

impl EventReader {
    /// Parses the text from `at` to the next value. Returns it with the position of the value, or the position after the
    /// event. `last` is the slot of the value before; `None` at the start of the event, after its bracket. `joins_ids` makes the
    /// ids of the track a part of the text.
    pub(super) fn parse_gap(
        &mut self,
        table: &mut Table,
        buf: &[u8],
        mut at: usize,
        last: Option<Slot>,
        joins_ids: bool,
    ) -> Result<(Gap, usize), Stop> {
        let mut gap = Gap { repeats: true, ..Gap::default() };
        let mut is_first = last.is_none();
        let mut in_args = matches!(last, Some(Slot::Field { place: FieldPlace::Args, .. }));
        loop {
            let (b, quote) = if is_first { next(buf, at)? } else { separator(buf, at)? };
            is_first = false;
            match b {
                b'}' if in_args => {
                    (in_args, at) = (false, quote + 1);
                    continue;
                }
                b'}' => return Ok((gap, quote + 1)),
                b'"' => {}
                _ => return Err(Stop::Damaged),
            }
            let (end, escaped) = text_end(buf, quote + 1)?;
            let key = &buf[quote + 1..end];
            let (colon, after) = next(buf, end + 1)?;
            if colon != b':' {
                return Err(Stop::Damaged);
            }
            let (first, value) = next(buf, after + 1)?;
            if in_args {
                gap.slot = Slot::Field { key: self.intern(table, key, escaped)?, place: FieldPlace::Args };
                return Ok((gap, value));
            }
            gap.add_key(key);
            if key == b"args" && first == b'{' {
                (in_args, is_first, at) = (true, true, value + 1);
            } else if let Some(end) = self.joined(table, buf, key, value, joins_ids, &mut gap)? {
                (gap.has_values, at) = (true, end);
            } else {
                self.slot(table, key, escaped, first, &mut gap)?;
                return Ok((gap, value));
            }
        }
    }

    /// Reads a value that is part of the text of the gap. Returns the position after it, or `None` if it is not.
    fn joined(
        &mut self,
        table: &mut Table,
        buf: &[u8],
        key: &[u8],
        value: usize,
        joins_ids: bool,
        gap: &mut Gap,
    ) -> Result<Option<usize>, Stop> {
        match key {
            b"ph" if buf[value] == b'"' => {
                let end = text_end(buf, value + 1)?.0;
                gap.ph = match buf[value + 1..end] {
                    [ph] if is_phase(ph) => Some(ph),
                    _ => return Ok(None),
                };
                Ok(Some(end + 1))
            }
            b"cat" if buf[value] == b'"' => {
                let (cat, end) = self.text(table, buf, value)?;
                gap.cat = Some(cat);
                Ok(Some(end))
            }
            b"pid" | b"tid" if joins_ids => {
                let (id, end) = self.id(table, buf, value)?;
                *(if key == b"pid" { &mut gap.pid } else { &mut gap.tid }) = Some(id);
                Ok(Some(end))
            }
            _ => Ok(None),
        }
    }

    /// Chooses the slot of a value outside of `args` by its key and its first byte.
    fn slot(
        &mut self,
        table: &mut Table,
        key: &[u8],
        escaped: bool,
        first: u8,
        gap: &mut Gap,
    ) -> Result<(), Stop> {
        gap.slot = match key {
            b"name" if first == b'"' => Slot::Name,
            b"pid" => Slot::Pid,
            b"tid" => Slot::Tid,
            b"ts" => Slot::Start,
            b"dur" => Slot::Duration,
            _ => Slot::Field { key: self.intern(table, key, escaped)?, place: FieldPlace::Top },
        };
        // These keys mean something else before another value.
        gap.repeats = gap.slot == Slot::Name || !matches!(key, b"ph" | b"cat" | b"args" | b"name");
        Ok(())
    }
}

/// Finds the quote of the next key after a comma, or the closing bracket.
#[inline]
fn separator(buf: &[u8], at: usize) -> Result<(u8, usize), Stop> {
    let (b, at) = next(buf, at)?;
    if b == b',' {
        let (b, at) = next(buf, at + 1)?;
        if b == b'"' { Ok((b, at)) } else { Err(Stop::Damaged) }
    } else if b == b'}' {
        Ok((b, at))
    } else {
        Err(Stop::Damaged)
    }
}
