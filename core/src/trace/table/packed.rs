//! The events of a table as bytes, which another thread can append to its table.
//!
//! Names, tracks and shapes come first, then one record of [`RECORD`] bytes for each event, then the packed fields of all events.

use super::events::{Fixed, Table};
use super::layout::{FieldPlace, FieldType, LayoutId};
use super::merge::{References, Shape};
use super::tracks::{Track, TrackId};
use crate::base::names::NameId;
use crate::base::varints::{Reader, Writer};
use alloc::vec::Vec;

/// The size of the record of an event: `ts`, `dur`, name, track, layout and the length of its fields.
const RECORD: usize = 8 + 8 + 4 * 4;

impl Table {
    /// Writes the events, and the names, tracks and layouts that they refer to.
    pub(crate) fn pack(&self, out: &mut Writer) {
        let names: Vec<&str> = self.names.iter().map(|(_, text)| text).collect();
        out.list(&names, |out, name| out.text(name));
        out.list(self.tracks.all(), write_track);
        let shapes: Vec<Shape> = self.shapes().collect();
        out.list(&shapes, write_shape);
        out.unsigned(self.len() as u64);
        let mut fields = Vec::new();
        for row in self.rows() {
            let packed = self.packed_fields(row);
            fields.extend_from_slice(packed);
            out.raw(&record(self.fixed(row), packed.len() as u32));
        }
        out.raw(&fields);
    }
}

fn write_track(out: &mut Writer, track: &Track) {
    out.unsigned(u64::from(track.pid.0));
    out.unsigned(u64::from(track.tid.0));
    out.unsigned(u64::from(track.on_device));
}

fn write_shape(out: &mut Writer, shape: &Shape) {
    out.unsigned(u64::from(shape.ph));
    out.optional(shape.cat.map(|cat| i64::from(cat.0)));
    out.list(&shape.fields, |out, &(key, place, field_type)| {
        out.unsigned(u64::from(key.0));
        out.unsigned(u64::from(place == FieldPlace::Args));
        out.unsigned(field_type as u64);
    });
}

fn record(fixed: Fixed, fields: u32) -> [u8; RECORD] {
    let words =
        [fixed.ts as u64, fixed.dur as u64, pair(fixed.name.0, fixed.track.0), pair(fixed.layout.0, fields)];
    let mut record = [0; RECORD];
    for (bytes, word) in record.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    record
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The events that [`Table::pack`] wrote.
pub(crate) struct PackedTable<'a> {
    references: References<'a>,
    records: &'a [[u8; RECORD]],
    fields: &'a [u8],
}

impl<'a> PackedTable<'a> {
    /// Returns the events in `bytes`, or `None` if they do not have the form. Of bytes that have it but were not written by
    /// [`Table::pack`], the events have any values.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<PackedTable<'a>> {
        let mut reader = Reader::new(bytes);
        let references = References {
            names: reader.list(|r| core::str::from_utf8(r.block()?).ok())?,
            tracks: reader.list(read_track)?,
            shapes: reader.list(read_shape)?,
        };
        let count = usize::try_from(reader.unsigned()?).ok()?;
        let records = reader.raw(count.checked_mul(RECORD)?)?.as_chunks().0;
        let fields = reader.raw(reader.len())?;
        Some(PackedTable { references, records, fields })
    }

    /// The number of events.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Appends the events as [`Table::append`] does.
    pub(crate) fn append_to(&self, table: &mut Table) {
        let mut rest = self.fields;
        let events = self.records.iter().map(|record| {
            let (fixed, length) = event(record);
            let (packed, after) = rest.split_at_checked(length as usize).unwrap_or((rest, &[]));
            rest = after;
            (fixed, packed)
        });
        table.append_events(&self.references, events);
    }
}

fn read_track(reader: &mut Reader<'_>) -> Option<Track> {
    let [pid, tid] = [name(reader)?, name(reader)?];
    Some(Track { pid, tid, on_device: reader.unsigned()? != 0 })
}

fn read_shape(reader: &mut Reader<'_>) -> Option<Shape> {
    let ph = u8::try_from(reader.unsigned()?).ok()?;
    let cat = match reader.optional()? {
        Some(id) => Some(NameId(u32::try_from(id).ok()?)),
        None => None,
    };
    let fields = reader.list(|r| {
        let key = name(r)?;
        let place = if r.unsigned()? == 0 { FieldPlace::Top } else { FieldPlace::Args };
        let field_type = *FieldType::ALL.get(usize::try_from(r.unsigned()?).ok()?)?;
        Some((key, place, field_type))
    })?;
    Some(Shape { ph, cat, fields })
}

fn name(reader: &mut Reader<'_>) -> Option<NameId> {
    u32::try_from(reader.unsigned()?).ok().map(NameId)
}

#[inline]
fn event(record: &[u8; RECORD]) -> (Fixed, u32) {
    let word = |at: usize| record.as_chunks().0.get(at).map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let fixed = Fixed {
        ts: word(0) as i64,
        dur: word(1) as i64,
        name: NameId(word(2) as u32),
        track: TrackId((word(2) >> 32) as u32),
        layout: LayoutId(word(3) as u32),
    };
    (fixed, (word(3) >> 32) as u32)
}
