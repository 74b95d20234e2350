//! The table `events`: every event of the file, with its place in the call tree.

use super::Schema;
use super::arguments::{Arguments, PYTHON_PARENT};
use super::column::{Column, Wanted, device, fields, number, opened, since, stream};
use crate::analysis::context::Analysis;
use crate::analysis::device::ranges::StepFinder;
use crate::trace::Trace;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::{FieldPlace, Key};
use crate::trace::tree::{Position, Tree, sorted_by_track};
use alloc::borrow::Cow;
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
    fields: || fields(Events::COLUMNS),
    source: |analysis, wanted| opened(Events::new(analysis, wanted), |all| all.rows.len(), Events::COLUMNS),
};

/// A column of the table.
type Of<'t> = Column<Events<'t>>;

impl<'t> Events<'t> {
    const COLUMNS: &'t [Of<'t>] = &[
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
        Of::label(
            "kind",
            "The category in one vocabulary for all writers, such as `cpu_op` and `kernel`; else `other`.",
            |all, at| Some(all.table().category(all.rows[at]).as_str().into()),
        ),
        Of::name("name", "The name.", |all, at| Some(all.table().name_id(all.rows[at]))),
        Of::int(
            STEP,
            "The profiler step in which it began; of device work, in which it was launched.",
            |all, at| all.steps?.number(all.trace, all.rows[at]),
        )
        .optional(),
        Of::int("correlation", "The id that a call and the device work that it started share.", |all, at| {
            all.int(at, Key::Correlation)
        })
        .optional(),
        Of::int(
            "external_id",
            "The id that an operator and the calls in it share (`External id`).",
            |all, at| all.int(at, Key::ExternalId),
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
        Of::int("sequence_nr", "The autograd sequence number (`Sequence number`).", |all, at| {
            all.int(at, Key::SequenceNumber)
        })
        .optional(),
        Of::int("fwd_thread", "Of a backward operator, the thread of the forward operator (`Fwd thread id`).", |all, at| {
            all.int(at, Key::FwdThreadId)
        })
        .optional(),
        Of::int("ev_idx", "The number that the profiler gave the event (`Ev Idx`).", |all, at| all.int(at, Key::EvIdx))
        .optional(),
        Of::int("record_function_id", "The id in an execution trace (`Record function id`).", |all, at| {
            all.int(at, Key::RecordFunctionId)
        })
        .optional(),
        Of::int("python_id", "The id of a Python call (`Python id`).", |all, at| all.int(at, Key::PythonId))
        .optional(),
        Of::int("python_parent_id", "The Python call around it (`Python parent id`).", |all, at| {
            all.table().field_named(all.rows[at], FieldPlace::Args, PYTHON_PARENT)?.as_i64()
        })
        .optional(),
        Of::label("input_dims", "The shapes of the inputs of an operator, as JSON (`Input Dims`).", |all, at| {
            all.json(at, Key::InputDims)
        })
        .optional(),
        Of::label("input_types", "The types of the inputs of an operator, as JSON (`Input type`).", |all, at| {
            all.json(at, Key::InputType)
        })
        .optional(),
        Of::map(
            "args",
            "The other arguments by name: texts as they are, other values as JSON. An argument that is a column of `events` or \
             `kernels` is left out.",
            |all, at| all.arguments.others(all.table(), all.rows[at]),
        )
        .optional(),
    ];
}

struct Events<'t> {
    trace: &'t Trace,
    /// The events in the order of the table.
    rows: Vec<Row>,
    /// `None` unless requested.
    steps: Option<&'t StepFinder>,
    arguments: Arguments,
    /// By row; empty unless a column of the tree was requested.
    positions: Vec<Option<Position>>,
    /// By position; empty unless requested.
    depths: Vec<u32>,
    self_ns: Vec<i64>,
}

impl<'t> Events<'t> {
    fn new(analysis: &'t Analysis<'t>, wanted: &Wanted) -> Events<'t> {
        let trace = analysis.trace;
        let (table, tree) = (&trace.table, &trace.tree);
        let wants_tree = wanted.any(&[PARENT, DEPTH, SELF]);
        Events {
            trace,
            rows: sorted_by_track(table, |_| true).0,
            steps: wanted.any(&[STEP]).then(|| analysis.step_finder()),
            arguments: Arguments::new(table),
            positions: if wants_tree { positions(table, tree) } else { Vec::new() },
            depths: if wanted.any(&[DEPTH]) { depths(tree) } else { Vec::new() },
            self_ns: if wanted.any(&[SELF]) { self_times(table, tree) } else { Vec::new() },
        }
    }

    fn table(&self) -> &'t Table {
        &self.trace.table
    }

    fn int(&self, at: usize, key: Key) -> Option<i64> {
        self.table().int(self.rows[at], key)
    }

    fn json(&self, at: usize, key: Key) -> Option<Cow<'t, str>> {
        self.table().field(self.rows[at], key)?.as_json().map(Cow::Borrowed)
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

/// The letters of the phases.
const PHASES: &str = "XBEibnesftCMNODSTpFPvRc(){}GIVv,";

fn phase(ph: u8) -> Option<Cow<'static, str>> {
    let at = PHASES.bytes().position(|letter| letter == ph);
    let text = at.map_or_else(|| String::from(char::from(ph)).into(), |at| PHASES[at..=at].into());
    (ph != 0).then_some(text)
}
