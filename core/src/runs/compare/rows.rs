//! A comparison as rows of several kinds.

use super::change::call_ns;
use super::kinds::{Change, DiffCause, DiffPart, RowKind};
use super::lines::Line;
use super::verdict::Factor;
use super::{Comparison, Finding};
use crate::base::rows::{Cells, Column, Kinds, Rows, RowsOfKinds, Shape, Variant, columns, record};
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

/// The kinds of rows.
pub(crate) const KINDS: Kinds = Kinds {
    column: Column::word("kind", "Kind", &RowKind::VOCABULARY, "What the row is about."),
    variants: &[
        Variant { name: "Total", kinds: &[RowKind::Total.as_str()], columns: TOTAL },
        Variant {
            name: "Part",
            kinds: &[
                RowKind::Operator.as_str(),
                RowKind::Range.as_str(),
                RowKind::Python.as_str(),
                RowKind::Runtime.as_str(),
                RowKind::Other.as_str(),
                RowKind::Kernel.as_str(),
                RowKind::Collective.as_str(),
                RowKind::Memcpy.as_str(),
                RowKind::Memset.as_str(),
            ],
            columns: PART,
        },
        Variant { name: "Idle", kinds: &[RowKind::Idle.as_str()], columns: IDLE },
        Variant { name: "Phase", kinds: &[RowKind::Phase.as_str()], columns: PHASE },
        Variant { name: "Wait", kinds: &[RowKind::Wait.as_str()], columns: WAIT },
        Variant { name: "Step", kinds: &[RowKind::Step.as_str()], columns: STEP },
        Variant { name: "Speed", kinds: &[RowKind::Speed.as_str()], columns: SPEED },
        Variant { name: "Memory", kinds: &[RowKind::Memory.as_str()], columns: MEMORY },
        Variant { name: "Note", kinds: &[RowKind::Note.as_str()], columns: NOTE },
    ],
};

const NAME: Column =
    Column::text("name", "Name", "The name; where something was replaced, the names of both sides.");
const CHANGE: Column = Column::word("change", "Change", &Change::VOCABULARY, "What changed.");
const SIGNIFICANT: Column = Column::bool(
    "significant",
    "Significant",
    "Whether the change is more than noise; null if that cannot be decided.",
)
.nullable();
const CONTRIBUTION: Column = Column::ns(
    "contribution_ns",
    "Contribution",
    "The change per step; the rows of each `part_of` add up to that of their total.",
);
const LOW: Column = Column::ns(
    "low_ns",
    "Low",
    "The lower end of the interval of the change of the median step; all intervals together hold with 95 %.",
)
.nullable();
const HIGH: Column = Column::ns("high_ns", "High", "The upper end.").nullable();
const MEDIAN: Column = Column::ns("median_ns", "", "The change of the median step.").nullable();
const PROBABILITY: Column = Column::float(
    "probability",
    "",
    "The probability of such a change by noise alone, adjusted for the number of rows tested; null if the row was not \
     tested.",
)
.nullable();
const A: Column = Column::ns(
    "a_ns",
    "A",
    "The time per step in the first trace: the part of the wall time of the step, or of the busy time of devices, that \
     counts for the row.",
);
const B: Column = Column::ns("b_ns", "B", "The same in the second trace.");
const PART_OF: Column =
    Column::word("part_of", "", &DiffPart::VOCABULARY, "The total that the row is a part of.");
const CAUSE: Column =
    Column::word("cause", "Cause", &DiffCause::VOCABULARY, "Why it changed, as far as the traces show it.")
        .nullable();
const MESSAGE: Column =
    Column::text("message", "Message", "A sentence about the cause, or the note.").sentence();

/// Returns the rows, the most important first.
pub(super) fn rows(comparison: &Comparison) -> Rows {
    let mut rows = RowsOfKinds::new(&KINDS);
    for finding in &comparison.findings {
        rows.push(finding.line.kind.as_str(), cells(comparison, finding));
    }
    for text in &comparison.notes {
        rows.push(RowKind::Note.as_str(), note(text));
    }
    rows.finish()
}

