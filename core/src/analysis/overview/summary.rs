//! The summary: what was traced, the breakdown of the time, findings, and data quality.

use super::bound::{self, Bound, BoundBy};
use super::findings::{Finding, FindingCode, anti_patterns, findings, found, with_patterns};
use super::fitness::{self, Fitness};
use crate::analysis::context::Analysis;
use crate::analysis::device::classes::Class;
use crate::analysis::device::device_time::{ClassTime, DeviceTime};
use crate::analysis::device::idle::{Cause, Host};
use crate::analysis::device::kernels::KernelGroup;
use crate::analysis::device::segments::{DeviceSegments, device_segments};
use crate::analysis::device::steps::Step;
use crate::analysis::query::group_by::GroupBy;
use crate::analysis::replay::Replay;
use crate::analysis::timeline::lane_names::LaneNames;
use crate::analysis::timeline::samples::{SampleFilter, SamplesBy, has_samples, sample_rows};
use crate::analysis::torch::averages::{Average, exact_key_averages};
use crate::analysis::torch::device_type::DeviceType;
use crate::analysis::torch::function_events::FunctionEvents;
use crate::base::diagnostics::Severity;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Cell, Column, Rows, Shape, columns, record};
use crate::trace::Trace;
use crate::trace::read::snapshot;
use crate::trace::table::tracks;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

columns! {
    /// The columns of the answer.
    pub const COLUMNS: fn row(analysis: &Analysis<'_>, limit: usize) {
        let (trace, summary) = (analysis.trace, analysis.summary());
        let (devices, steps) = (analysis.devices(), analysis.steps());
        let findings = trace.diagnostics.findings().iter();
        let lost = findings.filter(|f| f.code.severity() == Severity::Lost);
    } [
        Column::ns("wall_ns", "Wall", "The time from the start of the first event to the end of the last.") =>
            summary.wall.1 - summary.wall.0,
        Column::int("steps", "Steps", "The number of profiler steps.") => steps.len(),
        Column::ns("mean_step_ns", "Mean step", "The mean wall time of a step.").nullable() =>
            mean_step_ns(steps),
        Column::ns("self_cpu_time_total_ns", "Self CPU", "The sum of the self CPU times of all operators: PyTorch's “Self CPU time total”.") =>
            summary.self_cpu_ns,
        Column::json("bound", "", Shape::Record(&bound::BOUND_RECORD), "What bounds the run; null without operators and device work.")
            .nullable() => summary.bound.as_ref().map(bound::bound_json),
        Column::json("fitness", "", Shape::Records(&fitness::FITNESS_RECORD), "Which questions the trace can answer.") =>
            summary.fitness.iter().map(fitness::fitness_json).collect::<Value>(),
        Column::json("devices", "", Shape::Records(&DEVICE_TIME), "The time of each device.") =>
            devices.iter().map(device_json).collect::<Value>(),
        Column::json("top_operators", "", Shape::Records(&TOP_OPERATOR), "Operators by self CPU time.") =>
            summary.operators.iter().take(limit).map(operator_json).collect::<Value>(),
        Column::json("top_kernels", "", Shape::Records(&TOP_KERNEL), "Kernels, memcpys and memsets by time.") =>
            analysis.kernel_groups().iter().take(limit).map(kernel_json).collect::<Value>(),
        Column::json("top_idle", "", Shape::Records(&IDLE_GAP), "The longest idle gaps of the devices.") =>
            longest_gaps(devices, limit).into_iter().map(|(d, g)| gap_json(trace, d, g)).collect::<Value>(),
        Column::json("top_tracks", "", Shape::Records(&TOP_TRACK), "Tracks by time, for traces without operators.") =>
            summary.tracks.iter().take(limit).map(track_json).collect::<Value>(),
        Column::json("top_functions", "", Shape::Records(&TOP_FUNCTION), "Functions by their samples of call stacks, for traces with samples.") =>
            summary.functions.rows.iter().take(limit).map(|row| function_json(row)).collect::<Value>(),
        Column::json("memory", "", Shape::Records(&DEVICE_MEMORY), "The memory of each device in a memory snapshot.") =>
            summary.segments.iter().map(segments_json).collect::<Value>(),
        Column::json("findings", "", Shape::Records(&FINDING), "The findings: what saves most first.") =>
            summary.findings.iter().map(finding_json).collect::<Value>(),
        Column::int("lost", "Lost", "The number of parts of the trace that were lost or are uncertain.") =>
            lost.map(|f| f.count as i64).sum::<i64>(),
    ]
}

