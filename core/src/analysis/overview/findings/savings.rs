//! What findings would save, so that no two of them claim the same time.

use super::threshold::{EFFECT, HOST_BOUND, LARGE};
use super::{Finding, FindingCode, Saving};
use crate::analysis::replay::{Changes, Replay, Scratch};
use crate::base::join::Join;
use crate::base::order::{descending, sort_by_key};
use crate::base::units::time_ns;
use alloc::format;
use alloc::vec::Vec;

/// Computes the savings by replays, leaves out findings that save nothing measurable, and orders the others. What a finding adds
/// is at most what it saves alone, and at most what it saves in addition to all findings before it. So all of them claim at
/// most what they save together. Without work of the host, a device still works for as long as it was busy, `busy_ns`: that streams
/// overlap more would be a guess.
pub(super) fn order(findings: &mut Vec<Finding>, (replay, busy_ns): (&Replay<'_>, i64), join: Join) {
    if replay.check().is_ok() && findings.iter().any(|finding| finding.changes.is_some()) {
        let alone = alone(findings, replay, join);
        let error_ns = replay.error_ns();
        for (finding, &alone_ns) in findings.iter_mut().zip(&alone) {
            let is_of_host = finding.changes.as_ref().is_some_and(Changes::is_of_host);
            let idle_ns = if is_of_host { replay.replayed_ns().saturating_sub(busy_ns) } else { i64::MAX };
            let most_ns = if is_part(finding) { finding.cost_ns.min(idle_ns) } else { idle_ns };
            let saving = Saving { alone_ns: alone_ns.min(most_ns), added_ns: 0, error_ns };
            finding.saving = finding.changes.as_ref().map(|_| saving);
        }
        let least = (EFFECT * replay.recorded_ns() as f64) as i64;
        let is_measurable = |saving: Saving| saving.alone_ns >= least.max(error_ns).max(1);
        let large = (LARGE * replay.recorded_ns() as f64) as i64;
        let host_bound = (HOST_BOUND * replay.recorded_ns() as f64) as i64;
        findings.retain(|finding| match (finding.code, finding.saving) {
            (FindingCode::HostBound, Some(saving)) => {
                saving.alone_ns >= large || finding.cost_ns >= host_bound
            }
            (_, saving) => finding.cost_ns >= large || saving.is_none_or(is_measurable),
        });
        for finding in findings.iter_mut().filter(|finding| !finding.saving.is_none_or(is_measurable)) {
            (finding.saving, finding.changes) = (None, None);
            finding.message.push_str("; a replay without it alone saves nothing measurable");
            // Advice says what a saving would be of.
            finding.advice.truncate(finding.advice.find("; the saving is").unwrap_or(finding.advice.len()));
        }
        explain(findings, replay);
        sort(findings);
        for at in (1..findings.len()).rev() {
            let is_same = |other: &Finding| other.changes.is_some() && other.changes == findings[at].changes;
            if findings[..at].iter().any(is_same) {
                findings.remove(at);
            }
        }
        added(findings, replay);
    }
    sort(findings);
}

/// Whether the replay leaves out more than the finding is about: an optimizer's `zero_grad`, which no other implementation of its
/// steps saves.
fn is_part(finding: &Finding) -> bool {
    finding.code == FindingCode::UnfusedOptimizer
}

/// Says what savings above the idle time of a device come from: the replay leaves out all of the host's time for it.
fn explain(findings: &mut [Finding], replay: &Replay<'_>) {
    use FindingCode::{CachingAllocator, GpuIdle, HostBound};
    for finding in findings.iter_mut().filter(|f| matches!(f.code, HostBound | CachingAllocator | GpuIdle)) {
        let is_more = |saving: Saving| saving.alone_ns > finding.cost_ns + finding.cost_ns / 20;
        let (Some(changes), true) = (&finding.changes, finding.saving.is_some_and(is_more)) else { continue };
        let host_ns = replay.freed_ns(changes);
        if host_ns > finding.cost_ns {
            let all = time_ns(host_ns, None);
            finding.message = format!("{}; the replay leaves out {all} of the host", finding.message);
        }
    }
}

/// Computes what each finding adds to those before it.
fn added(findings: &mut [Finding], replay: &Replay<'_>) {
    let (mut changes, mut wall) = (Changes::default(), replay.replayed_ns());
    let mut scratch = Scratch::default();
    for finding in findings {
        let is_replayed = changes.is_empty() && !is_part(finding);
        let (Some(candidate), Some(saving)) = (&finding.changes, &mut finding.saving) else { continue };
        if changes.covers(candidate) {
            continue;
        }
        changes.add(candidate);
        let next = if is_replayed { wall - saving.alone_ns } else { replay.wall_in(&mut scratch, &changes) };
        // Together with others it can save more than alone.
        saving.added_ns = saving.alone_ns.min(wall - next).max(0);
        wall = next;
    }
}

/// An ideal is not reached: it counts for this part of what it saves.
const IDEAL: i64 = 4;

/// Sorts findings by what they save alone, ideals by a part of that; then those whose saving is unknown, by what they cost.
pub(super) fn sort(findings: &mut [Finding]) {
    let rank = |finding: &Finding| match finding.saving {
        Some(_) => 0,
        None if finding.cost_ns > 0 => 1,
        None => 2,
    };
    let effect = |finding: &Finding| match finding.saving {
        Some(saving) if finding.is_ideal => saving.alone_ns / IDEAL,
        Some(saving) => saving.alone_ns,
        None => finding.cost_ns,
    };
    sort_by_key(findings, |finding| (rank(finding), descending(effect(finding))));
}

/// Returns what each finding saves alone, in ns; negative if no replay shows it.
fn alone(findings: &[Finding], replay: &Replay<'_>, join: Join) -> Vec<i64> {
    let savings = |findings: &[Finding]| -> Vec<i64> {
        let mut scratch = Scratch::default();
        let changes = findings.iter().map(|finding| finding.changes.as_ref());
        let mut saving = |changes: &_| replay.replayed_ns() - replay.wall_in(&mut scratch, changes);
        changes.map(|changes| changes.map_or(-1, &mut saving)).collect()
    };
    let changing = findings.iter().filter(|finding| finding.changes.is_some()).count();
    // Half of the replays each.
    let mut seen = 0;
    let middle = findings.iter().position(|finding| {
        seen += usize::from(finding.changes.is_some());
        seen * 2 > changing
    });
    let (left, right) = findings.split_at(middle.unwrap_or(0));
    let (mut first, mut second) = (Vec::new(), Vec::new());
    join.run(&mut [&mut || first = savings(left), &mut || second = savings(right)]);
    first.append(&mut second);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::device::idle::Cause;
    use crate::analysis::overview::findings::FindingCode;
    use crate::trace::Trace;
    use alloc::string::String;

    fn finding(cause: Cause) -> Finding {
        Finding::new(FindingCode::GpuIdle, 1, String::new(), "").caused_by(cause)
    }

    /// 60 us of loading, then 40 us of an operator, while a kernel that was launched first runs from 10 to 85. Without
    /// the loading 15 us are left of the host's lead: the kernel ends at 85. Without both, still at 85.
    #[test]
    fn no_time_is_claimed_twice() {
        let trace = Trace::read(
            br#"[{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":0,"dur":5,"args":{"correlation":1}},
            {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":10,"dur":75,"args":{"correlation":1}},
            {"ph":"X","cat":"cpu_op","name":"enumerate(DataLoader)#_Single.__next__","pid":1,"tid":1,"ts":5,"dur":60},
            {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":1,"tid":1,"ts":65,"dur":35}]"#,
        )
        .expect("a trace");
        let replay = Replay::new(&trace);
        let mut findings: Vec<Finding> =
            [Cause::Operator, Cause::DataLoading, Cause::Queued].map(finding).into();
        findings[2].changes = None;
        order(&mut findings, (&replay, 0), Join::SEQUENTIAL);
        let savings = findings.iter().map(|finding| finding.saving);
        let found: Vec<_> =
            savings.map(|saving| saving.map(|saving| (saving.alone_ns, saving.added_ns))).collect();
        // Each alone saves 15 us, and so do both.
        assert_eq!(found, [Some((15_000, 15_000)), Some((15_000, 0)), None]);
        let says = |at: usize, time: &str| {
            findings[at].message.ends_with(&format!("the replay leaves out {time} of the host"))
        };
        assert!(says(0, "35.000us") && says(1, "60.000us"), "{findings:?}");
    }

    #[test]
    fn savings_are_unknown_if_the_replay_differs_from_the_recording() {
        let trace = Trace::read(
            br#"[{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":0,"dur":5,"args":{"correlation":1}},
            {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":10,"dur":5,"args":{"correlation":1}},
            {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":20,"dur":5,"args":{"correlation":2}},
            {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":30,"dur":5,"args":{"correlation":2}},
            {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":40,"dur":5,"args":{"correlation":3}},
            {"ph":"X","cat":"kernel","name":"c","pid":0,"tid":7,"ts":9000,"dur":5,"args":{"correlation":3}}]"#,
        )
        .expect("a trace");
        let mut findings = Vec::from([finding(Cause::Launch)]);
        order(&mut findings, (&Replay::new(&trace), 0), Join::SEQUENTIAL);
        assert_eq!(findings[0].saving, None);
    }
}
