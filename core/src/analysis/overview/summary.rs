//! The summary: what was traced, the breakdown of the time, findings, and data quality.

use super::findings::{Basis, Finding, FindingCode, anti_patterns, findings, found, with_patterns};
use super::fitness::{self, Fitness};
use super::identities::{Identity, identities};
use super::info;
use crate::analysis::device::device_time::{Class, ClassTime, DeviceTime, device_times_of};
use crate::analysis::device::idle::{Cause, Host};
use crate::analysis::device::kernels::{KernelGroup, kernel_groups};
use crate::analysis::device::segments::{DeviceSegments, device_segments};
use crate::analysis::device::steps::{Step, steps};
use crate::analysis::query::group_by::GroupBy;
use crate::analysis::replay::Replay;
use crate::analysis::timeline::lane_names::LaneNames;
use crate::analysis::timeline::samples::{SampleFilter, SamplesBy, has_samples, sample_rows};
use crate::analysis::torch::averages::{Average, exact_key_averages};
use crate::analysis::torch::device_type::DeviceType;
use crate::analysis::torch::function_events::FunctionEvents;
use crate::base::diagnostics::Severity;
use crate::base::join::Join;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Cell, Column, Record, Rows, Shape};
use crate::trace::Trace;
use crate::trace::read::snapshot;
use crate::trace::table::tracks;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value;

/// The columns of the answer.
pub const COLUMNS: &[Column] = &[
    Column::ns("wall_ns", "Wall", "The time from the start of the first event to the end of the last."),
    Column::int("steps", "Steps", "The number of profiler steps."),
    Column::ns("mean_step_ns", "Mean step", "The mean wall time of a step.").nullable(),
    Column::ns(
        "self_cpu_time_total_ns",
        "Self CPU",
        "The sum of the self CPU times of all operators: PyTorch's “Self CPU time total”.",
    ),
    Column::json(
        "fitness",
        "",
        Shape::Records(&fitness::FITNESS_RECORD),
        "Which questions the trace can answer.",
    ),
    Column::json("devices", "", Shape::Records(&DEVICE_TIME), "The time of each device."),
    Column::json("top_operators", "", Shape::Records(&TOP_OPERATOR), "Operators by self CPU time."),
    Column::json("top_kernels", "", Shape::Records(&TOP_KERNEL), "Kernels, memcpys and memsets by time."),
    Column::json("top_idle", "", Shape::Records(&IDLE_GAP), "The longest idle gaps of the devices."),
    Column::json(
        "top_tracks",
        "",
        Shape::Records(&TOP_TRACK),
        "Tracks by time, for traces without operators.",
    ),
    Column::json(
        "top_functions",
        "",
        Shape::Records(&TOP_FUNCTION),
        "Functions by their samples of call stacks, for traces with samples.",
    ),
    Column::json(
        "memory",
        "",
        Shape::Records(&DEVICE_MEMORY),
        "The memory of each device in a memory snapshot.",
    ),
    Column::json("findings", "", Shape::Records(&FINDING), "The findings: what saves most first."),
    Column::int("lost", "Lost", "The number of parts of the trace that were lost or are uncertain."),
];

const DEVICE_TIME: Record = Record {
    name: "DeviceTime",
    members: &[
        Column::text("device", "", "The number of the device in the trace."),
        Column::int("activities", "", "The number of kernels, memcpys and memsets."),
        Column::ns("window_ns", "", "The time from the start of the first activity to the end of the last."),
        Column::ns("sum_ns", "", "Sum of their durations."),
        Column::ns("busy_ns", "", "The time during which any of them ran."),
        Column::ns("idle_ns", "", "The window minus the busy time."),
        Column::json("classes", "", Shape::Records(&CLASS_TIME), "The times of each class of work."),
        Column::json(
            "idle_causes",
            "",
            Shape::Records(&IDLE_CAUSE),
            "The idle time by cause, without causes that do not occur.",
        ),
    ],
};

const CLASS_TIME: Record = Record {
    name: "ClassTime",
    members: &[
        Column::word("class", "", &Class::VOCABULARY, "The class of work."),
        Column::int("count", "", "The number of activities."),
        Column::ns("sum_ns", "", "Sum of their durations."),
        Column::ns("busy_ns", "", "The time during which any of them ran."),
        Column::ns("exposed_ns", "", "The part of that time during which no other class ran."),
    ],
};

