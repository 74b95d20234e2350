//! Data quality: identities that must hold, violated rules of PyTorch's trace validator, and the diagnostics of the
//! reader.

use super::identities::{Identity, identities};
use super::validator::validate;
use crate::analysis::device::device_time::device_times;
use crate::analysis::device::steps::steps;
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::{Answer, Input, Query};
use crate::analysis::torch::function_events::FunctionEvents;
use crate::base::diagnostics::Severity;
use crate::base::rows::{Cell, Column, Rows, Variant};
use crate::base::words::{Vocabulary, help};
use crate::trace::Trace;
use alloc::vec;
use alloc::vec::Vec;

const IDENTITY: &str = "identity";
const RULE: &str = "rule";

/// The kinds of rows: an identity, a violated rule of PyTorch's trace validator, or the severity of a diagnostic.
const KINDS: Vocabulary = Vocabulary {
    name: help("CheckKind"),
    words: &[IDENTITY, RULE, Severity::Note.as_str(), Severity::Repaired.as_str(), Severity::Lost.as_str()],
};

/// The query `check`.
pub const CHECK: Query = Query::new(
    "check",
    "Data quality: identities and diagnostics; exit code 1 on failure",
    COLUMNS,
    |trace, request| {
        let identities = identities_of(trace);
        let failed = identities.iter().any(|identity| !identity.holds);
        Ok(Answer { failed, ..request.limited(rows(trace, &identities)) })
    },
)
.examples(&["run.json --strict", "ranks/ --format json -o check.json"])
.options::<ListOptions>()
.inputs(&[Input::TorchRules, Input::KernelRules])
.variants(VARIANTS);

/// The columns that each kind of row fills.
pub const VARIANTS: &[Variant] = &[
    Variant { name: "Identity", kinds: &[IDENTITY], filled: &["holds", "left", "right"], nullable: &[] },
    Variant {
        name: "ViolatedRule",
        kinds: &[RULE],
        filled: &["holds", "count", "example", "description"],
        nullable: &[],
    },
    Variant {
        name: "Diagnostic",
        kinds: Severity::VOCABULARY.words,
        filled: &["count", "example", "description"],
        nullable: &["first_offset"],
    },
];

/// The columns of the answer.
pub const COLUMNS: &[Column] = &[
    Column::word(
        "kind",
        "Kind",
        &KINDS,
        "identity, rule (of PyTorch's trace validator), or the severity of a diagnostic: note, repaired, lost.",
    ),
    Column::text("name", "Name", "The equation, the rule, or the code of the diagnostic."),
    Column::bool("holds", "Holds", "Whether the identity or rule holds; only violated rules are listed.")
        .nullable(),
    Column::int("left", "Left", "The left side of the identity, in ns or as a count.").nullable(),
    Column::int("right", "Right", "The right side of the identity.").nullable(),
    Column::int("count", "Count", "The number of violations, or of occurrences of the diagnostic.")
        .nullable(),
    Column::int(
        "first_offset",
        "At byte",
        "The offset of the first occurrence, in bytes of the decompressed text.",
    )
    .nullable(),
    Column::text("example", "Example", "The first violation, or the text of the first occurrence.")
        .nullable(),
    Column::text("description", "", "What the rule requires, or what the diagnostic means.").nullable(),
];

/// Evaluates every identity on a trace.
pub fn identities_of(trace: &Trace) -> Vec<Identity> {
    let devices = device_times(trace);
    identities(trace, &FunctionEvents::new(trace), &devices, &steps(trace, &devices))
}

/// Returns one row for each identity, then one for each violated rule and each diagnostic.
pub fn rows(trace: &Trace, identities: &[Identity]) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    for identity in identities {
        rows.push(vec![
            IDENTITY.into(),
            identity.name.as_str().into(),
            Cell::Bool(identity.holds),
            identity.left.into(),
            identity.right.into(),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
        ]);
    }
    for verdict in validate(trace).into_iter().filter(|verdict| verdict.count > 0) {
        rows.push(vec![
            RULE.into(),
            verdict.rule.as_str().into(),
            Cell::Bool(false),
            Cell::Null,
            Cell::Null,
            Cell::Int(verdict.count as i64),
            Cell::Null,
            verdict.example.into(),
            verdict.rule.description().into(),
        ]);
    }
    for finding in trace.diagnostics.findings() {
        rows.push(vec![
            finding.code.severity().as_str().into(),
            finding.code.as_str().into(),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Int(finding.count as i64),
            finding.first_offset.map(|o| o as i64).into(),
            finding.example.as_str().into(),
            finding.code.description().into(),
        ]);
    }
    rows
}
