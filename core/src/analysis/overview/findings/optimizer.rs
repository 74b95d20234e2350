//! The finding about optimizers that update parameters one by one.

use super::{Facts, Finding, FindingCode, percent, share, threshold};
use crate::analysis::device::idle::Cause;
use crate::analysis::intervals::Interval;
use crate::base::order::sort_by_key;
use crate::base::units::time_ns;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::TrackId;
use alloc::format;
use alloc::vec::Vec;

/// From this number of operators in a step of an optimizer on, it updates parameters one by one.
const MANY: usize = 200;

/// Adds the finding.
pub(super) fn unfused(out: &mut Vec<Finding>, facts: &Facts<'_>) {
    let table = facts.table();
    let steps = steps(table);
    let Some(&(_, _, longest)) = steps.iter().max_by_key(|step| step.1.1 - step.1.0) else { return };
    let (operators, is_fused) = operators(table, &steps);
    let is_fused = is_fused || table.name(longest).contains("Fused");
    let each = operators / steps.len();
    let ns: i64 = steps.iter().map(|step| step.1.1 - step.1.0).sum();
    if is_fused || each < MANY || share(ns, facts.wall_ns) < threshold::EFFECT {
        return;
    }
    let message = format!(
        "the optimizer runs {each} operators a step and took {} ({} of wall)",
        time_ns(ns, None),
        percent(ns, facts.wall_ns)
    );
    let advice = if facts.analysis.devices().is_empty() {
        "pass fused=True to it, if this version of PyTorch has it for CPUs, or compile its step"
    } else {
        "pass fused=True to it (or foreach=True), or compile its step"
    };
    let mut finding =
        Finding::new(FindingCode::UnfusedOptimizer, ns, message, advice).caused_by(Cause::Optimizer);
    // A fused step still takes some time.
    finding.is_ideal = true;
    out.push(finding.shown_by("ops", [longest].into()));
}

/// The outermost steps of optimizers, by thread and in order of time.
fn steps(table: &Table) -> Vec<(TrackId, Interval, Row)> {
    let names = table.names.that(|name| name.starts_with("Optimizer.step#"));
    if names.is_empty() {
        return Vec::new();
    }
    let is_step = |row: &Row| {
        names.has(table.name_id(*row))
            && matches!(table.category(*row), Category::UserAnnotation | Category::CpuOp)
            && table.is_span(*row)
    };
    let step = |row: Row| (table.track_id(row), (table.ts(row), table.end(row)), row);
    let mut steps: Vec<_> = table.rows().filter(is_step).map(step).collect();
    sort_by_key(&mut steps, |step| (i64::from(step.0.0), step.1.0));
    steps.dedup_by(|next, last| next.0 == last.0 && next.1.1 <= last.1.1);
    steps
}

/// The number of operators in the steps, and whether one of them is for many parameters at once.
fn operators(table: &Table, steps: &[(TrackId, Interval, Row)]) -> (usize, bool) {
    let at_once = table.names.that(|name| name.contains("_foreach_") || name.contains("_fused_"));
    let (mut count, mut is_fused) = (0, false);
    for row in table.rows().filter(|&row| table.category(row) == Category::CpuOp) {
        let (track, start) = (table.track_id(row), table.ts(row));
        let after = steps.partition_point(|step| (step.0, step.1.0) <= (track, start));
        let step = after.checked_sub(1).map(|at| &steps[at]);
        if step.is_some_and(|step| step.0 == track && step.2 != row && table.end(row) <= step.1.1) {
            count += 1;
            is_fused |= at_once.has(table.name_id(row));
        }
    }
    (count, is_fused)
}
