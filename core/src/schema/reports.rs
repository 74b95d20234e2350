//! The tables of what the engine says about a trace: `findings`, `diagnostics` and `traces`.

use super::Schema;
use super::answer;
use super::column::{Column, Field, fields, number, opened};
use crate::analysis::device::idle::Cause;
use crate::analysis::overview::check;
use crate::analysis::overview::findings::Finding;
use crate::analysis::overview::info;
use crate::analysis::overview::summary::summary;
use alloc::vec::Vec;

pub(super) const FINDINGS: Schema = Schema {
    name: "findings",
    about: "A row is a finding: something that costs time or affects the quality of the numbers.",
    sorted_by: &["finding"],
    fields: || fields(FINDING_COLUMNS),
    source: |trace, _| {
        let findings = summary(trace).findings;
        let len = findings.len();
        opened(findings, len, FINDING_COLUMNS)
    },
};

/// A column of the table.
type Of = Column<Vec<Finding>>;

const FINDING_COLUMNS: &[Of] = &[
    Of::int(
        "finding",
        "The number of the finding; those that would save the most time come first.",
        |_, at| i64::try_from(at).ok(),
    ),
    Of::word("code", "The kind.", |all, at| Some(all[at].code.as_str())),
    Of::int("cost_ns", "The maximum cost; 0 if it affects data quality and not time.", |all, at| {
        Some(all[at].cost_ns)
    }),
    Of::int(
        "saving_ns",
        "What a replay without it saves, in addition to the findings before it.",
        |all, at| all[at].saving_ns.map(|saving| saving.0),
    )
    .optional(),
    Of::int("saving_error_ns", "How far the replay is from what was recorded.", |all, at| {
        all[at].saving_ns.map(|saving| saving.1)
    })
    .optional(),
    Of::word("cause", "The cause of idle time that it is about.", |all, at| all[at].cause.map(Cause::as_str))
        .optional(),
    Of::label("message", "What was found and what it costs, in one sentence.", |all, at| {
        Some(all[at].message.clone())
    }),
    Of::label("advice", "What to do, in one sentence.", |all, at| Some(all[at].advice.clone())),
    Of::label("command", "The command that shows it, without the trace.", |all, at| {
        Some(all[at].command.clone())
    }),
    Of::int("event", "The longest event that shows it: its number in `events`.", |all, at| {
        all[at].events.first().copied().map(number)
    })
    .optional(),
];

pub(super) const DIAGNOSTICS: Schema = Schema {
    name: "diagnostics",
    about: "A row is an identity, a violated rule of PyTorch's trace validator, or a defect of the file.",
    sorted_by: &[],
    fields: diagnostic_fields,
    source: |trace, _| {
        answer::opened(diagnostic_fields(), check::rows(trace, &check::identities_of(trace)).rows)
    },
};

fn diagnostic_fields() -> Vec<Field> {
    // `left` and `right` are keywords of SQL.
    answer::fields(check::COLUMNS, &[("left", "left_value"), ("right", "right_value")])
}

pub(super) const TRACES: Schema = Schema {
    name: "traces",
    about: "A row is a trace.",
    sorted_by: &[],
    fields: || trace_fields().into_iter().filter(|field| field.name != RANK).collect(),
    source: |trace, _| {
        let (mut fields, mut rows) = (trace_fields(), info::info(trace).rows);
        if let Some(rank) = fields.iter().position(|field| field.name == RANK) {
            fields.remove(rank);
            for row in &mut rows {
                row.remove(rank);
            }
        }
        answer::opened(fields, rows)
    },
};

/// Every table of a data set has this column.
const RANK: &str = "rank";

fn trace_fields() -> Vec<Field> {
    answer::fields(info::COLUMNS, &[])
}
