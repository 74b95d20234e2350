//! Reads a well-formed event object into a row. This is the hot path of reading.
//!
//! `gap` parses the text between values, `shapes` recognises it when it repeats, this file parses the values, `draft` makes them
//! a row. Strings are found by their hash. An event whose shape and strings are known needs no allocation. Anything that is not
//! strict JSON is left to [`repair`](super::repair).
//!
//! `serde_json` takes many times as long if it keeps every field (`cargo bench -p kinetoscope-tests` runs both). It still validates
//! every distinct nested array or object once.

mod draft;
mod gap;
mod shapes;

use self::draft::Draft;
use self::gap::Slot;
use self::shapes::{Shapes, StepId};
use super::escape::unescape;
use super::json_text::JsonTexts;
use super::limits::Limits;
use super::number::{Number, number, time_value};
use super::scan::{Stop, container_end, text_end, token_end};
use crate::base::names::NameId;
use crate::trace::table::bounds;
use crate::trace::table::events::Table;
use crate::trace::table::layout::{FieldPlace, FieldType, NodeId};
use crate::trace::table::tracks::{Track, TrackId};
use alloc::vec::Vec;

/// Reads events, and caches what consecutive events have in common.
#[derive(Clone, Debug)]
pub(super) struct EventReader {
    limits: Limits,
    draft: Draft,
    scratch: Vec<u8>,
    json: JsonTexts,
    /// The root of the last event of each phase.
    roots: [Option<NodeId>; 128],
    last_root: (u8, Option<NameId>, NodeId),
    last_track: (Track, TrackId),
    shapes: Shapes,
}

impl EventReader {
    pub(super) fn new(limits: Limits, table: &mut Table) -> Self {
        let root = table.layouts.root(0, None);
        let track = Track { pid: NameId::EMPTY, tid: NameId::EMPTY, on_device: false };
        EventReader {
            limits,
            draft: Draft::new(0),
            scratch: Vec::new(),
            json: JsonTexts::default(),
            roots: [None; 128],
            last_root: (0, None, root),
            last_track: (track, TrackId(u32::MAX)),
            shapes: Shapes::default(),
        }
    }

    /// Parses the event that begins at `start` with `{`, as a draft. Returns the position after it. If it fails, its
    /// packed fields are removed.
    pub(super) fn read(&mut self, table: &mut Table, buf: &[u8], start: usize) -> Result<usize, Stop> {
        self.draft = Draft::new(table.fields.mark());
        let result = self.object(table, buf, start);
        if result.is_err() {
            self.discard(table);
        }
        result
    }

    /// The phase of the draft; 0 if it has none.
    pub(super) fn ph(&self) -> u8 {
        self.draft.ph
    }

    fn object(&mut self, table: &mut Table, buf: &[u8], start: usize) -> Result<usize, Stop> {
        let (mut step, mut at) = (StepId::START, start + 1);
        loop {
            let value;
            (step, value) = match self.shapes.follow(step, buf, at) {
                Some(known) => known,
                None => self.new_step(table, buf, at, step)?,
            };
            let gap = &self.shapes.get(step).gap;
            if gap.has_values {
                self.draft.fill(gap);
            }
            self.draft.add_keys(gap);
            at = match gap.slot {
                Slot::Name => {
                    self.text(table, buf, value).map(|(name, end)| (self.draft.name = name, end).1)?
                }
                Slot::Pid => self.id(table, buf, value).map(|(id, end)| (self.draft.pid = id, end).1)?,
                Slot::Tid => self.id(table, buf, value).map(|(id, end)| (self.draft.tid = id, end).1)?,
                Slot::Start => {
                    let (time, end) = time_value(buf, value)?;
                    self.draft.set_start(&time);
                    self.keep_far(table, buf, value, step, bounds::START)?;
                    end
                }
                Slot::Duration => {
                    let (time, end) = time_value(buf, value)?;
                    self.draft.set_duration(&time);
                    self.keep_far(table, buf, value, step, bounds::DURATION)?;
                    end
                }
                Slot::Field { key, place } => {
                    let node = self.attach(table);
                    let (field_type, end) = self.value(table, buf, value, step)?;
                    self.draft.node = Some(self.field(table, step, (node, field_type), (key, place)));
                    end
                }
                Slot::End if value - start > self.limits.event_bytes => return Err(Stop::TooLarge),
                Slot::End => return Ok(value),
            };
        }
    }

