//! Findings about a device that is idle because of the host.

use super::facts::Allocations;
use super::{Facts, Finding, FindingCode, SHOWN, percent, share, threshold};
use crate::analysis::device::device_time::{DeviceTime, by_cause};
use crate::analysis::device::idle::{Cause, GapPart};
use crate::analysis::replay::Changes;
use crate::base::names::{ByName, NameId};
use crate::base::order::{descending, sort_by_key};
use crate::base::units::{counted, time_ns};
use crate::trace::table::events::Row;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The causes that show that the host does not launch work fast enough, with what they are for a person.
const LAUNCHING: [(Cause, &str); 6] = [
    (Cause::Operator, "operators"),
    (Cause::UserCode, "Python and other code"),
    (Cause::Launch, "calls that launch"),
    (Cause::Autograd, "autograd"),
    (Cause::Optimizer, "the optimizer"),
    (Cause::Queued, "the delay from a launch to its start"),
];

/// Adds what keeps the device idle that was idle longest.
pub(super) fn idle(out: &mut Vec<Finding>, facts: &Facts<'_>) {
    let devices = facts.analysis.devices();
    let Some(device) = devices.iter().max_by_key(|device| recorded(device).0) else { return };
    let idle = Idle { facts, device, window: recorded(device).1 };
    if facts.shows_idle {
        out.extend(idle.unknown());
    }
    if !facts.can_tell {
        return;
    }
    out.extend(idle.launching());
    out.extend(idle.synchronization());
    out.extend(idle.allocation());
    for cause in [Cause::Lock, Cause::Compilation, Cause::ProfilerOverhead, Cause::OtherStream] {
        out.extend(idle.other(cause));
    }
}

/// The idle time of a device and its window, without what was not recorded and the captures of graphs: that is neither idle
/// nor busy.
fn recorded(device: &DeviceTime) -> (i64, i64) {
    let causes = causes(device).filter(|cause| !matches!(cause.0, Cause::NotRecorded | Cause::GraphCapture));
    let idle = causes.map(|cause| cause.1).sum();
    (idle, device.busy_ns.saturating_add(idle))
}

/// The idle time of a device by cause from the start of the first step.
fn causes(device: &DeviceTime) -> impl Iterator<Item = (Cause, i64)> {
    let before = by_cause(&device.before).into_iter();
    before.zip(device.idle_by_cause()).map(|((cause, early), (_, later))| (cause, early + later))
}

/// The idle time of one device.
struct Idle<'a> {
    facts: &'a Facts<'a>,
    device: &'a DeviceTime,
    window: i64,
}

