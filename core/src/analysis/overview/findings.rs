//! Findings: rules with fixed thresholds. Each finding has its cost and advice.

mod waiting;

use crate::analysis::device::device_time::{Class, DeviceTime};
use crate::analysis::device::idle::Cause;
use crate::analysis::device::kernels::KernelGroup;
use crate::analysis::device::steps::Step;
use crate::diagnostics::{Code, Severity};
use crate::order::{descending, sort_by_key};
use crate::trace::Trace;
use crate::units::time_ns;
use crate::words::words;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

words! {
    "FindingCode"
    /// The kind of a finding.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FindingCode {
        /// A device was idle for a large share of its time.
        GpuIdle = "gpu_idle",
        /// A device communicated while it did no other work.
        ExposedCommunication = "exposed_communication",
        /// There are copies from or to pageable memory.
        PageableCopies = "pageable_copies",
        /// Many kernels last about as long as their launch.
        ShortKernels = "short_kernels",
        /// The host waited for a device.
        Synchronization = "synchronization",
        /// The host waited for data.
        DataLoading = "data_loading",
        /// Python collected garbage.
        GarbageCollection = "garbage_collection",
        /// A step took much longer than the median one.
        UnevenSteps = "uneven_steps",
        /// Part of the trace could not be read.
        TraceIncomplete = "trace_incomplete",
        /// Spans overlap without nesting.
        OverlappingSpans = "overlapping_spans",
    }
}

/// A finding: something that costs time or affects the quality of the numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The kind.
    pub code: FindingCode,
    /// The maximum cost, in ns; 0 if it affects data quality and not time.
    pub cost_ns: i64,
    /// What was found and what it costs, in one sentence.
    pub message: String,
    /// What to do, in one sentence.
    pub advice: &'static str,
}

/// Thresholds of the rules. Shares are of wall time; those of a device, of its window.
mod threshold {
    pub(super) const IDLE: f64 = 0.25;
    pub(super) const SYNC: f64 = 0.10;
    pub(super) const PAGEABLE: f64 = 0.01;
    pub(super) const EXPOSED: f64 = 0.05;
    pub(super) const DATA: f64 = 0.05;
    pub(super) const GARBAGE: f64 = 0.02;
    /// Kernels shorter than this, in ns, are dominated by their launch.
    pub(super) const SHORT_KERNEL_NS: i64 = 5_000;
    pub(super) const SHORT_KERNEL_COUNT: usize = 1_000;
    /// The ratio of the longest step to the median step.
    pub(super) const SLOW_STEP: f64 = 1.5;
}

/// Returns every finding, the most expensive first; those about data quality are last.
pub(crate) fn findings(
    trace: &Trace,
    wall_ns: i64,
    devices: &[DeviceTime],
    kernels: &[KernelGroup],
    steps: &[Step],
) -> Vec<Finding> {
    let mut out = Vec::new();
    for device in devices {
        idle(&mut out, device);
        exposed(&mut out, device);
    }
    short_kernels(&mut out, kernels, devices);
    waiting::waiting(&mut out, trace, wall_ns);
    uneven_steps(&mut out, trace, steps);
    sort_by_key(&mut out, |f| (descending(f.cost_ns), 0));
    data_quality(&mut out, trace);
    out
}

