//! Writes a trace in Perfetto's protobuf format, for Perfetto's page and its trace processor.
//!
//! Spans are slices, and spans that overlap without nesting have tracks of their own, so that none is dropped. Each row is
//! one event with what Perfetto does not have in an extension, so that reading the
//! file again gives the same table.
//!
//! Slices are written lane by lane, because slices that begin or end at the same time must be written from the outside to
//! the inside.

mod arrows;
mod asynchronous;
mod message;
mod strings;
mod tracks;

use crate::base::time;
use crate::output::write::chrome::{category_text, is_far, top_fields};
use crate::trace::Trace;
use crate::trace::read::perfetto::extension::{self, header, packet as extended};
use crate::trace::table::bounds::DURATION;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::{Field, FieldPlace, is_begin};
use crate::trace::tree::Position;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;
use arrows::Arrows;
use asynchronous::{Asynchronous, Span};
use message::{bytes, fixed, message, number, signed};
use strings::{InternedField, Strings};
use tracks::Tracks;

/// The field of a trace, and the fields of a packet.
const PACKET: u32 = 1;
const CHROME_EVENTS: u32 = 5;
const CLOCK_SNAPSHOT: u32 = 6;
const TIMESTAMP: u32 = 8;
const SEQUENCE: u32 = 10;
const TRACK_EVENT: u32 = 11;
const INTERNED: u32 = 12;
const SEQUENCE_FLAGS: u32 = 13;

/// Ids of clocks.
const REALTIME: u64 = 1;
const BOOTTIME: u64 = 6;

/// Fields of a track event, and the types of events.
const CATEGORY_ID: u32 = 3;
const ANNOTATION: u32 = 4;
const TYPE: u32 = 9;
const NAME_ID: u32 = 10;
const TRACK: u32 = 11;
const CATEGORY: u32 = 22;
const DOUBLE_COUNTER: u32 = 44;
const FLOWS: u32 = 47;
const ENDED_FLOWS: u32 = 48;

/// The type of an event.
#[derive(Clone, Copy)]
enum Type {
    /// Perfetto does not draw the event.
    Hidden = 0,
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// Appends a packet of the one sequence of the trace.
fn packet(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    message(out, PACKET, |out| {
        number(out, SEQUENCE, 1);
        fill(out);
    });
}

/// What is written next.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Header,
    /// The spans of the lane with this index.
    Lane(usize),
    /// The event with this index, if it is no span.
    Event(usize),
}

/// Writes one trace, piece by piece.
#[derive(Debug)]
pub struct PerfettoWriter {
    stage: Stage,
    /// What is added to a timestamp to get the ts, so that no timestamp is negative.
    shift: i64,
    tracks: Tracks,
    strings: Strings,
    arrows: Arrows,
    asynchronous: Asynchronous,
    /// The position in the tree of the next span.
    next: usize,
    /// The ends of the open spans of the lane, and its track.
    open: Vec<i64>,
    track: u64,
    /// The row that is being written, and its event.
    row: Vec<u8>,
    event: Vec<u8>,
}

impl PerfettoWriter {
    /// Creates a writer of a trace.
    pub fn new(trace: &Trace) -> Self {
        let table = &trace.table;
        let times = table.rows().map(|row| table.ts(row)).filter(|&ts| ts != time::NONE);
        PerfettoWriter {
            stage: Stage::Header,
            shift: times.min().unwrap_or(0).min(0),
            tracks: Tracks::new(trace),
            strings: Strings::default(),
            arrows: Arrows::new(trace),
            asynchronous: Asynchronous::new(trace),
            next: 0,
            open: Vec::new(),
            track: 0,
            row: Vec::new(),
            event: Vec::new(),
        }
    }

    /// Appends about `size` bytes to `out` and returns whether more follow.
    pub fn next(&mut self, trace: &Trace, out: &mut Vec<u8>, size: usize) -> bool {
        let end = out.len().saturating_add(size);
        while out.len() < end {
            self.stage = match self.stage {
                Stage::Header => {
                    self.header(trace, out);
                    Stage::Lane(0)
                }
                Stage::Lane(lane) if lane < trace.tree.lanes().len() => self.span(trace, lane, out),
                Stage::Lane(_) => Stage::Event(0),
                Stage::Event(row) if row < trace.table.len() => {
                    self.other(trace, Row::new(row), out);
                    Stage::Event(row + 1)
                }
                Stage::Event(_) => return false,
            };
        }
        true
    }

