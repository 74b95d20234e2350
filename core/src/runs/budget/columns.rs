//! The answer of `check` with budgets, as rows.

use super::check::{Checked, Limit, Outcome, Rule, all};
use super::metric::Metric;
use super::quantity::Unit;
use crate::base::rows::{Cell, Column, Rows};
use alloc::vec;

/// The columns of the answer.
pub const COLUMNS: &[Column] = &[
    Column::text("trace", "Trace", "The trace."),
    Column::word("outcome", "Outcome", &Outcome::VOCABULARY, "Whether the limit holds."),
    Column::word("metric", "Metric", &Metric::VOCABULARY, "What is limited."),
    Column::text("name", "Name", "The name in the budget; empty for metrics without names."),
    Column::word("rule", "Rule", &Rule::VOCABULARY, "The kind of limit."),
    Column::float("value", "", "The value of the trace, in the unit; null if nothing has the name.")
        .nullable(),
    Column::float("limit", "", "The largest value that is allowed.").nullable(),
    Column::float("base", "", "The mean value of the base.").nullable(),
    Column::word("unit", "", &Unit::VOCABULARY, "The unit of these values."),
    Column::text("message", "Why", "A sentence about the outcome."),
];

/// Returns a row for each limit, in the order of the file.
pub fn rows(checked: &[Checked]) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    for (source, Limit { metric, name, rule, outcome, value, limit, base, message }) in all(checked) {
        rows.push(vec![
            source.into(),
            outcome.as_str().into(),
            metric.as_str().into(),
            name.as_str().into(),
            rule.as_str().into(),
            value.map_or(Cell::Null, Cell::Float),
            limit.map_or(Cell::Null, Cell::Float),
            base.map_or(Cell::Null, Cell::Float),
            metric.unit().as_str().into(),
            message.as_str().into(),
        ]);
    }
    rows
}
