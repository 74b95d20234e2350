//! Reads a well-formed event object into a row. This is the hot path of reading.
//!
//! Keys are predicted from the previous events (see [`layout`](crate::table::layout)), strings are found by their hash.
//! An event whose strings are known needs no allocation. Anything that is not strict JSON is left to
//! [`repair`](super::repair).
//!
//! `serde_json` takes about seven times as long if it keeps every field (`cargo bench -p kinetoscope-tests` runs both).
//! It still validates every distinct nested array or object once.
//!
//! This is one file because all fields of an event share its state and its fast paths.

use super::escape::unescape;
use super::json_text::JsonTexts;
use super::limits::Limits;
use super::number::{Number, number, time_value};
use super::scan::{Stop, container_end, next, text_end, token_end};
use crate::diagnostics::{Code, Diagnostics};
use crate::names::NameId;
use crate::table::bounds::count_size;
use crate::table::events::{Fixed, Table};
use crate::table::layout::{FieldType, NodeId, Place};
use crate::table::metadata::Source;
use crate::table::tracks::{Track, TrackId};
use crate::time;
use alloc::vec::Vec;

/// An event that was parsed and not yet appended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draft {
    pub(super) ph: u8,
    cat: Option<NameId>,
    name: NameId,
    pid: NameId,
    tid: NameId,
    ts: i64,
    dur: i64,
    node: Option<NodeId>,
    mark: usize,
    time_rounded: bool,
    time_clamped: bool,
}

/// Reads events, and caches what consecutive events have in common.
#[derive(Clone, Debug)]
pub(super) struct EventReader {
    limits: Limits,
    scratch: Vec<u8>,
    json: JsonTexts,
    /// The root of the last event of each phase.
    roots: [Option<NodeId>; 128],
    last_root: (u8, Option<NameId>, NodeId),
    last_track: (Track, TrackId),
    last_cat: NameId,
    last_ids: [NameId; 2],
}

impl EventReader {
    pub(super) fn new(limits: Limits, table: &mut Table) -> Self {
        let root = table.layouts.root(0, None);
        let track = Track { pid: NameId::EMPTY, tid: NameId::EMPTY, on_device: false };
        EventReader {
            limits,
            scratch: Vec::new(),
            json: JsonTexts::default(),
            roots: [None; 128],
            last_root: (0, None, root),
            last_track: (track, TrackId(u32::MAX)),
            last_cat: NameId::EMPTY,
            last_ids: [NameId::EMPTY; 2],
        }
    }

    /// Parses the event that begins at `start` with `{`. Returns the draft and the position after it. If it fails, the
    /// packed fields are removed.
    pub(super) fn read(
        &mut self,
        table: &mut Table,
        buf: &[u8],
        start: usize,
    ) -> Result<(Draft, usize), Stop> {
        let mark = table.fields.mark();
        let result = self.object(table, buf, start, mark);
        if result.is_err() {
            table.fields.rewind(mark);
        }
        result
    }

    fn object(
        &mut self,
        table: &mut Table,
        buf: &[u8],
        start: usize,
        mark: usize,
    ) -> Result<(Draft, usize), Stop> {
        let mut draft = Draft {
            ph: 0,
            cat: None,
            name: NameId::EMPTY,
            pid: NameId::EMPTY,
            tid: NameId::EMPTY,
            ts: time::NONE,
            dur: time::NONE,
            node: None,
            mark,
            time_rounded: false,
            time_clamped: false,
        };
        let (mut b, mut at) = next(buf, start + 1)?;
        while b != b'}' {
            if b != b'"' {
                return Err(Stop::Damaged);
            }
            let (key_end, escaped) = text_end(buf, at + 1)?;
            let key = &buf[at + 1..key_end];
            let (colon, after) = next(buf, key_end + 1)?;
            if colon != b':' {
                return Err(Stop::Damaged);
            }
            let (first, value) = next(buf, after + 1)?;
            at = match key {
                b"ph" if first == b'"' => self.phase(table, &mut draft, buf, value)?,
                b"cat" if first == b'"' => self.category(table, &mut draft, buf, value)?,
                b"name" if first == b'"' => {
                    let (name, end) = self.text(table, buf, value)?;
                    draft.name = name;
                    end
                }
                b"pid" => self.id(table, buf, value, 0, &mut draft.pid)?,
                b"tid" => self.id(table, buf, value, 1, &mut draft.tid)?,
                b"ts" | b"dur" => {
                    let (time, end) = time_value(buf, value)?;
                    *(if key == b"ts" { &mut draft.ts } else { &mut draft.dur }) = time.ns;
                    draft.time_rounded |= time.rounded;
                    draft.time_clamped |= time.clamped;
                    end
                }
                b"args" if first == b'{' => {
                    let node = self.attach(table, &draft);
                    let (node, end) = self.args(table, node, buf, value)?;
                    draft.node = Some(node);
                    end
                }
                _ => {
                    let node = self.attach(table, &draft);
                    let key = self.intern(table, key, escaped)?;
                    let (field_type, end) = self.value(table, buf, value)?;
                    draft.node = Some(table.layouts.step(node, key, Place::Top, field_type));
                    end
                }
            };
            (b, at) = separator(buf, at, b'}')?;
        }
        if at + 1 - start > self.limits.event_bytes {
            return Err(Stop::TooLarge);
        }
        Ok((draft, at + 1))
    }

