//! Data quality: identities that must hold, violated rules of PyTorch's trace validator, and the diagnostics of the
//! reader.

use super::identities::Identity;
use super::validator::{Verdict, validate};
use crate::analysis::context::Analysis;
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::{Answer, Input, Query};
use crate::base::diagnostics::{Finding, Severity};
use crate::base::rows::{Column, Kinds, Rows, RowsOfKinds, Variant, columns};
use crate::base::words::Vocabulary;
use crate::trace::Trace;
use alloc::vec::Vec;

/// The query `check`.
pub const CHECK: Query = Query::with_kinds(
    "check",
    "Data quality: identities and diagnostics; exit code 1 on failure",
    &KINDS,
    |trace, request| {
        let identities = identities_of(trace);
        let failed = identities.iter().any(|identity| !identity.holds);
        Ok(Answer { failed, ..request.limited(rows(trace, &identities)) })
    },
)
.examples(&["run.json --strict", "ranks/ --format json -o check.json"])
.options::<ListOptions>()
.inputs(&[Input::TorchRules, Input::KernelRules, Input::StepRules]);

const IDENTITY: &str = "identity";
const RULE: &str = "rule";

/// An identity, a violated rule, or the severity of a diagnostic.
const WORDS: Vocabulary = Vocabulary::new(
    "CheckKind",
    &[IDENTITY, RULE, Severity::Note.as_str(), Severity::Repaired.as_str(), Severity::Lost.as_str()],
);

/// The kinds of rows.
pub const KINDS: Kinds = Kinds {
    column: Column::word(
        "kind",
        "Kind",
        &WORDS,
        "identity, rule (of PyTorch's trace validator), or the severity of a diagnostic: note, repaired, lost.",
    ),
    variants: &[
        Variant { name: "Identity", kinds: &[IDENTITY], columns: IDENTITIES },
        Variant { name: "ViolatedRule", kinds: &[RULE], columns: VIOLATIONS },
        Variant { name: "Diagnostic", kinds: Severity::VOCABULARY.words, columns: DIAGNOSTICS },
    ],
};

const NAME: Column = Column::text("name", "Name", "The equation, the rule, or the code of the diagnostic.");
const HOLDS: Column =
    Column::bool("holds", "Holds", "Whether the identity or rule holds; only violated rules are listed.");
const COUNT: Column =
    Column::int("count", "Count", "The number of violations, or of occurrences of the diagnostic.");
const EXAMPLE: Column =
    Column::text("example", "Example", "The first violation, or the text of the first occurrence.")
        .sentence();
const DESCRIPTION: Column =
    Column::text("description", "", "What the rule requires, or what the diagnostic means.");

columns! {
    const IDENTITIES: fn identity(identity: &Identity) [
        NAME => identity.name.as_str(),
        HOLDS => identity.holds,
        Column::int("left", "Left", "The left side of the identity, in ns or as a count.").minor() => identity.left,
        Column::int("right", "Right", "The right side of the identity.").minor() => identity.right,
    ]
}

columns! {
    const VIOLATIONS: fn violation(verdict: Verdict) [
        NAME => verdict.rule.as_str(),
        HOLDS => false,
        COUNT => verdict.count as i64,
        EXAMPLE => verdict.example,
        DESCRIPTION => verdict.rule.description(),
    ]
}

columns! {
    const DIAGNOSTICS: fn diagnostic(finding: &Finding) [
        NAME => finding.code.as_str(),
        COUNT => finding.count as i64,
        Column::int("first_offset", "At byte", "The offset of the first occurrence, in bytes of the decompressed text.")
            .nullable() => finding.first_offset.map(|offset| offset as i64),
        EXAMPLE => finding.example.as_str(),
        DESCRIPTION => finding.code.description(),
    ]
}

/// Evaluates every identity on a trace.
pub fn identities_of(trace: &Trace) -> Vec<Identity> {
    Analysis::new(trace).identities().to_vec()
}

/// Returns one row for each identity, then one for each violated rule and each diagnostic.
pub fn rows(trace: &Trace, identities: &[Identity]) -> Rows {
    let mut rows = RowsOfKinds::new(&KINDS);
    for checked in identities {
        rows.push(IDENTITY, identity(checked));
    }
    for verdict in validate(trace).into_iter().filter(|verdict| verdict.count > 0) {
        rows.push(RULE, violation(verdict));
    }
    for finding in trace.diagnostics.findings() {
        rows.push(finding.code.severity().as_str(), diagnostic(finding));
    }
    rows.finish()
}
