//! Rows about who was late, and about clocks.

use super::shared_columns::{COST, HOST, MATCHED, MESSAGE, PERSISTENT, PHASE, RANK_NUMBER, RANKS, STEPS};
use super::{RowKind, numbers};
use crate::base::rows::{Column, RowsOfKinds, columns};
use crate::base::words::words;
use crate::runs::ranks::clocks::{Clock, Refused};
use crate::runs::ranks::findings::{Filter, Findings};
use crate::runs::ranks::nodes::SlowNode;
use crate::runs::ranks::run::Member;
use crate::runs::ranks::stragglers::Straggler;

/// Adds the ranks and machines that others waited for.
pub(super) fn push_late(findings: &Findings<'_>, filter: Filter, rows: &mut RowsOfKinds) {
    for (late_rank, evidence) in findings.stragglers_of(filter) {
        rows.push(RowKind::Straggler.as_str(), straggler(findings, late_rank, evidence));
    }
    for node in findings.slow_nodes_of(filter) {
        rows.push(RowKind::SlowNode.as_str(), slow_node(findings, node));
    }
}

/// Adds the clocks of the ranks.
pub(super) fn push_clocks(findings: &Findings<'_>, filter: Filter, rows: &mut RowsOfKinds) {
    for (at, (member, fitted)) in findings.run.members.iter().zip(&findings.clocks.of).enumerate() {
        if filter.has_rank(member.rank) {
            let is_reference = at == findings.clocks.reference;
            rows.push(RowKind::Clock.as_str(), clock(member, fitted, is_reference));
        }
    }
}

columns! {
    pub(super) const STRAGGLER: fn straggler(findings: &Findings<'_>, straggler: &Straggler, evidence: &str) {
        let member = &findings.run.members[straggler.member];
    } [
        RANK_NUMBER => member.rank,
        HOST.nullable() => stated(member.host()),
        PHASE => straggler.phase.as_str(),
        STEPS => steps(findings, straggler),
        COST => straggler.cost_ns,
        PERSISTENT => straggler.is_persistent,
        MESSAGE => evidence,
    ]
}

columns! {
    pub(super) const SLOW_NODE: fn slow_node(findings: &Findings<'_>, node: &SlowNode<'_>) [
        RANKS => numbers(node.ranks.iter().copied()),
        HOST => node.host,
        PHASE => node.late.phase.as_str(),
        STEPS => steps(findings, &node.late),
        COST => node.late.cost_ns,
        PERSISTENT => node.late.is_persistent,
    ]
}

words! {
    "ClockMethod"
    /// How the clock of a rank was fitted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum ClockMethod {
        /// It is the clock that the others are compared with.
        Reference = "reference",
        /// By the ends of collectives, which are the same instant on all ranks.
        EndsOfCollectives = "ends_of_collectives",
    }
}

columns! {
    pub(super) const CLOCK: fn clock(member: &Member, fitted: &Result<Clock, Refused>, is_reference: bool) {
        let clock = fitted.as_ref().ok();
        let method = if is_reference { ClockMethod::Reference } else { ClockMethod::EndsOfCollectives };
        let at_ns = |clock: &Clock| if is_reference { member.time().0 } else { clock.middle_ns };
    } [
        RANK_NUMBER => member.rank,
        Column::word("method", "", &ClockMethod::VOCABULARY, "How the clock was fitted.")
            .nullable() => clock.map(|_| method.as_str()),
        Column::ns("offset_ns", "", "The offset of its clock against that of the reference rank, in the middle of what they have in common; null if refused.")
            .nullable() => clock.map(|clock| clock.offset_ns),
        Column::float("drift_ppm", "", "The drift of its clock, in parts per million; 0 if it is not distinguishable from 0.")
            .nullable() => clock.map(|clock| clock.drift * 1e6),
        Column::unix_ns("at_ns", "", "The time of the rank's clock at which the offset holds.")
            .nullable() => clock.map(at_ns),
        Column::ns("error_ns", "", "How far the offset may be off.").nullable() => clock.map(|clock| clock.error_ns),
        MATCHED.nullable() => clock.map(|clock| clock.collectives),
        Column::text("refused", "", "Why the clock could not be fitted; null if it could.").nullable() =>
            fitted.as_ref().err().map(|refused| refused.0.as_str()),
    ]
}

/// A text, or nothing if it is empty.
pub(super) fn stated(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn steps(findings: &Findings<'_>, straggler: &Straggler) -> serde_json::Value {
    numbers(straggler.steps.iter().copied().filter(|_| findings.table.has_steps))
}