record! {
    static DEVICE_TIME = "DeviceTime": fn device_json(device: &DeviceTime) {
        let causes = device.idle_by_cause().into_iter().filter(|cause| cause.1 > 0);
    } [
        Column::text("device", "", "The number of the device in the trace.") => device.device.as_str(),
        Column::int("activities", "", "The number of kernels, memcpys and memsets.") => device.count,
        Column::ns("window_ns", "", "The time from the start of the first activity to the end of the last.") =>
            device.window.1 - device.window.0,
        Column::ns("sum_ns", "", "Sum of their durations.") => device.sum_ns,
        Column::ns("busy_ns", "", "The time during which any of them ran.") => device.busy_ns,
        Column::ns("idle_ns", "", "The window minus the busy time.") => device.idle_ns(),
        Column::json("classes", "", Shape::Records(&CLASS_TIME), "The times of each class of work.") =>
            device.classes.iter().map(class_json).collect::<Value>(),
        Column::json("idle_causes", "", Shape::Records(&IDLE_CAUSE), "The idle time by cause, without causes that do not occur.") =>
            causes.map(|(cause, ns)| cause_json(cause, ns)).collect::<Value>(),
    ]
}

record! {
    static CLASS_TIME = "ClassTime": fn class_json(time: &ClassTime) [
        Column::word("class", "", &Class::VOCABULARY, "The class of work.") => time.class.as_str(),
        Column::int("count", "", "The number of activities.") => time.count,
        Column::ns("sum_ns", "", "Sum of their durations.") => time.sum_ns,
        Column::ns("busy_ns", "", "The time during which any of them ran.") => time.busy_ns,
        Column::ns("exposed_ns", "", "The part of that time during which no other class ran.") =>
            time.exposed_ns,
    ]
}

record! {
    static IDLE_CAUSE = "IdleCause": fn cause_json(cause: Cause, ns: i64) [
        Column::word("cause", "", &Cause::VOCABULARY, "The cause.") => cause.as_str(),
        Column::ns("time_ns", "", "The idle time with this cause.") => ns,
    ]
}

record! {
    static TOP_OPERATOR = "TopOperator": fn operator_json(row: &Average) [
        Column::text("name", "", "The name of the operator.") => row.key.as_str(),
        Column::int("count", "", "The number of calls.") => row.count as i64,
        Column::ns("self_cpu_time_total_ns", "", "CPU time, excluding callees.") =>
            row.self_cpu_time_total_ns,
        Column::ns("cpu_time_total_ns", "", "CPU time, including callees.") => row.cpu_time_total_ns,
        Column::ns("device_time_total_ns", "", "Sum of the durations of the device work that it and its callees launched.") =>
            row.device_time_total_ns,
    ]
}

record! {
    static TOP_KERNEL = "TopKernel": fn kernel_json(group: &KernelGroup) [
        Column::text("name", "", "The name of the kernel, copy or memset.") => group.name.as_str(),
        Column::word("class", "", &Class::VOCABULARY, "The class of work.") => group.class.as_str(),
        Column::int("count", "", "The number of times it ran.") => group.count,
        Column::ns("sum_ns", "", "Sum of the durations.") => group.sum_ns,
    ]
}

record! {
    static IDLE_GAP = "IdleGap": fn gap_json(trace: &Trace, device: &DeviceTime, at: usize) {
        let gap = &device.gaps[at];
        let table = &trace.table;
    } [
        Column::text("device", "", "The number of the device in the trace.") => device.device.as_str(),
        Column::ns("start_ns", "", "The start of the gap, after the start of the recording.") =>
            gap.time.0.saturating_sub(trace.start_ns),
        Column::ns("idle_ns", "", "The length of the gap.") => gap.time.1 - gap.time.0,
        Column::word("cause", "", &Cause::VOCABULARY, "The cause of most of it.") =>
            device.main_cause(gap).as_str(),
        Column::text("after", "", "The activity that ended the gap.") => table.name(gap.after),
        Column::text("stream", "", "The stream of that activity.") =>
            tracks::plain(&table.names, table.track(gap.after).tid),
    ]
}

record! {
    static TOP_TRACK = "TopTrack": fn track_json(track: &(String, usize, i64)) [
        Column::text("name", "", "The name of the thread or stream.") => track.0.as_str(),
        Column::int("spans", "", "The number of spans.") => track.1,
        Column::ns("time_ns", "", "The time of the outermost spans.") => track.2,
    ]
}

record! {
    /// Of a row of `samples`: its name, its samples, a share, its own samples, and others.
    static TOP_FUNCTION = "TopFunction": fn function_json(row: &[Cell]) [
        Column::text("name", "", "The name of the function.") => row[0].clone(),
        Column::int("own", "", "The number of samples in the function itself.") => row[3].clone(),
        Column::int("samples", "", "The number of samples in it and in what it called.") => row[1].clone(),
    ]
}

