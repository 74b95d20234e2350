//! What findings would save, so that no two of them claim the same time.

use super::Finding;
use crate::analysis::replay::{Changes, Replay, Scratch};
use crate::base::join::Join;
use crate::base::order::{descending, sort_by_key};
use alloc::vec::Vec;

/// Computes the savings by replays and orders the findings by them. A finding saves at most what it saves alone, and at
/// most what it saves in addition to all findings that save more alone. So all of them claim at most what they save
/// together.
pub(super) fn order(findings: &mut [Finding], replay: &Replay<'_>, join: Join) {
    if replay.check().is_ok() && findings.iter().any(|finding| finding.changes.is_some()) {
        let alone = alone(findings, replay, join);
        let mut order: Vec<usize> = (0..findings.len()).collect();
        sort_by_key(&mut order, |&at| (descending(alone[at]), descending(findings[at].cost_ns)));
        let (mut changes, mut wall) = (Changes::default(), replay.replayed_ns());
        let mut scratch = Scratch::default();
        for at in order {
            let finding = &mut findings[at];
            let saves = |candidate: &&Changes| alone[at] > 0 && !changes.covers(candidate);
            let Some(candidate) = finding.changes.as_ref().filter(saves) else {
                finding.saving_ns = finding.changes.as_ref().map(|_| (0, replay.error_ns()));
                continue;
            };
            let is_first = changes.is_empty();
            changes.add(candidate);
            let next = if is_first { wall - alone[at] } else { replay.wall_in(&mut scratch, &changes) };
            // Together with others it can save more than alone.
            finding.saving_ns = Some((alone[at].min(wall - next), replay.error_ns()));
            wall = next;
        }
    }
    sort(findings);
}

/// Sorts findings: what saves most first, then what is unknown, by what it takes.
pub(super) fn sort(findings: &mut [Finding]) {
    let saving = |finding: &Finding| finding.saving_ns.map_or(-1, |saving| saving.0.max(0));
    sort_by_key(findings, |finding| (descending(saving(finding)), descending(finding.cost_ns)));
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
        let mut findings = [finding(Cause::Operator), finding(Cause::DataLoading), finding(Cause::Queued)];
        findings[2].changes = None;
        order(&mut findings, &replay, Join::SEQUENTIAL);
        let found = findings.map(|finding| (finding.cause, finding.saving_ns.map(|saving| saving.0)));
        // Each alone would save 15 us.
        let [first, second, third] = found;
        assert_eq!((first.1, second.1, third), (Some(15_000), Some(0), (Some(Cause::Queued), None)));
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
        let mut findings = [finding(Cause::Launch)];
        order(&mut findings, &Replay::new(&trace), Join::SEQUENTIAL);
        assert_eq!(findings[0].saving_ns, None);
    }
}
