//! The sequences as rows.

use super::kernel_keys::activity_name;
use super::names::short_name;
use super::sequences::{self as repeats, Search, Sequence};
use crate::analysis::query::options::{Fallback, Opt, Options, ROW_LIMIT, TypedOptions};
use crate::analysis::query::question::Question;
use crate::analysis::query::{Input, Query};
use crate::base::error::Error;
use crate::base::rows::{Column, Rows, Shape, columns};
use crate::trace::Trace;
use alloc::vec::Vec;
use serde_json::Value;

/// Options of `sequences`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SequencesOptions {
    /// Which sequences are searched.
    pub search: Search,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

const MIN_LENGTH: Opt = Opt::count("min-length", "N", "Minimum number of kernels").or(Fallback::Number(2));
const MAX_LENGTH: Opt =
    Opt::count("max-length", "N", "Maximum number of kernels, at most 32 [default: 8, with --operator any]");
const MIN_COUNT: Opt = Opt::count("min-count", "N", "Minimum number of occurrences").or(Fallback::Number(3));
const OPERATOR: Opt =
    Opt::text("operator", "NAME", "Only what calls of operators or ranges with this text in the name launch");

impl TypedOptions for SequencesOptions {
    const DECLARED: &'static [Opt] = &[MIN_LENGTH, MAX_LENGTH, MIN_COUNT, OPERATOR, ROW_LIMIT];

    fn from_options(options: &Options, _: bool) -> Self {
        let default = Search::default();
        let number = |option, default| options.limit(option, Some(default)).unwrap_or(default);
        SequencesOptions {
            search: Search {
                min_length: number(&MIN_LENGTH, default.min_length),
                max_length: options.limit(&MAX_LENGTH, default.max_length),
                min_count: number(&MIN_COUNT, default.min_count),
                operator: options.text(&OPERATOR),
            },
            row_limit: options.limit(&ROW_LIMIT, None),
        }
    }
}

/// The query `sequences`.
pub(crate) const SEQUENCES: Query = Query::new(
    "sequences",
    "Sequences of kernels that repeat, and what one launch saves",
    COLUMNS,
    |trace, request| Ok(sequences(trace, &request.typed())?.into()),
)
.examples(&["run.json --row-limit 10", "run.json --operator aten::linear --min-count 1"])
.options::<SequencesOptions>()
.inputs(&[Input::KernelRules, Input::StepRules])
.questions(&[Question::DeviceTime])
.hint("no sequence of kernels occurs that often; lower --min-count or --min-length");

/// Returns the sequences of kernels that repeat, the largest saving first.
///
/// # Errors
/// Returns [`Error::BadOption`] if the lengths or the count are out of range.
pub(crate) fn sequences(trace: &Trace, options: &SequencesOptions) -> Result<Rows, Error> {
    Ok(sequence_rows(trace, &options.search)?.first(options.row_limit))
}

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(trace: &Trace, number: usize, sequence: &Sequence) {
        let rows = &sequence.rows[..sequence.length];
        let names = rows.iter().map(|&row| activity_name(trace, row)).collect::<Vec<_>>();
        let short = names.iter().map(|name| short_name(name)).collect::<Vec<_>>();
    } [
        Column::int("sequence", "No.", "The number of the sequence, from 1.") => number,
        Column::text("names", "Sequence", "The short names of its kernels, copies and memsets, separated by commas.") =>
            short.join(", "),
        Column::json("kernels", "", Shape::Texts, "The names in the order of time.") => Value::from(names),
        Column::text("operator", "Operator", "The operator that launched it; null without the option `operator`.")
            .nullable() => sequence.operator.map(|row| trace.table.name(row)),
        Column::int("length", "Length", "The number of kernels, copies and memsets.") => sequence.length,
        Column::int("count", "Count", "The number of occurrences, which do not overlap.") =>
            sequence.occurrences().len(),
        Column::int("streams", "Streams", "The number of streams on which it occurs.") => sequence.streams,
        Column::ns("time_ns", "Kernel time", "Sum of the durations of all occurrences.") => sequence.time_ns,
        Column::ns("gap_ns", "Gaps", "Idle time of the stream between the first and the last kernel of each occurrence.") =>
            sequence.gap_ns,
        Column::ns("launch_ns", "Launch calls", "Duration of the calls that launched it, except for the first of each occurrence.") =>
            sequence.launch_ns,
        Column::ns("saving_ns", "Saving", "The gaps in which the stream waited for a launch call: what one launch for each occurrence saves if the host is not late otherwise.") =>
            sequence.saving_ns,
        Column::int("event", "", "The index of the first event of the first occurrence.") =>
            sequence.rows[0].index(),
    ]
}

/// Returns the sequences as rows.
///
/// # Errors
/// As [`sequences`].
pub(crate) fn sequence_rows(trace: &Trace, search: &Search) -> Result<Rows, Error> {
    let mut rows = Rows::new(COLUMNS);
    for (at, sequence) in repeats::sequences(trace, search)?.iter().enumerate() {
        rows.push(row(trace, at + 1, sequence));
    }
    Ok(rows)
}
