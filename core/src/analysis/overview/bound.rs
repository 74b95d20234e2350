//! What bounds a run: the limit that takes the largest share of the wall time.
//!
//! With a device, each instant of the wall time counts for what the busiest device did: compute, exposed communication,
//! exposed copies, or else for what the host did meanwhile. Without one, it counts for what the main thread did.

mod hidden;

pub(super) use hidden::compare;

use crate::analysis::context::Analysis;
use crate::analysis::device::device_time::DeviceTime;
use crate::analysis::device::idle::{Cause, Host};
use crate::analysis::device::kernel_limits::{KernelLimits, Limits};
use crate::analysis::device::names::is_host_wait;
use crate::analysis::device::peak;
use crate::analysis::intervals::Intervals;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Column, Shape, record};
use crate::base::units::time_ns;
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::kernel_rules::KernelCategory;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

words! {
    "BoundBy"
    /// What bounds a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum BoundBy {
        /// A device computed.
        GpuCompute = "gpu_compute",
        /// A device computed, most of the time with kernels that are limited by its memory.
        MemoryBandwidth = "memory_bandwidth",
        /// A device communicated, or threads of the host did, and nothing else ran.
        Communication = "communication",
        /// A device copied, and nothing else ran.
        Copies = "copies",
        /// The device waited for operators, autograd, the optimizer or calls that launch work.
        HostLaunch = "host_launch",
        /// The device waited for Python and other code.
        HostPython = "host_python",
        /// The host waited for data.
        DataLoading = "data_loading",
        /// The device was idle because the host waited for it, or copied.
        Synchronization = "synchronization",
        /// The device waited for allocations.
        Allocation = "allocation",
        /// The host used something for the first time, or compiled.
        ColdStart = "cold_start",
        /// The host captured CUDA graphs.
        GraphCapture = "graph_capture",
        /// Without a device: operators of the host.
        CpuOperators = "cpu_operators",
        /// The profiler worked.
        Profiler = "profiler",
        /// The trace does not show it.
        CannotTell = "cannot_tell",
    }
}

/// The limit of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// What it is.
    pub by: BoundBy,
    /// Its share of the wall time; of limits of the host that work of a device hides, how long the host worked on it.
    pub share: f64,
    /// All limits with their shares, the largest first.
    pub parts: Vec<(BoundBy, f64)>,
    /// The time that the shares are of, in ns.
    pub time_ns: i64,
    /// The share of the time in which the host worked, for limits of a device: the main thread, or those that run backward passes
    /// while it waited. Calls that can wait for the device do not count. `None` where the trace does not show when work was launched.
    pub host_share: Option<f64>,
    /// In one sentence.
    pub message: String,
}

impl Bound {
    /// The time of one limit, in ns.
    pub(crate) fn ns(&self, by: BoundBy) -> i64 {
        let share = self.parts.iter().find(|part| part.0 == by).map_or(0.0, |part| part.1);
        (share * self.time_ns as f64) as i64
    }

    /// The share of a time in ns, at most all.
    fn share_of(&self, ns: i64) -> f64 {
        (ns as f64 / self.time_ns.max(1) as f64).min(1.0)
    }
}

/// The least share of the wall time of what bounds a run.
const LEAST: f64 = 1.0 / 3.0;

/// Less time than this, in ns, is no run.
const SHORTEST_NS: i64 = 10_000;

/// From this share of the wall time on that was not recorded, the rest says little.
const UNRECORDED: f64 = 0.5;

/// From this share of the time of kernels on, those that only wait decide.
const WAITING: f64 = 0.5;

