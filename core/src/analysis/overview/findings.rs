//! Findings: rules with fixed thresholds. Each finding has its evidence, its advice, and what it would save.

mod communication;
mod copies;
mod facts;
mod host;
mod optimizer;
mod patterns;
mod savings;
mod setup;
mod start;
mod tasks;
mod waiting;
mod work;

use self::facts::Facts;

pub(crate) use self::patterns::{anti_patterns, with_patterns};
use super::bound::Bound;
use crate::analysis::context::Analysis;
use crate::analysis::device::idle::{Cause, Host};
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
        /// A device was idle until the host launched the next work.
        HostBound = "host_bound",
        /// A device was idle for another reason.
        GpuIdle = "gpu_idle",
        /// A device communicated while it did no other work.
        ExposedCommunication = "exposed_communication",
        /// There are copies from or to pageable memory.
        PageableCopies = "pageable_copies",
        /// Copies from or to pinned memory are far below the rate of a link.
        SlowCopies = "slow_copies",
        /// A device was idle because the host had waited for it.
        Synchronization = "synchronization",
        /// The host waited for data.
        DataLoading = "data_loading",
        /// Memory of a device is allocated and freed in the loop.
        CachingAllocator = "caching_allocator",
        /// Python collected garbage.
        GarbageCollection = "garbage_collection",
        /// Contexts are created, or the code of kernels is loaded.
        ColdStart = "cold_start",
        /// The recording has captures of CUDA graphs.
        GraphCapture = "graph_capture",
        /// Products in single precision do not use the tensor cores of the devices.
        NoTensorCores = "no_tensor_cores",
        /// Products on tensor cores load one or two elements at a time.
        MisalignedProducts = "misaligned_products",
        /// Attention runs as several kernels.
        EagerAttention = "eager_attention",
        /// Most of the work computes or copies element by element.
        ElementwiseKernels = "elementwise_kernels",
        /// Tensors are converted between types.
        Conversions = "conversions",
        /// Tensors are copied to another layout.
        LayoutCopies = "layout_copies",
        /// An optimizer updates parameters one by one.
        UnfusedOptimizer = "unfused_optimizer",
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
    /// Whether the change is an ideal that no single setting reaches, such as a host that takes no time.
    pub is_ideal: bool,
    /// What it would save; `None` if a replay cannot answer it.
    pub saving: Option<Saving>,
}

/// What a replay without a finding saves, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saving {
    /// If nothing else changes.
    pub alone_ns: i64,
    /// In addition to the findings before it.
    pub added_ns: i64,
    /// How far the replay without changes is from what was recorded.
    pub error_ns: i64,
}

impl Finding {
    fn new(code: FindingCode, cost_ns: i64, message: String, advice: &str) -> Finding {
        let advice = advice.to_owned();
        let (cause, changes, saving, is_ideal) = (None, None, None, false);
        let (events, command) = (Vec::new(), String::new());
        Finding { code, cost_ns, message, advice, cause, events, command, changes, is_ideal, saving }
    }

    /// The finding with a cause of idle time, which a replay leaves out.
    fn caused_by(self, cause: Cause) -> Finding {
        Finding { cause: Some(cause), changes: Some(Changes::without(cause)), ..self }
    }

    fn shown_by(self, command: &str, events: Vec<Row>) -> Finding {
        Finding { command: command.into(), events, ..self }
    }
}

/// The number of events that show a finding.
const SHOWN: usize = 3;