const IDLE_CAUSE: Record = Record {
    name: "IdleCause",
    members: &[
        Column::word("cause", "", &Cause::VOCABULARY, "The cause."),
        Column::ns("time_ns", "", "The idle time with this cause."),
    ],
};

const TOP_OPERATOR: Record = Record {
    name: "TopOperator",
    members: &[
        Column::text("name", "", "The name of the operator."),
        Column::int("count", "", "The number of calls."),
        Column::ns("self_cpu_time_total_ns", "", "CPU time, excluding callees."),
        Column::ns("cpu_time_total_ns", "", "CPU time, including callees."),
        Column::ns(
            "device_time_total_ns",
            "",
            "Sum of the durations of the device work that it and its callees launched.",
        ),
    ],
};

const TOP_KERNEL: Record = Record {
    name: "TopKernel",
    members: &[
        Column::text("name", "", "The name of the kernel, copy or memset."),
        Column::word("class", "", &Class::VOCABULARY, "The class of work."),
        Column::int("count", "", "The number of times it ran."),
        Column::ns("sum_ns", "", "Sum of the durations."),
    ],
};

const IDLE_GAP: Record = Record {
    name: "IdleGap",
    members: &[
        Column::text("device", "", "The number of the device in the trace."),
        Column::ns("start_ns", "", "The start of the gap, after the start of the recording."),
        Column::ns("idle_ns", "", "The length of the gap."),
        Column::word("cause", "", &Cause::VOCABULARY, "The cause of most of it."),
        Column::text("after", "", "The activity that ended the gap."),
        Column::text("stream", "", "The stream of that activity."),
    ],
};

const TOP_TRACK: Record = Record {
    name: "TopTrack",
    members: &[
        Column::text("name", "", "The name of the thread or stream."),
        Column::int("spans", "", "The number of spans."),
        Column::ns("time_ns", "", "The time of the outermost spans."),
    ],
};

const TOP_FUNCTION: Record = Record {
    name: "TopFunction",
    members: &[
        Column::text("name", "", "The name of the function."),
        Column::int("own", "", "The number of samples in the function itself."),
        Column::int("samples", "", "The number of samples in it and in what it called."),
    ],
};

const DEVICE_MEMORY: Record = Record {
    name: "DeviceMemory",
    members: &[
        Column::text("device", "", "CPU, CUDA 0, …."),
        Column::int("segments", "", "The number of segments."),
        Column::bytes("reserved_bytes", "", "What the allocator has reserved."),
        Column::bytes("allocated_bytes", "", "What of it is allocated."),
        Column::bytes("largest_free_bytes", "", "The size of the largest block that is free."),
    ],
};

const FINDING: Record = Record {
    name: "Finding",
    members: &[
        Column::word("code", "", &FindingCode::VOCABULARY, "The kind of finding."),
        Column::ns(
            "saving_ns",
            "",
            "What a replay without it saves, apart from what others save that save more alone; null if unknown.",
        )
        .nullable(),
        Column::ns("saving_error_ns", "", "How far the replay without changes is from the recorded time.").nullable(),
        Column::ns("cost_ns", "", "The time it took at most; 0 if it affects data quality and not time."),
        Column::word("cause", "", &Cause::VOCABULARY, "The cause of idle time that it is about.").nullable(),
        Column::text("message", "", "What was found."),
        Column::text("advice", "", "What to do."),
        Column::json("events", "", Shape::Numbers, "The indices of events that show it."),
        Column::text("command", "", "The command that shows it, without the trace."),
    ],
};

/// The numbers of the summary.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// Start and end of the trace relative to its base, in ns.
    pub wall: (i64, i64),
    /// The steps.
    pub steps: Vec<Step>,
    /// Which questions the trace can answer.
    pub fitness: Vec<Fitness>,
    /// The time of each device.
    pub devices: Vec<DeviceTime>,
    /// Operators by self CPU time.
    pub operators: Vec<Average>,
    /// The sum of all self CPU times, in ns.
    pub self_cpu_ns: i64,
    /// Kernels by time.
    pub kernels: Vec<KernelGroup>,
    /// Tracks by time, for traces without operators: name, number of spans, time of the outermost spans in ns.
    pub tracks: Vec<(String, usize, i64)>,
    /// Functions by their samples of call stacks: the rows of the query `samples`.
    pub functions: Rows,
    /// The segments of each device in a memory snapshot.
    pub segments: Vec<DeviceSegments>,
    /// The findings.
    pub findings: Vec<Finding>,
    /// The identities that were checked.
    pub identities: Vec<Identity>,
}