/// Returns the limit of a run; `None` without operators and devices. `can_tell` is whether the trace shows why devices are idle.
pub(crate) fn bound(analysis: &Analysis<'_>, host: &Host<'_>, can_tell: bool) -> Option<Bound> {
    let device = analysis.busiest();
    let mut parts = match device {
        Some(device) => device_parts(device),
        None => host_parts(analysis.trace, host)?,
    };
    let all = parts.iter().map(|part| part.1).fold(0, i64::saturating_add);
    if all < SHORTEST_NS {
        return None;
    }
    sort_by_key(&mut parts, |part| (descending(part.1), part.0 as i64));
    let mut parts: Vec<(BoundBy, f64)> =
        parts.into_iter().filter(|part| part.1 > 0).map(|(by, ns)| (by, ns as f64 / all as f64)).collect();
    let unknown = parts.iter().find(|part| part.0 == BoundBy::CannotTell).map_or(0.0, |part| part.1);
    let (by, share) = *parts.first()?;
    let is_busy = matches!(by, BoundBy::GpuCompute | BoundBy::Communication | BoundBy::Copies);
    let is_waiting = by == BoundBy::GpuCompute && waiting_share(analysis) >= WAITING;
    let is_known =
        (can_tell || (is_busy && share > 0.5)) && share >= LEAST && unknown < UNRECORDED && !is_waiting;
    let (by, share) = if is_known { (by, share) } else { (BoundBy::CannotTell, unknown) };
    let by = if by == BoundBy::GpuCompute { kind_of_compute(analysis, &mut parts) } else { by };
    let message = message(analysis, by, share, (&parts, all));
    Some(Bound { by, share, parts, time_ns: all, host_share: None, message })
}

/// The share of the time of kernels in those that only wait. What they wait for is not known.
fn waiting_share(analysis: &Analysis<'_>) -> f64 {
    let KernelLimits { all, categories } = analysis.kernel_limits();
    let waiting = categories.iter().find(|category| category.0 == KernelCategory::Wait);
    waiting.map_or(0.0, |waiting| waiting.1.ns as f64 / all.ns.max(1) as f64)
}

/// What the kernels that bound a run are limited by; the parts get its name.
fn kind_of_compute(analysis: &Analysis<'_>, parts: &mut [(BoundBy, f64)]) -> BoundBy {
    if !analysis.kernel_limits().all.is_memory() {
        return BoundBy::GpuCompute;
    }
    for part in parts.iter_mut().filter(|part| part.0 == BoundBy::GpuCompute) {
        part.0 = BoundBy::MemoryBandwidth;
    }
    BoundBy::MemoryBandwidth
}

/// What the busiest device did, from the first event to the last.
fn device_parts(device: &DeviceTime) -> Vec<(BoundBy, i64)> {
    let mut parts: Vec<(BoundBy, i64)> = BoundBy::ALL.map(|by| (by, 0)).into();
    let mut add = |by: BoundBy, ns: i64| parts[by as usize].1 = parts[by as usize].1.saturating_add(ns);
    let [compute, communication, memcpy, memset] = device.parts_ns;
    add(BoundBy::GpuCompute, compute);
    add(BoundBy::Communication, communication);
    add(BoundBy::Copies, memcpy.saturating_add(memset));
    for part in device.outside.iter().chain(&device.idle) {
        add(limit(part.cause), part.time.1 - part.time.0);
    }
    parts
}

/// The limit that a cause of idle time belongs to.
fn limit(cause: Cause) -> BoundBy {
    match cause {
        Cause::DataLoading => BoundBy::DataLoading,
        Cause::HostToDeviceCopy | Cause::Synchronization => BoundBy::Synchronization,
        Cause::Allocation => BoundBy::Allocation,
        Cause::Compilation | Cause::ColdStart => BoundBy::ColdStart,
        Cause::GraphCapture => BoundBy::GraphCapture,
        Cause::GarbageCollection | Cause::Lock | Cause::UserCode => BoundBy::HostPython,
        Cause::Launch | Cause::Operator | Cause::Optimizer | Cause::Autograd | Cause::Queued => {
            BoundBy::HostLaunch
        }
        Cause::ProfilerOverhead => BoundBy::Profiler,
        Cause::OtherStream => BoundBy::GpuCompute,
        Cause::NotRecorded | Cause::Unknown => BoundBy::CannotTell,
    }
}