/// Thresholds of the rules, as shares of wall time; those of a device, of its window.
mod threshold {
    /// The least that a finding costs, and the least that it saves. Less is not measurable.
    pub(super) const EFFECT: f64 = 0.01;
    pub(super) const EXPOSED: f64 = 0.05;
    /// What waits for launches and costs less has no single reason.
    pub(super) const LAUNCHING: f64 = 0.05;
    /// With this share of the start of a run, its operators are slow because they run for the first time.
    pub(super) const COLD: f64 = 0.8;
    /// Time in which the trace has no event of the host.
    pub(super) const UNKNOWN: f64 = 0.05;
    /// What costs at least this is a finding even if removing it alone saves nothing.
    pub(super) const LARGE: f64 = 0.05;
    /// What waits for launches and saves less is one only if it costs much more.
    pub(super) const HOST_BOUND: f64 = 0.2;
    pub(super) const DATA: f64 = 0.05;
    pub(super) const GARBAGE: f64 = 0.02;
    /// The share of the memory of a device.
    pub(super) const MEMORY: f64 = 0.9;
    /// The ratio of the longest step to the median step.
    pub(super) const SLOW_STEP: f64 = 1.5;
}

/// Returns what the rules find, except PyTorch's anti-patterns. What it would save is not known yet. `bound` is whether the
/// trace shows why devices are idle, and what bounds the run.
pub(crate) fn found(
    (analysis, host): (&Analysis<'_>, &Host<'_>),
    wall_ns: i64,
    bound: (bool, Option<&Bound>),
) -> Vec<Finding> {
    let mut out = Vec::new();
    let facts = Facts::new((analysis, host), wall_ns, bound);
    waiting::waiting(&mut out, analysis.trace, wall_ns);
    copies::copies(&mut out, &facts);
    host::idle(&mut out, &facts);
    start::start(&mut out, &facts);
    communication::exposed(&mut out, &facts);
    work::work(&mut out, &facts);
    optimizer::unfused(&mut out, &facts);
    setup::setup(&mut out, analysis, wall_ns);
    uneven_steps(&mut out, analysis);
    tasks::blocking(&mut out, analysis.trace);
    // What follows a wait can cost much more than the wait.
    let is_small =
        |finding: &Finding| finding.cost_ns > 0 && share(finding.cost_ns, wall_ns) < threshold::EFFECT;
    out.retain(|finding| finding.code == FindingCode::Synchronization || !is_small(finding));
    out
}

/// Computes what the findings would save, leaves out those that save nothing measurable, and adds those about data quality.
/// Those whose saving is known come first, what saves most before what saves less, with ideals for a part of what they save; then
/// those whose saving is unknown; then those about data quality. `replay` is `None` where it is not known what bounds the run.
pub(crate) fn findings(
    mut found: Vec<Finding>,
    trace: &Trace,
    replay: Option<(&Replay<'_>, i64)>,
    join: Join,
) -> Vec<Finding> {
    match replay {
        Some(replay) => savings::order(&mut found, replay, join),
        None => savings::sort(&mut found),
    }
    data_quality(&mut found, trace);
    found
}

/// The command that shows what happened during an event, after the start of the recording.
fn place(trace: &Trace, row: Row) -> String {
    let table = &trace.table;
    let us = |ns: i64| ns.saturating_sub(trace.start_ns) as f64 / 1e3;
    format!("names --time {:.3}us..{:.3}us", us(table.ts(row)), us(table.end(row)))
}

fn share(part: i64, total: i64) -> f64 {
    if total <= 0 { 0.0 } else { part as f64 / total as f64 }
}

fn percent(part: i64, total: i64) -> String {
    format!("{:.0}%", share(part, total) * 100.0)
}

fn uneven_steps(out: &mut Vec<Finding>, analysis: &Analysis<'_>) {
    let (table, steps) = (&analysis.trace.table, analysis.steps());
    if steps.len() < 3 || !analysis.steps_are_alike() {
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
    let first = if at == 0 { "; the first step often compiles" } else { "" };
    let advice = format!("compare it with another step: run `tree` and `ops` on a `slice --steps`{first}");
    let finding = Finding::new(FindingCode::UnevenSteps, longest - median, message, &advice);
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
        assert!(found.message.contains("(100% of wall) for 8.19 kB"), "{}", found.message);
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
}