    /// Keeps the text of the time at `at` as a field if it is out of range.
    #[inline]
    fn keep_far(
        &mut self,
        table: &mut Table,
        buf: &[u8],
        at: usize,
        step: StepId,
        key: &str,
    ) -> Result<(), Stop> {
        if !core::mem::take(&mut self.draft.keeps_text) {
            return Ok(());
        }
        let (key, node) = (table.names.intern(key), self.attach(table));
        let field_type = self.value(table, buf, at, step)?.0;
        self.draft.node = Some(table.layouts.step(node, key, FieldPlace::Top, field_type));
        Ok(())
    }

    /// Reads the text from `at` to the next value by its grammar, and keeps it as a step of the shapes.
    #[inline(never)]
    fn new_step(
        &mut self,
        table: &mut Table,
        buf: &[u8],
        at: usize,
        from: StepId,
    ) -> Result<(StepId, usize), Stop> {
        let before = self.shapes.get(from);
        let last = (from != StepId::START).then_some(before.gap.slot);
        let (gap, value) = self.parse_gap(table, buf, at, last, before.joins_ids())?;
        Ok((self.shapes.add(from, &buf[at..value], gap), value))
    }

    /// The node after a field of this type that is attached to `node`.
    #[inline]
    fn field(
        &mut self,
        table: &mut Table,
        step: StepId,
        (node, field_type): (NodeId, FieldType),
        (key, place): (NameId, FieldPlace),
    ) -> NodeId {
        match self.shapes.get(step).edge {
            Some((from, kind, to)) if from == node && kind == field_type => to,
            _ => {
                let to = table.layouts.step(node, key, place, field_type);
                self.shapes.get_mut(step).edge = Some((node, field_type, to));
                to
            }
        }
    }

    /// The node to which the next field is attached: that of the last field, or a root chosen by the phase and category
    /// so far.
    #[inline]
    fn attach(&mut self, table: &mut Table) -> NodeId {
        if let Some(node) = self.draft.node {
            return node;
        }
        let (ph, cat) = (self.draft.ph, self.draft.cat);
        match (cat, self.roots.get(ph as usize)) {
            (None, Some(Some(root))) => *root,
            _ => self.root(table, ph, cat),
        }
    }

    fn root(&mut self, table: &mut Table, ph: u8, cat: Option<NameId>) -> NodeId {
        if (self.last_root.0, self.last_root.1) != (ph, cat) {
            self.last_root = (ph, cat, table.layouts.root(ph, cat));
        }
        self.last_root.2
    }

    /// Reads a `pid` or `tid` and interns its JSON text. Returns its id and the position after it.
    fn id(&mut self, table: &mut Table, buf: &[u8], at: usize) -> Result<(NameId, usize), Stop> {
        let end = match buf[at] {
            b'"' => text_end(buf, at + 1)?.0 + 1,
            b'{' | b'[' => container_end(buf, at, self.limits.depth)?,
            _ => {
                let end = token_end(buf, at)?;
                return Ok((self.json_text(table, without_fraction(&buf[at..end]))?, end));
            }
        };
        Ok((self.json_text(table, &buf[at..end])?, end))
    }

    /// Interns the text of a JSON value. New texts are validated.
    fn json_text(&mut self, table: &mut Table, text: &[u8]) -> Result<NameId, Stop> {
        if text.len() > self.limits.text_bytes {
            return Err(Stop::TooLong);
        }
        self.json.intern(&mut table.names, text).ok_or(Stop::Damaged)
    }

