//! Whether what a device does for most of the time decides how long a run takes, or the host does, which works meanwhile.

use super::{Bound, BoundBy, label, limit, percent};
use crate::analysis::device::classes::Class;
use crate::analysis::replay::{Changes, Replay};
use crate::base::order::{descending, sort_by_key};
use crate::base::units::time_ns;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The host is the limit if the run without its work saves at least this many times as much as without that of the device.
const DECISIVE: f64 = 1.5;

/// The host is no limit if all that it works takes less than this share of the wall time.
const LEAST_WORK: f64 = 1.0 / 3.0;

/// Work that hides other work: if a run without it saves less than this part of its share, most of it is hidden.
const HIDDEN: f64 = 0.25;

/// The work of a device.
struct Work {
    name: &'static str,
    changes: Changes,
}

/// What runs without some work save at least and at most, as shares of the wall time.
#[derive(Clone, Copy)]
struct Saved {
    device: (f64, f64),
    host: (f64, f64),
}

/// Compares a limit of a device with the host, by replays without the work of each.
pub(in super::super) fn compare(bound: &mut Bound, replay: &Replay<'_>) {
    let Some(work) = work(bound.by) else { return };
    let time_ns = bound.time_ns.max(1) as f64;
    bound.host_share = replay.worked_ns().map(|ns| (ns as f64 / time_ns).min(1.0));
    let host = Changes::without_host();
    if replay.check().is_ok() {
        let share = |changes: &Changes| replay.saving_ns(changes) as f64 / time_ns;
        let device = share(&work.changes);
        if device >= bound.share * HIDDEN && share(&host) < device * DECISIVE {
            return;
        }
        let shares = |ns: (i64, i64)| (ns.0.max(0) as f64 / time_ns, ns.1.max(0) as f64 / time_ns);
        if let [Some(device), Some(host)] = replay.known_savings([&work.changes, &host]) {
            return state(bound, replay, &work, Saved { device: shares(device), host: shares(host) });
        }
    }
    if let Some(most) = bound.host_share.map(|share| 1.0 - share).filter(|most| *most < bound.share * HIDDEN)
    {
        let (host, saved) = (percent(1.0 - most), at_most(most));
        bound.message = format!(
            "{}; the host worked for {host} of it, too, so faster {} would save {saved}",
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
fn state(bound: &mut Bound, replay: &Replay<'_>, work: &Work, saved: Saved) {
    let Saved { device, host } = saved;
    let without = format!("a replay without {} saves {}", work.name, at_most(device.1));
    let (by, ns) = host_part(replay);
    let (is_hidden, is_less) = (device.1 < bound.share * HIDDEN, host.0 >= device.1 * DECISIVE);
    if is_less && bound.host_share.is_some_and(|worked| worked >= LEAST_WORK) {
        let device_share =
            core::mem::replace(&mut bound.share, (ns as f64 / bound.time_ns.max(1) as f64).min(1.0));
        bound.by = by;
        bound.message = format!(
            "Bound by {} {} of {} on the host; {} took {}, but {without}, one without the work of the host at least {}",
            what(by),
            percent(bound.share),
            time_ns(bound.time_ns, None),
            work.name,
            percent(device_share),
            percent(host.0)
        );
    } else if is_hidden || is_less {
        let of_host = if is_less { format!("at least {}", percent(host.0)) } else { at_most(host.1) };
        bound.message = format!("{}; {without}, one without the work of the host {of_host}", bound.message);
    }
}

/// The limit that most of the work of the host belongs to, and its time in ns.
fn host_part(replay: &Replay<'_>) -> (BoundBy, i64) {
    let mut parts: Vec<(BoundBy, i64)> = BoundBy::ALL.map(|by| (by, 0)).into();
    for &(cause, ns) in replay.worked() {
        parts[limit(cause) as usize].1 += ns;
    }
    sort_by_key(&mut parts, |part| (descending(part.1), part.0 as i64));
    parts[0]
}

fn what(by: BoundBy) -> String {
    match by {
        BoundBy::HostLaunch => "the host: operators and launches took".into(),
        BoundBy::HostPython => "the host: Python and other code took".into(),
        BoundBy::ColdStart => "the start of the run: first uses and compilation took".into(),
        by => format!("{}: it took", label(by)),
    }
}

fn at_most(share: f64) -> String {
    match percent(share).as_str() {
        "0%" => "nothing".into(),
        share => format!("at most {share}"),
    }
}