    fn header(&self, trace: &Trace, out: &mut Vec<u8>) {
        let metadata = &trace.table.metadata;
        packet(out, |out| {
            number(out, SEQUENCE_FLAGS, 1);
            message(out, extended::HEADER, |out| {
                signed(out, header::BASE, metadata.base_ns);
                signed(out, header::SHIFT, self.shift);
                number(out, header::IS_BARE, u64::from(metadata.bare_array));
                number(out, header::TRAILING, metadata.trailing as u64);
            });
            message(out, CHROME_EVENTS, |out| {
                for (key, json) in &metadata.entries {
                    message(out, 2, |out| {
                        bytes(out, 1, key.as_bytes());
                        bytes(out, 5, json.as_bytes());
                    });
                }
            });
        });
        let start = trace.start_ns.max(self.shift);
        if let Ok(unix @ 1..) = u64::try_from(metadata.base_ns.saturating_add(start)) {
            packet(out, |out| {
                message(out, CLOCK_SNAPSHOT, |out| {
                    for (clock, ns) in [(BOOTTIME, self.timestamp(start)), (REALTIME, unix)] {
                        message(out, 1, |out| {
                            number(out, 1, clock);
                            number(out, 2, ns);
                        });
                    }
                });
            });
        }
        Tracks::write_ids(trace, out);
    }

    fn timestamp(&self, ts: i64) -> u64 {
        ts.saturating_sub(self.shift).max(0).cast_unsigned()
    }

    /// Writes the next span of a lane, after the ends of the spans before it.
    fn span(&mut self, trace: &Trace, lane: usize, out: &mut Vec<u8>) -> Stage {
        let of = &trace.tree.lanes()[lane];
        if self.next == of.first() {
            self.track = match of.extra {
                0 => self.tracks.described(of.track, out),
                _ => self.tracks.overlap(of, out),
            };
        }
        if self.next == of.first() + of.positions().len() {
            self.end_until(i64::MAX, out);
            return Stage::Lane(lane + 1);
        }
        let at = Position::new(self.next);
        self.next += 1;
        let (table, row) = (&trace.table, trace.tree.row(at));
        self.end_until(table.ts(row), out);
        self.open.push(table.end(row));
        self.row(table, row);
        for (arrow, is_last) in self.arrows.at(at) {
            fixed(&mut self.event, if is_last { ENDED_FLOWS } else { FLOWS }, arrow);
        }
        self.write(Type::Begin, (table.ts(row), self.track), out);
        Stage::Lane(lane)
    }

    /// Ends the innermost spans that end at or before `ts`.
    fn end_until(&mut self, ts: i64, out: &mut Vec<u8>) {
        while let Some(end) = self.open.pop_if(|end| *end <= ts) {
            self.write(Type::End, (end, self.track), out);
        }
    }

    /// Writes an event that is no span.
    fn other(&mut self, trace: &Trace, row: Row, out: &mut Vec<u8>) {
        let table = &trace.table;
        if table.is_span(row) {
            return;
        }
        let (ts, id) = (table.ts(row), table.track_id(row));
        if let Some(span) = self.asynchronous.at(row) {
            self.asynchronous_span(trace, span, out);
            return;
        }
        // Instants, and asynchronous begins without an end.
        let is_instant = matches!(table.ph(row), b'i' | b'I' | b'R' | b'n' | b'b' | b'S');
        if is_instant && ts != time::NONE {
            let track = self.tracks.described(id, out);
            self.row(table, row);
            self.write(Type::Instant, (ts, track), out);
            return;
        }
        self.row(table, row);
        self.write(Type::Hidden, (ts, Tracks::uuid(id)), out);
        if table.ph(row) == b'C' && ts != time::NONE {
            self.counters(table, row, out);
        }
    }

    fn asynchronous_span(&mut self, trace: &Trace, span: Span, out: &mut Vec<u8>) {
        let track = self.asynchronous.track(trace, span, &mut self.tracks, out);
        self.row(&trace.table, span.begin);
        self.write(Type::Begin, (trace.table.ts(span.begin), track), out);
        self.write(Type::End, (trace.table.ts(span.end), track), out);
    }

