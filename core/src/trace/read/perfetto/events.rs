//! Track events: slices, instants and counters, with their flows.

use super::arguments::{Argument, Content, Texts, argument, with};
use super::sequence::{Interned, Sequence};
use super::slices::Slices;
use super::tracks::Tracks;
use super::wire::{Damaged, fields};
use crate::base::index::Index;
use crate::base::time;
use crate::trace::table::append::RowBuilder;
use crate::trace::table::events::Table;
use crate::trace::table::layout::FieldPlace::{Args, Top};
use crate::trace::table::tracks::TrackId;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// The process on which PyTorch writes the overhead of profiling.
const OVERHEAD: &str = "-1";

/// An event as it was read.
#[derive(Default)]
struct Event<'a> {
    kind: u64,
    track: Option<u64>,
    name: Option<Cow<'a, str>>,
    name_id: Option<u64>,
    categories: Vec<String>,
    arguments: Vec<&'a [u8]>,
    counter: Option<Content<'static>>,
    flows: Vec<u64>,
    ended_flows: Vec<u64>,
    has_legacy_phase: bool,
}

/// What reading an event changes.
pub(super) struct State<'a> {
    pub(super) table: &'a mut Table,
    pub(super) tracks: &'a mut Tracks,
    pub(super) slices: &'a mut Slices,
    /// The flows that began.
    pub(super) flows: &'a mut Index,
}

fn read<'a>(message: &'a [u8], sequence: &Sequence, table: &Table) -> Result<Event<'a>, Damaged> {
    let mut event = Event { track: sequence.track, ..Event::default() };
    for field in fields(message) {
        match field? {
            (3, id) => {
                let category = sequence.text(Interned::Category, id.number());
                event.categories.extend(category.map(|name| table.names.get(name).to_string()));
            }
            (4, annotation) => event.arguments.push(annotation.bytes()),
            (6, _) => event.has_legacy_phase = true,
            (9, kind) => event.kind = kind.number(),
            (10, id) => event.name_id = Some(id.number()),
            (11, track) => event.track = Some(track.number()),
            (22, category) => event.categories.push(category.text().into_owned()),
            (23, name) => event.name = Some(name.text()),
            (30, value) => event.counter = Some(Content::Int(value.int())),
            (44, value) => event.counter = Some(Content::Double(value.double())),
            (36, id) => event.flows.push(id.number()),
            (47, ids) => event.flows.extend(ids.fixed64s()),
            (42, id) => event.ended_flows.push(id.number()),
            (48, ids) => event.ended_flows.extend(ids.fixed64s()),
            _ => {}
        }
    }
    Ok(event)
}

/// Reads an event at `ts`. Returns whether its kind is known.
pub(super) fn event(
    message: &[u8],
    ts: i64,
    sequence: &Sequence,
    state: &mut State<'_>,
) -> Result<bool, Damaged> {
    let read = read(message, sequence, state.table)?;
    let uuid = read.track.unwrap_or(0);
    let track = state.tracks.resolve(uuid, state.table);
    match read.kind {
        BEGIN | INSTANT => {
            let name = event_name(&read, sequence, state);
            slice_or_instant(&read, &name, (ts, track), sequence, state)?;
            flows(&read, (ts, track), state);
        }
        END => state.slices.end(track, ts),
        COUNTER => {
            let name = state.tracks.name(uuid).unwrap_or("counter").to_string();
            let name = state.table.names.intern(&name);
            let value = read.counter.unwrap_or(Content::Int(0));
            let row = RowBuilder::new(state.table, b'C', &read.categories.join(","));
            with(row, "value", value).finish_on(name, (ts, time::NONE), track);
        }
        _ => return Ok(!read.has_legacy_phase && read.kind == 0),
    }
    Ok(true)
}

fn event_name(event: &Event<'_>, sequence: &Sequence, state: &State<'_>) -> String {
    let interned = || sequence.text(Interned::Name, event.name_id?);
    match &event.name {
        Some(name) => name.to_string(),
        None => interned().map_or_else(String::new, |name| state.table.names.get(name).to_string()),
    }
}

fn slice_or_instant(
    event: &Event<'_>,
    name: &str,
    (ts, track): (i64, TrackId),
    sequence: &Sequence,
    state: &mut State<'_>,
) -> Result<(), Damaged> {
    // The texts of the table cannot be borrowed while a row is added to it.
    let names = core::mem::take(&mut state.table.names);
    let read: Result<Vec<Argument<'_>>, Damaged> = (event.arguments.iter())
        .map(|message| argument(message, Texts { sequence, names: &names }).map(owned))
        .collect();
    state.table.names = names;
    let arguments = read?;
    let category = category(event, &arguments, state.table, track);
    let is_slice = event.kind == BEGIN;
    let mut row = RowBuilder::new(state.table, if is_slice { b'X' } else { b'i' }, &category);
    if !is_slice {
        row = row.text(Top, "s", "t");
    }
    for Argument { name, value } in arguments {
        row = with(row, &name, value);
    }
    let name = row.names().intern(name);
    let row = row.finish_on(name, (ts, time::NONE), track);
    if is_slice {
        state.slices.begin(track, ts, row);
    }
    Ok(())
}

/// The same argument without borrowed texts of the table.
fn owned<'a>(argument: Argument<'_>) -> Argument<'a> {
    let value = match argument.value {
        Content::Text(text) => Content::Text(Cow::Owned(text.into_owned())),
        Content::Bool(flag) => Content::Bool(flag),
        Content::Int(number) => Content::Int(number),
        Content::Double(number) => Content::Double(number),
        Content::Null => Content::Null,
        Content::Number(number) => Content::Number(number),
        Content::Json(json) => Content::Json(json),
    };
    Argument { name: Cow::Owned(argument.name.into_owned()), value }
}

/// The category. PyTorch writes none for synchronization and overhead.
fn category(event: &Event<'_>, arguments: &[Argument<'_>], table: &Table, track: TrackId) -> String {
    if !event.categories.is_empty() {
        return event.categories.join(",");
    }
    let is_sync = arguments.iter().any(|argument| argument.name == "cuda_sync_kind");
    let is_overhead = table.names.get(table.tracks.get(track).pid) == OVERHEAD;
    if is_sync {
        "cuda_sync".into()
    } else if is_overhead {
        "overhead".into()
    } else {
        String::new()
    }
}

/// Adds the flows of an event: a start at the first event of an id, a step at others, an end where it terminates.
fn flows(event: &Event<'_>, (ts, track): (i64, TrackId), state: &mut State<'_>) {
    let ended = event.ended_flows.iter().map(|&id| (id, true));
    for (id, is_end) in event.flows.iter().map(|&id| (id, false)).chain(ended) {
        let is_first = state.flows.insert((id as i64, 0));
        let phase = match (is_end, is_first) {
            (true, _) => b'f',
            (false, true) => b's',
            (false, false) => b't',
        };
        if is_end {
            state.flows.remove((id as i64, 0));
        }
        let name = state.table.names.intern("flow");
        let row = RowBuilder::new(state.table, phase, "flow").text(Top, "id", &id.to_string());
        let row = if phase == b's' { row } else { row.text(Top, "bp", "e") };
        row.finish_on(name, (ts, time::NONE), track);
    }
}

/// Adds the name of a process or thread.
pub(super) fn name_row(table: &mut Table, key: &str, name: &str, (pid, tid): (&str, &str)) {
    RowBuilder::new(table, b'M', "").text(Args, "name", name).finish(key, time::NONE, (pid, tid));
}