/// The part of the summary about operators: about half of the work before the findings.
struct HostPart {
    events: FunctionEvents,
    operators: Vec<Average>,
}

/// The part of the summary about devices and steps, with the threads of the host, which the replay needs as well.
struct DevicePart<'a> {
    host: Host<'a>,
    wall: (i64, i64),
    devices: Vec<DeviceTime>,
    steps: Vec<Step>,
}

fn host_part(trace: &Trace) -> HostPart {
    let events = FunctionEvents::without_inputs(trace);
    // The entries of a snapshot's history are no operators.
    let is_snapshot = trace.table.metadata.text(snapshot::SOURCE).is_some();
    HostPart { operators: if is_snapshot { Vec::new() } else { operators(trace, &events) }, events }
}

fn device_part(trace: &Trace) -> DevicePart<'_> {
    let host = Host::new(trace);
    let devices = device_times_of(trace, &host);
    let steps = steps(trace, &devices);
    DevicePart { host, wall: info::wall_of(trace), devices, steps }
}

/// Kernels by time, and what the rules find.
fn rules_part(trace: &Trace, device: &DevicePart<'_>) -> (Vec<KernelGroup>, Vec<Finding>) {
    let DevicePart { wall, devices, steps, .. } = device;
    let kernels = kernel_groups(trace);
    let basis = Basis { trace, wall_ns: wall.1 - wall.0, devices, kernels: &kernels, steps };
    let found = found(&basis);
    (kernels, found)
}

/// Computes the summary.
pub fn summary(trace: &Trace) -> Summary {
    summary_by(trace, Join::SEQUENTIAL)
}

