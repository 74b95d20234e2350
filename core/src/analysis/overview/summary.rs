//! What a person wants first: what was traced, how the time was spent, what looks wrong, how far to trust it.

use super::findings::{Finding, findings};
use super::info;
use super::ledger::{Identity, identities};
use crate::analysis::device::device_time::{DeviceTime, device_times};
use crate::analysis::device::kernels::{KernelGroup, kernel_groups};
use crate::analysis::device::steps::{Step, steps};
use crate::analysis::timeline::lane_names::LaneNames;
use crate::analysis::torch::averages::{Average, GroupBy, exact_key_averages};
use crate::analysis::torch::device_type::DeviceType;
use crate::analysis::torch::function_events::FunctionEvents;
use crate::diagnostics::Severity;
use crate::order::{descending, sort_by_key};
use crate::rows::{Cell, Column, Rows};
use crate::table::tracks;
use crate::trace::Trace;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::{Value, json};

/// The columns of the answer.
pub const COLUMNS: &[Column] = &[
    Column::ns("wall_ns", "Wall", "From the first event to the end of the last."),
    Column::int("steps", "Steps", "How many profiler steps there are."),
    Column::ns("mean_step_ns", "Mean step", "Their mean wall time.").or_null(),
    Column::ns("self_cpu_time_total_ns", "Self CPU", "Sum of all self CPU times."),
    Column::json("devices", "", "DeviceTime[]", "Where each device's time went."),
    Column::json("top_operators", "", "TopOperator[]", "Operators by self CPU time."),
    Column::json("top_kernels", "", "TopKernel[]", "Kernels, copies and fills by time."),
    Column::json("top_idle", "", "IdleGap[]", "The longest idle gaps of the devices."),
    Column::json(
        "top_tracks",
        "",
        "TopTrack[]",
        "Rows of the timeline by time, for traces without operators.",
    ),
    Column::json("findings", "", "Finding[]", "What looks wrong."),
    Column::int("lost", "Lost", "How many parts of the file could not be read."),
];

/// The shapes that [`COLUMNS`] names: name and members, in TypeScript's notation.
pub const SHAPES: &[(&str, &str)] = &[
    (
        "DeviceTime",
        "device: string; activities: number; window_ns: number; sum_ns: number; busy_ns: number; idle_ns: number; \
         classes: ClassTime[]; idle_causes: IdleCauses",
    ),
    ("ClassTime", "class: string; count: number; sum_ns: number; busy_ns: number; exposed_ns: number"),
    ("IdleCauses", "host_late_ns: number; host_waiting_ns: number; queued_ns: number; unknown_ns: number"),
    (
        "TopOperator",
        "name: string; count: number; self_cpu_time_total_ns: number; cpu_time_total_ns: number; \
         device_time_total_ns: number",
    ),
    ("TopKernel", "name: string; class: string; count: number; sum_ns: number"),
    (
        "IdleGap",
        "device: string; start_ns: number; idle_ns: number; cause: string; after: string; stream: string",
    ),
    ("TopTrack", "name: string; spans: number; time_ns: number"),
    ("Finding", "code: string; cost_ns: number; message: string; advice: string"),
];

/// Everything that the summary says.
#[derive(Clone, Debug)]
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
        .lanes
        .iter()
        .map(|lane| {
            let time = trace.tree.self_times(&trace.table, lane).iter().sum();
            (names.get(lane), (lane.end - lane.start) as usize, time)
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
                    .map(|t| json!({"name": t.0, "spans": t.1, "time_ns": t.2}))
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
    let idle: serde_json::Map<String, Value> = device
        .idle_by_cause()
        .iter()
        .map(|(cause, ns)| (cause.as_str().replace(' ', "_") + "_ns", json!(ns)))
        .collect();
    let classes: Vec<Value> = device
        .classes
        .iter()
        .map(|c| {
            json!({"class": c.class.as_str(), "count": c.count, "sum_ns": c.sum_ns, "busy_ns": c.busy_ns,
                "exposed_ns": c.exposed_ns})
        })
        .collect();
    json!({"device": device.device, "activities": device.count, "window_ns": device.window.1 - device.window.0,
        "sum_ns": device.sum_ns, "busy_ns": device.busy_ns, "idle_ns": device.idle_ns(), "classes": classes,
        "idle_causes": idle})
}

fn operator_json(row: &Average) -> Value {
    json!({"name": row.key, "count": row.count, "self_cpu_time_total_ns": row.self_cpu_time_total_ns,
        "cpu_time_total_ns": row.cpu_time_total_ns, "device_time_total_ns": row.device_time_total_ns})
}

fn kernel_json(group: &KernelGroup) -> Value {
    json!({"name": group.name, "class": group.class.as_str(), "count": group.count, "sum_ns": group.sum_ns})
}

fn gap_json(trace: &Trace, device: &DeviceTime, at: usize, origin: i64) -> Value {
    let gap = &device.gaps[at];
    let start = gap.time.0.saturating_sub(origin);
    let track = trace.table.track(gap.after);
    json!({"device": device.device, "start_ns": start, "idle_ns": gap.time.1 - gap.time.0,
        "cause": gap.cause.as_str(), "after": trace.table.name(gap.after),
        "stream": tracks::plain(&trace.table.names, track.tid)})
}

fn finding_json(finding: &Finding) -> Value {
    json!({"code": finding.code, "cost_ns": finding.cost_ns, "message": finding.message, "advice": finding.advice})
}
