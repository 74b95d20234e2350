//! The proof that numbers carry: identities that must hold, and the diagnostics of the reading.

use super::identities::{Identity, identities};
use crate::analysis::device::device_time::device_times;
use crate::analysis::device::steps::steps;
use crate::analysis::torch::function_events::FunctionEvents;
use crate::diagnostics::Severity;
use crate::rows::{Cell, Column, Rows, Variant};
use crate::trace::Trace;
use crate::words::{Vocabulary, help};
use alloc::vec;
use alloc::vec::Vec;

const IDENTITY: &str = "identity";

/// An identity, or the severity of a diagnostic.
const KINDS: Vocabulary = Vocabulary {
    name: help("LedgerKind"),
    words: &[IDENTITY, Severity::Note.as_str(), Severity::Repaired.as_str(), Severity::Lost.as_str()],
};

/// Which columns each kind of row fills.
pub const VARIANTS: &[Variant] = &[
    Variant { name: "Identity", kinds: &[IDENTITY], filled: &["holds", "left", "right"], nullable: &[] },
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
        "identity, or how much an oddity touches the answers: note, repaired, lost.",
    ),
    Column::text("name", "Name", "What should hold, or the oddity's code."),
    Column::bool("holds", "Holds", "Whether the identity holds.").or_null(),
    Column::int("left", "Left", "The identity's left side: ns, or a count.").or_null(),
    Column::int("right", "Right", "The identity's right side.").or_null(),
    Column::int("count", "Count", "How often the oddity was met.").or_null(),
    Column::int("first_offset", "At byte", "Where it was first met: a byte of the decompressed text.")
        .or_null(),
    Column::text("example", "Example", "What the first one looked like.").or_null(),
    Column::text("description", "", "What the oddity is.").or_null(),
];

/// Checks every identity on a trace.
pub fn check(trace: &Trace) -> Vec<Identity> {
    let devices = device_times(trace);
    identities(trace, &FunctionEvents::new(trace), &devices, &steps(trace, &devices))
}

/// The whole ledger as rows: identities first, then diagnostics.
pub fn ledger(trace: &Trace, checks: &[Identity]) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    for check in checks {
        rows.push(vec![
            IDENTITY.into(),
            check.name.as_str().into(),
            Cell::Bool(check.holds),
            check.left.into(),
            check.right.into(),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
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
