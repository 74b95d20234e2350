//! The answer of `check` with budgets, as rows.

use super::check::{Checked, Limit, Outcome, Rule, all};
use super::metric::Metric;
use super::quantity::Unit;
use crate::base::rows::{Column, Rows, columns};

columns! {
    /// The columns of the answer.
    pub const COLUMNS: fn row(source: &str, limit: &Limit) [
        Column::text("trace", "Trace", "The trace.") => source,
        Column::word("outcome", "Outcome", &Outcome::VOCABULARY, "Whether the limit holds.") =>
            limit.outcome.as_str(),
        Column::word("metric", "Metric", &Metric::VOCABULARY, "What is limited.") => limit.metric.as_str(),
        Column::text("name", "Name", "The name in the budget; empty for metrics without names.") =>
            limit.name.as_str(),
        Column::word("rule", "Rule", &Rule::VOCABULARY, "The kind of limit.") => limit.rule.as_str(),
        Column::float("value", "", "The value of the trace, in the unit; null if nothing has the name.").nullable() =>
            limit.value,
        Column::float("limit", "", "The largest value that is allowed.").nullable() => limit.limit,
        Column::float("base", "", "The mean value of the base.").nullable() => limit.base,
        Column::word("unit", "", &Unit::VOCABULARY, "The unit of these values.") => limit.metric.unit().as_str(),
        Column::text("message", "Why", "A sentence about the outcome.").sentence() => limit.message.as_str(),
    ]
}

/// Returns a row for each limit, in the order of the file.
pub fn rows(checked: &[Checked]) -> Rows {
    Rows::from_cells(COLUMNS, all(checked).into_iter().map(|(source, limit)| row(source, limit)))
}
