//! The packed values of all fields: a growing byte sequence and the start of each event's part.
//!
//! An event's part holds up to two LEB128 varints per field, in the order of its layout. Integers are zigzag-coded.

use super::column::Column;
use super::layout::{Field, FieldType};
use crate::base::index::Index;
use crate::base::names::{NameId, Names};
use crate::base::rows::quote;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

fn decimal(digits: i64, decimals: u32) -> String {
    let magnitude = digits.unsigned_abs().to_string();
    let decimals = decimals as usize;
    let zeros = "0".repeat((decimals + 1).saturating_sub(magnitude.len()));
    let padded = zeros + &magnitude;
    let (integer, fraction) = padded.split_at(padded.len() - decimals);
    let sign = if digits < 0 { "-" } else { "" };
    [sign, integer, ".", fraction].concat()
}

/// A value of an event's field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// `digits` divided by ten to the power of `decimals`.
    Decimal {
        /// The digits without the point.
        digits: i64,
        /// The number of digits after the point.
        decimals: u32,
    },
    /// Any other number: its text in the file.
    Number(&'a str),
    /// A string.
    Text(&'a str),
    /// An array or object: its JSON text.
    Json(&'a str),
}

impl<'a> Value<'a> {
    /// The value as JSON.
    pub fn to_json(self) -> String {
        match self {
            Value::Null => "null".into(),
            Value::Bool(b) => b.to_string(),
            Value::Int(n) => n.to_string(),
            Value::Decimal { digits, decimals } => decimal(digits, decimals),
            Value::Number(text) | Value::Json(text) => text.into(),
            Value::Text(text) => quote(text),
        }
    }

    /// The value as an integer: an integral number, or a string that spells one.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::Int(n) => Some(n),
            Value::Text(text) | Value::Number(text) => text.trim().parse().ok(),
            Value::Decimal { digits, decimals } => {
                let scale = 10i64.checked_pow(decimals)?;
                (digits % scale == 0).then_some(digits / scale)
            }
            _ => None,
        }
    }

    /// The value as a float. Strings that spell a number count, including `NaN` and `inf`.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::Int(n) => Some(n as f64),
            // Both numbers are exact, so that the quotient is rounded once.
            Value::Decimal { digits, decimals } if digits.unsigned_abs() <= 1 << 53 && decimals <= 22 => {
                let scale = (0..decimals).fold(1.0, |scale: f64, _| scale * 10.0);
                Some(digits as f64 / scale)
            }
            Value::Decimal { digits, decimals } => format!("{digits}e-{decimals}").parse().ok(),
            Value::Text(text) | Value::Number(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// The value as microseconds, converted to the nearest nanosecond.
    pub fn us_as_ns(&self) -> Option<i64> {
        let exact = match *self {
            Value::Int(us) => us.checked_mul(1000),
            Value::Decimal { digits, decimals } if decimals <= 3 => {
                digits.checked_mul([1000, 100, 10, 1][decimals as usize])
            }
            _ => None,
        };
        exact.or_else(|| self.as_f64().map(|us| libm::round(us * 1e3) as i64))
    }

    /// The value as text, if it is a string.
    pub fn as_str(&self) -> Option<&'a str> {
        match *self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The JSON text, if it is an array or object.
    pub fn as_json(&self) -> Option<&'a str> {
        match *self {
            Value::Json(text) => Some(text),
            _ => None,
        }
    }
}

/// The number of events in a block. Their starts are stored relative to that of the block.
const BLOCK: usize = 128;

/// Marks a start that does not fit and is stored in `far_starts`.
const FAR: u16 = u16::MAX;

/// The size of a segment of packed values, in bytes. A longer event has a segment of its own.
const SEGMENT: usize = 1 << 20;

/// The start of an event's packed values.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    segment: u32,
    offset: u32,
}

/// The packed values of every event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    /// The values of the event that is being read.
    open: Vec<u8>,
    segments: Vec<Vec<u8>>,
    blocks: Vec<Start>,
    starts: Column<u16>,
    /// The index into `far_starts`, by row.
    far: Index,
    far_starts: Vec<Start>,
}