    /// The node to which the next field is attached: that of the last field, or a root chosen by the phase and category
    /// so far.
    fn attach(&mut self, table: &mut Table, draft: &Draft) -> NodeId {
        match (draft.node, draft.cat, self.roots.get(draft.ph as usize)) {
            (Some(node), ..) => node,
            (None, None, Some(Some(root))) => *root,
            _ => self.root(table, draft.ph, draft.cat),
        }
    }

    fn root(&mut self, table: &mut Table, ph: u8, cat: Option<NameId>) -> NodeId {
        if (self.last_root.0, self.last_root.1) != (ph, cat) {
            self.last_root = (ph, cat, table.layouts.root(ph, cat));
        }
        self.last_root.2
    }

    fn phase(&mut self, table: &mut Table, draft: &mut Draft, buf: &[u8], at: usize) -> Result<usize, Stop> {
        if let (Some(&ph), Some(b'"')) = (buf.get(at + 1), buf.get(at + 2))
            && ph.is_ascii_alphanumeric()
        {
            draft.ph = ph;
            return Ok(at + 3);
        }
        let node = self.attach(table, draft);
        let (field_type, end) = self.value(table, buf, at)?;
        let key = table.names.intern("ph");
        draft.node = Some(table.layouts.step(node, key, Place::Top, field_type));
        Ok(end)
    }

    fn category(
        &mut self,
        table: &mut Table,
        draft: &mut Draft,
        buf: &[u8],
        at: usize,
    ) -> Result<usize, Stop> {
        let last = table.names.bytes(self.last_cat);
        let end = at + 1 + last.len();
        if buf.get(at + 1..end) == Some(last) && buf.get(end) == Some(&b'"') {
            draft.cat = Some(self.last_cat);
            return Ok(end + 1);
        }
        let (end, escaped) = text_end(buf, at + 1)?;
        let cat = self.intern(table, &buf[at + 1..end], escaped)?;
        if !escaped {
            self.last_cat = cat;
        }
        draft.cat = Some(cat);
        Ok(end + 1)
    }

    /// Reads a `pid` or `tid` and interns its JSON text.
    fn id(
        &mut self,
        table: &mut Table,
        buf: &[u8],
        at: usize,
        which: usize,
        out: &mut NameId,
    ) -> Result<usize, Stop> {
        let last = table.names.bytes(self.last_ids[which]);
        let end = at + last.len();
        if !last.is_empty() && buf.get(at..end) == Some(last) && buf.get(end) == Some(&b',') {
            *out = self.last_ids[which];
            return Ok(end);
        }
        let end = match buf[at] {
            b'"' => text_end(buf, at + 1)?.0 + 1,
            b'{' | b'[' => container_end(buf, at, self.limits.depth)?,
            _ => token_end(buf, at)?,
        };
        *out = self.json_text(table, &buf[at..end])?;
        self.last_ids[which] = *out;
        Ok(end)
    }

    /// Interns the text of a JSON value. New texts are validated.
    fn json_text(&mut self, table: &mut Table, text: &[u8]) -> Result<NameId, Stop> {
        if text.len() > self.limits.text_bytes {
            return Err(Stop::TooLong);
        }
        self.json.intern(&mut table.names, text).ok_or(Stop::Damaged)
    }

    fn args(
        &mut self,
        table: &mut Table,
        root: NodeId,
        buf: &[u8],
        at: usize,
    ) -> Result<(NodeId, usize), Stop> {
        let mut node = root;
        let (mut b, mut at) = next(buf, at + 1)?;
        while b != b'}' {
            if b != b'"' {
                return Err(Stop::Damaged);
            }
            let (key, plain, after_key) = self.arg_key(table, node, buf, at + 1)?;
            let (colon, after) = next(buf, after_key)?;
            if colon != b':' {
                return Err(Stop::Damaged);
            }
            let (_, value) = next(buf, after + 1)?;
            let (field_type, end) = self.value(table, buf, value)?;
            let child = table.layouts.step(node, key, Place::Args, field_type);
            if plain {
                table.layouts.predict(node, child);
            }
            node = child;
            (b, at) = separator(buf, end, b'}')?;
        }
        Ok((node, at + 1))
    }

