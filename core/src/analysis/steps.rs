//! What each profiler step spent its time on.
//!
//! A step is a `ProfilerStep#N` range on the CPU. Its wall time is parted by priority, so that the parts add up to it: an
//! instant belongs to the first of kernel, communication, memcpy, memset, runtime call, data loading and operator that
//! was running then, on any device or thread; what is left is `other`.

use super::device_time::Classes;
use super::intervals::{Collector, Interval, Intervals};
use crate::rows::{Cell, Rows};
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::trace::Trace;
use alloc::vec::Vec;

/// The parts of a step, in the order of priority.
pub const PARTS: [&str; 8] =
    ["kernel", "communication", "memcpy", "memset", "runtime", "data_loader", "cpu_op", "other"];

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The range.
    pub row: Row,
    /// Its number.
    pub number: i64,
    /// When, relative to the table's base.
    pub time: Interval,
    /// How many device activities were launched in it.
    pub kernels: usize,
    /// Sum of the durations of what was launched in it, in ns.
    pub device_sum_ns: i64,
    /// The time when any device was running, in ns.
    pub device_busy_ns: i64,
    /// The [`PARTS`] of its wall time, in ns.
    pub parts_ns: [i64; 8],
}

/// The ranges that are steps, in order of time.
pub fn step_ranges(table: &Table) -> Vec<(Row, i64)> {
    let mut steps: Vec<(Row, i64)> = table
        .rows()
        .filter(|&row| {
            matches!(table.category(row), Category::UserAnnotation | Category::CpuOp) && table.is_span(row)
        })
        .filter_map(|row| Some((row, table.name(row).strip_prefix("ProfilerStep#")?.trim().parse().ok()?)))
        .collect();
    steps.sort_by_key(|&(row, _)| (table.ts(row), row));
    steps
}

/// Every step of a trace.
pub fn steps(trace: &Trace) -> Vec<Step> {
    let table = &trace.table;
    let ranges = step_ranges(table);
    if ranges.is_empty() {
        return Vec::new();
    }
    let layers = layers(table);
    let launches = launches(trace);
    let mut steps: Vec<Step> = ranges
        .iter()
        .map(|&(row, number)| {
            let time = (table.ts(row), table.end(row));
            let first = launches.partition_point(|l| l.0 < time.0);
            let within = &launches[first..launches.partition_point(|l| l.0 < time.1).max(first)];
            Step {
                row,
                number,
                time,
                kernels: within.len(),
                device_sum_ns: within.iter().map(|l| l.1).sum(),
                device_busy_ns: 0,
                parts_ns: [0; 8],
            }
        })
        .collect();
    for step in &mut steps {
        part(step, &layers);
    }
    steps
}

fn part(step: &mut Step, layers: &[Intervals; 7]) {
    let mut covered = Intervals::default();
    let mut length = 0;
    for (at, layer) in layers.iter().enumerate() {
        covered = covered.union(&layer.clipped(step.time));
        step.parts_ns[at] = covered.length() - length;
        length = covered.length();
        if at == 3 {
            step.device_busy_ns = length;
        }
    }
    step.parts_ns[7] = step.time.1 - step.time.0 - length;
}

/// When each part but `other` was running.
fn layers(table: &Table) -> [Intervals; 7] {
    let mut classes = Classes::new(table);
    let mut times: [Collector; 7] = Default::default();
    for row in table.rows().filter(|&row| table.is_span(row)) {
        let category = table.category(row);
        let layer = match category {
            _ if category.is_device_work() => classes.of(row) as usize,
            Category::Runtime | Category::Driver => 4,
            Category::CpuOp | Category::UserAnnotation if is_data_loading(table.name(row)) => 5,
            Category::CpuOp if !table.name(row).starts_with("ProfilerStep#") => 6,
            _ => continue,
        };
        times[layer].push((table.ts(row), table.end(row)));
    }
    times.map(Collector::union)
}

/// Whether a range is the loading of data.
pub fn is_data_loading(name: &str) -> bool {
    name.starts_with("enumerate(DataLoader)#") || name.starts_with("enumerate(DataPipe)#")
}

/// Start of launch and duration of every device activity, sorted. Without a launch, the activity's own start counts.
fn launches(trace: &Trace) -> Vec<(i64, i64)> {
    let table = &trace.table;
    let work = table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row));
    let mut launches: Vec<(i64, i64)> =
        work.map(|row| (table.ts(trace.links.launch(row).unwrap_or(row)), table.dur(row).max(0))).collect();
    launches.sort_unstable();
    launches
}

/// The steps as rows.
pub fn step_rows(trace: &Trace) -> Rows {
    let table = &trace.table;
    let origin = super::function_events::window_start(table);
    let mut rows = Rows::new(&[
        ("name", "Step"),
        ("step", ""),
        ("start_ns", "Start"),
        ("wall_ns", "Wall"),
        ("device_busy_ns", "GPU busy"),
        ("device_sum_ns", "GPU sum"),
        ("launched", "Launched"),
        ("kernel_ns", "Kernel"),
        ("communication_ns", "Communication"),
        ("memcpy_ns", "Memcpy"),
        ("memset_ns", "Memset"),
        ("runtime_ns", "Runtime"),
        ("data_loader_ns", "DataLoader"),
        ("cpu_op_ns", "CPU op"),
        ("other_ns", "Other"),
    ]);
    for step in steps(trace) {
        let mut cells: Vec<Cell> = alloc::vec![
            table.name(step.row).into(),
            step.number.into(),
            Cell::Ns(step.time.0.saturating_sub(origin)),
            Cell::Ns(step.time.1 - step.time.0),
            Cell::Ns(step.device_busy_ns),
            Cell::Ns(step.device_sum_ns),
            step.kernels.into(),
        ];
        cells.extend(step.parts_ns.map(Cell::Ns));
        rows.push(cells);
    }
    rows
}
