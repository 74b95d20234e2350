//! The critical path as rows: the time of each part, and what stood behind it.

use super::path::{self, PathPart, Segment};
use crate::analysis::device::behind::{BEHIND, Behind, Group};
use crate::analysis::device::ranges::step_ranges;
use crate::analysis::intervals::Interval;
use crate::analysis::query::options::{Opt, ROW_LIMIT, STEP, TIME, options};
use crate::analysis::query::question::Question;
use crate::analysis::query::{Input, Query};
use crate::base::error::Error;
use crate::base::rows::{Column, Rows, Shape, columns};
use crate::base::units::time_ns;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::vec::Vec;
use serde_json::Value;

options! {
    /// Options of `critical-path`.
    pub(crate) struct CriticalPathOptions {
        /// The number of the profiler step; `None` for the complete trace, or the range of time.
        pub step: Option<i64> = STEP,
        /// Start and end in ns after the start of the recording.
        pub time: Option<(i64, i64)> = TIME,
        /// One row for each period, in the order of time, instead of one for each part.
        pub periods: bool = Opt::flag("periods", "List each period with its event, in the order of time"),
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The query `critical-path`.
pub(crate) const CRITICAL_PATH: Query = Query::new(
    "critical-path",
    "Critical path: what the end of the trace or a step depended on",
    COLUMNS,
    |trace, request| Ok(critical_path(trace, &request.typed())?.into()),
)
.examples(&["run.json --step 5", "run.json --time 10ms..20ms --format json"])
.options::<CriticalPathOptions>()
.inputs(&[Input::KernelRules, Input::StepRules])
.questions(&[Question::Idle])
.hint("this trace has no calls, operators or device work");

/// Returns the critical path by its parts, the longest first.
///
/// # Errors
/// Returns [`Error::BadOption`] if the trace has no such step, or if a range of time is given as well.
pub(crate) fn critical_path(trace: &Trace, options: &CriticalPathOptions) -> Result<Rows, Error> {
    let window = window(trace, options.step, options.time)?;
    let rows = if options.periods { period_rows } else { path_rows };
    Ok(rows(trace, window).first(options.row_limit))
}

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(trace: &Trace, group: Group<'_>, total_ns: i64, longest: &Segment) [
        Column::word("part", "Part", &PathPart::VOCABULARY, "What bounds this part of the critical path.") =>
            PathPart::ALL[group.index].as_str(),
        Column::ns("time_ns", "Time", "Its time; all parts add up to the window.") => group.time_ns,
        Column::share("share", "Share", "Its share of the window.") => group.time_ns as f64 / total_ns as f64,
        Column::int("count", "Periods", "The number of periods.") => group.count,
        Column::text("mostly", "Mostly", "The first of `behind`.").nullable() => group.mostly,
        Column::json("behind", "", Shape::Records(&BEHIND), "The spans and activities, by time; at most 10.") =>
            group.behind,
        Column::ns("start_ns", "Longest at", "The start of the longest period, after the start of the recording.") =>
            longest.time.0.saturating_sub(trace.start_ns),
        Column::int("track", "", "The track of that period, as `tracks` counts them; null between two of them.")
            .nullable() => longest.track.map(|track| track.0 as usize),
        Column::int("event", "", "The index of the event of that period.").nullable() =>
            longest.row.map(Row::index),
    ]
}

/// Returns the window of a step, or of a range of time after the start of the recording; `None` for the complete trace.
///
/// # Errors
/// Returns [`Error::BadOption`] if both are given, or the trace has no such step, or nothing in the range.
pub(crate) fn window(
    trace: &Trace,
    step: Option<i64>,
    time: Option<Interval>,
) -> Result<Option<Interval>, Error> {
    let table = &trace.table;
    match (step, time) {
        (Some(_), Some(_)) => Err(Error::BadOption("step: a range of time is given as well".into())),
        (Some(number), None) => {
            let steps = step_ranges(trace).into_iter().filter(|step| step.1 == number);
            let times = steps.map(|(row, _)| (table.ts(row), table.end(row)));
            let span = times.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
            span.map(Some).ok_or_else(|| Error::BadOption(format!("step: the trace has no step {number}")))
        }
        (None, None) => Ok(None),
        (None, Some(time)) => {
            let spans = table.rows().filter(|&row| table.is_span(row));
            let end = spans.map(|row| table.end(row)).max().unwrap_or(trace.start_ns);
            let [start, until] = [time.0, time.1].map(|ns| ns.saturating_add(trace.start_ns));
            let window = (start.max(trace.start_ns), until.min(end));
            if window.0 >= window.1 {
                let length = time_ns(end.saturating_sub(trace.start_ns), None);
                return Err(Error::BadOption(format!("time: the trace is {length} long")));
            }
            Ok(Some(window))
        }
    }
}

/// Returns the parts of the critical path of a window, the longest first.
pub(crate) fn path_rows(trace: &Trace, window: Option<Interval>) -> Rows {
    let mut behind = Behind::new(&trace.table, PathPart::ALL.len());
    let mut longest: [Option<Segment>; PathPart::ALL.len()] = [None; PathPart::ALL.len()];
    for segment in path::critical_path(trace, window) {
        behind.add(segment.part as usize, segment.row, length(&segment));
        let known = &mut longest[segment.part as usize];
        if known.is_none_or(|known| length(&segment) > length(&known)) {
            *known = Some(segment);
        }
    }
    let total = behind.total_ns();
    let mut rows = Rows::new(COLUMNS);
    for group in behind.groups() {
        if let Some(longest) = &longest[group.index] {
            rows.push(row(trace, group, total, longest));
        }
    }
    rows
}

/// Returns the periods of the critical path of a window, in the order of time.
pub(crate) fn period_rows(trace: &Trace, window: Option<Interval>) -> Rows {
    let path = path::critical_path(trace, window);
    let total: i64 = path.iter().map(length).sum();
    let mut rows = Rows::new(COLUMNS);
    for segment in path {
        let (index, time_ns) = (segment.part as usize, length(&segment));
        let mostly = segment.row.map(|row| trace.table.name(row));
        let behind = Value::Array(Vec::new());
        rows.push(row(trace, Group { index, time_ns, count: 1, mostly, behind }, total, &segment));
    }
    rows
}

fn length(segment: &Segment) -> i64 {
    segment.time.1 - segment.time.0
}
