//! Whether what a device does for most of the time decides how long a run takes, or the host does, which works meanwhile.

use super::{Bound, BoundBy, kernels, limit, percent};
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

/// What replays without the work of the device and of the host save, as shares of the wall time.
#[derive(Clone, Copy)]
struct Saved {
    device: f64,
    host: f64,
    /// The share of calls that are longer than others of their name: they can have waited for the device.
    doubtful: f64,
}

/// Compares a limit of a device with the host, by replays without the work of each.
pub(in super::super) fn compare(bound: &mut Bound, analysis: &Analysis<'_>, replay: &Replay<'_>) {
    let Some(work) = work(bound.by) else { return };
    let time_ns = bound.time_ns.max(1) as f64;
    bound.host_share = replay.worked_ns().map(|ns| bound.share_of(ns));
    if replay.check().is_ok() {
        let share = |changes: &Changes| replay.saving_ns(changes).max(0) as f64 / time_ns;
        let (device, doubtful) = (share(&work.changes), replay.doubtful_ns() as f64 / time_ns);
        // The devices take their time without the host, too.
        let most_of_host = (1.0 - analysis.busy_ns() as f64 / time_ns).max(0.0);
        let likely = device + doubtful;
        if likely < bound.share * HIDDEN || likely * DECISIVE < most_of_host {
            let host = share(&Changes::without_host()).min(most_of_host);
            state(bound, (analysis, replay), &work, Saved { device, host, doubtful });
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
    Saved { device, host, doubtful }: Saved,
) {
    let without = format!("a replay without {} saves {}", work.name, percent(device));
    let device = device + doubtful;
    let (is_hidden, is_less) = (device < bound.share * HIDDEN, host >= device * DECISIVE);
    let works = bound.host_share.is_some_and(|worked| worked >= LEAST_WORK);
    let least_ns = (device * DECISIVE * bound.time_ns as f64) as i64;
    let parts = if is_less && works {
        host_parts(replay, (least_ns, (host * bound.time_ns as f64) as i64))
    } else {
        Vec::new()
    };
    if let [(part, _), ..] = parts[..] {
        let savings: Vec<String> = parts.iter().map(|&(part, ns)| saving(bound, part, ns)).collect();
        let without = format!("{without}, {}", savings.join(", "));
        limit_by_host(bound, (analysis, replay), (work, part), &without);
    } else if is_hidden || is_less {
        bound.message =
            format!("{}; {without}, one without the work of the host {}", bound.message, percent(host));
    }
}

fn saving(bound: &Bound, part: &Part, ns: i64) -> String {
    format!("one without {} {}", part.name, percent(bound.share_of(ns)))
}

/// Takes a part of the host as the limit. `without` is what replays save.
fn limit_by_host(
    bound: &mut Bound,
    (analysis, replay): (&Analysis<'_>, &Replay<'_>),
    (work, part): (&Work, &Part),
    without: &str,
) {
    let worked = bound.share_of(part.worked_ns(replay));
    let is_compute = matches!(bound.by, BoundBy::GpuCompute | BoundBy::MemoryBandwidth);
    let kernels = if is_compute { kernels(analysis) } else { String::new() };
    bound.message = format!(
        "Bound by {} took {} of {} on the host; {} took {}{kernels}, but {without}",
        part.subject,
        percent(worked),
        time_ns(bound.time_ns, None),
        work.name,
        percent(bound.share)
    );
    (bound.by, bound.share) = (part.by, worked);
}

/// A part of the work of the host.
struct Part {
    by: BoundBy,
    name: &'static str,
    /// What the sentence is about.
    subject: &'static str,
}

/// What is easier to avoid comes first.
const PARTS: [Part; 3] = [
    Part { by: BoundBy::DataLoading, name: "data loading", subject: "data loading: it" },
    Part {
        by: BoundBy::HostPython,
        name: "Python and other code",
        subject: "the host: Python and other code",
    },
    Part {
        by: BoundBy::HostLaunch,
        name: "operators and launches",
        subject: "the host: operators and launches",
    },
];

impl Part {
    fn worked_ns(&self, replay: &Replay<'_>) -> i64 {
        let parts = replay.worked().iter().filter(|part| limit(part.0) == self.by);
        parts.fold(0, |sum, part| sum.saturating_add(part.1))
    }
}

/// What a run without each part of the work of the host saves, in ns, if it is at least this much and much of what the largest saves.
/// A part saves no more than the time that the host is known to have worked on it, and no more than all.
fn host_parts(replay: &Replay<'_>, (least_ns, all_ns): (i64, i64)) -> Vec<(&'static Part, i64)> {
    let saving = |part: &Part| {
        let worked_ns = part.worked_ns(replay);
        let free = Cause::ALL.into_iter().filter(|&cause| limit(cause) == part.by).collect();
        let changes = Changes { free, ..Changes::default() };
        if worked_ns < least_ns { 0 } else { replay.saving_ns(&changes).min(worked_ns).min(all_ns) }
    };
    let mut parts: Vec<(&Part, i64)> = PARTS.iter().map(|part| (part, saving(part))).collect();
    let most_ns = parts.iter().map(|part| part.1).max().unwrap_or(0) as f64;
    parts.retain(|part| part.1 >= least_ns.max(1) && part.1 as f64 >= most_ns * SIMILAR);
    parts
}