impl Idle<'_> {
    fn ns(&self, cause: Cause) -> i64 {
        causes(self.device).find(|known| known.0 == cause).map_or(0, |known| known.1)
    }

    /// The time from launches to the start of their work while the device was idle. Between two activities that were both launched
    /// before, the device waits for nothing of the host.
    fn delays_ns(&self) -> i64 {
        let mut last: Option<&GapPart> = None;
        let mut sum = 0;
        for part in self.device.before.iter().chain(&self.device.idle) {
            let follows = last.is_some_and(|last| last.time.1 == part.time.0 && last.cause != Cause::Queued);
            if part.cause == Cause::Queued && follows {
                sum += part.time.1 - part.time.0;
            }
            last = Some(part);
        }
        sum
    }

    /// The mean length of the parts with a cause.
    fn mean(&self, cause: Cause) -> i64 {
        self.ns(cause) / (self.parts(cause).count().max(1) as i64)
    }

    fn is_large(&self, ns: i64) -> bool {
        ns as f64 >= threshold::EFFECT * self.facts.wall_ns as f64 && ns > 0
    }

    /// The start of a sentence, up to the reason.
    fn was_idle(&self, ns: i64) -> String {
        let longest = if self.facts.analysis.devices().len() > 1 { ", the longest of all GPUs," } else { "" };
        let share = percent(ns, self.window);
        format!(
            "GPU {} was idle for {} ({share} of its recorded time){longest}",
            self.device.device,
            time_ns(ns, None)
        )
    }

    fn command(&self) -> &'static str {
        if self.device.before.is_empty() { "idle" } else { "idle --by step" }
    }

    /// The host does not launch work fast enough.
    fn launching(&self) -> Option<Finding> {
        let of = |cause| if cause == Cause::Queued { self.delays_ns() } else { self.ns(cause) };
        let mut parts: Vec<(i64, &str, Cause)> =
            LAUNCHING.into_iter().map(|(cause, what)| (of(cause), what, cause)).collect();
        // A longer delay is no property of launches.
        parts.retain(|part| part.2 != Cause::Queued || self.mean(Cause::Queued) < LAUNCH_NS);
        let ns = parts.iter().map(|part| part.0).sum();
        let is_cold = self.facts.cold_share() >= threshold::COLD;
        if share(ns, self.facts.wall_ns) < threshold::LAUNCHING || self.device.count < FEW || is_cold {
            return None;
        }
        sort_by_key(&mut parts, |part| (descending(part.0), 0));
        let large = parts.iter().filter(|part| part.0 >= ns / 20);
        let texts: Vec<String> = large.map(|part| format!("{} {}", part.1, time_ns(part.0, None))).collect();
        let message =
            format!("{} until the host launched the next work: {}", self.was_idle(ns), texts.join(", "));
        let main = parts[0].2;
        let mut finding = Finding::new(FindingCode::HostBound, ns, message, &self.faster_launches(main, ns));
        finding.cause = Some(main);
        let free = LAUNCHING.iter().map(|launching| launching.0).collect();
        finding.changes = Some(Changes { free, ..Changes::default() });
        finding.is_ideal = true;
        Some(finding.shown_by(self.command(), self.longest(main)))
    }

    /// What makes the host launch faster.
    fn faster_launches(&self, main: Cause, ns: i64) -> String {
        if main == Cause::UserCode && self.ns(Cause::UserCode) > ns / 2 {
            return "see what it is with `tree`: compile the code of a model with torch.compile, and move other code out of the loop, or to other threads or processes".into();
        }
        let uses = &self.facts.uses;
        let mut ways: Vec<&str> = Vec::new();
        if !uses.graphs {
            ways.push(
                "capture it in a CUDA graph (torch.cuda.graph, or mode=\"reduce-overhead\" of torch.compile)",
            );
        }
        if !uses.compiled {
            ways.push("compile it with torch.compile");
        }
        ways.push("give each launch more work, for example with larger batches");
        ways.join("; or ")
    }

    /// The host waited for the device, and had launched nothing else.
    fn synchronization(&self) -> Option<Finding> {
        let ns = self.ns(Cause::Synchronization);
        if ns == 0 {
            return None;
        }
        let table = &self.facts.analysis.trace.table;
        let mut idle: ByName<usize> = ByName::default();
        for part in self.parts(Cause::Synchronization) {
            let Some(row) = part.behind else { continue };
            *idle.entry(table.name_id(row)) += 1;
        }
        let all: usize = idle.entries().iter().map(|wait| wait.1).sum();
        let is_long = share(ns, self.facts.wall_ns) >= threshold::LARGE;
        if !is_long && all < MANY_WAITS {
            return None;
        }
        // Waits that no idle time follows cost nothing.
        let waits = self.facts.host.waits();
        let of = |name: NameId| waits.get(name).copied().unwrap_or_default();
        let host_ns = idle.entries().iter().map(|&(name, _)| of(name).host_ns).fold(0, i64::saturating_add);
        // Of equal ones, the first decides.
        let &(name, count) = idle.entries().iter().rev().max_by_key(|wait| (of(wait.0).host_ns, wait.1))?;
        let most = of(name);
        let name = table.names.get(name);
        let where_most = if host_ns == 0 {
            format!(": most in `{name}`, {}", counted(count, "wait"))
        } else {
            let [all, most_ns] = [host_ns, most.host_ns].map(|ns| time_ns(ns, None));
            format!(". The host waited {all}, most in `{name}`: {most_ns} in {}", counted(most.count, "wait"))
        };
        let message = format!(
            "{} right after the host had waited for it, because nothing else was launched{where_most}",
            self.was_idle(ns)
        );
        let advice = self.fewer_waits(name, most.longest.map(|wait| wait.1));
        let finding = Finding::new(FindingCode::Synchronization, ns, message, advice);
        let shown = self.longest(Cause::Synchronization);
        // The device was busy while the host waited: without the waits the host would only launch earlier.
        let finding = Finding { is_ideal: !self.is_large(ns), ..finding };
        Some(finding.caused_by(Cause::Synchronization).shown_by("idle", shown))
    }

    /// How the waits in operators of a name can be avoided; `wait` is the longest of them.
    fn fewer_waits(&self, name: &str, wait: Option<Row>) -> &'static str {
        let has_mask = wait.is_some_and(|wait| self.contains(wait, "aten::nonzero"));
        if matches!(name, "aten::nonzero" | "aten::masked_select") || has_mask {
            "selection by a boolean mask waits for the number of elements: use torch.where, or masks that keep the shape"
        } else if matches!(name, "aten::item" | "aten::_local_scalar_dense" | "aten::is_nonzero") {
            "keep scalars on the GPU: print or compare them rarely, not in each step"
        } else if wait.is_some_and(|wait| name == "aten::copy_" || self.contains(wait, "aten::copy_")) {
            "a copy between the host and the GPU waits: keep the tensor on the GPU, or copy from or to pinned memory with non_blocking=True"
        } else {
            "remove .item(), .cpu(), nonzero() and synchronize() from the loop, or wait once per step"
        }
    }

    /// Whether a span has one of a name inside.
    fn contains(&self, span: Row, name: &str) -> bool {
        let table = &self.facts.analysis.trace.table;
        let Some(name) = table.names.find(name) else { return false };
        let is_inside = |row: Row| {
            table.track_id(row) == table.track_id(span)
                && table.ts(row) >= table.ts(span)
                && table.end(row) <= table.end(span)
        };
        table.rows().any(|row| table.name_id(row) == name && is_inside(row))
    }

    /// The host allocated or freed memory.
    fn allocation(&self) -> Option<Finding> {
        let ns = self.ns(Cause::Allocation);
        if !self.is_large(ns) {
            return None;
        }
        let Allocations { made, freed, freed_late } = self.facts.uses.allocations;
        let calls = format!("{} and {}", counted(made, "allocation"), counted(freed, "release"));
        let message =
            format!("{} while the host allocated or freed memory of a device: {calls}", self.was_idle(ns));
        // A caching allocator keeps what it has: many releases show that it is off, or that memory runs out.
        let is_repeated = freed >= MANY_CALLS && made >= MANY_CALLS;
        let (code, advice) = if is_repeated && freed_late < freed / 4 {
            (
                FindingCode::CachingAllocator,
                "memory was returned to the driver early in the recording only, as when it runs out once: use less, or call empty_cache() less often",
            )
        } else if is_repeated && self.facts.first_uses.is_empty() {
            (
                FindingCode::CachingAllocator,
                "memory is returned to the driver in the loop: use PyTorch's caching allocator (PYTORCH_NO_CUDA_MEMORY_CACHING is not set, no empty_cache()), and less memory if it runs out",
            )
        } else {
            (
                FindingCode::GpuIdle,
                "the first allocations of a run take long: skip the first steps with torch.profiler.schedule, or allocate before the loop",
            )
        };
        let finding = Finding::new(code, ns, message, advice).caused_by(Cause::Allocation);
        Some(finding.shown_by(self.command(), self.longest(Cause::Allocation)))
    }

    fn other(&self, cause: Cause) -> Option<Finding> {
        let ns = self.ns(cause);
        if !self.is_large(ns) {
            return None;
        }
        let advice = match cause {
            Cause::Lock => "find what holds the lock: another thread of Python",
            Cause::Compilation => "compile before the loop: warm up, and mark dynamic shapes",
            Cause::ProfilerOverhead => "profile fewer steps, or without shapes and stacks",
            _ => "the streams of the device wait for each other: see which work they wait for",
        };
        let message = format!("{} because of “{}”", self.was_idle(ns), cause.label());
        let mut finding = Finding::new(FindingCode::GpuIdle, ns, message, advice).caused_by(cause);
        if cause == Cause::OtherStream {
            // The host is not the cause, so a replay without it would be the same.
            finding.changes = None;
        }
        Some(finding.shown_by(self.command(), self.longest(cause)))
    }

    /// The trace does not show what the host did.
    fn unknown(&self) -> Option<Finding> {
        let ns = self.ns(Cause::Unknown);
        if share(ns, self.facts.wall_ns) < threshold::UNKNOWN {
            return None;
        }
        let trace = self.facts.analysis.trace;
        let unlinked = self.parts(Cause::Unknown).filter(|part| part.behind.is_some());
        let unlinked_ns: i64 = unlinked.map(|part| part.time.1 - part.time.0).sum();
        let has_stacks = trace.table.metadata.flag("with_stack") == Some(true);
        let (reason, advice) = if unlinked_ns > ns / 2 {
            (
                "the trace has no launch of the next work",
                "record the calls of the runtime: without them, the reason is not known",
            )
        } else if !self.facts.has_operators {
            ("the trace has no operators", "record them, too: ProfilerActivity.CPU")
        } else if has_stacks {
            (
                "the trace does not show what the host did",
                "annotate the program with record_function: the recorded stacks do not cover this time",
            )
        } else {
            (
                "the trace does not show what the host did",
                "record Python functions (with_stack=True), or annotate the program with record_function",
            )
        };
        let message = format!(
            "for {} ({} of its recorded time) GPU {} was idle, and {reason}",
            time_ns(ns, None),
            percent(ns, self.window),
            self.device.device
        );
        let mut finding = Finding::new(FindingCode::GpuIdle, ns, message, advice);
        finding.cause = Some(Cause::Unknown);
        Some(finding.shown_by(self.command(), self.longest(Cause::Unknown)))
    }

    fn parts(&self, cause: Cause) -> impl Iterator<Item = &GapPart> {
        self.device.before.iter().chain(&self.device.idle).filter(move |part| part.cause == cause)
    }

    /// What stood behind the longest parts with a cause.
    fn longest(&self, cause: Cause) -> Vec<Row> {
        let mut longest: Vec<(i64, Row)> = Vec::new();
        for part in self.parts(cause) {
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
}

/// From this number of allocations and of releases on, memory is not cached.
const MANY_CALLS: usize = 10;

/// From this number of waits on, those of a loop are worth a finding even if the device is idle for little of them.
const MANY_WAITS: usize = 10;

/// From a launch to the start of its work on an empty stream, at most, in ns.
const LAUNCH_NS: i64 = 50_000;

/// With fewer activities, a run has no loop whose launches could be faster.
const FEW: usize = 20;