/// What the main thread did, in a trace without a device.
fn host_parts(trace: &Trace, host: &Host<'_>) -> Option<Vec<(BoundBy, i64)>> {
    let (table, main) = (&trace.table, host.main()?);
    let collectives = table.names.that(is_host_wait);
    let has_collectives = !collectives.is_empty();
    let is_collective = |row: &Row| collectives.has(table.name_id(*row)) && table.is_span(*row);
    let spans = table.rows().filter(|row| has_collectives && is_collective(row));
    let open = Intervals::union_of(spans.map(|row| (table.ts(row), table.end(row))).collect());
    let of_main = table.rows().filter(|&row| table.track_id(row) == main && table.is_span(row));
    let time =
        of_main.map(|row| (table.ts(row), table.end(row))).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    let mut parts: Vec<(BoundBy, i64)> = BoundBy::ALL.map(|by| (by, 0)).into();
    host.walk().parts(main, time, &mut |time, reason| {
        let is_collective = reason.behind.is_some_and(|row| collectives.has(table.name_id(row)));
        let by = match limit(reason.cause) {
            _ if is_collective => BoundBy::Communication,
            // The code of an optimizer between its operators is Python.
            BoundBy::HostLaunch if reason.cause == Cause::Optimizer && !reason.in_operator => {
                BoundBy::HostPython
            }
            BoundBy::HostLaunch => BoundBy::CpuOperators,
            by => by,
        };
        // An annotation, or nothing, is all that the thread does while a collective of another thread runs.
        let is_waiting =
            has_collectives && matches!(by, BoundBy::CannotTell | BoundBy::HostPython) && reason.can_wait;
        let waited = if is_waiting { open.clipped(time).length() } else { 0 };
        parts[BoundBy::Communication as usize].1 += waited;
        parts[by as usize].1 += time.1 - time.0 - waited;
    });
    Some(parts)
}

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

fn message(
    analysis: &Analysis<'_>,
    by: BoundBy,
    share: f64,
    (parts, all): (&[(BoundBy, f64)], i64),
) -> String {
    let devices = analysis.devices();
    let has_device = !devices.is_empty();
    let busiest = analysis.busiest().filter(|_| devices.len() > 1);
    let gpu = busiest.map_or("the GPU".into(), |device| format!("GPU {}, the busiest,", device.device));
    let on = busiest.map_or(String::new(), |device| format!(" on GPU {}, the busiest,", device.device));
    let of = format!("{} of {}", percent(share), time_ns(all, None));
    let what = match by {
        BoundBy::GpuCompute => format!("GPU compute: kernels ran{on} for {of}{}", kernels(analysis)),
        BoundBy::MemoryBandwidth => format!(
            "memory bandwidth: kernels ran{on} for {of}, most of it at half of the bandwidth or more{}",
            kernels(analysis)
        ),
        BoundBy::Communication if has_device => format!("communication: for {of} {gpu} did nothing else"),
        BoundBy::Communication => format!("communication: it took {of} of the main thread"),
        BoundBy::Copies => format!("copies: for {of} {gpu} did nothing else"),
        BoundBy::HostLaunch => format!("the host: for {of} {gpu} waited for operators and launches"),
        BoundBy::HostPython if has_device => {
            format!("the host: for {of} {gpu} waited for Python and other code")
        }
        BoundBy::HostPython => {
            format!("Python and other code: {of} of the main thread, outside of operators")
        }
        BoundBy::DataLoading if has_device => format!("data loading: for {of} {gpu} waited for it"),
        BoundBy::DataLoading => format!("data loading: it took {of} of the main thread"),
        BoundBy::Synchronization => {
            format!("synchronization: for {of} {gpu} was idle because the host waited or copied")
        }
        BoundBy::Allocation => format!("memory allocation: for {of} {gpu} waited for it"),
        BoundBy::ColdStart => format!("the start of the run: first uses and compilation took {of}"),
        BoundBy::GraphCapture => {
            format!("captures of CUDA graphs: with the operators around them, they took {of}")
        }
        BoundBy::CpuOperators => format!("operators of the CPU: {of} of the main thread"),
        BoundBy::Profiler => format!("the profiler itself: {of}"),
        BoundBy::CannotTell => {
            return format!(
                "{}{}{}",
                cannot_tell((parts, all)),
                early_wait(analysis, all),
                kernels_that_wait(analysis)
            );
        }
    };
    let others = parts.iter().filter(|part| part.0 != by && part.1 >= 0.1);
    let others: Vec<String> = others.map(|part| format!("{} {}", label(part.0), percent(part.1))).collect();
    let rest = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    format!("Bound by {what}{rest}")
}

fn cannot_tell((parts, all): (&[(BoundBy, f64)], i64)) -> String {
    let parts = parts.iter().take(3).filter(|part| part.1 >= 0.01);
    let known: Vec<String> = parts.map(|part| format!("{} {}", label(part.0), percent(part.1))).collect();
    format!("Cannot tell what bounds the run: of {}, {}", time_ns(all, None), known.join(", "))
}

