//! The columns of the answer of `diff`.

use super::kinds::{Change, Part, RowKind, Why};
use crate::base::rows::{Column, Record, Shape, Variant};

/// A place where a line runs.
pub(super) const PLACE: Record = Record {
    name: "DiffPlace",
    members: &[
        Column::text("within", "", "The innermost annotation or module around it."),
        Column::ns("contribution_ns", "", "The change of the time there, per step."),
    ],
};

/// The columns of the answer.
pub(crate) const COLUMNS: &[Column] = &[
    Column::word("kind", "Kind", &RowKind::VOCABULARY, "What the row is about."),
    Column::text("name", "Name", "The name; where something was replaced, the names of both sides."),
    Column::word("change", "Change", &Change::VOCABULARY, "What changed."),
    Column::bool("significant", "Significant", "Whether the change is more than noise; null if that cannot be decided.").nullable(),
    Column::ns("contribution_ns", "Contribution", "The change per step; the rows of each `part_of` add up to that of their total. Null for memory.").nullable(),
    Column::ns("low_ns", "Low", "The lower end of the interval of the change of the median step; all intervals together hold with 95 %.").nullable(),
    Column::ns("high_ns", "High", "The upper end.").nullable(),
    Column::ns("median_ns", "", "The change of the median step.").nullable(),
    Column::ns("equal_speed_ns", "", "The contribution if both recordings were equally fast: each side is scaled by the root of the common factor; null if there is none.").nullable(),
    Column::float("probability", "", "The probability of such a change by noise alone, adjusted for the number of rows tested; null if the row was not tested.").nullable(),
    Column::ns("a_ns", "A", "The time per step in the first trace: the part of the wall time of the step, or of the busy time of devices, that counts for the row.").nullable(),
    Column::ns("b_ns", "B", "The same in the second trace.").nullable(),
    Column::int("count_a", "Calls A", "The number of calls or activities of all steps in the first trace.").nullable(),
    Column::int("count_b", "Calls B", "The same in the second trace.").nullable(),
    Column::ns("call_a_ns", "", "The mean self time of a call, or the mean duration of an activity, in the first trace.").nullable(),
    Column::ns("call_b_ns", "", "The same in the second trace.").nullable(),
    Column::ns("sum_a_ns", "", "The self times of all calls, or the durations of all activities, in all steps of the first trace.").nullable(),
    Column::ns("sum_b_ns", "", "The same in the second trace.").nullable(),
    Column::bytes("a_bytes", "", "The peak of allocated memory in the first trace.").nullable(),
    Column::bytes("b_bytes", "", "The same in the second trace.").nullable(),
    Column::int("steps_a", "", "The number of steps of the first trace; 1 without profiler steps.").nullable(),
    Column::int("steps_b", "", "The same of the second trace.").nullable(),
    Column::share("aligned_a", "", "The share of the time of the first trace that has a counterpart at the same place.").nullable(),
    Column::share("aligned_b", "", "The same of the second trace.").nullable(),
    Column::float("factor", "", "How many times as long the same work takes in the second trace: the middle ratio of the rows that do the same work.").nullable(),
    Column::share("spread", "", "The spread of these ratios: the noise between two recordings.").nullable(),
    Column::int("rows", "", "The number of these rows.").nullable(),
    Column::word("part_of", "", &Part::VOCABULARY, "The total that the row is a part of.").nullable(),
    Column::word("cause", "Cause", &Why::VOCABULARY, "Why it changed, as far as the traces show it.").nullable(),
    Column::text("message", "Message", "A sentence about the cause, or the note.").nullable(),
    Column::json("names_a", "", Shape::Texts, "The names in the first trace."),
    Column::json("names_b", "", Shape::Texts, "The names in the second trace."),
    Column::json("places", "", Shape::Records(&PLACE), "Where the largest changes are; at most 5."),
];

/// The columns of times that all rows about times fill.
macro_rules! times {
    ($($more:literal),*) => { &["contribution_ns", "a_ns", "b_ns", $($more),*] };
}

/// The columns of the noise, which are null without several steps.
macro_rules! noise {
    ($($more:literal),*) => { &["significant", "low_ns", "high_ns", "median_ns", "probability", $($more),*] };
}

/// The columns that each kind of row fills.
pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        name: "Total",
        kinds: &["total"],
        filled: times!("steps_a", "steps_b", "aligned_a", "aligned_b"),
        nullable: noise!(),
    },
    Variant {
        name: "Part",
        kinds: &[
            "operator",
            "range",
            "python",
            "runtime",
            "other",
            "kernel",
            "collective",
            "memcpy",
            "memset",
        ],
        filled: times!(),
        nullable: noise!(
            "part_of",
            "equal_speed_ns",
            "count_a",
            "count_b",
            "call_a_ns",
            "call_b_ns",
            "sum_a_ns",
            "sum_b_ns",
            "cause",
            "message"
        ),
    },
    Variant { name: "Idle", kinds: &["idle"], filled: times!("part_of"), nullable: noise!() },
    Variant { name: "Phase", kinds: &["phase"], filled: times!(), nullable: noise!() },
    Variant { name: "Wait", kinds: &["wait"], filled: times!(), nullable: noise!("cause", "message") },
    Variant { name: "Step", kinds: &["step"], filled: times!(), nullable: &[] },
    Variant {
        name: "Speed",
        kinds: &["speed"],
        filled: times!("factor", "spread", "rows"),
        nullable: &["cause", "message"],
    },
    Variant {
        name: "Memory",
        kinds: &["memory"],
        filled: &["a_bytes", "b_bytes"],
        nullable: &["significant", "probability"],
    },
    Variant { name: "Note", kinds: &["note"], filled: &["message"], nullable: &[] },
];
