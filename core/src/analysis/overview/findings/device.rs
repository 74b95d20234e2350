//! Findings about devices: idle time, communication, short kernels.

use super::{Finding, FindingCode, percent, share, threshold};
use crate::analysis::context::Analysis;
use crate::analysis::device::device_time::{Class, DeviceTime, by_cause};
use crate::analysis::device::idle::Cause;
use crate::analysis::replay::Changes;
use crate::base::order::{descending, sort_by_key};
use crate::base::units::time_ns;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The number of events that show a finding.
const SHOWN: usize = 3;

/// Adds the causes of the idle time of the device that was idle longest, except those that other findings are about.
pub(super) fn idle(out: &mut Vec<Finding>, analysis: &Analysis<'_>) {
    let Some(device) = analysis.devices().iter().max_by_key(|device| recorded(device).0) else { return };
    let (idle, window) = recorded(device);
    if share(idle, window) < threshold::IDLE {
        return;
    }
    let known: Vec<Cause> = out.iter().filter_map(|finding| finding.cause).collect();
    for (cause, early, ns) in causes(device) {
        let is_known = known.contains(&cause) || cause == Cause::NotRecorded;
        if is_known || share(ns, window) < threshold::CAUSE {
            continue;
        }
        let message = format!(
            "GPU {} was idle for {} ({} of its recorded time){} because of “{}”",
            device.device,
            time_ns(ns, None),
            percent(ns, window),
            notes(early, ns, analysis.devices().len()),
            cause.label()
        );
        let rows = longest(device, cause);
        let has_stacks = analysis.trace.table.metadata.flag("with_stack") == Some(true);
        let advice = match cause {
            Cause::Unknown if rows.is_empty() && has_stacks => BLANK_WITH_STACKS,
            Cause::Unknown if rows.is_empty() => BLANK,
            cause => advice(cause),
        };
        let mut finding = Finding::new(FindingCode::GpuIdle, ns, message, advice).caused_by(cause);
        if matches!(cause, Cause::OtherStream | Cause::Queued) {
            // The host is not the cause, so a replay without it would be the same.
            finding.changes = None;
        }
        out.push(finding.shown_by(if early > 0 { "idle --by step" } else { "idle" }, rows));
    }
}

/// States how much of an idle time is before the first activity, where only `idle --by step` shows it, and whether the
/// device was idle longest.
fn notes(early: i64, ns: i64, devices: usize) -> String {
    let early = match early {
        0 => "",
        _ if early == ns => ", all of it before its first activity",
        _ => &format!(", {} of it before its first activity", time_ns(early, None)),
    };
    let longest = if devices > 1 { ", the longest of all" } else { "" };
    let end = if early.is_empty() && longest.is_empty() { "" } else { "," };
    format!("{early}{longest}{end}")
}

/// The idle time of a device by cause from the start of the first step: before its first activity, and all of it.
fn causes(device: &DeviceTime) -> impl Iterator<Item = (Cause, i64, i64)> {
    let before = by_cause(&device.before).into_iter();
    before.zip(device.idle_by_cause()).map(|((cause, early), (_, later))| (cause, early, early + later))
}

/// The idle time of a device and its window, without what was not recorded: that is neither idle nor busy.
fn recorded(device: &DeviceTime) -> (i64, i64) {
    let causes = causes(device).filter(|cause| cause.0 != Cause::NotRecorded);
    let idle = causes.map(|cause| cause.2).sum();
    (idle, device.busy_ns.saturating_add(idle))
}

/// What stood behind the longest parts with a cause.
fn longest(device: &DeviceTime, cause: Cause) -> Vec<Row> {
    let mut longest: Vec<(i64, Row)> = Vec::new();
    for part in device.before.iter().chain(&device.idle).filter(|part| part.cause == cause) {
        let (ns, Some(row)) = (part.time.1 - part.time.0, part.behind) else { continue };
        if longest.len() == SHOWN && longest.last().is_some_and(|last| ns <= last.0) {
            continue;
        }
        match longest.iter().position(|known| known.1 == row) {
            Some(known) => longest[known].0 = longest[known].0.max(ns),
            None => longest.push((ns, row)),
        }
        sort_by_key(&mut longest, |&(ns, row)| (descending(ns), i64::from(row)));
        longest.truncate(SHOWN);
    }
    longest.into_iter().map(|(_, row)| row).collect()
}

/// What helps if the trace shows nothing of the host.
const BLANK: &str = "the trace does not show what the host did: record Python functions (with_stack=True), or annotate the program with record_function";