impl Fields {
    /// The allocated memory, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        let segments = self.segments.iter().map(Vec::capacity).sum::<usize>();
        let far = self.far.heap_bytes() + self.far_starts.capacity() * size_of::<Start>();
        segments + self.blocks.capacity() * size_of::<Start>() + self.starts.heap_bytes() + far
    }

    /// The number of bytes packed for the current event: a mark for [`Fields::rewind`].
    pub(crate) fn mark(&self) -> usize {
        self.open.len()
    }

    /// Drops the bytes packed since `mark`.
    pub(crate) fn rewind(&mut self, mark: usize) {
        self.open.truncate(mark);
    }

    /// Ends the current event.
    pub(crate) fn finish_event(&mut self) {
        let start = self.append_open();
        if self.starts.len().is_multiple_of(BLOCK) {
            self.blocks.push(start);
        }
        let block = self.blocks.last().copied().unwrap_or_default();
        let near = if block.segment == start.segment { start.offset - block.offset } else { u32::MAX };
        let near = u16::try_from(near).unwrap_or(FAR);
        if near == FAR {
            self.set_far(self.starts.len(), start);
        }
        self.starts.push(near);
    }

    /// Moves the values of the current event to a segment.
    fn append_open(&mut self) -> Start {
        let fits = self.segments.last().is_some_and(|last| last.len() + self.open.len() <= SEGMENT);
        if !fits {
            // The first segment is not preallocated, to save memory for small traces.
            let capacity = if self.segments.is_empty() { 0 } else { SEGMENT.max(self.open.len()) };
            self.segments.push(Vec::with_capacity(capacity));
        }
        let segment = self.segments.len() as u32 - 1;
        let last = &mut self.segments[segment as usize];
        let start = Start { segment, offset: last.len() as u32 };
        last.extend_from_slice(&self.open);
        self.open.clear();
        start
    }

    fn set_far(&mut self, row: usize, start: Start) {
        self.far.set((row as i64, 0), self.far_starts.len() as u32);
        self.far_starts.push(start);
    }

    /// Adds the bytes packed since the last event to the values of event `row`, which has this many varints.
    #[cold]
    pub(super) fn amend(&mut self, row: usize, varints: u32) {
        let added = core::mem::take(&mut self.open);
        self.open = [self.packed(row, varints), &added].concat();
        let start = self.append_open();
        self.starts[row] = FAR;
        self.set_far(row, start);
    }

    /// Appends a varint.
    #[inline]
    pub(crate) fn push_varint(&mut self, mut value: u64) {
        if value < 0x80 {
            self.open.push(value as u8);
            return;
        }
        if value < 1 << 56 {
            let (bytes, length) = short_varint(value);
            let end = self.open.len() + length;
            // Eight bytes at once take one store.
            self.open.extend_from_slice(&bytes);
            self.open.truncate(end);
            return;
        }
        while value >= 0x80 {
            self.open.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.open.push(value as u8);
    }

    /// Appends the first varints of `bytes`.
    pub(super) fn push_varints(&mut self, bytes: &[u8], count: usize) {
        self.open.extend_from_slice(first(bytes, count as u32));
    }

    /// Appends the value of a field of event `row` of another sequence.
    pub(super) fn push_field(&mut self, other: &Fields, row: usize, field: &Field) {
        let mut bytes = other.at(row);
        skip(&mut bytes, field.skip);
        self.push_varints(bytes, field.field_type.varints() as usize);
    }

    /// Appends the first varints of `bytes`, and replaces those that are the ids of names by other ids.
    pub(super) fn push_mapped(&mut self, mut bytes: &[u8], are_names: &[bool], ids: &[NameId]) {
        for &is_name in are_names {
            let value = varint(&mut bytes);
            self.push_varint(if is_name { u64::from(NameId(value as u32).among(ids).0) } else { value });
        }
    }

    /// Appends a zigzag-coded integer.
    #[inline]
    pub(crate) fn push_int(&mut self, value: i64) {
        self.push_varint(zigzag(value));
    }

    /// The packed bytes from the start of event `row` to the end of its segment.
    #[inline]
    pub(crate) fn at(&self, row: usize) -> &[u8] {
        let start = match self.starts[row] {
            FAR => self.far.get((row as i64, 0)).map_or(Start::default(), |at| self.far_starts[at as usize]),
            near => {
                let block = self.blocks[row / BLOCK];
                Start { offset: block.offset + u32::from(near), ..block }
            }
        };
        &self.segments[start.segment as usize][start.offset as usize..]
    }

    /// The packed values of event `row`, which has this many varints.
    #[inline]
    pub(super) fn packed(&self, row: usize, varints: u32) -> &[u8] {
        first(self.at(row), varints)
    }

    /// The packed values of these events in another order. Each comes with the number of its varints.
    pub(super) fn gather(&self, rows: impl Iterator<Item = (usize, u32)>) -> Fields {
        let mut gathered = Fields::default();
        for (row, varints) in rows {
            gathered.open.extend_from_slice(self.packed(row, varints));
            gathered.finish_event();
        }
        gathered
    }

    /// The value of `field` in event `row`.
    #[inline]
    pub(crate) fn value<'a>(&self, row: usize, field: &Field, names: &'a Names) -> Value<'a> {
        let mut bytes = self.at(row);
        skip(&mut bytes, field.skip);
        read(&mut bytes, field.field_type, names)
    }

    /// The first packed varint of `field` in event `row`; 0 if its type has none.
    pub(crate) fn raw(&self, row: usize, field: &Field) -> u64 {
        let mut bytes = self.at(row);
        skip(&mut bytes, field.skip);
        if field.field_type.varints() == 0 { 0 } else { varint(&mut bytes) }
    }
}

