//! The table `events`: every event of the file, with its place in the call tree.

use super::Schema;
use super::column::{Column, Entries, Wanted, device, fields, number, opened, since, stream};
use super::steps::StepOf;
use crate::names::NameId;
use crate::table::events::{Row, Table};
use crate::table::fields::Value;
use crate::table::layout::{Key, Place};
use crate::table::tracks::Track;
use crate::trace::Trace;
use crate::tree::{Position, Tree, sorted_by_track};
use crate::write::chrome::value_json;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

const PARENT: &str = "parent";
const DEPTH: &str = "depth";
const SELF: &str = "self_ns";
const STEP: &str = "step";

pub(super) const SCHEMA: Schema = Schema {
    name: "events",
    about: "A row is an event of the file.",
    sorted_by: &["track", "ts_ns"],
    fields: || fields(&columns()),
    source: |trace, wanted| {
        let events = Events::new(trace, wanted);
        let len = events.rows.len();
        opened(events, len, columns())
    },
};

/// A column of the table.
type Of<'t> = Column<Events<'t>>;

fn columns<'t>() -> Vec<Of<'t>> {
    vec![
        Of::int("event", "The number of the event: its position among the objects of `traceEvents`.", |all, at| {
            Some(number(all.rows[at]))
        }),
        Of::int(PARENT, "The innermost span around it on its track: its number. Only of spans.", |all, at| {
            let tree = &all.trace.tree;
            tree.parent(all.position(at)?).map(|parent| number(tree.row(parent)))
        })
        .optional(),
        Of::int(DEPTH, "The number of spans around it on its track. Only of spans.", |all, at| {
            Some(i64::from(all.depths[all.position(at)?.index()]))
        })
        .optional(),
        Of::int("track", "The track: its number in `tracks`.", |all, at| {
            Some(i64::from(all.table().track_id(all.rows[at]).0))
        }),
        Of::int("ts_ns", "The start.", |all, at| since(all.trace.start_ns, all.table().ts(all.rows[at])))
            .optional(),
        Of::int("dur_ns", "The duration. Only of spans.", |all, at| since(0, all.table().dur(all.rows[at])))
            .optional(),
        Of::int(SELF, "The duration without that of the spans directly in it. Only of spans.", |all, at| {
            Some(all.self_ns[all.position(at)?.index()])
        })
        .optional(),
        Of::label(
            "phase",
            "The phase (`ph`) of Chrome's format, one letter. The B of a pair of B and E is the span, and its E a row without a duration.",
            |all, at| phase(all.table().ph(all.rows[at])),
        )
        .optional(),
        Of::name("category", "The category (`cat`) in the file.", |all, at| {
            all.table().layout(all.rows[at]).cat
        })
        .optional(),
        Of::word(
            "kind",
            "The category in one vocabulary for all writers, such as `cpu_op` and `kernel`; else `other`.",
            |all, at| Some(all.table().category(all.rows[at]).as_str()),
        ),
        Of::name("name", "The name.", |all, at| Some(all.table().name_id(all.rows[at]))),
        Of::int(
            STEP,
            "The profiler step in which it began; of device work, in which it was launched.",
            |all, at| all.steps.event(all.trace, all.rows[at]),
        )
        .optional(),
        Of::int("correlation", "The id that a call and the device work that it started share.", |all, at| {
            all.table().int(all.rows[at], Key::Correlation)
        })
        .optional(),
        Of::int(
            "external_id",
            "The id that an operator and the calls in it share (`External id`).",
            |all, at| all.table().int(all.rows[at], Key::ExternalId),
        )
        .optional(),
        Of::int("device", "The device, of events on streams.", |all, at| {
            device(all.table(), all.table().track(all.rows[at]))
        })
        .optional(),
        Of::int("stream", "The stream, of events on streams.", |all, at| {
            stream(all.table(), all.table().track(all.rows[at]))
        })
        .optional(),
        Of::map(
            "args",
            "The other arguments by name: texts as they are, other values as JSON. Those with the value of another column are left out.",
            |all, at| arguments(all.table(), all.rows[at]),
        )
        .optional(),
    ]
}

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
    fn new(trace: &'t Trace, wanted: &Wanted) -> Events<'t> {
        let (table, tree) = (&trace.table, &trace.tree);
        let wants_tree = wanted.any(&[PARENT, DEPTH, SELF]);
        Events {
            trace,
            rows: sorted_by_track(table, |_| true).0,
            steps: if wanted.any(&[STEP]) { StepOf::new(table) } else { StepOf::default() },
            positions: if wants_tree { positions(table, tree) } else { Vec::new() },
            depths: if wanted.any(&[DEPTH]) { depths(tree) } else { Vec::new() },
            self_ns: if wanted.any(&[SELF]) { self_times(table, tree) } else { Vec::new() },
        }
    }

    fn table(&self) -> &'t Table {
        &self.trace.table
    }

    fn position(&self, at: usize) -> Option<Position> {
        self.positions[self.rows[at].index()]
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

/// Returns the arguments that no other column has; `None` if there are none.
fn arguments(table: &Table, row: Row) -> Option<Entries> {
    let track = table.track(row);
    let rest = |(key, value): &(NameId, Value<'_>)| !is_column(table, track, *key, *value);
    let arguments = table.all_fields(row).filter(|field| field.0.place == Place::Args);
    let entries: Entries = arguments
        .map(|(field, value)| (field.key, value))
        .filter(rest)
        .map(|(key, value)| (key, text(value)))
        .collect();
    (!entries.is_empty()).then_some(entries)
}

/// Whether another column has the value of an argument.
fn is_column(table: &Table, track: Track, key: NameId, value: Value<'_>) -> bool {
    let Value::Int(number) = value else { return false };
    match Key::of(table.names.get(key)) {
        Some(Key::Correlation | Key::ExternalId) => true,
        Some(Key::Device) => device(table, track) == Some(number),
        Some(Key::Stream) => stream(table, track) == Some(number),
        _ => false,
    }
}

fn text(value: Value<'_>) -> String {
    if let Value::Text(text) = value { text.to_owned() } else { value_json(value) }
}