    fn intern(&mut self, table: &mut Table, text: &[u8], escaped: bool) -> Result<NameId, Stop> {
        if text.len() > self.limits.text_bytes {
            return Err(Stop::TooLong);
        }
        let text = if escaped {
            unescape(text, &mut self.scratch)?;
            &self.scratch
        } else {
            text
        };
        table.names.intern_utf8(text).map(|(id, _)| id).ok_or(Stop::Damaged)
    }

    /// Reads the string whose opening quote is at `at`. Returns its id and the position after the closing quote.
    #[inline]
    fn text(&mut self, table: &mut Table, buf: &[u8], at: usize) -> Result<(NameId, usize), Stop> {
        let (end, escaped) = text_end(buf, at + 1)?;
        Ok((self.intern(table, &buf[at + 1..end], escaped)?, end + 1))
    }

    /// Reads the array or object at `at`. The last one of the step is compared first.
    fn container(
        &mut self,
        table: &mut Table,
        buf: &[u8],
        at: usize,
        step: StepId,
    ) -> Result<(NameId, usize), Stop> {
        if let Some(last) = self.shapes.get(step).last {
            let text = table.names.bytes(last);
            let end = at + text.len();
            if buf.get(at..end) == Some(text) {
                return Ok((last, end));
            }
        }
        let end = container_end(buf, at, self.limits.depth)?;
        let id = self.json_text(table, &buf[at..end])?;
        self.shapes.get_mut(step).last = Some(id);
        Ok((id, end))
    }

    /// Packs the value at `at`, which follows a step. Returns its type and the position after it.
    #[inline]
    fn value(
        &mut self,
        table: &mut Table,
        buf: &[u8],
        at: usize,
        step: StepId,
    ) -> Result<(FieldType, usize), Stop> {
        match buf[at] {
            b'"' => {
                let (id, end) = self.text(table, buf, at)?;
                table.fields.push_varint(u64::from(id.0));
                Ok((FieldType::Text, end))
            }
            b'-' | b'0'..=b'9' => pack_number(table, buf, at),
            b'[' | b'{' => {
                let (id, end) = self.container(table, buf, at, step)?;
                table.fields.push_varint(u64::from(id.0));
                Ok((FieldType::Json, end))
            }
            _ => {
                let end = token_end(buf, at)?;
                match &buf[at..end] {
                    b"null" => Ok((FieldType::Null, end)),
                    b"true" => Ok((FieldType::True, end)),
                    b"false" => Ok((FieldType::False, end)),
                    _ => Err(Stop::Damaged),
                }
            }
        }
    }
}

/// The text of a number without a fraction of 0, which some writers of JSON add to whole numbers.
fn without_fraction(number: &[u8]) -> &[u8] {
    let zeros = number.iter().rev().take_while(|&&digit| digit == b'0').count();
    match number[..number.len() - zeros] {
        [ref integer @ .., b'.'] if zeros > 0 && !integer.is_empty() => integer,
        _ => number,
    }
}

/// Packs the number at `at`.
#[inline]
fn pack_number(table: &mut Table, buf: &[u8], at: usize) -> Result<(FieldType, usize), Stop> {
    let (number, end) = number(buf, at)?;
    match number {
        Number::Int(n) => {
            table.fields.push_int(n);
            Ok((FieldType::Int, end))
        }
        Number::Decimal(digits, decimals) => {
            table.fields.push_int(digits);
            table.fields.push_varint(u64::from(decimals));
            Ok((FieldType::Decimal, end))
        }
        Number::Other => {
            let (id, _) = table.names.intern_utf8(&buf[at..end]).ok_or(Stop::Damaged)?;
            table.fields.push_varint(u64::from(id.0));
            Ok((FieldType::Number, end))
        }
    }
}
