//! Rows that no JSON text holds: records of a live profiler, entries of a snapshot.

use super::events::{Fixed, Row, Table};
use super::layout::{FieldType, NodeId, Place};
use super::tracks::{Track, TrackId};
use crate::names::{NameId, Names};
use crate::time;

/// One row in the making. Fields are to be given in the same order from row to row, so that rows share a layout.
pub(crate) struct RowBuilder<'a> {
    table: &'a mut Table,
    node: NodeId,
}

impl<'a> RowBuilder<'a> {
    /// Begins a row of this phase and category; a phase of 0 for a record.
    pub(crate) fn new(table: &'a mut Table, ph: u8, cat: &str) -> RowBuilder<'a> {
        let cat = if cat.is_empty() { None } else { Some(table.names.intern(cat)) };
        let node = table.layouts.root(ph, cat);
        RowBuilder { table, node }
    }

    /// Begins a row with the fields that led to a node.
    pub(crate) fn at(table: &'a mut Table, node: NodeId) -> RowBuilder<'a> {
        RowBuilder { table, node }
    }

    /// The node that the fields so far led to.
    pub(crate) fn node(&self) -> NodeId {
        self.node
    }

    /// The texts of the table.
    pub(crate) fn names(&mut self) -> &mut Names {
        &mut self.table.names
    }

    /// A field that is null.
    pub(crate) fn null(self, place: Place, key: &str) -> RowBuilder<'a> {
        self.step(place, key, FieldType::Null)
    }

    /// A field that is a number, written as JSON.
    pub(crate) fn number(self, place: Place, key: &str, value: &str) -> RowBuilder<'a> {
        self.named(place, key, value, FieldType::Number)
    }

    /// A field that is an integer.
    pub(crate) fn int(self, place: Place, key: &str, value: i64) -> RowBuilder<'a> {
        self.table.fields.push_int(value);
        self.step(place, key, FieldType::Int)
    }

    /// A field that is a number with six decimals.
    pub(crate) fn micro(self, place: Place, key: &str, value: f64) -> RowBuilder<'a> {
        self.table.fields.push_int(libm::round(value * 1e6) as i64);
        self.table.fields.push_varint(6);
        self.step(place, key, FieldType::Decimal)
    }

    /// A field that is a text.
    pub(crate) fn text(self, place: Place, key: &str, value: &str) -> RowBuilder<'a> {
        self.named(place, key, value, FieldType::Text)
    }

    /// A field that is an array or object, as JSON.
    pub(crate) fn json(self, place: Place, key: &str, value: &str) -> RowBuilder<'a> {
        self.named(place, key, value, FieldType::Json)
    }

    fn named(self, place: Place, key: &str, value: &str, field_type: FieldType) -> RowBuilder<'a> {
        let id = self.table.names.intern(value);
        self.table.fields.push_varint(u64::from(id.0));
        self.step(place, key, field_type)
    }

    /// A field that is true or false.
    pub(crate) fn bool(self, place: Place, key: &str, value: bool) -> RowBuilder<'a> {
        self.step(place, key, if value { FieldType::True } else { FieldType::False })
    }

    fn step(self, place: Place, key: &str, field_type: FieldType) -> RowBuilder<'a> {
        let key = self.table.names.intern(key);
        self.step_to(place, key, field_type)
    }

    fn step_to(mut self, place: Place, key: NameId, field_type: FieldType) -> RowBuilder<'a> {
        self.node = self.table.layouts.step(self.node, key, place, field_type);
        self
    }

    /// A field of `args` whose key is known by its id, and whose value was packed as one varint.
    pub(crate) fn packed(self, key: NameId, field_type: FieldType, varint: u64) -> RowBuilder<'a> {
        self.table.fields.push_varint(varint);
        self.step_to(Place::Args, key, field_type)
    }

    /// A field of `args` whose type is its value.
    pub(crate) fn unit(self, key: NameId, field_type: FieldType) -> RowBuilder<'a> {
        self.step_to(Place::Args, key, field_type)
    }

    /// Ends the row, on a track that is known.
    pub(crate) fn finish_on(self, name: NameId, (ts, dur): (i64, i64), track: TrackId) -> Row {
        let layout = self.table.layouts.finish(self.node, &self.table.names);
        self.table.push(Fixed { ts, dur, name, track, layout })
    }

    /// Ends the row: a moment without a duration. `pid` and `tid` are JSON.
    pub(crate) fn finish(self, name: &str, ts: i64, (pid, tid): (&str, &str)) -> Row {
        let names = &mut self.table.names;
        let (name, pid, tid) = (names.intern(name), names.intern(pid), names.intern(tid));
        self.push(name, ts, (pid, tid))
    }

    /// Ends a record, which has neither time nor track of its own yet.
    pub(crate) fn finish_record(self, name: NameId) -> Row {
        self.push(name, time::NONE, (NameId::EMPTY, NameId::EMPTY))
    }

    fn push(self, name: NameId, ts: i64, (pid, tid): (NameId, NameId)) -> Row {
        let table = self.table;
        let layout = table.layouts.finish(self.node, &table.names);
        let on_device = table.layouts.get(layout).category.is_on_device();
        let track = table.tracks.intern(Track { pid, tid, on_device });
        table.push(Fixed { ts, dur: time::NONE, name, track, layout })
    }
}