fn cells(comparison: &Comparison, finding: &Finding) -> Cells {
    match finding.line.kind {
        RowKind::Total => total(finding, comparison),
        RowKind::Idle => idle(finding),
        RowKind::Phase => phase(finding),
        RowKind::Wait => wait(finding),
        RowKind::Step => step(finding),
        RowKind::Speed => speed(finding),
        RowKind::Memory => memory(finding),
        _ => part(finding, comparison),
    }
}

/// Defines rows about times and their noise: the shared columns, then those of the kind.
macro_rules! judged {
    (const $COLUMNS:ident: fn $cells:ident($finding:ident $(, $parameter:ident: $type:ty)*)
     $({ $(let $local:pat = $init:expr;)* })? [ $($column:expr => $value:expr,)* ]) => {
        columns! {
            const $COLUMNS: fn $cells($finding: &Finding $(, $parameter: $type)*) {
                let line = &$finding.line;
                $($(let $local = $init;)*)?
            } [
                NAME => line.name.as_str(),
                CHANGE => $finding.change.as_str(),
                SIGNIFICANT => line.verdict.is_significant,
                CONTRIBUTION => line.contribution(),
                LOW => line.verdict.interval.map(|interval| rounded(interval.0)),
                HIGH => line.verdict.interval.map(|interval| rounded(interval.1)),
                MEDIAN => median(line),
                PROBABILITY => line.verdict.probability,
                A => line.values[0],
                B => line.values[1],
                $($column => $value,)*
            ]
        }
    };
}

judged! {
    const TOTAL: fn total(finding, comparison: &Comparison) {
        let (steps, aligned) = (comparison.steps, comparison.aligned);
    } [
        Column::int("steps_a", "", "The number of steps of the first trace; 1 without profiler steps.") => steps[0],
        Column::int("steps_b", "", "The same of the second trace.") => steps[1],
        Column::share("aligned_a", "", "The share of the time of the first trace that has a counterpart at the same place.") =>
            aligned[0],
        Column::share("aligned_b", "", "The same of the second trace.") => aligned[1],
        CAUSE => cause(finding),
        MESSAGE.nullable() => message(finding),
    ]
}

judged! {
    const PART: fn part(finding, comparison: &Comparison) {
        let line = &finding.line;
        let has_calls = line.counts != [0, 0];
        let of_calls = |numbers: [i64; 2], side: usize| has_calls.then_some(numbers[side]);
        let factor = factor_of(comparison, line);
        let places = line.places.iter().map(|(within, ns)| place(within, *ns));
    } [
        Column::ns("equal_speed_ns", "", "The contribution if both recordings were equally fast: each side is scaled by the root of the common factor; null if there is none.")
            .nullable() => factor.map(|factor| factor.without(line.values)),
        Column::int("count_a", "Calls A", "The number of calls or activities of all steps in the first trace.")
            .nullable() => of_calls(line.counts, 0),
        Column::int("count_b", "Calls B", "The same in the second trace.").nullable() => of_calls(line.counts, 1),
        Column::ns("call_a_ns", "", "The mean self time of a call, or the mean duration of an activity, in the first trace.")
            .nullable() => call_ns(line, 0),
        Column::ns("call_b_ns", "", "The same in the second trace.").nullable() => call_ns(line, 1),
        Column::ns("sum_a_ns", "", "The self times of all calls, or the durations of all activities, in all steps of the first trace.")
            .nullable() => of_calls(line.sums, 0),
        Column::ns("sum_b_ns", "", "The same in the second trace.").nullable() => of_calls(line.sums, 1),
        PART_OF.nullable() => line.part.map(DiffPart::as_str),
        CAUSE => cause(finding),
        MESSAGE.nullable() => message(finding),
        Column::json("names_a", "", Shape::Texts, "The names in the first trace.") => texts(&line.names[0]),
        Column::json("names_b", "", Shape::Texts, "The names in the second trace.") => texts(&line.names[1]),
        Column::json("places", "", Shape::Records(&PLACE), "Where the largest changes are; at most 5.") =>
            places.collect::<Value>(),
    ]
}

