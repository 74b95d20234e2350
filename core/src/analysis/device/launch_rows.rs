//! Launches as rows.

use super::launches::{Launch, Launches, LaunchesBy, Spread, grouped};
use crate::analysis::query::Query;
use crate::analysis::query::options::{Opt, ROW_LIMIT, options};
use crate::analysis::query::question::Question;
use crate::base::rows::{Column, Rows, columns};
use crate::trace::Trace;
use crate::trace::table::merged::{device_name, own_id};

options! {
    /// Options of `launches`.
    pub(crate) struct LaunchesOptions {
        /// What the rows are about.
        pub by: LaunchesBy =
            Opt::word::<LaunchesBy>("by", "WHAT", "Rows of each `stream`, `call`, `kernel`, or `launch`"),
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The query `launches`.
pub(crate) const LAUNCHES: Query = Query::new(
    "launches",
    "Launches: delay, calls, short kernels, launch queues and bandwidth",
    COLUMNS,
    |trace, request| Ok(launch_rows(trace, &request.typed()).into()),
)
.examples(&["run.json", "run.json --by launch --row-limit 20"])
.options::<LaunchesOptions>()
.questions(&[Question::DeviceTime])
.hint("no device work with its launch in this trace; record with ProfilerActivity.CUDA and CPU");

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(trace: &Trace, group: &Launches) {
        let table = &trace.table;
        let spread = |of: &[Launch], time: fn(&Launch) -> i64| {
            (!of.is_empty()).then(|| Spread::from_times(of.iter().map(time).collect()))
        };
        let call = spread(&group.launches, |launch| launch.call_ns);
        let delay = spread(&group.launches, |launch| launch.delay_ns);
        let work = Spread::from_times(group.activities.iter().map(|launch| launch.work_ns).collect());
        let latest = group.latest();
        let track = group.stream.map(|stream| table.tracks.get(stream));
        let queue = group.queue.as_ref();
    } [
        Column::text("device", "Device", "The number of the device in the trace.").nullable() =>
            track.map(|track| device_name(table, track.pid)),
        Column::text("stream", "Stream", "The stream.").nullable() =>
            track.map(|track| own_id(table, track.tid)),
        Column::text("name", "Name", "The name of the call, or of the kernel, copy or memset.").nullable() =>
            group.name.as_deref(),
        Column::int("count", "Count", "The number of launches. A call that launches a graph is one.") =>
            group.launches.len(),
        Column::int("activities", "Work", "The number of kernels, copies and memsets, those of graphs too.") =>
            group.activities.len(),
        Column::ns("call_mean_ns", "Call", "The mean duration of the calls.").nullable() =>
            call.map(|call| call.mean),
        Column::ns("call_max_ns", "Call max", "The longest duration of a call.").nullable() =>
            call.map(|call| call.max),
        Column::ns("delay_mean_ns", "Delay", "The mean time from the end of the call to the start of its first work; 0 if the work starts earlier.")
            .nullable() => delay.map(|delay| delay.mean),
        Column::ns("delay_median_ns", "Median", "Half of the delays are at most this long.").nullable() =>
            delay.map(|delay| delay.median),
        Column::ns("delay_p95_ns", "95%", "95 % of the delays are at most this long.").nullable() =>
            delay.map(|delay| delay.p95),
        Column::ns("delay_max_ns", "Delay max", "The longest delay.").nullable() =>
            delay.map(|delay| delay.max),
        Column::ns("work_mean_ns", "Work time", "The mean duration of the kernels, copies and memsets.") => work.mean,
        Column::int("short", "Short", "The number with a call of at most 50 us and work that takes less time than it.") =>
            group.count(Launch::is_short),
        Column::int("slow", "Slow calls", "The number with a call of more than 50 us.") =>
            group.count(Launch::is_slow),
        Column::int("late", "Late", "The number with a delay of more than 100 us.") =>
            group.count(Launch::is_late),
        Column::float("queue_mean", "Queue", "The mean number of launches of the stream that have not started.")
            .nullable() => queue.map(|queue| queue.mean),
        Column::int("queue_max", "Queue max", "The largest number of them.").nullable() =>
            queue.map(|queue| queue.max),
        Column::ns("full_ns", "Queue full", "The time during which it was 1024 or more: the next call waits.")
            .nullable() => queue.map(|queue| queue.full_ns),
        Column::rate("bytes_per_second", "B/s", "The bytes of copies and memsets divided by their durations.")
            .nullable() => group.bytes_per_second(table),
        Column::int("event", "", "The index of the work with the longest delay.").nullable() =>
            latest.map(|launch| launch.work.index()),
        Column::int("call_event", "", "The index of its call.").nullable() =>
            latest.map(|launch| launch.call.index()),
    ]
}

/// Returns launches in groups, those with the largest sum of delays first.
pub(crate) fn launch_rows(trace: &Trace, options: &LaunchesOptions) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    for group in grouped(trace, options.by).into_iter().take(options.row_limit.unwrap_or(usize::MAX)) {
        rows.push(row(trace, &group));
    }
    rows
}
