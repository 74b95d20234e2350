//! Whether what a device does for most of the time decides how long a run takes, or the host does, which works meanwhile.

use super::{Bound, BoundBy, kernels, percent};
use crate::analysis::context::Analysis;
use crate::analysis::device::classes::Class;
use crate::analysis::device::idle::Cause;
use crate::analysis::replay::{Changes, Replay};
use crate::base::units::time_ns;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The host is the limit if the run without its work saves at least this many times as much as without that of the device.
const DECISIVE: f64 = 1.5;

/// The host is no limit if all that it works takes less than this share of the wall time.
const LEAST_WORK: f64 = 1.0 / 3.0;

/// Savings that are at least this part of the largest one are named with it.
const SIMILAR: f64 = 0.7;

/// Work that is hidden by other work: if a run without it saves less than this part of its share, most of it is hidden.
const HIDDEN: f64 = 0.25;

/// The work of a device.
struct Work {
    name: &'static str,
    changes: Changes,
}

/// What replays without the work of the device, at most, and of the host save, as shares of the wall time.
#[derive(Clone, Copy)]
struct Saved {
    device: f64,
    host: f64,
}

/// Compares a limit of a device with the host, by replays without the work of each.
pub(in super::super) fn compare(bound: &mut Bound, analysis: &Analysis<'_>, replay: &Replay<'_>) {
    let Some(work) = work(bound.by) else { return };
    let time_ns = bound.time_ns.max(1) as f64;
    bound.host_share = replay.worked_ns().map(|ns| (ns as f64 / time_ns).min(1.0));
    if replay.check().is_ok() {
        let share = |changes: &Changes| replay.saving_ns(changes).max(0) as f64 / time_ns;
        // A call that is longer than others of its name can have waited for the device.
        let device = share(&work.changes) + replay.doubtful_ns() as f64 / time_ns;
        // The work of the device takes its time without the host, too.
        let most_of_host = 1.0 - bound.share;
        if device < bound.share * HIDDEN || device * DECISIVE < most_of_host {
            state(bound, (analysis, replay), &work, Saved { device, host: share(&Changes::without_host()) });
        }
        return;
    }
    if let Some(most) = bound.host_share.map(|share| 1.0 - share).filter(|most| *most < bound.share * HIDDEN)
    {
        let (host, saved) = (percent(1.0 - most), percent(most));
        bound.message = format!(
            "{}; the host worked for {host} of it, too, so faster {} would save at most {saved}",
            bound.message, work.name
        );
    }
}

fn work(by: BoundBy) -> Option<Work> {
    let (name, classes): (_, &[Class]) = match by {
        BoundBy::GpuCompute | BoundBy::MemoryBandwidth => ("kernels", &[Class::Compute]),
        BoundBy::Communication => ("communication", &[Class::Communication]),
        BoundBy::Copies => ("copies", &[Class::Memcpy, Class::Memset]),
        _ => return None,
    };
    Some(Work { name, changes: Changes::without_classes(classes) })
}

/// States what the replays save, and takes the host as the limit if that is decisive.
fn state(
    bound: &mut Bound,
    (analysis, replay): (&Analysis<'_>, &Replay<'_>),
    work: &Work,
    Saved { device, host }: Saved,
) {
    let without = format!("a replay without {} saves {}", work.name, at_most(device));
    let (is_hidden, is_less) = (device < bound.share * HIDDEN, host >= device * DECISIVE);
    let works = bound.host_share.is_some_and(|worked| worked >= LEAST_WORK);
    let share = |ns: i64| ns as f64 / bound.time_ns.max(1) as f64;
    let parts = if is_less && works {
        host_parts(replay, (device * DECISIVE * bound.time_ns as f64) as i64)
    } else {
        Vec::new()
    };
    let most_ns = parts.iter().map(|part| part.1).max().unwrap_or(0);
    if most_ns > 0 {
        let is_large = |&&(_, ns): &&(&Part, i64)| ns as f64 >= most_ns as f64 * SIMILAR;
        let large: Vec<&(&Part, i64)> = parts.iter().filter(is_large).collect();
        let part = large[0].0;
        let worked = share(part.worked_ns(replay)).min(1.0);
        let is_compute = matches!(bound.by, BoundBy::GpuCompute | BoundBy::MemoryBandwidth);
        let kernels = if is_compute { kernels(analysis) } else { String::new() };
        let savings: Vec<String> = large
            .iter()
            .map(|(part, ns)| format!("one without {} {}", part.name, percent(share(*ns))))
            .collect();
        bound.message = format!(
            "Bound by {} took {} of {} on the host; {} took {}{kernels}, but {without}, {}",
            part.subject,
            percent(worked),
            time_ns(bound.time_ns, None),
            work.name,
            percent(bound.share),
            savings.join(", ")
        );
        (bound.by, bound.share) = (part.by, worked);
    } else if is_hidden || is_less {
        bound.message =
            format!("{}; {without}, one without the work of the host {}", bound.message, percent(host));
    }
}

/// A part of the work of the host.
struct Part {
    by: BoundBy,
    name: &'static str,
    /// What the sentence is about.
    subject: &'static str,
    causes: &'static [Cause],
}

/// What is easier to avoid comes first.
const PARTS: [Part; 3] = [
    Part {
        by: BoundBy::DataLoading,
        name: "data loading",
        subject: "data loading: it",
        causes: &[Cause::DataLoading],
    },
    Part {
        by: BoundBy::HostPython,
        name: "Python and other code",
        subject: "the host: Python and other code",
        causes: &[Cause::UserCode, Cause::GarbageCollection, Cause::Lock],
    },
    Part {
        by: BoundBy::HostLaunch,
        name: "operators and launches",
        subject: "the host: operators and launches",
        causes: &[Cause::Launch, Cause::Operator, Cause::Optimizer, Cause::Autograd],
    },
];

impl Part {
    fn worked_ns(&self, replay: &Replay<'_>) -> i64 {
        let parts = replay.worked().iter().filter(|part| self.causes.contains(&part.0));
        parts.fold(0, |sum, part| sum.saturating_add(part.1))
    }
}

/// What a run without each part of the work of the host saves, in ns, if it is at least this much. A part saves no more than the time
/// that the host is known to have worked on it.
fn host_parts(replay: &Replay<'_>, least_ns: i64) -> Vec<(&'static Part, i64)> {
    let saving = |part: &Part| {
        let worked_ns = part.worked_ns(replay);
        let changes = Changes { free: part.causes.into(), ..Changes::default() };
        if worked_ns < least_ns { 0 } else { replay.saving_ns(&changes).min(worked_ns) }
    };
    let parts = PARTS.iter().map(|part| (part, saving(part)));
    parts.filter(|part| part.1 >= least_ns.max(1)).collect()
}

fn at_most(share: f64) -> String {
    match percent(share).as_str() {
        "0%" => "nothing".into(),
        share => format!("at most {share}"),
    }
}
