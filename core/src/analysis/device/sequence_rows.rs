//! The sequences as rows.

use super::kernel_keys::activity_name;
use super::names::short_name;
use super::sequences::{Search, Sequence, sequences};
use crate::base::error::Error;
use crate::base::rows::{Cell, Column, Rows, Shape};
use crate::trace::Trace;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The columns of the answer.
pub(crate) const COLUMNS: &[Column] = &[
    Column::int("sequence", "No.", "The number of the sequence, from 1."),
    Column::text(
        "names",
        "Sequence",
        "The short names of its kernels, copies and memsets, separated by commas.",
    ),
    Column::json("kernels", "", Shape::Texts, "The names in the order of time."),
    Column::text(
        "operator",
        "Operator",
        "The operator that launched it; null without the option `operator`.",
    )
    .nullable(),
    Column::int("length", "Length", "The number of kernels, copies and memsets."),
    Column::int("count", "Count", "The number of occurrences, which do not overlap."),
    Column::int("streams", "Streams", "The number of streams on which it occurs."),
    Column::ns("time_ns", "Kernel time", "Sum of the durations of all occurrences."),
    Column::ns(
        "gap_ns",
        "Gaps",
        "Idle time of the stream between the first and the last kernel of each occurrence.",
    ),
    Column::ns(
        "launch_ns",
        "Launch calls",
        "Duration of the calls that launched it, except for the first of each occurrence.",
    ),
    Column::ns(
        "saving_ns",
        "Saving",
        "The gaps in which the stream waited for a launch call: what one launch for each occurrence saves if the host is not late otherwise.",
    ),
    Column::int("event", "", "The index of the first event of the first occurrence."),
];

/// Returns the sequences as rows.
///
/// # Errors
/// As [`sequences`].
pub(crate) fn sequence_rows(trace: &Trace, search: &Search) -> Result<Rows, Error> {
    let mut rows = Rows::new(COLUMNS);
    for (at, sequence) in sequences(trace, search)?.iter().enumerate() {
        rows.push(cells(trace, at + 1, sequence));
    }
    Ok(rows)
}

fn cells(trace: &Trace, number: usize, sequence: &Sequence) -> Vec<Cell> {
    let names: Vec<String> =
        sequence.rows[..sequence.length].iter().map(|&row| activity_name(trace, row)).collect();
    let short: Vec<String> = names.iter().map(|name| short_name(name)).collect();
    vec![
        number.into(),
        short.join(", ").into(),
        Cell::Json(names.into_iter().collect()),
        sequence.operator.map(|row| trace.table.name(row)).into(),
        sequence.length.into(),
        sequence.occurrences().len().into(),
        sequence.streams.into(),
        Cell::Ns(sequence.time_ns),
        Cell::Ns(sequence.gap_ns),
        Cell::Ns(sequence.launch_ns),
        Cell::Ns(sequence.saving_ns),
        sequence.rows[0].index().into(),
    ]
}
