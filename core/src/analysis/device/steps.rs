//! The breakdown of each profiler step.
//!
//! A step is a `ProfilerStep#N` annotation on the CPU. Its wall time is broken down by priority, so the parts add up to
//! it: each instant counts for the first of kernel, communication, memcpy, memset, runtime call, data loading and
//! operator that was running at that time, on any device or thread of its process. The remainder is `other`.

use super::classes::Class;
use super::device_time::DeviceTime;
use super::ranges::Ranges;
use crate::analysis::context::Analysis;
use crate::analysis::intervals::{Collector, Interval, Intervals, lengths_in};
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::question::Question;
use crate::analysis::query::{Input, Query};
use crate::base::rows::{Column, Rows, columns};
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// The parts of the breakdown, in order of priority.
pub const PARTS: [&str; 8] =
    ["kernel", "communication", "memcpy", "memset", "runtime", "data_loader", "cpu_op", "other"];

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The annotation.
    pub row: Row,
    /// The number of the step.
    pub number: i64,
    /// Start and end, in ns relative to the table's base.
    pub time: Interval,
    /// The number of device activities launched in the step.
    pub kernels: usize,
    /// The sum of the durations of the device activities launched in the step, in ns.
    pub device_sum_ns: i64,
    /// The time during which any device of its process was busy, in ns.
    pub device_busy_ns: i64,
    /// The wall time of each of the [`PARTS`], in ns.
    pub parts_ns: [i64; 8],
}

impl Analysis<'_> {
    /// Returns every step.
    pub fn steps(&self) -> &[Step] {
        self.once(|| steps(self, self.devices()))
    }
}

/// Returns every step of a trace with the parts that these devices have.
pub(crate) fn steps(analysis: &Analysis<'_>, devices: &[DeviceTime]) -> Vec<Step> {
    let table = &analysis.trace.table;
    let ranges = analysis.step_finder().steps.iter();
    let mut steps: Vec<Step> = ranges
        .map(|&(row, number)| Step {
            row,
            number,
            time: (table.ts(row), table.end(row)),
            kernels: 0,
            device_sum_ns: 0,
            device_busy_ns: 0,
            parts_ns: [0; 8],
        })
        .collect();
    if !steps.is_empty() {
        count_launches(analysis, &mut steps);
        divide(analysis, devices, &mut steps);
    }
    steps
}

/// Divides the steps into parts. Of several processes with steps, each has its own threads and devices.
fn divide(analysis: &Analysis<'_>, devices: &[DeviceTime], steps: &mut [Step]) {
    let table = &analysis.trace.table;
    let pid = |row: Row| table.track(row).pid;
    let Some(processes) = analysis.step_processes() else {
        return divide_by(&layers(table, devices.iter(), |_| true), steps.iter_mut());
    };
    for &process in &processes.all {
        let is_own = |row: Row| pid(row) == process;
        let process_devices = devices.iter().filter(|device| processes.uses(process, &device.device));
        let layers = layers(table, process_devices, is_own);
        divide_by(&layers, steps.iter_mut().filter(|step| is_own(step.row)));
    }
}

fn divide_by<'s>(layers: &[Cow<'_, Intervals>; 7], steps: impl Iterator<Item = &'s mut Step>) {
    let layers = layers.each_ref().map(Cow::as_ref);
    let steps: Vec<&mut Step> = steps.collect();
    let times: Vec<Interval> = steps.iter().map(|step| step.time).collect();
    for (step, lengths) in steps.into_iter().zip(lengths_in(&layers, &times)) {
        let [parts @ .., other] = &mut step.parts_ns;
        *parts = lengths.added;
        *other = step.time.1 - step.time.0 - parts.iter().sum::<i64>();
        step.device_busy_ns = parts[..Class::ALL.len()].iter().sum();
    }
}

/// Counts device work in the step of its launch; without a launch, in that of its start.
fn count_launches(analysis: &Analysis<'_>, steps: &mut [Step]) {
    let (table, finder) = (&analysis.trace.table, analysis.step_finder());
    for row in table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row)) {
        if let Some(at) = finder.find(analysis.trace, row) {
            steps[at].kernels += 1;
            steps[at].device_sum_ns += table.dur(row).max(0);
        }
    }
}