    /// Writes the numbers of a counter event, each on the track of its series.
    fn counters(&mut self, table: &Table, row: Row, out: &mut Vec<u8>) {
        let name = table.name(row);
        for (field, value) in table.all_fields(row).filter(|(field, _)| field.place == FieldPlace::Args) {
            let Some(value) = value.as_f64().filter(|value| value.is_finite()) else { continue };
            let key = table.names.get(field.key);
            let series =
                if key.is_empty() || key == name { name.to_owned() } else { format!("{name} {key}") };
            let of = (&*series, (table.name_id(row).0, field.key.0));
            let track = self.tracks.counter(table.track_id(row), of, out);
            fixed(&mut self.event, DOUBLE_COUNTER, value.to_bits());
            self.write(Type::Counter, (table.ts(row), track), out);
        }
    }

    /// Adds a row to the event: its fields, and what Perfetto does not have.
    fn row(&mut self, table: &Table, row: Row) {
        let PerfettoWriter { row: out, event, strings, .. } = self;
        let names = &table.names;
        let (ph, dur) = (table.ph(row), table.dur(row));
        number(out, extension::row::INDEX, row.index() as u64);
        // The duration of a begin is that of its span, unless it has one of its own that is out of range.
        if dur != time::NONE && (!is_begin(ph) || is_far(table, row, DURATION)) {
            signed(out, extension::row::DURATION, dur);
        }
        if ph != b'X' {
            number(out, extension::row::PHASE, u64::from(ph));
        }
        number(out, extension::row::TRACK, Tracks::uuid(table.track_id(row)));
        for (field, value) in top_fields(table, row) {
            message(out, extension::row::TOP, |out| annotation(out, strings, (field, value), table));
        }
        match (table.layout(row).cat, category_text(table, row)) {
            (Some(cat), _) => number(event, CATEGORY_ID, strings.id(InternedField::Category, cat, names)),
            (None, Some(text)) => bytes(event, CATEGORY, text.as_bytes()),
            (None, None) => {}
        }
        if !table.name(row).is_empty() {
            number(event, NAME_ID, strings.id(InternedField::EventName, table.name_id(row), names));
        }
        for (field, value) in table.all_fields(row).filter(|(field, _)| field.place == FieldPlace::Args) {
            message(event, ANNOTATION, |out| annotation(out, strings, (field, value), table));
        }
    }

    /// Writes the event.
    fn write(&mut self, kind: Type, (ts, track): (i64, u64), out: &mut Vec<u8>) {
        let timestamp = self.timestamp(ts);
        let PerfettoWriter { row, event, strings, .. } = self;
        packet(out, |out| {
            if ts != time::NONE {
                number(out, TIMESTAMP, timestamp);
            }
            if !strings.new.is_empty() {
                bytes(out, INTERNED, &strings.new);
            }
            if !row.is_empty() {
                bytes(out, extended::ROW, row);
            }
            let field = if matches!(kind, Type::Hidden) { extended::HIDDEN } else { TRACK_EVENT };
            message(out, field, |out| {
                number(out, TYPE, kind as u64);
                number(out, TRACK, track);
                out.extend_from_slice(event);
            });
        });
        strings.new.clear();
        row.clear();
        event.clear();
    }
}

/// Writes a field as a `DebugAnnotation`.
fn annotation(out: &mut Vec<u8>, strings: &mut Strings, (field, value): (&Field, Value<'_>), table: &Table) {
    const NAME_ID: u32 = 1;
    const BOOL: u32 = 2;
    const INT: u32 = 4;
    const DOUBLE: u32 = 5;
    const JSON: u32 = 9;
    const TEXT_ID: u32 = 17;
    number(out, NAME_ID, strings.id(InternedField::ArgumentName, field.key, &table.names));
    match value {
        Value::Null => {}
        Value::Bool(flag) => number(out, BOOL, u64::from(flag)),
        Value::Int(value) => number(out, INT, value.cast_unsigned()),
        Value::Text(text) => {
            let id = table.names.find(text).unwrap_or_default();
            number(out, TEXT_ID, strings.id(InternedField::ArgumentText, id, &table.names));
        }
        Value::Json(text) => bytes(out, JSON, text.as_bytes()),
        Value::Decimal { .. } | Value::Number(_) => {
            fixed(out, DOUBLE, value.as_f64().unwrap_or_default().to_bits());
            bytes(out, extension::NUMBER, value.to_json().as_bytes());
        }
    }
}