/// The varint of a value of up to 56 bits, and its length.
#[inline]
fn short_varint(value: u64) -> ([u8; 8], usize) {
    // Groups of seven bits move to bytes of their own, in three steps.
    let mut groups = (value & 0x0fff_ffff) | (value & 0x00ff_ffff_f000_0000) << 4;
    groups = (groups & 0x0000_3fff_0000_3fff) | (groups & 0x0fff_c000_0fff_c000) << 2;
    groups = (groups & 0x007f_007f_007f_007f) | (groups & 0x3f80_3f80_3f80_3f80) << 1;
    let last = (groups | 1).ilog2() / 8;
    let continued = 0x8080_8080_8080_8080 & ((1 << (8 * last)) - 1);
    ((groups | continued).to_le_bytes(), last as usize + 1)
}

/// The first varints of `bytes`.
#[inline]
fn first(bytes: &[u8], varints: u32) -> &[u8] {
    let mut after = bytes;
    skip(&mut after, varints);
    &bytes[..bytes.len() - after.len()]
}

#[inline]
fn skip(bytes: &mut &[u8], varints: u32) {
    let mut left = varints;
    let mut at = 0;
    while left > 0 && at < bytes.len() {
        left -= u32::from(bytes[at] < 0x80);
        at += 1;
    }
    *bytes = &bytes[at..];
}

#[inline]
fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    let mut shift = 0;
    for (at, &b) in bytes.iter().enumerate() {
        value |= u64::from(b & 0x7f).wrapping_shl(shift);
        shift += 7;
        if b < 0x80 {
            *bytes = &bytes[at + 1..];
            break;
        }
    }
    value
}

pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Reads one value and advances `bytes` past it.
#[inline]
pub(crate) fn read<'a>(bytes: &mut &[u8], field_type: FieldType, names: &'a Names) -> Value<'a> {
    match field_type {
        FieldType::Null => Value::Null,
        FieldType::True => Value::Bool(true),
        FieldType::False => Value::Bool(false),
        FieldType::Int => Value::Int(unzigzag(varint(bytes))),
        FieldType::Decimal => {
            let digits = unzigzag(varint(bytes));
            Value::Decimal { digits, decimals: varint(bytes) as u32 }
        }
        FieldType::Number => Value::Number(names.get(NameId(varint(bytes) as u32))),
        FieldType::Text => Value::Text(names.get(NameId(varint(bytes) as u32))),
        FieldType::Json => Value::Json(names.get(NameId(varint(bytes) as u32))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::table::layout::FieldPlace;

    #[test]
    fn decimals_are_the_nearest_numbers() {
        for (digits, decimals, number) in [
            (9_271_428_571_428_571, 14, 92.714_285_714_285_71),
            (-1_234_567, 6, -1.234_567),
            (i64::MAX, 1, 922_337_203_685_477_580.7),
            (5, 40, 5e-40),
        ] {
            assert_eq!(Value::Decimal { digits, decimals }.as_f64(), Some(number));
        }
    }

    #[test]
    fn varints_of_any_length_round_trip() {
        for bits in 0..64 {
            for value in [1u64 << bits, (1 << bits) - 1, (1 << bits) | 1] {
                let mut fields = Fields::default();
                fields.push_varint(value);
                fields.push_varint(7);
                let mut bytes = fields.open.as_slice();
                assert_eq!((varint(&mut bytes), varint(&mut bytes), bytes.len()), (value, 7, 0));
            }
        }
    }

    #[test]
    fn events_of_any_size_round_trip() {
        let names = Names::default();
        let mut fields = Fields::default();
        let sizes = |row: usize| if row.is_multiple_of(50) { 60_000 } else { row % 3 };
        for row in 0..600 {
            for value in 0..sizes(row) {
                fields.push_int((row * 100_000 + value) as i64);
            }
            fields.finish_event();
        }
        assert!(!fields.far_starts.is_empty() && fields.segments.len() > 1);
        for row in 0..600 {
            for value in [0, sizes(row).saturating_sub(1)] {
                let key = NameId::EMPTY;
                let field =
                    Field { key, place: FieldPlace::Args, field_type: FieldType::Int, skip: value as u32 };
                if value < sizes(row) {
                    let found = fields.value(row, &field, &names);
                    assert_eq!(found, Value::Int((row * 100_000 + value) as i64));
                }
            }
        }
    }
}
