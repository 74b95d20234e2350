//! Rows that are not read from JSON text: records of a live profiler, entries of a memory snapshot, recordings.

use super::events::{Fixed, Row, Table};
use super::layout::{FieldPlace, FieldType, NodeId};
use super::tracks::{Track, TrackId};
use crate::base::names::{NameId, Names};
use crate::base::time;

/// Builds one row. Fields should be added in the same order for each row, so that rows share a layout.
pub(crate) struct RowBuilder<'a> {
    table: &'a mut Table,
    node: NodeId,
}

impl<'a> RowBuilder<'a> {
    /// Begins a row of this phase and category. Records have phase 0.
    pub(crate) fn new(table: &'a mut Table, ph: u8, cat: &str) -> RowBuilder<'a> {
        let cat = if cat.is_empty() { None } else { Some(table.names.intern(cat)) };
        let node = table.layouts.root(ph, cat);
        RowBuilder { table, node }
    }

    /// Begins a row with the fields on the path to `node`.
    pub(crate) fn at(table: &'a mut Table, node: NodeId) -> RowBuilder<'a> {
        RowBuilder { table, node }
    }

    /// The node after the fields so far.
    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    /// The strings of the table.
    pub(crate) fn names(&mut self) -> &mut Names {
        &mut self.table.names
    }

    /// Adds a null field.
    pub(crate) fn null(self, place: FieldPlace, key: &str) -> RowBuilder<'a> {
        self.step(place, key, FieldType::Null)
    }

    /// Adds a number, given as JSON text.
    pub(crate) fn number(self, place: FieldPlace, key: &str, value: &str) -> RowBuilder<'a> {
        self.named(place, key, value, FieldType::Number)
    }

    /// Adds an integer.
    pub(crate) fn int(self, place: FieldPlace, key: &str, value: i64) -> RowBuilder<'a> {
        self.table.fields.push_int(value);
        self.step(place, key, FieldType::Int)
    }

    /// Adds a number with six decimals.
    pub(crate) fn micro(self, place: FieldPlace, key: &str, value: f64) -> RowBuilder<'a> {
        self.table.fields.push_int(libm::round(value * 1e6) as i64);
        self.table.fields.push_varint(6);
        self.step(place, key, FieldType::Decimal)
    }

    /// Adds a string.
    pub(crate) fn text(self, place: FieldPlace, key: &str, value: &str) -> RowBuilder<'a> {
        self.named(place, key, value, FieldType::Text)
    }

    /// Adds a string that is known.
    pub(crate) fn text_id(self, place: FieldPlace, key: &str, value: NameId) -> RowBuilder<'a> {
        self.table.fields.push_varint(u64::from(value.0));
        self.step(place, key, FieldType::Text)
    }

    /// Adds an array or object, given as JSON text.
    pub(crate) fn json(self, place: FieldPlace, key: &str, value: &str) -> RowBuilder<'a> {
        self.named(place, key, value, FieldType::Json)
    }

    fn named(self, place: FieldPlace, key: &str, value: &str, field_type: FieldType) -> RowBuilder<'a> {
        let id = self.table.names.intern(value);
        self.table.fields.push_varint(u64::from(id.0));
        self.step(place, key, field_type)
    }

    /// Adds a boolean.
    pub(crate) fn bool(self, place: FieldPlace, key: &str, value: bool) -> RowBuilder<'a> {
        self.step(place, key, if value { FieldType::True } else { FieldType::False })
    }

    fn step(self, place: FieldPlace, key: &str, field_type: FieldType) -> RowBuilder<'a> {
        let key = self.table.names.intern(key);
        self.step_to(place, key, field_type)
    }

    fn step_to(mut self, place: FieldPlace, key: NameId, field_type: FieldType) -> RowBuilder<'a> {
        self.node = self.table.layouts.step(self.node, key, place, field_type);
        self
    }

    /// Adds a field of `args` by the id of its key, with a value that is packed as one varint.
    pub(crate) fn packed(self, key: NameId, field_type: FieldType, varint: u64) -> RowBuilder<'a> {
        self.table.fields.push_varint(varint);
        self.step_to(FieldPlace::Args, key, field_type)
    }

    /// Adds a field of `args` whose type implies its value.
    pub(crate) fn unit(self, key: NameId, field_type: FieldType) -> RowBuilder<'a> {
        self.step_to(FieldPlace::Args, key, field_type)
    }

    /// Appends the row on this track.
    pub(crate) fn finish_on(self, name: NameId, (ts, dur): (i64, i64), track: TrackId) -> Row {
        let layout = self.table.layouts.finish(self.node, &self.table.names);
        self.table.push(Fixed { ts, dur, name, track, layout })
    }

    /// Appends the row on the track with these ids.
    fn finish_with_ids(self, name: NameId, times: (i64, i64), (pid, tid): (NameId, NameId)) -> Row {
        let table = self.table;
        let layout = table.layouts.finish(self.node, &table.names);
        let on_device = table.layouts.get(layout).category.is_on_device();
        let track = table.tracks.intern(Track { pid, tid, on_device });
        table.push(Fixed { ts: times.0, dur: times.1, name, track, layout })
    }

    /// Appends the row as an event without a duration. `pid` and `tid` are JSON.
    pub(crate) fn finish(self, name: &str, ts: i64, (pid, tid): (&str, &str)) -> Row {
        let names = &mut self.table.names;
        let (name, pid, tid) = (names.intern(name), names.intern(pid), names.intern(tid));
        self.finish_with_ids(name, (ts, time::NONE), (pid, tid))
    }

    /// Appends a record. The dialect sets its time and track later.
    pub(crate) fn finish_record(self, name: NameId) -> Row {
        self.finish_with_ids(name, (time::NONE, time::NONE), (NameId::EMPTY, NameId::EMPTY))
    }
}
