//! The idle time of devices and streams by cause.
//!
//! A gap lies between two activities of a device, or of a stream. Each instant of it has one cause: what the thread that
//! launched the next activity was doing then. While that thread does nothing, the main thread of the host is consulted.
//! After the launch, the work is queued. The parts of the gaps add up to the idle time.

mod cause;
mod host;
mod rows;

pub use cause::Cause;
pub use rows::IdleBy;
pub(crate) use rows::{COLUMNS, idle_rows};

use self::host::{Host, Reason};
use super::device_time::{DeviceTime, activities, device_times, pauses};
use crate::analysis::intervals::{Interval, Intervals};
use crate::table::events::{Row, Table};
use crate::table::tracks::TrackId;
use crate::trace::Trace;
use alloc::string::String;
use alloc::vec::Vec;

/// A part of a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Start and end, in ns relative to the table's base.
    pub time: Interval,
    /// The cause.
    pub cause: Cause,
    /// The span or the activity that stood behind it.
    pub behind: Option<Row>,
}

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
    let (host, pauses) = (Host::new(trace), pauses(table));
    let devices = device_times(trace);
    let mut all = Vec::new();
    for ((device, rows), time) in activities(table).into_iter().zip(devices) {
        let causes = Causes { trace, host: &host, pauses: &pauses, busy: busy(&time) };
        if !by_stream {
            let parts = causes.of(&rows, time.window);
            all.push(Idle { device, stream: None, idle_ns: time.idle_ns(), parts });
            continue;
        }
        for stream in streams(table, &rows) {
            let rows: Vec<Row> = rows.iter().copied().filter(|&row| table.track_id(row) == stream).collect();
            let own = Intervals::union_of(rows.iter().map(|&row| (table.ts(row), table.end(row))).collect());
            let idle_ns = time.window.1 - time.window.0 - own.length();
            let parts = causes.of(&rows, time.window);
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

/// What determines the causes of the gaps of a device and its streams.
struct Causes<'a> {
    trace: &'a Trace,
    host: &'a Host<'a>,
    /// The times during which the recording was paused.
    pauses: &'a Intervals,
    /// The times in which anything ran on the device.
    busy: Intervals,
}

impl Causes<'_> {
    /// Returns the parts of the gaps between activities, which are ordered by start, and up to the ends of the window.
    fn of(&self, rows: &[Row], window: Interval) -> Vec<Part> {
        let table = &self.trace.table;
        let mut parts = Vec::new();
        let mut reached = window.0;
        for (at, &row) in rows.iter().enumerate() {
            let gap = (reached, table.ts(row));
            if gap.0 < gap.1 && at == 0 {
                push(&mut parts, gap, Reason { cause: Cause::NotRecorded, behind: None });
            } else if gap.0 < gap.1 {
                self.gap(gap, row, &mut parts);
            }
            reached = reached.max(table.end(row));
        }
        if reached < window.1 {
            push(&mut parts, (reached, window.1), Reason { cause: Cause::NotRecorded, behind: None });
        }
        parts
    }

    /// Adds the parts of a gap that an activity ends.
    fn gap(&self, gap: Interval, after: Row, parts: &mut Vec<Part>) {
        let mut from = gap.0;
        for &(start, end) in self.pauses.clipped(gap).as_slice() {
            self.recorded((from, start), after, parts);
            push(parts, (start, end), Reason { cause: Cause::NotRecorded, behind: None });
            from = end;
        }
        self.recorded((from, gap.1), after, parts);
    }

    /// Adds the parts of a period in which everything was recorded.
    fn recorded(&self, (start, end): Interval, after: Row, parts: &mut Vec<Part>) {
        if start >= end {
            return;
        }
        let table = &self.trace.table;
        let Some(call) = self.trace.links.launch(after) else {
            return push(parts, (start, end), Reason { cause: Cause::Unknown, behind: Some(after) });
        };
        let launched = (table.ts(call).clamp(start, end), table.end(call).clamp(start, end));
        self.host
            .parts(table.track_id(call), (start, launched.0), &mut |time, reason| push(parts, time, reason));
        let behind = Some(self.trace.links.op(after).unwrap_or(call));
        push(parts, launched, Reason { cause: Cause::Launch, behind });
        let mut from = launched.1;
        for &(busy, idle) in self.busy.clipped((from, end)).as_slice() {
            push(parts, (from, busy), Reason { cause: Cause::Queued, behind: Some(after) });
            push(parts, (busy, idle), Reason { cause: Cause::OtherStream, behind: Some(after) });
            from = idle;
        }
        push(parts, (from, end), Reason { cause: Cause::Queued, behind: Some(after) });
    }
}

/// Adds a part. A part that continues the last one is added to it.
fn push(parts: &mut Vec<Part>, time: Interval, Reason { cause, behind }: Reason) {
    if time.0 >= time.1 {
        return;
    }
    match parts.last_mut() {
        Some(last) if last.time.1 == time.0 && (last.cause, last.behind) == (cause, behind) => {
            last.time.1 = time.1;
        }
        _ => parts.push(Part { time, cause, behind }),
    }
}
