//! What a person wants first: what was traced, how the time was spent, what looks wrong, how far to trust it.

use super::findings::{Finding, FindingCode, findings};
use super::identities::{Identity, identities};
use super::info;
use crate::analysis::device::device_time::{Class, ClassTime, DeviceTime, IdleCause, device_times};
use crate::analysis::device::kernels::{KernelGroup, kernel_groups};
use crate::analysis::device::steps::{Step, steps};
use crate::analysis::timeline::lane_names::LaneNames;
use crate::analysis::torch::averages::{Average, GroupBy, exact_key_averages};
use crate::analysis::torch::device_type::DeviceType;
use crate::analysis::torch::function_events::FunctionEvents;
use crate::diagnostics::Severity;
use crate::order::{descending, sort_by_key};
use crate::rows::{Cell, Column, Record, Rows, Shape};
use crate::table::tracks;
use crate::trace::Trace;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value;

/// The columns of the answer.
pub const COLUMNS: &[Column] = &[
    Column::ns("wall_ns", "Wall", "From the first event to the end of the last."),
    Column::int("steps", "Steps", "How many profiler steps there are."),
    Column::ns("mean_step_ns", "Mean step", "Their mean wall time.").nullable(),
    Column::ns("self_cpu_time_total_ns", "Self CPU", "Sum of all self CPU times."),
    Column::json("devices", "", Shape::Records(&DEVICE_TIME), "Where each device's time went."),
    Column::json("top_operators", "", Shape::Records(&TOP_OPERATOR), "Operators by self CPU time."),
    Column::json("top_kernels", "", Shape::Records(&TOP_KERNEL), "Kernels, copies and fills by time."),
    Column::json("top_idle", "", Shape::Records(&IDLE_GAP), "The longest idle gaps of the devices."),
    Column::json(
        "top_tracks",
        "",
        Shape::Records(&TOP_TRACK),
        "Rows of the timeline by time, for traces without operators.",
    ),
    Column::json("findings", "", Shape::Records(&FINDING), "What looks wrong."),
    Column::int("lost", "Lost", "How many parts of the file could not be read."),
];

const DEVICE_TIME: Record = Record {
    name: "DeviceTime",
    members: &[
        Column::text("device", "", "Its number, as the trace has it."),
        Column::int("activities", "", "How many kernels, copies and memsets."),
        Column::ns("window_ns", "", "From the first activity to the end of the last."),
        Column::ns("sum_ns", "", "Sum of their durations."),
        Column::ns("busy_ns", "", "Time in which any of them was running."),
        Column::ns("idle_ns", "", "The rest of the window."),
        Column::json("classes", "", Shape::Records(&CLASS_TIME), "The same by class."),
        Column::json("idle_causes", "", Shape::Record(&IDLE_CAUSES), "The idle time by cause."),
    ],
};

const CLASS_TIME: Record = Record {
    name: "ClassTime",
    members: &[
        Column::word("class", "", &Class::VOCABULARY, "What the device did."),
        Column::int("count", "", "How many activities."),
        Column::ns("sum_ns", "", "Sum of their durations."),
        Column::ns("busy_ns", "", "Time in which any of them was running."),
        Column::ns("exposed_ns", "", "Time in which nothing else was running."),
    ],
};

/// A member for each of [`IdleCause::ALL`], in its order.
const IDLE_CAUSES: Record = Record {
    name: "IdleCauses",
    members: &[
        Column::ns("host_late_ns", "", "The launch of what came next began after the gap had begun."),
        Column::ns("host_waiting_ns", "", "The host was in a synchronizing call when the gap began."),
        Column::ns("queued_ns", "", "What came next had been launched before the gap began."),
        Column::ns("unknown_ns", "", "The launch of what came next is not in the trace."),
    ],
};

const TOP_OPERATOR: Record = Record {
    name: "TopOperator",
    members: &[
        Column::text("name", "", "The operator."),
        Column::int("count", "", "How many calls."),
        Column::ns(
            "self_cpu_time_total_ns",
            "",
            "Time on the CPU, without that of the events called inside.",
        ),
        Column::ns("cpu_time_total_ns", "", "Time on the CPU, with that of the events called inside."),
        Column::ns("device_time_total_ns", "", "Sum of the device work that it and what it called launched."),
    ],
};

const TOP_KERNEL: Record = Record {
    name: "TopKernel",
    members: &[
        Column::text("name", "", "The kernel, copy or memset."),
        Column::word("class", "", &Class::VOCABULARY, "What the device did."),
        Column::int("count", "", "How often it ran."),
        Column::ns("sum_ns", "", "Sum of the durations."),
    ],
};

const IDLE_GAP: Record = Record {
    name: "IdleGap",
    members: &[
        Column::text("device", "", "The device's number, as the trace has it."),
        Column::ns("start_ns", "", "When it began, after the start of the recording."),
        Column::ns("idle_ns", "", "How long it lasted."),
        Column::word("cause", "", &IdleCause::VOCABULARY, "Why."),
        Column::text("after", "", "The activity that came next."),
        Column::text("stream", "", "The stream of that activity."),
    ],
};

const TOP_TRACK: Record = Record {
    name: "TopTrack",
    members: &[
        Column::text("name", "", "The thread or stream."),
        Column::int("spans", "", "How many spans."),
        Column::ns("time_ns", "", "Time of the outermost ones."),
    ],
};

