//! What findings would save, so that no two of them claim the same time.

use super::Finding;
use crate::analysis::replay::{Changes, Replay};
use crate::order::{descending, sort_by_key};
use alloc::vec::Vec;

/// Computes the savings by replays and orders the findings by them. A finding saves at most what it saves alone, and at
/// most what it saves in addition to all findings that save more alone. So all of them claim at most what they save
/// together.
pub(super) fn order(findings: &mut [Finding], replay: &Replay<'_>) {
    if replay.check().is_ok() && findings.iter().any(|finding| finding.changes.is_some()) {
        let alone: Vec<i64> = findings
            .iter()
            .map(|finding| finding.changes.as_ref().map_or(-1, |changes| replay.saving_ns(changes)))
            .collect();
        let mut order: Vec<usize> = (0..findings.len()).collect();
        sort_by_key(&mut order, |&at| (descending(alone[at]), descending(findings[at].cost_ns)));
        let (mut changes, mut wall) = (Changes::default(), replay.replayed_ns());
        for at in order {
            let finding = &mut findings[at];
            let Some(own) = &finding.changes else { continue };
            changes.add(own);
            let next = replay.wall_ns(&changes);
            // Together with others it can save more than alone.
            finding.saving_ns = Some((alone[at].min(wall - next), replay.error_ns()));
            wall = next;
        }
    }
    let saving = |finding: &Finding| finding.saving_ns.map_or(-1, |saving| saving.0.max(0));
    sort_by_key(findings, |finding| (descending(saving(finding)), descending(finding.cost_ns)));
}