    /// Reads the key that begins at `at`, after its quote. The likely key is compared first. Also returns whether the
    /// key was written without escapes.
    #[inline]
    fn arg_key(
        &mut self,
        table: &mut Table,
        node: NodeId,
        buf: &[u8],
        at: usize,
    ) -> Result<(NameId, bool, usize), Stop> {
        if let Some(likely) = table.layouts.likely_key(node, Place::Args) {
            let text = table.names.bytes(likely);
            let end = at + text.len();
            if buf.get(at..end) == Some(text) && buf.get(end) == Some(&b'"') {
                return Ok((likely, true, end + 1));
            }
        }
        let (end, escaped) = text_end(buf, at)?;
        Ok((self.intern(table, &buf[at..end], escaped)?, !escaped, end + 1))
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

    /// Packs the value at `at`. Returns its type and the position after it.
    #[inline]
    fn value(&mut self, table: &mut Table, buf: &[u8], at: usize) -> Result<(FieldType, usize), Stop> {
        match buf[at] {
            b'"' => {
                let (id, end) = self.text(table, buf, at)?;
                table.fields.push_varint(u64::from(id.0));
                Ok((FieldType::Text, end))
            }
            b'-' | b'0'..=b'9' => pack_number(table, buf, at),
            b'[' | b'{' => {
                let end = container_end(buf, at, self.limits.depth)?;
                let id = self.json_text(table, &buf[at..end])?;
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

    /// Appends a draft to the table and records its diagnostics.
    pub(super) fn commit(
        &mut self,
        table: &mut Table,
        diagnostics: &mut Diagnostics,
        mut draft: Draft,
        offset: u64,
        text: &[u8],
    ) {
        let root = self.root(table, draft.ph, draft.cat);
        // Fields before `cat` or `ph` may be attached to the root of another kind of event.
        let node = draft.node.map_or(root, |node| table.layouts.rebase(node, root));
        if let Some(slot) = self.roots.get_mut(draft.ph as usize) {
            *slot = Some(root);
        }
        let layout = table.layouts.finish(node, &table.names);
        let on_device = table.layouts.get(layout).category.is_on_device();
        let track = Track { pid: draft.pid, tid: draft.tid, on_device };
        if self.last_track.0 != track || self.last_track.1 == TrackId(u32::MAX) {
            self.last_track = (track, table.tracks.intern(track));
        }
        let mut note = |code| diagnostics.record(code, Some(offset), text);
        if table.layouts.repeats(node) {
            note(Code::DuplicateKey);
        }
        let is_record = table.metadata.source != Source::Chrome;
        if draft.ph == 0 {
            if !is_record {
                note(Code::MissingPhase);
            }
        } else if draft.ts == time::NONE && draft.ph != b'M' {
            note(Code::MissingTime);
        }
        if draft.ph == b'X' && draft.dur < 0 {
            note(if draft.dur == time::NONE { Code::MissingDuration } else { Code::NegativeDuration });
            draft.dur = 0;
        }
        draft.time_clamped |= clamp(&mut draft.ts, time::EARLIEST, time::LATEST);
        draft.time_clamped |= clamp(&mut draft.dur, 0, time::LONGEST);
        if draft.time_rounded {
            note(Code::TimeRounded);
        }
        if draft.time_clamped {
            note(Code::TimeClamped);
        }
        let fixed =
            Fixed { ts: draft.ts, dur: draft.dur, name: draft.name, track: self.last_track.1, layout };
        let row = table.push(fixed);
        // The sizes of records are checked by their dialect.
        if !is_record && table.layouts.get(layout).has_size() {
            count_size(table, row, (Some(offset), text), diagnostics);
        }
    }

    /// Removes the packed fields of a draft that is not appended.
    pub(super) fn discard(table: &mut Table, draft: Draft) {
        table.fields.rewind(draft.mark);
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

/// Clamps a time to a range. Returns whether it was outside.
fn clamp(ns: &mut i64, low: i64, high: i64) -> bool {
    let inside = (*ns).clamp(low, high);
    if *ns == time::NONE || inside == *ns {
        return false;
    }
    *ns = inside;
    true
}

/// Finds the quote of the next key after a comma, or the closing bracket.
#[inline]
fn separator(buf: &[u8], at: usize, close: u8) -> Result<(u8, usize), Stop> {
    let (b, at) = next(buf, at)?;
    if b == b',' {
        let (b, at) = next(buf, at + 1)?;
        if b == b'"' { Ok((b, at)) } else { Err(Stop::Damaged) }
    } else if b == close {
        Ok((b, at))
    } else {
        Err(Stop::Damaged)
    }
}
