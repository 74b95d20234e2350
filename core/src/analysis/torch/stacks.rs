//! torch's `export_stacks`, and the stacks by the time spent in them.

use super::clock::TorchClock;
use super::frames::StackId;
use super::function_events::FunctionEvents;
use crate::handle::collect;
use crate::order::{descending, sort_by_key};
use crate::rows::{Cell, Column, Rows, Shape};
use crate::table::events::Table;
use crate::words::words;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write;

words! {
    "StackMetric"
    /// What a line of [`export`] counts.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Metric {
        /// In whole microseconds.
        #[default]
        SelfCpuTime = "self_cpu_time_total",
        /// In whole microseconds; torch's name for any device.
        SelfDeviceTime = "self_cuda_time_total",
    }
}

impl Metric {
    /// The metric of torch's name.
    pub fn of(name: &str) -> Option<Metric> {
        match name {
            "self_cpu_time_total" => Some(Metric::SelfCpuTime),
            "self_cuda_time_total"
            | "self_device_time_total"
            | "self_xpu_time_total"
            | "self_privateuse1_time_total" => Some(Metric::SelfDeviceTime),
            _ => None,
        }
    }
}

/// torch's `export_stacks`: a line an event, outermost frame first, `;` between frames, then the metric. Events without
/// a stack or with less than a microsecond are left out.
pub fn export(events: &FunctionEvents, table: &Table, metric: Metric) -> String {
    let clock = TorchClock::new(events, table);
    let mut out = String::new();
    for event in events.events() {
        let frames = events.stacks.get(events.stack(event));
        let us = match metric {
            Metric::SelfCpuTime => clock.times(event).self_cpu_time_total,
            Metric::SelfDeviceTime => clock.times(event).self_device_time_total,
        } as i64;
        if frames.is_empty() || us <= 0 {
            continue;
        }
        for (i, frame) in frames.iter().rev().enumerate() {
            if i > 0 {
                out.push(';');
            }
            out.extend(frame.chars().map(|c| if matches!(c, ' ' | ';' | '\t' | '\n') { '_' } else { c }));
        }
        let _ = writeln!(out, " {us}");
    }
    out
}

/// The columns of the answer.
pub const COLUMNS: &[Column] = &[
    Column::ns("self_cpu_time_total_ns", "Self CPU", "Self time on the CPU of the events with this stack."),
    Column::ns(
        "self_device_time_total_ns",
        "Self device",
        "Device work that the events with this stack launched.",
    ),
    Column::int("count", "Events", "How many events have this stack."),
    Column::text("frame", "Innermost frame", "The innermost frame: path(line): function.").nullable(),
    Column::text("caller", "Called from", "The frame around it.").nullable(),
    Column::json("stack", "", Shape::Texts, "The whole stack, innermost frame first."),
];

/// Stacks with the time spent in them, most self CPU time first.
pub(crate) fn stack_rows(events: &FunctionEvents) -> Rows {
    let mut sums: Vec<(i64, i64, usize, StackId)> = collect(events.stacks.len(), |id| (0, 0, 0, id));
    for event in events.events() {
        let Some(sum) = sums.get_mut(events.stack(event).index()) else { continue };
        sum.0 += events.self_ns(event);
        sum.1 = sum.1.saturating_add(events.self_device_time_total_ns(event));
        sum.2 += 1;
    }
    sums.retain(|s| s.2 > 0 && s.3 != StackId::EMPTY);
    sort_by_key(&mut sums, |s| (descending(s.0), descending(s.1)));
    let mut rows = Rows::new(COLUMNS);
    for (cpu, device, count, id) in sums {
        let frames = events.stacks.get(id);
        rows.push(vec![
            Cell::Ns(cpu),
            Cell::Ns(device),
            count.into(),
            frames.first().map(String::as_str).into(),
            frames.get(1).map(String::as_str).into(),
            Cell::Json(frames.iter().map(|f| serde_json::Value::from(f.as_str())).collect()),
        ]);
    }
    rows
}