record! {
    static DEVICE_MEMORY = "DeviceMemory": fn segments_json(device: &DeviceSegments) [
        Column::text("device", "", "CPU, CUDA 0, ….") => device.device.as_str(),
        Column::int("segments", "", "The number of segments.") => device.segments,
        Column::bytes("reserved_bytes", "", "What the allocator has reserved.") => device.reserved,
        Column::bytes("allocated_bytes", "", "What of it is allocated.") => device.allocated,
        Column::bytes("largest_free_bytes", "", "The size of the largest block that is free.") =>
            device.largest_free,
    ]
}

record! {
    static FINDING = "Finding": fn finding_json(finding: &Finding) [
        Column::word("code", "", &FindingCode::VOCABULARY, "The kind of finding.") => finding.code.as_str(),
        Column::ns("saving_ns", "", "What a replay without it saves if nothing else changes; null if unknown.")
            .nullable() => finding.saving.map(|saving| saving.alone_ns),
        Column::ns("added_ns", "", "What it saves in addition to the findings before it; null if unknown.")
            .nullable() => finding.saving.map(|saving| saving.added_ns),
        Column::ns("saving_error_ns", "", "How far the replay without changes is from the recorded time.")
            .nullable() => finding.saving.map(|saving| saving.error_ns),
        Column::bool("ideal", "", "Whether the saving is that of an ideal, which no single setting reaches.") =>
            finding.is_ideal,
        Column::ns("cost_ns", "", "The time it took at most; 0 if it affects data quality and not time.") =>
            finding.cost_ns,
        Column::word("cause", "", &Cause::VOCABULARY, "The cause of idle time that it is about.")
            .nullable() => finding.cause.map(Cause::as_str),
        Column::text("message", "", "What was found.") => finding.message.as_str(),
        Column::text("advice", "", "What to do.") => finding.advice.as_str(),
        Column::json("events", "", Shape::Numbers, "The indices of events that show it.") =>
            finding.events.iter().map(|row| row.index()).collect::<Value>(),
        Column::text("command", "", "The command that shows it, without the trace.") =>
            finding.command.as_str(),
    ]
}

/// The numbers of the summary, in addition to those of devices, steps and kernels.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// Start and end of the trace relative to its base, in ns.
    pub wall: (i64, i64),
    /// What bounds the run.
    pub bound: Option<Bound>,
    /// Which questions the trace can answer.
    pub fitness: Vec<Fitness>,
    /// Operators by self CPU time.
    pub operators: Vec<Average>,
    /// The sum of all self CPU times, in ns.
    pub self_cpu_ns: i64,
    /// Tracks by time, for traces without operators: name, number of spans, time of the outermost spans in ns.
    pub tracks: Vec<(String, usize, i64)>,
    /// Functions by their samples of call stacks: the rows of the query `samples`.
    pub functions: Rows,
    /// The segments of each device in a memory snapshot.
    pub segments: Vec<DeviceSegments>,
    /// The findings.
    pub findings: Vec<Finding>,
}

/// The function events and the operators: about half of the work before the findings.
fn host_part(trace: &Trace) -> (FunctionEvents, Vec<Average>) {
    let events = FunctionEvents::without_inputs(trace);
    // The entries of a snapshot's history are no operators.
    let is_snapshot = trace.table.metadata.text(snapshot::SOURCE).is_some();
    let operators = if is_snapshot { Vec::new() } else { operators(trace, &events) };
    (events, operators)
}

/// Computes the devices and the steps. Returns the threads of the host, which the replay needs as well, and the period of the trace.
fn device_part<'a>(analysis: &'a Analysis<'_>) -> (Host<'a>, (i64, i64)) {
    let host = Host::new(analysis);
    analysis.devices_with(&host);
    analysis.steps();
    (host, analysis.wall())
}

impl Analysis<'_> {
    /// Returns the summary.
    pub fn summary(&self) -> &Summary {
        self.once(|| summary(self))
    }
}