/// The longest call that waits before any work was recorded, if it takes much of the time.
fn early_wait(analysis: &Analysis<'_>, all: i64) -> String {
    let table = &analysis.trace.table;
    let waits = analysis.purposes().early_waits.iter().copied();
    let longest = waits.max_by_key(|&row| table.dur(row)).filter(|&row| table.dur(row) >= all / 5);
    longest.map_or(String::new(), |row| {
        format!(
            "; `{}` waited {} before any work was recorded",
            table.name(row),
            time_ns(table.dur(row), None)
        )
    })
}

fn kernels_that_wait(analysis: &Analysis<'_>) -> String {
    let share = waiting_share(analysis);
    if share < WAITING {
        String::new()
    } else {
        format!("; {} of the time of kernels is in those that only wait", percent(share))
    }
}

fn label(by: BoundBy) -> String {
    if by == BoundBy::CannotTell { "cause not known".into() } else { by.label().replace("gpu", "GPU") }
}

/// The categories that most of the time of kernels is in, and how close they come to the limits of the device.
fn kernels(analysis: &Analysis<'_>) -> String {
    let KernelLimits { all, categories } = analysis.kernel_limits();
    let mut most: Vec<&(KernelCategory, Limits)> = categories.iter().collect();
    sort_by_key(&mut most, |category| (descending(category.1.ns), category.0 as i64));
    let most = most.iter().take(2).filter(|(_, limits)| limits.ns >= all.ns / 5 && limits.ns > 0);
    let texts: Vec<String> = most
        .map(|(category, limits)| {
            let share = percent(limits.ns as f64 / all.ns as f64);
            let limit = limits.limit().map_or(String::new(), |(limit, share)| {
                let of = match limit {
                    peak::Bound::Compute => "peak",
                    peak::Bound::Memory => "the memory bandwidth",
                };
                format!(" at {} of {of}", percent(share))
            });
            format!("{} {share}{limit}", category.label())
        })
        .collect();
    if texts.is_empty() { String::new() } else { format!(" (of the time of kernels: {})", texts.join(", ")) }
}

record! {
    /// The limit of a run.
    pub(super) static BOUND_RECORD = "RunBound": pub(super) fn bound_json(bound: &Bound) [
        Column::word("by", "", &BoundBy::VOCABULARY, "What it is.") => bound.by.as_str(),
        Column::share("share", "", "Its share of the wall time; of limits of the host that work of a device hides, how long the host worked on it.") => bound.share,
        Column::text("message", "", "The limit in one sentence.") => bound.message.as_str(),
        Column::json("parts", "", Shape::Records(&BOUND_PART), "All limits with their shares, the largest first.") =>
            bound.parts.iter().map(part_json).collect::<Value>(),
        Column::share("host_share", "", "The share of the time in which the host worked; null for limits of the host, and where the trace does not show when work was launched.")
            .nullable() => bound.host_share,
    ]
}

record! {
    static BOUND_PART = "RunBoundPart": fn part_json(part: &(BoundBy, f64)) [
        Column::word("by", "", &BoundBy::VOCABULARY, "What it is.") => part.0.as_str(),
        Column::share("share", "", "Its share of the wall time.") => part.1,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(events: &[String]) -> Bound {
        let trace = Trace::read(format!("[{}]", events.join(",")).as_bytes()).expect("a trace");
        Analysis::new(&trace).summary().bound.clone().expect("a limit")
    }

    /// An operator whose launch begins 1 us later, and the kernel; times are starts and durations in us.
    fn launch(id: i64, operator: (i64, i64), call: i64, kernel: (i64, i64)) -> String {
        format!(
            r#"{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":{},"dur":{}}},
            {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{},"dur":{call},"args":{{"correlation":{id}}}}},
            {{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{},"dur":{},"args":{{"correlation":{id}}}}}"#,
            operator.0,
            operator.1,
            operator.0 + 1,
            kernel.0,
            kernel.1
        )
    }

