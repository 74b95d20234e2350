//! Rows of traces that Kinetoscope wrote, which have an [`extension`](super::extension) of the format.

use super::common::Common;
use super::extension::{NUMBER, row};
use super::sequence::{Interned, Sequence};
use super::wire::{Damaged, Value, fields};
use crate::base::names::NameId;
use crate::base::time;
use crate::trace::read::json_text::JsonTexts;
use crate::trace::read::number::{decimal, is_finite};
use crate::trace::table::events::{Fixed, Table};
use crate::trace::table::layout::{FieldPlace, FieldType, NodeId, is_phase};
use crate::trace::table::tracks::TrackId;
use alloc::vec::Vec;

/// The place of rows of other packets.
const LAST: u64 = u64::MAX;
/// The bits of a place that are the index of a row. Those above are the number of the trace in the file.
const INDEX_BITS: u32 = 32;

/// The places of the rows in their table.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// The place of every row of the table.
    order: Vec<u64>,
    parts: u64,
    json: JsonTexts,
    /// The root of the layouts of the last row.
    last_root: Option<((u8, Option<NameId>), NodeId)>,
}

impl Places {
    /// Whether the file has such rows.
    pub(super) fn are_known(&self) -> bool {
        self.parts > 0
    }

    fn root(&mut self, kind: (u8, Option<NameId>), table: &mut Table) -> NodeId {
        if let Some((_, root)) = self.last_root.filter(|last| last.0 == kind) {
            return root;
        }
        let root = table.layouts.root(kind.0, kind.1);
        self.last_root = Some((kind, root));
        root
    }

    /// Reads the header of the next trace in the file.
    pub(super) fn begin(&mut self, message: &[u8], table: &mut Table) -> Result<Common, Damaged> {
        self.parts += 1;
        Common::read(message, self.parts - 1, &mut table.metadata)
    }

    /// Puts the rows into the order of their indexes, those of other packets last.
    pub(super) fn apply(mut self, table: &mut Table) {
        let metadata = &mut table.metadata;
        metadata.trailing = metadata.trailing.min(metadata.entries.len());
        self.order.resize(table.len(), LAST);
        table.sort_rows(&self.order);
    }
}

/// A row that is being read.
pub(super) struct RowReader<'a> {
    pub(super) sequence: &'a Sequence,
    pub(super) common: &'a Common,
    pub(super) places: &'a mut Places,
    pub(super) table: &'a mut Table,
}

/// What a row consists of, apart from its start.
struct Draft {
    index: u32,
    dur: i64,
    name: NameId,
    track: TrackId,
    node: NodeId,
}