fn summary(analysis: &Analysis<'_>) -> Summary {
    let (trace, join) = (analysis.trace, analysis.join.for_events(analysis.trace.table.len()));
    let (mut device, mut host) = (None, None);
    join.run(&mut [&mut || device = Some(device_part(analysis)), &mut || host = Some(host_part(trace))]);
    let (events, operators) = host.unwrap_or_else(|| host_part(trace));
    let (host, wall) = device.unwrap_or_else(|| device_part(analysis));
    let (wall_ns, has_device) = (wall.1 - wall.0, !analysis.devices().is_empty());
    let (mut events, mut replay) = (Some(events), None);
    let (mut rules, mut patterns, mut verdicts, mut limit) = Default::default();
    join.run(&mut [
        // Before the replay takes memory, what these two take is released.
        &mut || {
            if let Some(events) = events.take() {
                analysis.identities_with(&events);
            }
        },
        &mut || patterns = anti_patterns(trace, has_device, wall_ns),
        &mut || replay = Some(Replay::with_host(analysis, &host)),
        &mut || {
            verdicts = fitness::fitness(analysis, analysis.steps());
            let shows_idle = fitness::shows_idle(&verdicts);
            limit = bound::bound(analysis, &host, shows_idle);
            rules = found((analysis, &host), wall_ns, (shows_idle, limit.as_ref()));
        },
    ]);
    // The replays of findings take memory.
    drop(host);
    let replay = replay.unwrap_or_else(|| Replay::with_host(analysis, &Host::new(analysis)));
    let is_known = limit.as_ref().is_none_or(|bound: &Bound| bound.by != BoundBy::CannotTell);
    let shows_savings = fitness::shows_savings(&verdicts);
    if let Some(limit) = limit.as_mut().filter(|_| shows_savings) {
        bound::compare(limit, analysis, &replay);
    }
    let basis = Some((&replay, analysis.busy_ns())).filter(|_| is_known && shows_savings);
    let findings = findings(rules, trace, basis, join);
    Summary {
        bound: limit,
        fitness: verdicts,
        findings: with_patterns(findings, patterns),
        tracks: if operators.is_empty() { busiest_tracks(trace) } else { Vec::new() },
        functions: if has_samples(trace) {
            sample_rows(trace, SamplesBy::Function, &SampleFilter::default())
        } else {
            Rows::default()
        },
        segments: device_segments(trace),
        self_cpu_ns: operators.iter().map(|row| row.self_cpu_time_total_ns).sum(),
        wall,
        operators,
    }
}

/// Returns the CPU rows of the key averages, ordered by self time.
fn operators(trace: &Trace, events: &FunctionEvents) -> Vec<Average> {
    let mut rows = exact_key_averages(events, &trace.table, GroupBy::default());
    rows.retain(|r| r.device_type == DeviceType::Cpu);
    sort_by_key(&mut rows, |r| (descending(r.self_cpu_time_total_ns), 0));
    rows
}

fn busiest_tracks(trace: &Trace) -> Vec<(String, usize, i64)> {
    let names = LaneNames::new(trace);
    let mut tracks: Vec<(String, usize, i64)> = trace
        .tree
        .lanes()
        .iter()
        .map(|lane| {
            let time = trace.tree.self_times(&trace.table, lane).iter().sum();
            (names.get(lane), lane.positions().len(), time)
        })
        .collect();
    sort_by_key(&mut tracks, |t| (descending(t.2), 0));
    tracks
}

/// Returns the longest idle gaps of all devices, as pairs of device and index of the gap.
pub(super) fn longest_gaps(devices: &[DeviceTime], limit: usize) -> Vec<(&DeviceTime, usize)> {
    let mut gaps: Vec<(&DeviceTime, usize)> =
        devices.iter().flat_map(|d| (0..d.gaps.len()).map(move |g| (d, g))).collect();
    let order = |&(d, g): &(&DeviceTime, usize)| {
        let (start, end) = d.gaps[g].time;
        (descending(end - start), start)
    };
    // Insertion into a short list: most gaps need one comparison.
    if gaps.len() > limit && limit < 1000 {
        let mut longest: Vec<(&DeviceTime, usize)> = Vec::with_capacity(limit + 1);
        for gap in gaps {
            if longest.len() < limit || longest.last().is_some_and(|last| order(&gap) < order(last)) {
                let at = longest.partition_point(|known| order(known) <= order(&gap));
                longest.insert(at, gap);
                longest.truncate(limit);
            }
        }
        return longest;
    }
    sort_by_key(&mut gaps, order);
    gaps.truncate(limit);
    gaps
}

/// Returns the summary as one row; lists have at most `limit` entries.
pub(super) fn rows(analysis: &Analysis<'_>, limit: usize) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    rows.push(row(analysis, limit));
    rows
}

/// Returns the mean wall time of the steps, in ns; `None` without steps.
pub(super) fn mean_step_ns(steps: &[Step]) -> Option<i64> {
    let count = steps.len() as i64;
    (count > 0).then(|| steps.iter().map(|s| s.time.1 - s.time.0).sum::<i64>() / count)
}
