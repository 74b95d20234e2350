//! Findings: rules with fixed thresholds. Each finding has its evidence, its advice, and what it would save.

mod device;
mod patterns;
mod savings;
mod setup;
mod tasks;
mod waiting;

pub(crate) use self::patterns::{anti_patterns, with_patterns};
use crate::analysis::context::Analysis;
use crate::analysis::device::idle::Cause;
use crate::analysis::replay::{Changes, Replay};
use crate::base::diagnostics::{Code, Severity};
use crate::base::join::Join;
use crate::base::order::sort_by_key;
use crate::base::units::time_ns;
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use alloc::borrow::ToOwned;
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
        /// No kernel uses the tensor cores of the devices.
        NoTensorCores = "no_tensor_cores",
        /// `torch.nn.DataParallel` runs on several devices.
        DataParallel = "data_parallel",
        /// Collectives go through the host.
        HostCollectives = "host_collectives",
        /// The memory of a device was nearly used up.
        MemoryNearlyFull = "memory_nearly_full",
        /// One of PyTorch's anti-patterns.
        AntiPattern = "anti_pattern",
        /// A step took much longer than the median one.
        UnevenSteps = "uneven_steps",
        /// Polls of asynchronous tasks kept their threads busy for long.
        BlockingPolls = "blocking_polls",
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
    pub advice: String,
    /// The cause of idle time that it is about.
    pub cause: Option<Cause>,
    /// Events that show it, the longest first.
    pub events: Vec<Row>,
    /// The command that shows it, without the trace.
    pub command: String,
    /// What a replay without it differs in.
    pub(crate) changes: Option<Changes>,
    /// What it would save in addition to the findings before it, and how far the replay is from what was recorded, in ns;
    /// `None` if a replay cannot answer it.
    pub saving_ns: Option<(i64, i64)>,
}

impl Finding {
    fn new(code: FindingCode, cost_ns: i64, message: String, advice: &str) -> Finding {
        let advice = advice.to_owned();
        let (cause, changes, saving_ns) = (None, None, None);
        let (events, command) = (Vec::new(), String::new());
        Finding { code, cost_ns, message, advice, cause, events, command, changes, saving_ns }
    }

    /// The finding with a cause of idle time, which a replay leaves out.
    fn caused_by(self, cause: Cause) -> Finding {
        Finding { cause: Some(cause), changes: Some(Changes::without(cause)), ..self }
    }

    fn shown_by(self, command: &str, events: Vec<Row>) -> Finding {
        Finding { command: command.into(), events, ..self }
    }
}

/// Thresholds of the rules. Shares are of wall time; those of a device, of its window. Idle time and its window begin with
/// the first step.
mod threshold {
    pub(super) const IDLE: f64 = 0.25;
    /// The share of the window of a device from which on a cause of its idle time is a finding.
    pub(super) const CAUSE: f64 = 0.02;
    pub(super) const SYNC: f64 = 0.10;
    pub(super) const PAGEABLE: f64 = 0.01;
    pub(super) const EXPOSED: f64 = 0.05;
    pub(super) const DATA: f64 = 0.05;
    pub(super) const GARBAGE: f64 = 0.02;
    /// The share of compute that tensor cores could do.
    pub(super) const ELIGIBLE: f64 = 0.1;
    /// The share of the memory of a device.
    pub(super) const MEMORY: f64 = 0.9;
    /// Kernels shorter than this, in ns, are dominated by their launch.
    pub(super) const SHORT_KERNEL_NS: i64 = 5_000;
    pub(super) const SHORT_KERNEL_COUNT: usize = 1_000;
    /// The ratio of the longest step to the median step.
    pub(super) const SLOW_STEP: f64 = 1.5;
}

/// Returns what the rules find, except PyTorch's anti-patterns. What it would save is not known yet.
pub(crate) fn found(analysis: &Analysis<'_>, wall_ns: i64) -> Vec<Finding> {
    let mut out = Vec::new();
    waiting::waiting(&mut out, analysis.trace, wall_ns);
    device::idle(&mut out, analysis);
    device::exposed(&mut out, analysis);
    device::short_kernels(&mut out, analysis);
    setup::setup(&mut out, analysis);
    uneven_steps(&mut out, analysis);
    tasks::blocking(&mut out, analysis.trace);
    out
}

/// Computes what the findings would save, and adds those about data quality. Those that would save time come first, the most first; then
/// those whose saving is unknown; then those about data quality.
pub(crate) fn findings(
    mut found: Vec<Finding>,
    trace: &Trace,
    replay: &Replay<'_>,
    join: Join,
) -> Vec<Finding> {
    savings::order(&mut found, replay, join);
    data_quality(&mut found, trace);
    found
}

fn share(part: i64, total: i64) -> f64 {
    if total <= 0 { 0.0 } else { part as f64 / total as f64 }
}

fn percent(part: i64, total: i64) -> String {
    format!("{:.0}%", share(part, total) * 100.0)
}

fn uneven_steps(out: &mut Vec<Finding>, analysis: &Analysis<'_>) {
    let (table, steps) = (&analysis.trace.table, analysis.steps());
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
    let took = [longest, median].map(|ns| time_ns(ns, None));
    let message = format!("{} took {}, the median step {}", table.name(steps[at].row), took[0], took[1]);
    let advice = "compare it with another step: run `tree` and `ops` on a `slice --steps`; the first step often compiles";
    let finding = Finding::new(FindingCode::UnevenSteps, longest - median, message, advice);
    let command = format!("critical-path --step {}", steps[at].number);
    out.push(finding.shown_by(&command, [steps[at].row].into()));
}

fn data_quality(out: &mut Vec<Finding>, trace: &Trace) {
    let mut push = |code, message, advice| {
        out.push(Finding::new(code, 0, message, advice).shown_by("check", Vec::new()));
    };
    let lost = trace.diagnostics.findings().iter().filter(|f| f.code.severity() == Severity::Lost);
    for finding in lost {
        let message = format!("{} ×{}: {}", finding.code.as_str(), finding.count, finding.code.description());
        push(
            FindingCode::TraceIncomplete,
            message,
            "the numbers leave out or guess these parts; see `check`",
        );
    }
    let overlapping = trace.diagnostics.count(Code::OverlappingSpans);
    if overlapping * 20 > trace.tree.len() as u64 {
        let (noun, predicate) = if overlapping == 1 { ("span", "overlaps") } else { ("spans", "overlap") };
        let message = format!("{overlapping} {noun} {predicate} others of their track without nesting");
        let advice = "self times of such tracks are computed in separate lanes";
        push(FindingCode::OverlappingSpans, message, advice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a trace of 1 ms with the event on four threads or devices at once.
    fn on_four(event: &str) -> Trace {
        let placed = |at: usize| event.replace("PLACE", &format!("{at}"));
        let events: Vec<String> = (0..4).map(placed).collect();
        Trace::read(format!("[{}]", events.join(",")).as_bytes()).expect("a trace")
    }

    fn finding(trace: &Trace, code: FindingCode) -> Finding {
        let analysis = Analysis::new(trace);
        let found = analysis.summary().findings.iter().find(|finding| finding.code == code);
        found.cloned().expect("a finding")
    }

    #[test]
    fn every_finding_is_documented() {
        let page = include_str!("../../../../docs/src/reference/fitness.md");
        for code in FindingCode::ALL.map(FindingCode::as_str) {
            assert!(page.contains(&format!("| `{code}` |")), "{code}");
        }
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