impl RowReader<'_> {
    /// Reads a row from its own message and its event.
    pub(super) fn read(
        &mut self,
        (message, event): (&[u8], &[u8]),
        timestamp: Option<u64>,
    ) -> Result<(), Damaged> {
        let mark = self.table.fields.mark();
        let draft = self.draft(message, event).inspect_err(|_| self.table.fields.rewind(mark))?;
        let ts = timestamp.map_or(time::NONE, |ts| ts.cast_signed().saturating_add(self.common.shift));
        self.places.order.resize(self.table.len(), LAST);
        let part = self.common.part << INDEX_BITS;
        self.places.order.push(part | u64::from(draft.index));
        let layout = self.table.layouts.finish(draft.node, &self.table.names);
        self.table.push(Fixed { ts, dur: draft.dur, name: draft.name, track: draft.track, layout });
        Ok(())
    }

    fn draft(&mut self, message: &[u8], event: &[u8]) -> Result<Draft, Damaged> {
        let (mut index, mut dur, mut ph, mut track) = (0, time::NONE, b'X', 0);
        for field in fields(message) {
            match field? {
                (row::INDEX, value) => index = value.number() as u32,
                (row::DURATION, value) => dur = value.signed(),
                (row::PHASE, value) => {
                    let is_known = |ph: &u8| *ph == 0 || is_phase(*ph);
                    ph = u8::try_from(value.number()).ok().filter(is_known).ok_or(Damaged)?;
                }
                (row::TRACK, value) => track = value.number() as usize,
                _ => {}
            }
        }
        if ph == b'X' && dur < 0 {
            return Err(Damaged);
        }
        let track = *track.checked_sub(1).and_then(|at| self.common.tracks.get(at)).ok_or(Damaged)?;
        let (mut name, mut category) = (NameId::EMPTY, None);
        let mut node = None;
        for field in fields(event) {
            match field? {
                (3, id) => category = self.sequence.text(Interned::Category, id.number()),
                (10, id) => {
                    name = self.sequence.text(Interned::Name, id.number()).unwrap_or_default();
                }
                (22, text) => category = Some(self.table.names.intern(&text.text())),
                (4, annotation) => {
                    let start = match node {
                        Some(node) => node,
                        None => self.start((ph, category), message)?,
                    };
                    node = Some(self.step(start, annotation, FieldPlace::Args)?);
                }
                _ => {}
            }
        }
        let node = match node {
            Some(node) => node,
            None => self.start((ph, category), message)?,
        };
        Ok(Draft { index, dur, name, track, node })
    }

    /// Reads the fields that are no arguments. Name and category come before the arguments.
    fn start(&mut self, kind: (u8, Option<NameId>), message: &[u8]) -> Result<NodeId, Damaged> {
        let mut node = self.places.root(kind, self.table);
        for field in fields(message) {
            if let (row::TOP, annotation) = field? {
                node = self.step(node, annotation, FieldPlace::Top)?;
            }
        }
        Ok(node)
    }

    fn step(&mut self, node: NodeId, annotation: Value<'_>, place: FieldPlace) -> Result<NodeId, Damaged> {
        let (key, kind) = self.annotation(annotation.bytes())?;
        Ok(self.table.layouts.step(node, key, place, kind))
    }

    /// Packs the value of a field. Returns its key and its type.
    fn annotation(&mut self, message: &[u8]) -> Result<(NameId, FieldType), Damaged> {
        let (mut key, mut kind) = (NameId::EMPTY, FieldType::Null);
        for field in fields(message) {
            match field? {
                (1, id) => {
                    key = self.sequence.text(Interned::ArgumentName, id.number()).unwrap_or_default();
                }
                (2, flag) => kind = if flag.number() != 0 { FieldType::True } else { FieldType::False },
                (4, value) => kind = self.pack(value.int()),
                (17, id) => {
                    let text = self.sequence.text(Interned::ArgumentText, id.number());
                    kind = self.pack_text(text.unwrap_or_default(), FieldType::Text);
                }
                (9, json) => {
                    let id = self.places.json.intern(&mut self.table.names, json.bytes()).ok_or(Damaged)?;
                    kind = self.pack_text(id, FieldType::Json);
                }
                (NUMBER, text) => kind = self.number(text.bytes())?,
                _ => {}
            }
        }
        Ok((key, kind))
    }

    fn pack(&mut self, value: i64) -> FieldType {
        self.table.fields.push_int(value);
        FieldType::Int
    }

    fn pack_text(&mut self, text: NameId, kind: FieldType) -> FieldType {
        self.table.fields.push_varint(u64::from(text.0));
        kind
    }

    /// Packs a number that is no integer.
    fn number(&mut self, text: &[u8]) -> Result<FieldType, Damaged> {
        if let Some((digits, decimals)) = decimal(text) {
            self.pack(digits);
            self.table.fields.push_varint(u64::from(decimals));
            return Ok(FieldType::Decimal);
        }
        let (id, _) = (self.table.names.intern_utf8(text)).filter(|_| is_finite(text)).ok_or(Damaged)?;
        Ok(self.pack_text(id, FieldType::Number))
    }
}
