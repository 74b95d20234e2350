//! The tables of what the engine says about a trace: `findings`, `diagnostics` and `traces`.

use super::Schema;
use super::answer;
use super::column::{Column, Field, fields, number, opened};
use crate::analysis::overview::check;
use crate::analysis::overview::findings::Finding;
use crate::analysis::overview::info;
use alloc::vec::Vec;

pub(super) const FINDINGS: Schema = Schema {
    name: "findings",
    about: "A row is a finding: something that costs time or affects the quality of the numbers.",
    sorted_by: &["finding"],
    fields: || fields(Findings::COLUMNS),
    source: |analysis, _| {
        opened(Findings(&analysis.summary().findings), |all| all.0.len(), Findings::COLUMNS)
    },
};

struct Findings<'t>(&'t [Finding]);

/// A column of the table.
type Of<'t> = Column<Findings<'t>>;

impl<'t> Findings<'t> {
    const COLUMNS: &'t [Of<'t>] = &[
        Of::int(
            "finding",
            "The number of the finding; those that would save the most time come first.",
            |_, at| i64::try_from(at).ok(),
        ),
        Of::label("code", "The kind.", |all, at| Some(all.0[at].code.as_str().into())),
        Of::int("cost_ns", "The maximum cost; 0 if it affects data quality and not time.", |all, at| {
            Some(all.0[at].cost_ns)
        }),
        Of::int("saving_ns", "What a replay without it saves if nothing else changes.", |all, at| {
            all.0[at].saving.map(|saving| saving.alone_ns)
        })
        .optional(),
        Of::int("added_ns", "What it saves in addition to the findings before it.", |all, at| {
            all.0[at].saving.map(|saving| saving.added_ns)
        })
        .optional(),
        Of::int("saving_error_ns", "How far the replay is from what was recorded.", |all, at| {
            all.0[at].saving.map(|saving| saving.error_ns)
        })
        .optional(),
        Of::label("cause", "The cause of idle time that it is about.", |all, at| {
            all.0[at].cause.map(|cause| cause.as_str().into())
        })
        .optional(),
        Of::label("message", "What was found and what it costs, in one sentence.", |all, at| {
            Some(all.0[at].message.as_str().into())
        }),
        Of::label("advice", "What to do, in one sentence.", |all, at| Some(all.0[at].advice.as_str().into())),
        Of::label("command", "The command that shows it, without the trace.", |all, at| {
            Some(all.0[at].command.as_str().into())
        }),
        Of::int("event", "The longest event that shows it: its number in `events`.", |all, at| {
            all.0[at].events.first().copied().map(number)
        })
        .optional(),
    ];
}

pub(super) const DIAGNOSTICS: Schema = Schema {
    name: "diagnostics",
    about: "A row is an identity, a violated rule of PyTorch's trace validator, or a defect of the file.",
    sorted_by: &[],
    fields: diagnostic_fields,
    source: |analysis, _| {
        answer::opened(diagnostic_fields(), check::rows(analysis.trace, analysis.identities()).rows)
    },
};

fn diagnostic_fields() -> Vec<Field> {
    // `left` and `right` are keywords of SQL.
    answer::fields(&check::KINDS.columns(), &[("left", "left_value"), ("right", "right_value")])
}

pub(super) const TRACES: Schema = Schema {
    name: "traces",
    about: "A row is a trace.",
    sorted_by: &[],
    fields: || trace_fields().into_iter().filter(|field| field.name != RANK).collect(),
    source: |analysis, _| {
        let (mut fields, mut rows) = (trace_fields(), info::info(analysis.trace).rows);
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
