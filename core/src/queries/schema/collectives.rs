//! The table `collectives`: the answer of the query, with the numbers of the events and their steps.

use super::column::{Field, FieldType, number};
use super::{Schema, answer};
use crate::analysis::device::collectives::{COLUMNS, calls};
use crate::base::rows::Cell;
use crate::base::words::help;
use alloc::vec;
use alloc::vec::Vec;

pub(super) const SCHEMA: Schema = Schema {
    name: "collectives",
    about: "A row is a call of a collective, or a message from one rank to another.",
    sorted_by: &["ts_ns"],
    fields,
    source: |analysis, _| {
        let (trace, steps) = (analysis.trace, analysis.step_finder());
        let row = |(row, mut cells): (_, Vec<Cell>)| {
            cells.extend([Cell::Int(number(row)), steps.number(trace, row).into()]);
            cells
        };
        answer::opened(fields(), calls(trace).into_iter().map(row).collect())
    },
};

fn fields() -> Vec<Field> {
    // `group` is a keyword of SQL.
    let mut fields = answer::fields(COLUMNS, &[("start_ns", "ts_ns"), ("group", "process_group")]);
    let int = |name, optional, about| Field { name, kind: FieldType::Int, optional, about: help(about) };
    fields.extend(vec![
        int("event", false, "The call: its number in `events`."),
        int("step", true, "The profiler step in which it began."),
    ]);
    fields
}