/// Returns the times during which each part except `other` was running, on these devices and in the spans of the host for
/// which `is_own` holds.
fn layers<'a>(
    table: &Table,
    devices: impl Iterator<Item = &'a DeviceTime>,
    is_own: impl Fn(Row) -> bool,
) -> [Cow<'a, Intervals>; 7] {
    let devices: Vec<&DeviceTime> = devices.collect();
    let ranges = Ranges::new(&table.names);
    let mut host: [Collector; 3] = Default::default();
    for row in table.rows().filter(|&row| table.is_span(row) && is_own(row)) {
        let layer = match table.category(row) {
            Category::Runtime | Category::Driver => 0,
            _ if ranges.is_loading(table, row) => 1,
            _ if ranges.is_operator(table, row) => 2,
            _ => continue,
        };
        host[layer].push((table.ts(row), table.end(row)));
    }
    let [runtime, data, ops] = host.map(|collected| Cow::Owned(collected.union()));
    let class = |at: usize| Intervals::union_of_all(devices.iter().map(|device| &device.unions[at]));
    [class(0), class(1), class(2), class(3), runtime, data, ops]
}

/// The query `steps`.
pub const STEPS: Query =
    Query::new("steps", "Profiler steps: what each spent its time on", COLUMNS, |trace, request| {
        Ok(request.limited(step_rows(trace)))
    })
    .examples(&["run.json", "run.json --format csv -o steps.csv"])
    .options::<ListOptions>()
    .inputs(&[Input::KernelRules, Input::StepRules])
    .questions(&[Question::Steps])
    .hint("this trace has no steps; call prof.step() while recording");

columns! {
    /// The columns of the answer.
    pub const COLUMNS: fn row(trace: &Trace, step: &Step) {
        let [kernel, communication, memcpy, memset, runtime, data_loader, cpu_op, other] = step.parts_ns;
    } [
        Column::text("name", "Step", "The name of the step.") => trace.table.name(step.row),
        Column::int("step", "", "The number of the step.") => step.number,
        Column::ns("start_ns", "Start", "The start of the step, after the start of the recording.") =>
            step.time.0.saturating_sub(trace.start_ns),
        Column::ns("wall_ns", "Wall", "The duration of the step; kernel_ns to other_ns add up to it.") =>
            step.time.1 - step.time.0,
        Column::ns("device_busy_ns", "GPU busy", "The time of the step during which any device of its process was busy.") =>
            step.device_busy_ns,
        Column::ns("device_sum_ns", "GPU sum", "Sum of the durations of the device work launched in the step.") =>
            step.device_sum_ns,
        Column::int("launched", "Launched", "The number of device activities launched in the step.") =>
            step.kernels,
        Column::ns("kernel_ns", "Kernel", "Wall time during which compute kernels ran.") => kernel,
        Column::ns("communication_ns", "Communication", "Wall time during which communication kernels ran, and none of the above.") =>
            communication,
        Column::ns("memcpy_ns", "Memcpy", "Wall time during which copies ran, and none of the above.") =>
            memcpy,
        Column::ns("memset_ns", "Memset", "Wall time during which memsets ran, and none of the above.") =>
            memset,
        Column::ns("runtime_ns", "Runtime", "Wall time in runtime or driver calls, and none of the above.") =>
            runtime,
        Column::ns("data_loader_ns", "DataLoader", "Wall time in data loading, and none of the above.") =>
            data_loader,
        Column::ns("cpu_op_ns", "CPU op", "Wall time in operators, and none of the above.") => cpu_op,
        Column::ns("other_ns", "Other", "The remaining wall time.") => other,
    ]
}

/// Returns the steps as rows.
pub(crate) fn step_rows(trace: &Trace) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    for step in Analysis::new(trace).steps() {
        rows.push(row(trace, step));
    }
    rows
}