/// What helps if that is so although stacks were recorded.
const BLANK_WITH_STACKS: &str = "the trace does not show what the host did, although with_stack is on: record the activity of the CPU, or annotate the program with record_function";

/// What helps against a cause of idle time.
fn advice(cause: Cause) -> &'static str {
    match cause {
        Cause::DataLoading => "increase num_workers, prefetch, or make preprocessing cheaper",
        Cause::HostToDeviceCopy => "use pinned memory (pin_memory=True) and non_blocking copies",
        Cause::Synchronization => {
            "the CPU waits for the GPU before it issues more: remove .item(), .cpu() and synchronize()"
        }
        Cause::Allocation => {
            "allocate before the loop, or use PyTorch's caching allocator with expandable segments"
        }
        Cause::Compilation => "compile before the loop: warm up, and mark dynamic shapes",
        Cause::GarbageCollection => {
            "call gc.freeze() after setup, or gc.disable() and gc.collect() between steps"
        }
        Cause::Lock => "find what holds the lock: another thread of Python",
        Cause::Launch | Cause::Operator | Cause::Autograd => {
            "the CPU does not issue work fast enough: larger batches, CUDA graphs or torch.compile"
        }
        Cause::Optimizer => "use a fused or foreach optimizer, or compile it",
        Cause::UserCode => "move work of the program out of the loop, or to other threads",
        Cause::OtherStream | Cause::Queued => {
            "work was queued but did not start: check for waits between streams and for launch latency"
        }
        Cause::ProfilerOverhead => "profile fewer steps, or without shapes and stacks",
        Cause::NotRecorded | Cause::Unknown => {
            "the trace has no launches of this work: record CPU activity too"
        }
    }
}

/// Adds the communication of the device on which most of it is exposed.
pub(super) fn exposed(out: &mut Vec<Finding>, analysis: &Analysis<'_>) {
    let exposed = |device: &DeviceTime| {
        let class = device.classes.iter().find(|class| class.class == Class::Communication);
        class.map_or(0, |class| class.exposed_ns)
    };
    let Some(device) = analysis.devices().iter().max_by_key(|device| exposed(device)) else { return };
    let (window, ns) = (device.window.1 - device.window.0, exposed(device));
    if share(ns, window) < threshold::EXPOSED {
        return;
    }
    let message = format!(
        "GPU {} communicated for {} with nothing else running ({} of its window)",
        device.device,
        time_ns(ns, None),
        percent(ns, window)
    );
    let advice =
        "overlap communication with computation: tune bucket sizes, prefetch, or use a separate stream";
    let mut finding = Finding::new(FindingCode::ExposedCommunication, ns, message, advice);
    finding.changes = Some(Changes { overlap_communication: true, ..Changes::default() });
    out.push(finding.shown_by("kernels", rows_with_class(analysis, Class::Communication)));
}

/// The longest activities of a class, one of each name.
fn rows_with_class(analysis: &Analysis<'_>, class: Class) -> Vec<Row> {
    let groups = analysis.kernel_groups().iter().filter(|group| group.class == class);
    groups.take(SHOWN).map(|group| group.longest).collect()
}

/// Adds short compute kernels of all devices. Their cost is at most the busy time of the device that computed longest.
pub(super) fn short_kernels(out: &mut Vec<Finding>, analysis: &Analysis<'_>) {
    let compute = || analysis.kernel_groups().iter().filter(|k| k.class == Class::Compute);
    let count: usize = compute().map(|k| k.count).sum();
    let time: i64 = compute().map(|k| k.sum_ns).sum();
    if count < threshold::SHORT_KERNEL_COUNT || time / count as i64 >= threshold::SHORT_KERNEL_NS {
        return;
    }
    let classes = analysis.devices().iter().flat_map(|device| &device.classes);
    let busy = classes.filter(|class| class.class == Class::Compute).map(|class| class.busy_ns);
    let mean = time_ns(time / count as i64, None);
    let message: String = format!("{count} kernels last {mean} on average, about as long as a launch");
    let advice = "fuse them: torch.compile, CUDA graphs, fused or foreach optimizers";
    let mut finding = Finding::new(FindingCode::ShortKernels, busy.max().unwrap_or(0), message, advice);
    finding.changes = Some(Changes { cuda_graph: true, ..Changes::default() });
    out.push(finding.shown_by("kernels", rows_with_class(analysis, Class::Compute)));
}
