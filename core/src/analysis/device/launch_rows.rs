//! Launches as rows.

use super::launches::{Launch, Launches, LaunchesBy, Spread, grouped};
use crate::analysis::query::Query;
use crate::analysis::query::options::{Opt, ROW_LIMIT, options};
use crate::analysis::query::question::Question;
use crate::base::rows::{Cell, Column, Rows};
use crate::trace::Trace;
use crate::trace::table::merged::{device_name, own_id};

options! {
    /// Options of `launches`.
    pub struct LaunchesOptions {
        /// What the rows are about.
        pub by: LaunchesBy =
            Opt::word::<LaunchesBy>("by", "WHAT", "Rows of each `stream`, `call`, `kernel`, or `launch`"),
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The query `launches`.
pub const LAUNCHES: Query = Query::new(
    "launches",
    "Launches: delay, calls, short kernels, launch queues and bandwidth",
    COLUMNS,
    |trace, request| Ok(launch_rows(trace, &request.typed()).into()),
)
.examples(&["run.json", "run.json --by launch --row-limit 20"])
.options::<LaunchesOptions>()
.questions(&[Question::DeviceTime])
.hint("no device work with its launch in this trace; record with ProfilerActivity.CUDA and CPU");

/// The columns of the answer.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("device", "Device", "The number of the device in the trace.").nullable(),
    Column::text("stream", "Stream", "The stream.").nullable(),
    Column::text("name", "Name", "The name of the call, or of the kernel, copy or memset.").nullable(),
    Column::int("count", "Count", "The number of launches."),
    Column::ns("call_mean_ns", "Call", "The mean duration of the calls."),
    Column::ns("call_max_ns", "Call max", "The longest duration of a call."),
    Column::ns(
        "delay_mean_ns",
        "Delay",
        "The mean time from the end of the call to the start of the work; 0 if the work starts earlier.",
    ),
    Column::ns("delay_median_ns", "Median", "Half of the delays are at most this long."),
    Column::ns("delay_p95_ns", "95%", "95 % of the delays are at most this long."),
    Column::ns("delay_max_ns", "Delay max", "The longest delay."),
    Column::ns("work_mean_ns", "Work", "The mean duration of the work."),
    Column::int(
        "short",
        "Short",
        "The number with a call of at most 50 us and work that takes less time than it.",
    ),
    Column::int("slow", "Slow calls", "The number with a call of more than 50 us."),
    Column::int("late", "Late", "The number with a delay of more than 100 us."),
    Column::float("queue_mean", "Queue", "The mean number of launches of the stream that have not started.")
        .nullable(),
    Column::int("queue_max", "Queue max", "The largest number of them.").nullable(),
    Column::ns("full_ns", "Queue full", "The time during which it was 1024 or more: the next call waits.")
        .nullable(),
    Column::rate("bytes_per_second", "B/s", "The bytes of copies and memsets divided by their durations.")
        .nullable(),
    Column::int("event", "", "The index of the work with the longest delay."),
    Column::int("call_event", "", "The index of its call."),
];

/// Returns launches in groups, those with the largest sum of delays first.
pub fn launch_rows(trace: &Trace, options: &LaunchesOptions) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    for group in grouped(trace, options.by).into_iter().take(options.row_limit.unwrap_or(usize::MAX)) {
        push(&mut rows, trace, &group);
    }
    rows
}

fn push(rows: &mut Rows, trace: &Trace, group: &Launches) {
    let table = &trace.table;
    let Some(latest) = group.latest() else { return };
    let spread = |time: fn(&Launch) -> i64| Spread::of(group.launches.iter().map(time).collect());
    let (call, delay) = (spread(|launch| launch.call_ns), spread(|launch| launch.delay_ns));
    let track = group.stream.map(|stream| table.tracks.get(stream));
    let queue = group.queue.as_ref();
    rows.push(alloc::vec![
        track.map(|track| device_name(table, track.pid)).into(),
        track.map(|track| own_id(table, track.tid)).into(),
        group.name.as_deref().into(),
        group.launches.len().into(),
        Cell::Ns(call.mean),
        Cell::Ns(call.max),
        Cell::Ns(delay.mean),
        Cell::Ns(delay.median),
        Cell::Ns(delay.p95),
        Cell::Ns(delay.max),
        Cell::Ns(spread(|launch| launch.work_ns).mean),
        group.count(Launch::is_short).into(),
        group.count(Launch::is_slow).into(),
        group.count(Launch::is_late).into(),
        queue.map_or(Cell::Null, |queue| Cell::Float(queue.mean)),
        queue.map(|queue| queue.max).into(),
        queue.map_or(Cell::Null, |queue| Cell::Ns(queue.full_ns)),
        group.bytes_per_second(table).map_or(Cell::Null, Cell::Rate),
        latest.work.index().into(),
        latest.call.index().into(),
    ]);
}
