//! The table `events`: every event of the file, with its place in the call tree.

use super::column::{Data, Field, number, place, since};
use super::steps::StepOf;
use super::{Schema, Source};
use crate::table::events::{Row, Table};
use crate::table::layout::{Key, Place};
use crate::trace::Trace;
use crate::tree::{Position, Tree, sorted_by_track};
use crate::write::chrome::fields_json;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

const PARENT: usize = 1;
const DEPTH: usize = 2;
const SELF: usize = 6;

const FIELDS: [Field; 17] = [
    Field::int("event", "The number of the event: its position among the objects of `traceEvents`."),
    Field::int("parent", "The innermost span around it on its track: its number. Only of spans.").optional(),
    Field::int("depth", "The number of spans around it on its track. Only of spans.").optional(),
    Field::int("track", "The track: its number in `tracks`."),
    Field::int("ts_ns", "The start.").optional(),
    Field::int("dur_ns", "The duration. Only of spans.").optional(),
    Field::int("self_ns", "The duration without that of the spans directly in it. Only of spans.").optional(),
    Field::name(
        "phase",
        "The phase (`ph`) of Chrome's format, one letter. The B of a pair of B and E is the span, and its E a row without a duration.",
    )
    .optional(),
    Field::name("category", "The category (`cat`) in the file.").optional(),
    Field::name("kind", "The category in one vocabulary for all writers, such as `cpu_op` and `kernel`; else `other`."),
    Field::name("name", "The name."),
    Field::int("step", "The profiler step in which it began; of device work, in which it was launched.").optional(),
    Field::int("correlation", "The id that a call and the device work that it started share.").optional(),
    Field::int("external_id", "The id that an operator and the calls in it share (`External id`).").optional(),
    Field::int("device", "The device, of events on streams.").optional(),
    Field::int("stream", "The stream, of events on streams.").optional(),
    Field::json("args", "All arguments, as in the file, those of other columns too.").optional(),
];

pub(super) const SCHEMA: Schema = Schema {
    name: "events",
    about: "A row is an event of the file.",
    fields: &FIELDS,
    sorted_by: &["track", "ts_ns"],
    source: |trace, columns| Box::new(Events::new(trace, columns)),
};

struct Events<'t> {
    trace: &'t Trace,
    /// The events in the order of the table.
    rows: Vec<Row>,
    steps: StepOf,
    /// By row; empty unless a column of the tree was requested.
    positions: Vec<Option<Position>>,
    /// By position; empty unless requested.
    depths: Vec<u32>,
    self_ns: Vec<i64>,
}

impl<'t> Events<'t> {
    fn new(trace: &'t Trace, columns: &[usize]) -> Events<'t> {
        let (table, tree) = (&trace.table, &trace.tree);
        let wants = |column: usize| columns.contains(&column);
        let wants_tree = [PARENT, DEPTH, SELF].into_iter().any(wants);
        Events {
            trace,
            rows: sorted_by_track(table, |_| true).0,
            steps: StepOf::new(table),
            positions: if wants_tree { positions(table, tree) } else { Vec::new() },
            depths: if wants(DEPTH) { depths(tree) } else { Vec::new() },
            self_ns: if wants(SELF) { self_times(table, tree) } else { Vec::new() },
        }
    }

    fn int(&self, column: usize, row: Row) -> Option<i64> {
        let (table, tree) = (&self.trace.table, &self.trace.tree);
        let position = || self.positions[row.index()];
        match column {
            0 => Some(number(row)),
            PARENT => tree.parent(position()?).map(|parent| number(tree.row(parent))),
            DEPTH => Some(i64::from(self.depths[position()?.index()])),
            3 => Some(i64::from(table.track_id(row).0)),
            4 => since(self.trace.start_ns, table.ts(row)),
            5 => since(0, table.dur(row)),
            SELF => Some(self.self_ns[position()?.index()]),
            11 => self.steps.event(self.trace, row),
            12 => table.int(row, Key::Correlation),
            13 => table.int(row, Key::ExternalId),
            14 => place(table, table.track(row)).map(|place| place.0),
            _ => place(table, table.track(row)).map(|place| place.1),
        }
    }
}

impl Source for Events<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn read(&self, column: usize, rows: Range<usize>) -> Data {
        let table = &self.trace.table;
        let rows = self.rows[rows].iter().copied();
        match column {
            7 => Data::Texts(rows.map(|row| phase(table.ph(row))).collect()),
            8 => Data::Names(rows.map(|row| table.layout(row).cat).collect()),
            9 => Data::Words(rows.map(|row| table.category(row).as_str()).collect()),
            10 => Data::Names(rows.map(|row| Some(table.name_id(row))).collect()),
            16 => Data::Texts(rows.map(|row| arguments(table, row)).collect()),
            int => Data::Ints(rows.map(|row| self.int(int, row)).collect()),
        }
    }
}

fn positions(table: &Table, tree: &Tree) -> Vec<Option<Position>> {
    let mut positions = vec![None; table.len()];
    for at in tree.positions() {
        positions[tree.row(at).index()] = Some(at);
    }
    positions
}

fn depths(tree: &Tree) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(tree.len());
    // A parent precedes its children.
    for at in tree.positions() {
        depths.push(tree.parent(at).map_or(0, |parent| depths[parent.index()] + 1));
    }
    depths
}

fn self_times(table: &Table, tree: &Tree) -> Vec<i64> {
    tree.lanes().iter().flat_map(|lane| tree.self_times(table, lane)).collect()
}

fn phase(ph: u8) -> Option<String> {
    (ph != 0).then(|| String::from(char::from(ph)))
}

/// Returns the arguments as a JSON object; `None` without arguments.
fn arguments(table: &Table, row: Row) -> Option<String> {
    let arguments = table.all_fields(row).filter(|field| field.0.place == Place::Args);
    Some(fields_json(table, arguments)).filter(|text| !text.is_empty())
}
