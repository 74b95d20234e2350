//! The idle time of devices and streams as rows.

use super::device_time::{DeviceTime, activities, device_times};
use super::idle::{Cause, Causes, Host, Part, pauses};
use super::steps::step_ranges;
use crate::analysis::intervals::{Interval, Intervals};
use crate::index::Keyed;
use crate::order::{descending, sort_by_key};
use crate::rows::{Cell, Column, Record, Rows, Shape};
use crate::table::events::{Row, Table};
use crate::table::tracks::{self, TrackId};
use crate::trace::Trace;
use crate::words::words;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The idle time of a device, or of one of its streams.
#[derive(Clone, Debug)]
pub struct Idle {
    /// The device: its ordinal, or the `pid` of its row.
    pub device: String,
    /// The stream; `None` for the device.
    pub stream: Option<TrackId>,
    /// The window of the device minus the time in which the device or the stream was busy, in ns.
    pub idle_ns: i64,
    /// The parts, in the order of time.
    pub parts: Vec<Part>,
}

/// Returns the idle time of every device, or of every stream.
pub fn idle(trace: &Trace, by_stream: bool) -> Vec<Idle> {
    let table = &trace.table;
    let devices = device_times(trace);
    if !by_stream {
        let whole = |time: DeviceTime| {
            let idle_ns = time.idle_ns();
            Idle { device: time.device, stream: None, idle_ns, parts: time.idle }
        };
        return devices.into_iter().map(whole).collect();
    }
    let (host, pauses) = (Host::new(trace), pauses(table));
    let causes = Causes { trace, host: &host, pauses: &pauses };
    let mut all = Vec::new();
    for ((device, rows), time) in activities(table).into_iter().zip(devices) {
        let busy = busy(&time);
        for stream in streams(table, &rows) {
            let rows: Vec<Row> = rows.iter().copied().filter(|&row| table.track_id(row) == stream).collect();
            let own = Intervals::union_of(rows.iter().map(|&row| (table.ts(row), table.end(row))).collect());
            let idle_ns = time.window.1 - time.window.0 - own.length();
            let parts = causes.of(&rows, time.window, &busy);
            all.push(Idle { device: device.clone(), stream: Some(stream), idle_ns, parts });
        }
    }
    all
}

/// The times in which anything ran on a device.
fn busy(device: &DeviceTime) -> Intervals {
    device.unions.iter().fold(Intervals::default(), |all, class| all.union(class))
}

/// The streams of some activities, in the order of their first one.
fn streams(table: &Table, rows: &[Row]) -> Vec<TrackId> {
    let mut streams = Vec::new();
    let mut is_known = alloc::vec![false; table.tracks.all().len()];
    for &row in rows {
        let stream = table.track_id(row);
        if !core::mem::replace(&mut is_known[stream.0 as usize], true) {
            streams.push(stream);
        }
    }
    streams
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

/// The maximum number of spans behind a cause.
const MOST_BEHIND: usize = 10;

static BEHIND: Record = Record {
    name: "Behind",
    members: &[
        Column::text("name", "", "The name of the operator, range, function, call or activity."),
        Column::text("kind", "", "Its category."),
        Column::ns("time_ns", "", "The idle time that it stood behind."),
        Column::int("event", "", "The index of the event with most of that time."),
    ],
};

/// The columns of the answer.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("device", "Device", "The number of the device in the trace."),
    Column::text("stream", "Stream", "The stream; null for the device.").nullable(),
    Column::text("step", "Step", "The profiler step; null for the whole trace.").nullable(),
    Column::word("cause", "Cause", &Cause::VOCABULARY, "The cause."),
    Column::ns("time_ns", "Idle", "The idle time with this cause; all causes add up to the idle time."),
    Column::share("share", "Share", "Its share of the idle time."),
    Column::text("mostly", "Mostly behind it", "The first of `behind`.").nullable(),
    Column::json("behind", "", Shape::Records(&BEHIND), "What stood behind it, by time; at most 10."),
];

/// Returns the idle time by cause, the longest first.
pub(crate) fn idle_rows(trace: &Trace, by: IdleBy) -> Rows {
    let table = &trace.table;
    let mut rows = Rows::new(COLUMNS);
    for one in idle(trace, by == IdleBy::Stream) {
        let stream = one.stream.map(|stream| tracks::plain(&table.names, table.tracks.get(stream).tid));
        let place = [one.device.as_str().into(), stream.into(), Cell::Null];
        if by != IdleBy::Step {
            add(&mut rows, trace, &place, one.parts.iter().cloned());
            continue;
        }
        for (step, _) in step_ranges(table) {
            let place = [place[0].clone(), Cell::Null, table.name(step).into()];
            add(&mut rows, trace, &place, within(&one, (table.ts(step), table.end(step))));
        }
    }
    rows
}

/// The parts of idle time within a period.
fn within(idle: &Idle, period: Interval) -> impl Iterator<Item = Part> {
    let first = idle.parts.partition_point(|part| part.time.1 <= period.0);
    let parts = idle.parts[first..].iter().take_while(move |part| part.time.0 < period.1);
    parts.map(move |part| Part {
        time: (part.time.0.max(period.0), part.time.1.min(period.1)),
        ..part.clone()
    })
}

/// The idle time behind a name.
#[derive(Clone, Copy, Debug, Default)]
struct Behind {
    cause: Option<Cause>,
    time_ns: i64,
    longest: (i64, Option<Row>),
}

/// Adds the rows of a place.
fn add(rows: &mut Rows, trace: &Trace, place: &[Cell; 3], parts: impl Iterator<Item = Part>) {
    let table = &trace.table;
    let mut causes = [0i64; Cause::ALL.len()];
    let mut behind: Keyed<Behind> = Keyed::default();
    for part in parts {
        let time = part.time.1 - part.time.0;
        causes[part.cause as usize] += time;
        if let Some(row) = part.behind {
            let kind = i64::from(table.category(row) as u8) << 8 | part.cause as i64;
            let known = behind.of((i64::from(table.name_id(row).0), kind));
            known.cause = Some(part.cause);
            known.time_ns += time;
            if time > known.longest.0 {
                known.longest = (time, Some(row));
            }
        }
    }
    let mut names: Vec<Behind> = behind.into_entries().into_iter().map(|(_, behind)| behind).collect();
    sort_by_key(&mut names, |behind| (descending(behind.time_ns), 0));
    let total: i64 = causes.iter().sum();
    let mut found: Vec<(Cause, i64)> =
        Cause::ALL.into_iter().zip(causes).filter(|cause| cause.1 > 0).collect();
    sort_by_key(&mut found, |&(_, time)| (descending(time), 0));
    for (cause, time) in found {
        let own = names.iter().filter(|behind| behind.cause == Some(cause));
        let name = |behind: &Behind| behind.longest.1.map(|row| table.name(row));
        let objects = own.clone().take(MOST_BEHIND).filter_map(|one| {
            let row = one.longest.1?;
            let kind = table.category(row).as_str();
            Some(BEHIND.object(vec![
                table.name(row).into(),
                kind.into(),
                Cell::Ns(one.time_ns),
                row.index().into(),
            ]))
        });
        let mut cells = place.to_vec();
        cells.extend([
            cause.as_str().into(),
            Cell::Ns(time),
            Cell::Share(time as f64 / total as f64),
            own.clone().next().and_then(name).into(),
            Cell::Json(objects.collect()),
        ]);
        rows.push(cells);
    }
}
