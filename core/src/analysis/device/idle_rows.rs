//! The idle time of devices and streams as rows.

use super::behind::{BEHIND, Behind, Group};
use super::device_time::DeviceTime;
use super::idle::{Cause, Causes, GapPart, Host};
use crate::analysis::context::Analysis;
use crate::analysis::intervals::Intervals;
use crate::analysis::query::options::{Opt, ROW_LIMIT, options};
use crate::analysis::query::question::Question;
use crate::analysis::query::{Input, Query};
use crate::base::index::Keyed;
use crate::base::rows::{Column, Rows, Shape, columns};
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::merged::own_id;
use crate::trace::table::tracks::TrackId;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// The idle time of a device, or of one of its streams.
#[derive(Clone, Debug)]
pub struct Idle<'a> {
    /// The device: its ordinal, or the `pid` of its row.
    pub device: &'a str,
    /// The stream; `None` for the device.
    pub stream: Option<TrackId>,
    /// The window of the device minus the time in which the device or the stream was busy, in ns.
    pub idle_ns: i64,
    /// The parts, in the order of time.
    pub parts: Cow<'a, [GapPart]>,
}

/// Returns the idle time of every device, or of every stream.
pub fn idle<'a>(analysis: &'a Analysis<'_>, by_stream: bool) -> Vec<Idle<'a>> {
    if !by_stream {
        let of_device = |time: &'a DeviceTime| {
            let (idle_ns, parts) = (time.idle_ns(), Cow::Borrowed(&*time.idle));
            Idle { device: &time.device, stream: None, idle_ns, parts }
        };
        return analysis.devices().iter().map(of_device).collect();
    }
    let (table, host) = (&analysis.trace.table, Host::new(analysis));
    let (activities, causes) = (analysis.activities(), Causes::new(analysis.trace, &host));
    let mut all = Vec::new();
    for ((_, rows), time) in activities.iter().zip(analysis.devices_with(&host)) {
        let busy = Intervals::union_of_all(time.unions.iter());
        for (stream, rows) in streams(table, rows) {
            let stream_busy =
                Intervals::union_of(rows.iter().map(|&row| (table.ts(row), table.end(row))).collect());
            let idle_ns = time.window.1 - time.window.0 - stream_busy.length();
            let parts = causes.parts(&rows, time.window, &busy).into();
            all.push(Idle { device: &time.device, stream: Some(stream), idle_ns, parts });
        }
    }
    all
}

/// The streams of some activities with those of each, in the order of their first one.
fn streams(table: &Table, rows: &[Row]) -> Vec<(TrackId, Vec<Row>)> {
    let mut streams: Keyed<Vec<Row>> = Keyed::default();
    for &row in rows {
        streams.entry((i64::from(table.track_id(row).0), 0)).push(row);
    }
    let stream = |((track, _), rows)| (TrackId(track as u32), rows);
    streams.into_entries().into_iter().map(stream).collect()
}

words! {
    "IdleBy"
    /// What the rows of `idle` are about.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum IdleBy {
        /// Devices.
        #[default]
        Device = "device",
        /// Streams.
        Stream = "stream",
        /// Devices in each profiler step.
        Step = "step",
    }
}

options! {
    /// Options of `idle`.
    pub struct IdleOptions {
        /// What the rows are about.
        pub by: IdleBy = Opt::word::<IdleBy>("by", "WHAT", "Rows of each `device`, `stream` or `step`"),
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The query `idle`.
pub const IDLE: Query = Query::new(
    "idle",
    "Idle time of devices by cause, and what stood behind it",
    COLUMNS,
    |trace, request| Ok(idle_rows(trace, &request.typed()).into()),
)
.examples(&["run.json", "run.json --by stream --format json"])
.options::<IdleOptions>()
.inputs(&[Input::StepRules])
.questions(&[Question::Idle])
.hint("no device was idle between activities, or none were recorded");

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(place: &IdlePlace<'_>, group: Group<'_>, total_ns: i64) [
        Column::text("device", "Device", "The number of the device in the trace.") => place.device,
        Column::text("stream", "Stream", "The stream; null for the device.").nullable() =>
            place.stream.as_deref(),
        Column::text("step", "Step", "The profiler step; null for the whole trace.").nullable() => place.step,
        Column::word("cause", "Cause", &Cause::VOCABULARY, "The cause.") => Cause::ALL[group.index].as_str(),
        Column::ns("time_ns", "Idle", "The idle time with this cause; all causes add up to the idle time.") =>
            group.time_ns,
        Column::share("share", "Share", "Its share of the idle time.") =>
            group.time_ns as f64 / total_ns as f64,
        Column::text("mostly", "Mostly behind it", "The first of `behind`.").nullable() => group.mostly,
        Column::json("behind", "", Shape::Records(&BEHIND), "What stood behind it, by time; at most 10.") =>
            group.behind,
    ]
}

/// Returns the idle time by cause, the longest first.
pub fn idle_rows(trace: &Trace, options: &IdleOptions) -> Rows {
    let (table, analysis) = (&trace.table, Analysis::new(trace));
    let mut rows = Rows::new(COLUMNS);
    if options.by == IdleBy::Step {
        let steps = analysis.step_finder();
        for (device, (_, activities)) in analysis.devices().iter().zip(analysis.activities()) {
            for step in steps.on_device(trace, activities) {
                let place = IdlePlace { device: &device.device, stream: None, step: Some(table.name(step)) };
                add(&mut rows, trace, &place, device.idle_in((table.ts(step), table.end(step))));
            }
        }
        return rows.first(options.row_limit);
    }
    for idle_time in idle(&analysis, options.by == IdleBy::Stream) {
        let stream = idle_time.stream.map(|stream| own_id(table, table.tracks.get(stream).tid));
        let place = IdlePlace { device: idle_time.device, stream, step: None };
        add(&mut rows, trace, &place, idle_time.parts.iter().cloned());
    }
    rows.first(options.row_limit)
}

/// What was idle.
struct IdlePlace<'a> {
    device: &'a str,
    stream: Option<String>,
    step: Option<&'a str>,
}

/// Adds the rows of a place.
fn add(rows: &mut Rows, trace: &Trace, place: &IdlePlace<'_>, parts: impl Iterator<Item = GapPart>) {
    let mut behind = Behind::new(&trace.table, Cause::ALL.len());
    for part in parts {
        behind.add(part.cause as usize, part.behind, part.time.1 - part.time.0);
    }
    let total = behind.total_ns();
    for group in behind.groups() {
        rows.push(row(place, group, total));
    }
}