fn share(part: i64, whole: i64) -> f64 {
    if whole <= 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn percent(part: i64, whole: i64) -> String {
    format!("{:.0}%", share(part, whole) * 100.0)
}

fn idle(out: &mut Vec<Finding>, device: &DeviceTime) {
    let (causes, hidden): (Vec<_>, Vec<_>) =
        device.idle_by_cause().into_iter().partition(|cause| cause.0 != Cause::NotRecorded);
    // What was not recorded is neither idle nor busy.
    let hidden: i64 = hidden.iter().map(|cause| cause.1).sum();
    let window = device.window.1 - device.window.0 - hidden;
    let idle = device.idle_ns() - hidden;
    if share(idle, window) < threshold::IDLE {
        return;
    }
    let (cause, cost) = causes.into_iter().max_by_key(|c| c.1).unwrap_or((Cause::Unknown, 0));
    let advice = advice(cause);
    out.push(Finding {
        code: FindingCode::GpuIdle,
        cost_ns: idle,
        message: format!(
            "GPU {} was idle for {} ({} of its window), {} of that with cause “{}”",
            device.device,
            time_ns(idle, None),
            percent(idle, window),
            percent(cost, idle),
            cause.label()
        ),
        advice,
    });
}

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

fn exposed(out: &mut Vec<Finding>, device: &DeviceTime) {
    let window = device.window.1 - device.window.0;
    let communication = device.classes.iter().find(|c| c.class == Class::Communication);
    let Some(class) = communication.filter(|c| share(c.exposed_ns, window) >= threshold::EXPOSED) else {
        return;
    };
    out.push(Finding {
        code: FindingCode::ExposedCommunication,
        cost_ns: class.exposed_ns,
        message: format!(
            "GPU {} communicated for {} with nothing else running ({} of its window)",
            device.device,
            time_ns(class.exposed_ns, None),
            percent(class.exposed_ns, window)
        ),
        advice: "overlap communication with computation: tune bucket sizes, prefetch, or use a separate stream",
    });
}

/// Checks for short compute kernels on all devices. Their cost is at most the busy time of the device that computed
/// longest.
fn short_kernels(out: &mut Vec<Finding>, kernels: &[KernelGroup], devices: &[DeviceTime]) {
    let compute = || kernels.iter().filter(|k| k.class == Class::Compute);
    let count: usize = compute().map(|k| k.count).sum();
    let time: i64 = compute().map(|k| k.sum_ns).sum();
    if count < threshold::SHORT_KERNEL_COUNT || time / count as i64 >= threshold::SHORT_KERNEL_NS {
        return;
    }
    let classes = devices.iter().flat_map(|device| &device.classes);
    let busy = classes.filter(|class| class.class == Class::Compute).map(|class| class.busy_ns);
    out.push(Finding {
        code: FindingCode::ShortKernels,
        cost_ns: busy.max().unwrap_or(0),
        message: format!(
            "{count} kernels last {} on average, about as long as a launch",
            time_ns(time / count as i64, None)
        ),
        advice: "fuse them: torch.compile, CUDA graphs, fused or foreach optimizers",
    });
}

fn uneven_steps(out: &mut Vec<Finding>, trace: &Trace, steps: &[Step]) {
    if steps.len() < 3 {
        return;
    }
    let mut walls: Vec<(i64, usize)> =
        steps.iter().enumerate().map(|(i, s)| (s.time.1 - s.time.0, i)).collect();
    sort_by_key(&mut walls, |&(wall, at)| (wall, at as i64));
    let median = walls[walls.len() / 2].0;
    let (longest, at) = walls[walls.len() - 1];
    if (longest as f64) < median as f64 * threshold::SLOW_STEP {
        return;
    }
    out.push(Finding {
        code: FindingCode::UnevenSteps,
        cost_ns: longest - median,
        message: format!(
            "{} took {}, the median step {}",
            trace.table.name(steps[at].row),
            time_ns(longest, None),
            time_ns(median, None)
        ),
        advice: "compare it with another step: run `tree` and `ops` on a `slice --steps`; the first step often compiles",
    });
}

fn data_quality(out: &mut Vec<Finding>, trace: &Trace) {
    let lost = trace.diagnostics.findings().iter().filter(|f| f.code.severity() == Severity::Lost);
    for finding in lost {
        out.push(Finding {
            code: FindingCode::TraceIncomplete,
            cost_ns: 0,
            message: format!("{} ×{}: {}", finding.code.as_str(), finding.count, finding.code.description()),
            advice: "the numbers cover only what could be read; see `check`",
        });
    }
    let overlapping = trace.diagnostics.count(Code::OverlappingSpans);
    if overlapping * 20 > trace.tree.len() as u64 {
        out.push(Finding {
            code: FindingCode::OverlappingSpans,
            cost_ns: 0,
            message: format!("{overlapping} spans overlap others of their track without nesting"),
            advice: "self times of such tracks are computed in separate lanes",
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::device::device_time::device_times;
    use crate::analysis::device::kernels::kernel_groups;
    use crate::analysis::device::steps::steps;
    use crate::analysis::overview::info::wall;

    /// Returns a trace of 1 ms with the event on four threads or devices at once.
    fn on_four(event: &str) -> Trace {
        let one = |at: usize| event.replace("PLACE", &format!("{at}"));
        let events: Vec<String> = (0..4).map(one).collect();
        Trace::read(format!("[{}]", events.join(",")).as_bytes()).expect("a trace")
    }

    fn finding(trace: &Trace, code: FindingCode) -> Finding {
        let ((start, end), devices) = (wall(&trace.table), device_times(trace));
        let steps = steps(trace, &devices);
        let all = findings(trace, end - start, &devices, &kernel_groups(trace), &steps);
        all.into_iter().find(|finding| finding.code == code).expect("a finding")
    }

    #[test]
    fn synchronization_cost_is_at_most_wall_time() {
        // The driver call lies within the runtime call.
        let trace = on_four(
            r#"{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":PLACE,"ts":0,"dur":1000},
            {"ph":"X","cat":"cuda_driver","name":"cuCtxSynchronize","pid":1,"tid":PLACE,"ts":100,"dur":800}"#,
        );
        let found = finding(&trace, FindingCode::Synchronization);
        assert_eq!(found.cost_ns, 1_000_000);
        assert_eq!(found.message, "2 synchronizing calls took 1.000ms (100% of wall) on the busiest thread");
    }

    #[test]
    fn synchronization_cost_is_that_of_the_busiest_thread() {
        let trace = Trace::read(
            br#"[{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":1,"tid":1,"ts":0,"dur":300},
            {"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":1,"tid":2,"ts":500,"dur":200},
            {"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":1,"tid":2,"ts":800,"dur":200}]"#,
        )
        .expect("a trace");
        assert_eq!(finding(&trace, FindingCode::Synchronization).cost_ns, 400_000);
    }

    #[test]
    fn loading_and_copies_cost_the_time_of_one_thread_or_device() {
        let trace = on_four(
            r#"{"ph":"X","cat":"user_annotation","name":"enumerate(DataLoader)#_","pid":1,"tid":PLACE,"ts":0,"dur":1000}"#,
        );
        assert_eq!(finding(&trace, FindingCode::DataLoading).cost_ns, 1_000_000);
        let trace = on_four(
            r#"{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":PLACE,"tid":7,"ts":0,"dur":900,"args":{"bytes":4096}},
            {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":PLACE,"tid":8,"ts":100,"dur":900,"args":{"bytes":4096}}"#,
        );
        let found = finding(&trace, FindingCode::PageableCopies);
        assert_eq!(found.cost_ns, 1_000_000);
        assert!(found.message.contains("(100% of wall) for 8.00 KB"), "{}", found.message);
    }

    #[test]
    fn copies_that_have_their_kind_in_the_arguments_are_pageable() {
        let trace = on_four(
            r#"{"ph":"X","cat":"gpu_memcpy","name":"Memcpy","pid":PLACE,"tid":7,"ts":0,"dur":900,"args":{"bytes":4096,"copy kind":"HtoD","src kind":"pageable","dst kind":"device"}},
            {"ph":"X","cat":"gpu_memcpy","name":"Memcpy","pid":PLACE,"tid":8,"ts":100,"dur":900,"args":{"copy kind":"HtoD","src kind":"pinned","dst kind":"device"}}"#,
        );
        assert_eq!(finding(&trace, FindingCode::PageableCopies).cost_ns, 900_000);
    }

    #[test]
    fn garbage_collections_cost_the_time_of_one_thread() {
        let trace = on_four(
            r#"{"ph":"X","cat":"python_function","name":"Python GC","pid":1,"tid":PLACE,"ts":0,"dur":100},
            {"ph":"X","cat":"python_function","name":"Python GC","pid":1,"tid":PLACE,"ts":500,"dur":200},
            {"ph":"X","cat":"python_function","name":"gc.py(1): Python GC","pid":1,"tid":PLACE,"ts":700,"dur":300}"#,
        );
        let found = finding(&trace, FindingCode::GarbageCollection);
        assert_eq!(found.cost_ns, 300_000);
        assert!(found.message.starts_with("2 garbage collections of Python"), "{}", found.message);
    }

    #[test]
    fn short_kernels_cost_at_most_the_busy_time_of_one_device() {
        let kernels: Vec<String> = (0..1200)
            .map(|at| {
                let (device, start) = (at % 4, at / 4 * 3);
                format!(
                    r#"{{"ph":"X","cat":"kernel","name":"k","pid":{device},"tid":7,"ts":{start},"dur":2}}"#
                )
            })
            .collect();
        let trace = Trace::read(format!("[{}]", kernels.join(",")).as_bytes()).expect("a trace");
        assert_eq!(finding(&trace, FindingCode::ShortKernels).cost_ns, 600_000);
    }
}
