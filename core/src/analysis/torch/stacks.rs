//! PyTorch's `export_stacks`, and stacks by self time.

use super::clock::TorchClock;
use super::frames::StackId;
use super::function_events::FunctionEvents;
use crate::analysis::query::options::{Opt, ROW_LIMIT, options};
use crate::analysis::query::question::Question;
use crate::analysis::query::{Answer, Input, Query};
use crate::base::error::Error;
use crate::base::escape;
use crate::base::handle::collect;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Column, Rows, Shape, columns};
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::Table;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use serde_json::Value;

words! {
    "StackMetric"
    /// The metric of the lines of [`export`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum Metric {
        /// Self CPU time, in whole microseconds.
        #[default]
        SelfCpuTime = "self_cpu_time_total",
        /// Self device time, in whole microseconds, of any device: PyTorch does not compare the device in the name.
        SelfCudaTime = "self_cuda_time_total",
        /// The same.
        SelfXpuTime = "self_xpu_time_total",
        /// The same.
        SelfPrivateUse1Time = "self_privateuse1_time_total",
    }
}

/// PyTorch's `export_stacks`: one line for each event with the frames, outermost first and separated by `;`, and the
/// metric. Events without a stack, or with less than a microsecond, are omitted.
pub fn export(events: &FunctionEvents, table: &Table, metric: Metric) -> String {
    let clock = TorchClock::new(events, table);
    let mut out = String::new();
    for event in events.events() {
        let frames = events.stacks.get(events.stack(event));
        let us = match metric {
            Metric::SelfCpuTime => clock.times(event).self_cpu_time_total,
            _ => clock.times(event).self_device_time_total,
        } as i64;
        if frames.is_empty() || us <= 0 {
            continue;
        }
        for (i, frame) in frames.iter().rev().enumerate() {
            if i > 0 {
                out.push(';');
            }
            out.push_str(&if i == 0 { escape::first_frame(frame) } else { escape::frame(frame) });
        }
        let _ = writeln!(out, " {us}");
    }
    out
}

/// The lines of calls instead of those of function definitions.
pub(crate) const CALL_SITES: Opt = Opt::flag(
    "call-sites",
    "Lines of calls, if known, instead of function definitions (PyTorch 2.14 and later)",
);

options! {
    /// Options of `stacks`.
    pub struct StacksOptions {
        /// Use the lines of calls instead of the lines of function definitions.
        pub call_sites: bool = CALL_SITES,
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The query `stacks`.
pub const STACKS: Query = Query::new("stacks", "Python stacks by self time", COLUMNS, |trace, request| {
    Ok(Answer { hint: without_stacks(trace), ..stacks(trace, &request.typed())?.into() })
})
.examples(&["run.json --row-limit 20", "run.json --format json -o stacks.json"])
.options::<StacksOptions>()
.inputs(&[Input::TorchRules])
.questions(&[Question::Operators])
.hint("this trace has no stacks; record with with_stack=True, or use `tree`");

/// Returns the Python stacks, ordered by self time.
///
/// # Errors
/// Returns [`Error::BadOption`] if the trace has no lines of calls and they are wanted.
pub fn stacks(trace: &Trace, options: &StacksOptions) -> Result<Rows, Error> {
    let events = FunctionEvents::new(trace);
    let events = if options.call_sites { events.with_call_sites(trace)? } else { events };
    Ok(stack_rows(&events).first(options.row_limit))
}

/// Why a trace that was recorded with stacks has none; `None` if it was not.
pub(crate) fn without_stacks(trace: &Trace) -> Option<&'static str> {
    let table = &trace.table;
    let has = |category: Category| table.rows_of(category).next().is_some();
    let is_on = table.metadata.flag("with_stack") == Some(true);
    if !is_on {
        None
    } else if has(Category::CpuOp) || has(Category::PythonFunction) {
        Some("this trace has none, although with_stack is on in it; use `tree`")
    } else {
        Some(
            "with_stack is on in this trace, but it has no events of the CPU; record with activities=[ProfilerActivity.CPU, …]",
        )
    }
}

columns! {
    /// The columns of the answer.
    pub const COLUMNS: fn row(self_cpu_ns: i64, self_device_ns: i64, count: usize, frames: &[String]) [
        Column::ns("self_cpu_time_total_ns", "Self CPU", "Self CPU time of the events with this stack.") =>
            self_cpu_ns,
        Column::ns("self_device_time_total_ns", "Self device", "Sum of the device work that the events with this stack launched.") =>
            self_device_ns,
        Column::int("count", "Events", "The number of events with this stack.") => count,
        Column::text("frame", "Innermost frame", "The innermost frame: path(line): function.").nullable() =>
            frames.first().map(String::as_str),
        Column::text("caller", "Called from", "The caller of the innermost frame.").nullable() =>
            frames.get(1).map(String::as_str),
        Column::json("stack", "", Shape::Texts, "The complete stack, innermost frame first.") =>
            Value::from(frames),
    ]
}

/// Returns the stacks with their times, the longest self CPU time first.
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
        rows.push(row(cpu, device, count, events.stacks.get(id)));
    }
    rows
}