    /// 20 operators of 10 us with a kernel each, whose duration in us is given; then a wait for all of them.
    fn bound_of(kernel: i64) -> Bound {
        let mut events: Vec<String> = (0..20)
            .map(|at| launch(at, (at * 10, 10), 2, ((at * 10 + 3).max(3 + at * kernel), kernel)))
            .collect();
        let end = 200.max(3 + 20 * kernel);
        events.push(format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":1,"ts":200,"dur":{}}}"#,
            end - 199
        ));
        bound(&events)
    }

    #[test]
    fn a_limit_that_saves_little_says_so() {
        let hidden = bound_of(9);
        assert_eq!(hidden.by, BoundBy::GpuCompute);
        assert!(hidden.message.contains("; a replay without kernels saves 0%, "), "{hidden:?}");
        assert!(hidden.host_share.is_some_and(|share| share > 0.99), "{hidden:?}");
        let decisive = bound_of(30);
        assert_eq!(decisive.by, BoundBy::GpuCompute);
        assert!(!decisive.message.contains("the host"), "{decisive:?}");
        assert!(decisive.host_share.is_some_and(|share| (0.3..0.35).contains(&share)), "{decisive:?}");
    }

    /// A busy device that hides nothing of the host is not the limit; of similar savings, that of data loading comes first.
    #[test]
    fn a_host_that_works_all_the_time_is_the_limit() {
        let hidden = bound_of(7);
        assert_eq!(hidden.by, BoundBy::HostLaunch);
        assert!(hidden.share > 0.9, "{hidden:?}");
        assert!(
            hidden.message.starts_with("Bound by the host: operators and launches took 100%"),
            "{hidden:?}"
        );
        assert!(
            hidden.message.contains("kernels took 70% (") && hidden.message.contains("saves 0%, "),
            "{hidden:?}"
        );
    }

    /// 40 launches: a full queue blocks all but the first five for 16 of 18 us. The device is always busy.
    #[test]
    fn blocked_launches_are_no_work() {
        let call = |at| if at < 5 { 2 } else { 18 };
        let events: Vec<String> =
            (0..40).map(|at| launch(at, (at * 20, 20), call(at), (at * 20 + 4, 20))).collect();
        let bound = bound(&events);
        assert_eq!(bound.by, BoundBy::GpuCompute);
        // 5 × 20 us and 35 × 4 us of 804 us.
        assert!(bound.host_share.is_some_and(|share| (share - 240.0 / 804.0).abs() < 0.005), "{bound:?}");
        assert!(!bound.message.contains("the host"), "{bound:?}");
    }

    #[test]
    fn kernels_that_wait_are_no_work() {
        let kernel = |name: &str, time: (i64, i64)| {
            format!(
                r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":7,"ts":{},"dur":{}}}"#,
                time.0, time.1
            )
        };
        let of = |wait: i64| {
            bound(&[kernel("at::cuda::spin_kernel(long)", (0, wait)), kernel("gemm", (wait, 100 - wait))])
        };
        assert_eq!(of(40).by, BoundBy::GpuCompute);
        let waiting = of(60);
        assert_eq!(waiting.by, BoundBy::CannotTell);
        assert!(
            waiting.message.ends_with("; 60% of the time of kernels is in those that only wait"),
            "{waiting:?}"
        );
    }

    #[test]
    fn without_launches_the_work_of_the_host_is_not_known() {
        let kernel = r#"{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":0,"dur":90}"#;
        let wait = r#"{"ph":"X","cat":"cpu_op","name":"aten::item","pid":1,"tid":1,"ts":0,"dur":90}"#;
        let bound = bound(&[kernel.into(), wait.into()]);
        assert_eq!((bound.by, bound.host_share), (BoundBy::GpuCompute, None));
    }

    /// The code of an optimizer, with one operator of 20 us in it, and an operator of 30 us.
    #[test]
    fn the_code_of_an_optimizer_is_no_operator() {
        let trace = Trace::read(
            br#"[{"ph":"X","cat":"user_annotation","name":"Optimizer.step#SGD.step","pid":1,"tid":1,"ts":0,"dur":100},
            {"ph":"X","cat":"cpu_op","name":"aten::add_","pid":1,"tid":1,"ts":40,"dur":20},
            {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":100,"dur":30}]"#,
        )
        .expect("a trace");
        let bound = Analysis::new(&trace).summary().bound.clone().expect("a limit");
        let parts: Vec<_> = bound.parts.iter().map(|part| (part.0, (part.1 * 130.0 + 0.5) as i64)).collect();
        assert_eq!(parts, [(BoundBy::HostPython, 80), (BoundBy::CpuOperators, 50)]);
    }
}