record! {
    /// A place where a line runs.
    static PLACE = "DiffPlace": fn place(within: &str, contribution_ns: i64) [
        Column::text("within", "", "The innermost annotation or module around it.") => within,
        Column::ns("contribution_ns", "", "The change of the time there, per step.") => contribution_ns,
    ]
}

judged! {
    const IDLE: fn idle(finding) [
        PART_OF => finding.line.part.map(DiffPart::as_str),
    ]
}

judged! {
    const PHASE: fn phase(finding) [
        CAUSE => cause(finding),
        MESSAGE.nullable() => message(finding),
    ]
}

judged! {
    const WAIT: fn wait(finding) [
        CAUSE => cause(finding),
        MESSAGE.nullable() => message(finding),
    ]
}

columns! {
    const STEP: fn step(finding: &Finding) {
        let line = &finding.line;
    } [
        NAME => line.name.as_str(),
        CHANGE => finding.change.as_str(),
        CONTRIBUTION => line.contribution(),
        A => line.values[0],
        B => line.values[1],
    ]
}

columns! {
    const SPEED: fn speed(finding: &Finding) {
        let line = &finding.line;
        let factor = line.factor.as_ref();
    } [
        NAME => line.name.as_str(),
        CHANGE => finding.change.as_str(),
        CONTRIBUTION => line.contribution(),
        A => line.values[0],
        B => line.values[1],
        Column::float("factor", "", "How many times as long the same work takes in the second trace: the middle ratio of the rows that do the same work.") =>
            factor.map(Factor::ratio),
        Column::share("spread", "", "The spread of these ratios: the noise between two recordings.") =>
            factor.map(|factor| factor.spread),
        Column::int("rows", "", "The number of these rows.") => factor.map(|factor| factor.lines),
        CAUSE => cause(finding),
        MESSAGE.nullable() => message(finding),
    ]
}

columns! {
    const MEMORY: fn memory(finding: &Finding) {
        let line = &finding.line;
    } [
        NAME => line.name.as_str(),
        CHANGE => finding.change.as_str(),
        SIGNIFICANT => line.verdict.is_significant,
        PROBABILITY => line.verdict.probability,
        Column::bytes("a_bytes", "", "The peak of allocated memory in the first trace.") => line.values[0],
        Column::bytes("b_bytes", "", "The same in the second trace.") => line.values[1],
    ]
}

columns! {
    const NOTE: fn note(note: &str) [
        MESSAGE => note,
    ]
}

/// The common factor of the rows that a line is one of.
fn factor_of<'a>(comparison: &'a Comparison, line: &Line) -> Option<&'a Factor> {
    match line.part? {
        DiffPart::Wall => comparison.factors[0].as_ref(),
        DiffPart::DeviceBusy => comparison.factors[1].as_ref(),
        DiffPart::DeviceIdle => None,
    }
}

fn rounded(ns: f64) -> i64 {
    libm::rint(ns) as i64
}

fn median(line: &Line) -> Option<i64> {
    let has_steps = line.samples.iter().all(|samples| !samples.is_empty());
    has_steps.then(|| rounded(line.verdict.median))
}

fn cause(finding: &Finding) -> Option<&'static str> {
    finding.why.as_ref().map(|why| why.0.as_str())
}

fn message(finding: &Finding) -> Option<&str> {
    finding.why.as_ref().map(|why| why.1.as_str())
}

fn texts(names: &[String]) -> Value {
    names.iter().map(String::as_str).collect::<Vec<_>>().into()
}