/// Computes the summary with functions that `join` runs.
pub fn summary_by(trace: &Trace, join: Join) -> Summary {
    let join = join.of_events(trace.table.len());
    let (mut host, mut device) = (None, None);
    join.run(&mut [&mut || device = Some(device_part(trace)), &mut || host = Some(host_part(trace))]);
    let HostPart { events, operators } = host.unwrap_or_else(|| host_part(trace));
    let device = device.unwrap_or_else(|| device_part(trace));
    let (mut events, mut replay) = (Some(events), None);
    let (mut kernels, mut found, mut patterns, mut checked, mut verdicts) = Default::default();
    join.run(&mut [
        // Before the replay takes memory, what these two take is released.
        &mut || {
            checked = events.take().map(|events| identities(trace, &events, &device.devices, &device.steps));
        },
        &mut || patterns = anti_patterns(trace, !device.devices.is_empty(), device.wall.1 - device.wall.0),
        &mut || replay = Some(Replay::of(trace, &device.host)),
        &mut || (kernels, found) = rules_part(trace, &device),
        &mut || verdicts = fitness::fitness(trace, &device.steps),
    ]);
    let DevicePart { host, wall, devices, steps } = device;
    // The replays of findings take memory.
    drop(host);
    let replay = replay.unwrap_or_else(|| Replay::new(trace));
    let findings = findings(found, trace, &replay, join);
    Summary {
        fitness: verdicts,
        identities: checked.unwrap_or_default(),
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
        steps,
        devices,
        operators,
        kernels,
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

impl Summary {
    /// Returns the longest idle gaps of all devices, as pairs of device and index of the gap.
    pub(crate) fn longest_gaps(&self, limit: usize) -> Vec<(&DeviceTime, usize)> {
        let mut gaps: Vec<(&DeviceTime, usize)> =
            self.devices.iter().flat_map(|d| (0..d.gaps.len()).map(move |g| (d, g))).collect();
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
    pub fn rows(&self, trace: &Trace, limit: usize) -> Rows {
        let mut rows = Rows::new(COLUMNS);
        let origin = trace.start_ns;
        let lost = trace.diagnostics.findings().iter().filter(|f| f.code.severity() == Severity::Lost);
        rows.push(vec![
            Cell::Ns(self.wall.1 - self.wall.0),
            self.steps.len().into(),
            self.mean_step_ns().map_or(Cell::Null, Cell::Ns),
            Cell::Ns(self.self_cpu_ns),
            Cell::Json(self.fitness.iter().map(fitness::fitness_json).collect()),
            Cell::Json(self.devices.iter().map(device_json).collect()),
            Cell::Json(self.operators.iter().take(limit).map(operator_json).collect()),
            Cell::Json(self.kernels.iter().take(limit).map(kernel_json).collect()),
            Cell::Json(
                self.longest_gaps(limit).into_iter().map(|(d, g)| gap_json(trace, d, g, origin)).collect(),
            ),
            Cell::Json(
                self.tracks
                    .iter()
                    .take(limit)
                    .map(|t| TOP_TRACK.object(vec![t.0.as_str().into(), t.1.into(), Cell::Ns(t.2)]))
                    .collect(),
            ),
            Cell::Json(self.functions.rows.iter().take(limit).map(|row| function_json(row)).collect()),
            Cell::Json(self.segments.iter().map(segments_json).collect()),
            Cell::Json(self.findings.iter().map(finding_json).collect()),
            Cell::Int(lost.map(|f| f.count as i64).sum()),
        ]);
        rows
    }

    /// Returns the mean wall time of a step, in ns; `None` without steps.
    pub(crate) fn mean_step_ns(&self) -> Option<i64> {
        let count = self.steps.len() as i64;
        (count > 0).then(|| self.steps.iter().map(|s| s.time.1 - s.time.0).sum::<i64>() / count)
    }
}

fn device_json(device: &DeviceTime) -> Value {
    let idle = device.idle_by_cause().into_iter().filter(|cause| cause.1 > 0);
    let idle = idle.map(|(cause, ns)| IDLE_CAUSE.object(vec![cause.as_str().into(), Cell::Ns(ns)]));
    let class = |c: &ClassTime| {
        let times = [c.sum_ns, c.busy_ns, c.exposed_ns].map(Cell::Ns);
        CLASS_TIME.object([c.class.as_str().into(), c.count.into()].into_iter().chain(times).collect())
    };
    DEVICE_TIME.object(vec![
        device.device.as_str().into(),
        device.count.into(),
        Cell::Ns(device.window.1 - device.window.0),
        Cell::Ns(device.sum_ns),
        Cell::Ns(device.busy_ns),
        Cell::Ns(device.idle_ns()),
        Cell::Json(device.classes.iter().map(class).collect()),
        Cell::Json(idle.collect()),
    ])
}

fn operator_json(row: &Average) -> Value {
    TOP_OPERATOR.object(vec![
        row.key.as_str().into(),
        Cell::Int(row.count as i64),
        Cell::Ns(row.self_cpu_time_total_ns),
        Cell::Ns(row.cpu_time_total_ns),
        Cell::Ns(row.device_time_total_ns),
    ])
}

fn kernel_json(group: &KernelGroup) -> Value {
    let class = group.class.as_str();
    TOP_KERNEL.object(vec![
        group.name.as_str().into(),
        class.into(),
        group.count.into(),
        Cell::Ns(group.sum_ns),
    ])
}

fn gap_json(trace: &Trace, device: &DeviceTime, at: usize, origin: i64) -> Value {
    let gap = &device.gaps[at];
    let track = trace.table.track(gap.after);
    IDLE_GAP.object(vec![
        device.device.as_str().into(),
        Cell::Ns(gap.time.0.saturating_sub(origin)),
        Cell::Ns(gap.time.1 - gap.time.0),
        device.main_cause(gap).as_str().into(),
        trace.table.name(gap.after).into(),
        tracks::plain(&trace.table.names, track.tid).into(),
    ])
}

/// The object of a row of `samples`: its name, its samples, a share, its own samples, and others.
fn function_json(row: &[Cell]) -> Value {
    TOP_FUNCTION.object(vec![row[0].clone(), row[3].clone(), row[1].clone()])
}

fn segments_json(device: &DeviceSegments) -> Value {
    let bytes = [device.reserved, device.allocated, device.largest_free].map(Cell::Bytes);
    let first = [device.device.as_str().into(), device.segments.into()];
    DEVICE_MEMORY.object(first.into_iter().chain(bytes).collect())
}

fn finding_json(finding: &Finding) -> Value {
    FINDING.object(vec![
        finding.code.as_str().into(),
        finding.saving_ns.map_or(Cell::Null, |saving| Cell::Ns(saving.0)),
        finding.saving_ns.map_or(Cell::Null, |saving| Cell::Ns(saving.1)),
        Cell::Ns(finding.cost_ns),
        finding.cause.map(Cause::as_str).into(),
        finding.message.as_str().into(),
        finding.advice.as_str().into(),
        Cell::Json(finding.events.iter().map(|row| row.index()).collect()),
        finding.command.as_str().into(),
    ])
}
