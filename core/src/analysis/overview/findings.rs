//! What looks wrong in a trace: rules with fixed thresholds, each finding with what it costs and what to do.

use crate::analysis::device::device_time::{Class, DeviceTime, IdleCause, is_sync_name};
use crate::analysis::device::kernels::KernelGroup;
use crate::analysis::device::steps::{Step, is_data_loading};
use crate::diagnostics::{Code, Severity};
use crate::order::{descending, sort_by_key};
use crate::table::category::Category;
use crate::trace::Trace;
use crate::units::{bytes, time_ns};
use crate::words::words;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

words! {
    "FindingCode"
    /// What looks wrong.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FindingCode {
        /// A device had nothing to do for much of its time.
        GpuIdle = "gpu_idle",
        /// A device communicated while nothing else ran on it.
        ExposedCommunication = "exposed_communication",
        /// Copies from or to pageable memory.
        PageableCopies = "pageable_copies",
        /// Many kernels last about as long as their launch.
        ShortKernels = "short_kernels",
        /// The host waits for a device.
        Synchronization = "synchronization",
        /// The host waits for data.
        DataLoading = "data_loading",
        /// A step took much longer than the median one.
        UnevenSteps = "uneven_steps",
        /// Part of the trace could not be read.
        TraceIncomplete = "trace_incomplete",
        /// Spans overlap without nesting.
        OverlappingSpans = "overlapping_spans",
    }
}

/// Something that costs time or trust.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is.
    pub code: FindingCode,
    /// What it costs at most, in ns; 0 where it costs trust and not time.
    pub cost_ns: i64,
    /// One sentence: what was seen, what it costs.
    pub message: String,
    /// One sentence: what to do.
    pub advice: &'static str,
}

/// Thresholds of the rules, as shares of wall time.
mod threshold {
    pub(super) const IDLE: f64 = 0.25;
    pub(super) const SYNC: f64 = 0.10;
    pub(super) const PAGEABLE: f64 = 0.01;
    pub(super) const EXPOSED: f64 = 0.05;
    pub(super) const DATA: f64 = 0.05;
    /// Kernels shorter than this, in ns, are dominated by their launch.
    pub(super) const SHORT_KERNEL_NS: i64 = 5_000;
    pub(super) const SHORT_KERNEL_COUNT: usize = 1_000;
    /// Of first and last step.
    pub(super) const SLOW_STEP: f64 = 1.5;
}

/// Every finding, dearest first.
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
    pageable(&mut out, kernels, wall_ns);
    short_kernels(&mut out, kernels);
    host_ranges(&mut out, trace, wall_ns);
    uneven_steps(&mut out, trace, steps);
    sort_by_key(&mut out, |f| (descending(f.cost_ns), 0));
    trust(&mut out, trace);
    out
}

fn share(part: i64, whole: i64) -> f64 {
    if whole <= 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn percent(part: i64, whole: i64) -> String {
    format!("{:.0}%", share(part, whole) * 100.0)
}

fn idle(out: &mut Vec<Finding>, device: &DeviceTime) {
    let window = device.window.1 - device.window.0;
    let idle = device.idle_ns();
    if share(idle, window) < threshold::IDLE {
        return;
    }
    let causes = device.idle_by_cause();
    let (cause, cost) = causes.into_iter().max_by_key(|c| c.1).unwrap_or((IdleCause::Unknown, 0));
    let advice = match cause {
        IdleCause::HostLate => {
            "the CPU does not issue work fast enough: larger batches, CUDA graphs or torch.compile"
        }
        IdleCause::HostWaiting => {
            "the CPU waits for the GPU before it issues more: remove .item(), .cpu() and synchronize()"
        }
        IdleCause::Queued => {
            "work was queued but not started: look for waits between streams and for launch latency"
        }
        IdleCause::Unknown => "the launches are not in the trace: record CPU activity too",
    };
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
        advice: "overlap communication with computation: bucket sizes, prefetch, a stream of its own",
    });
}