const FINDING: Record = Record {
    name: "Finding",
    members: &[
        Column::word("code", "", &FindingCode::VOCABULARY, "What it is."),
        Column::ns("cost_ns", "", "What it costs at most; 0 where it costs trust and not time."),
        Column::text("message", "", "What was seen."),
        Column::text("advice", "", "What to do."),
    ],
};

/// Everything that the summary says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// When the trace begins and ends, relative to its base, in ns.
    pub wall: (i64, i64),
    /// The steps.
    pub steps: Vec<Step>,
    /// Where each device's time went.
    pub devices: Vec<DeviceTime>,
    /// Operators by self CPU time.
    pub operators: Vec<Average>,
    /// Sum of all self CPU times, in ns.
    pub self_cpu_ns: i64,
    /// Kernels by time.
    pub kernels: Vec<KernelGroup>,
    /// Rows of the timeline by time, for traces without operators: name, spans, time of their roots in ns.
    pub tracks: Vec<(String, usize, i64)>,
    /// What looks wrong.
    pub findings: Vec<Finding>,
    /// The identities that the numbers were checked by.
    pub identities: Vec<Identity>,
}

/// What the summary says about the host.
pub(crate) struct HostPart {
    events: FunctionEvents,
    operators: Vec<Average>,
}

/// What the summary says about devices and steps.
pub(crate) struct DevicePart {
    devices: Vec<DeviceTime>,
    kernels: Vec<KernelGroup>,
    steps: Vec<Step>,
}

/// Computes the host's part, which takes about as long as [`device_part`]; a caller with threads runs both at once.
pub(crate) fn host_part(trace: &Trace) -> HostPart {
    let events = FunctionEvents::without_inputs(trace);
    let operators = operators(trace, &events);
    HostPart { events, operators }
}

/// Computes the devices' part.
pub(crate) fn device_part(trace: &Trace) -> DevicePart {
    let devices = device_times(trace);
    DevicePart { kernels: kernel_groups(trace), steps: steps(trace, &devices), devices }
}

/// Computes the summary.
pub fn summary(trace: &Trace) -> Summary {
    assemble(trace, host_part(trace), device_part(trace))
}

/// Puts the two parts of a trace's summary together.
pub(crate) fn assemble(trace: &Trace, host: HostPart, device: DevicePart) -> Summary {
    let HostPart { events, operators } = host;
    let DevicePart { devices, kernels, steps } = device;
    let wall = info::wall(&trace.table);
    Summary {
        identities: identities(trace, &events, &devices, &steps),
        findings: findings(trace, wall.1 - wall.0, &devices, &kernels, &steps),
        tracks: if operators.is_empty() { busiest_tracks(trace) } else { Vec::new() },
        self_cpu_ns: events.self_cpu_time_total_ns(),
        wall,
        steps,
        devices,
        operators,
        kernels,
    }
}

/// CPU rows of the key averages by self time.
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
    /// The longest idle gaps of all devices: device, gap.
    pub(crate) fn longest_gaps(&self, limit: usize) -> Vec<(&DeviceTime, usize)> {
        let mut gaps: Vec<(&DeviceTime, usize)> =
            self.devices.iter().flat_map(|d| (0..d.gaps.len()).map(move |g| (d, g))).collect();
        let order = |&(d, g): &(&DeviceTime, usize)| {
            let (start, end) = d.gaps[g].time;
            (descending(end - start), start)
        };
        // A few of many: most are looked at once and left out.
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

    /// The summary as one row of plain values.
    pub fn rows(&self, trace: &Trace, limit: usize) -> Rows {
        let mut rows = Rows::new(COLUMNS);
        let origin = trace.start_ns;
        let lost = trace.diagnostics.findings().iter().filter(|f| f.code.severity() == Severity::Lost);
        rows.push(vec![
            Cell::Ns(self.wall.1 - self.wall.0),
            self.steps.len().into(),
            self.mean_step_ns().map_or(Cell::Null, Cell::Ns),
            Cell::Ns(self.self_cpu_ns),
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
            Cell::Json(self.findings.iter().map(finding_json).collect()),
            Cell::Int(lost.map(|f| f.count as i64).sum()),
        ]);
        rows
    }

    /// The mean wall time of a step, in ns.
    pub(crate) fn mean_step_ns(&self) -> Option<i64> {
        let count = self.steps.len() as i64;
        (count > 0).then(|| self.steps.iter().map(|s| s.time.1 - s.time.0).sum::<i64>() / count)
    }
}

fn device_json(device: &DeviceTime) -> Value {
    let idle = device.idle_by_cause().iter().map(|&(_, ns)| Cell::Ns(ns)).collect();
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
        Cell::Json(IDLE_CAUSES.object(idle)),
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
        gap.cause.as_str().into(),
        trace.table.name(gap.after).into(),
        tracks::plain(&trace.table.names, track.tid).into(),
    ])
}

fn finding_json(finding: &Finding) -> Value {
    FINDING.object(vec![
        finding.code.as_str().into(),
        Cell::Ns(finding.cost_ns),
        finding.message.as_str().into(),
        finding.advice.into(),
    ])
}