fn pageable(out: &mut Vec<Finding>, kernels: &[KernelGroup], wall_ns: i64) {
    let copies = kernels.iter().filter(|k| k.class == Class::Memcpy && k.name.contains("Pageable"));
    let (time, size) = copies.fold((0i64, 0i64), |(t, b), k| (t + k.sum_ns, b.saturating_add(k.bytes)));
    if share(time, wall_ns) < threshold::PAGEABLE {
        return;
    }
    out.push(Finding {
        code: FindingCode::PageableCopies,
        cost_ns: time,
        message: format!(
            "copies from or to pageable memory took {}{}",
            time_ns(time, None),
            if size > 0 { format!(" for {}", bytes(size)) } else { String::new() }
        ),
        advice: "use pinned memory (pin_memory=True) and non_blocking copies",
    });
}

fn short_kernels(out: &mut Vec<Finding>, kernels: &[KernelGroup]) {
    let compute = || kernels.iter().filter(|k| k.class == Class::Compute);
    let count: usize = compute().map(|k| k.count).sum();
    let time: i64 = compute().map(|k| k.sum_ns).sum();
    if count < threshold::SHORT_KERNEL_COUNT || time / count as i64 >= threshold::SHORT_KERNEL_NS {
        return;
    }
    out.push(Finding {
        code: FindingCode::ShortKernels,
        cost_ns: time,
        message: format!(
            "{count} kernels last {} on average, about what a launch costs",
            time_ns(time / count as i64, None)
        ),
        advice: "fuse them: torch.compile, CUDA graphs, fused or foreach optimizers",
    });
}

/// Synchronizing calls and data loading on the busiest thread of each.
fn host_ranges(out: &mut Vec<Finding>, trace: &Trace, wall_ns: i64) {
    let table = &trace.table;
    let mut sync = (0, 0);
    let mut data = 0;
    for row in table.rows() {
        match table.category(row) {
            Category::Runtime | Category::Driver if is_sync_name(table.name(row)) => {
                sync = (sync.0 + table.dur(row).max(0), sync.1 + 1);
            }
            Category::UserAnnotation | Category::CpuOp if is_data_loading(table.name(row)) => {
                data += table.dur(row).max(0);
            }
            _ => {}
        }
    }
    if share(sync.0, wall_ns) >= threshold::SYNC {
        out.push(Finding {
            code: FindingCode::Synchronization,
            cost_ns: sync.0,
            message: format!("{} synchronizing calls kept the CPU for {}", sync.1, time_ns(sync.0, None)),
            advice: "synchronize once a step at most; keep scalars on the GPU until they are printed",
        });
    }
    if share(data, wall_ns) >= threshold::DATA {
        out.push(Finding {
            code: FindingCode::DataLoading,
            cost_ns: data,
            message: format!(
                "waiting for the data loader took {} ({} of wall)",
                time_ns(data, None),
                percent(data, wall_ns)
            ),
            advice: "raise num_workers, prefetch, or make the preprocessing cheaper",
        });
    }
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
        advice: "compare it with another step: `tree`, `ops` on a `slice --steps`; the first step often compiles",
    });
}

fn trust(out: &mut Vec<Finding>, trace: &Trace) {
    let lost = trace.diagnostics.findings().iter().filter(|f| f.code.severity() == Severity::Lost);
    for finding in lost {
        out.push(Finding {
            code: FindingCode::TraceIncomplete,
            cost_ns: 0,
            message: format!("{} ×{}: {}", finding.code.as_str(), finding.count, finding.code.description()),
            advice: "numbers cover what could be read; see `ledger`",
        });
    }
    let overlapping = trace.diagnostics.count(Code::OverlappingSpans);
    if overlapping * 20 > trace.tree.len() as u64 {
        out.push(Finding {
            code: FindingCode::OverlappingSpans,
            cost_ns: 0,
            message: format!("{overlapping} spans overlap others of their row without nesting"),
            advice: "self times of such rows are those of separate lanes",
        });
    }
}
