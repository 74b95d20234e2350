//! The idle time of devices and streams by cause.
//!
//! A gap lies between two activities of a device, or of a stream. Each instant of it has one cause: what the thread that
//! launched the next activity was doing then. While that thread does nothing, the main thread of the host is consulted.
//! After the launch, the work is queued. The parts of the gaps add up to the idle time.

mod cause;
mod host;

pub use cause::Cause;
pub(crate) use host::{Host, Reason, Walk};

use crate::analysis::intervals::{Interval, Intervals};
use crate::table::events::{Row, Table};
use crate::trace::Trace;
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

/// Returns the times during which the recording of devices was paused, as recordings of Kinetoscope state them.
pub(super) fn pauses(table: &Table) -> Intervals {
    let pauses = table.names.find("not recorded: CUDA");
    let is_pause = |row: &Row| table.is_span(*row) && Some(table.name_id(*row)) == pauses;
    let rows = table.rows().filter(|row| pauses.is_some() && is_pause(row));
    Intervals::union_of(rows.map(|row| (table.ts(row), table.end(row))).collect())
}

/// What determines the causes of the gaps of a device and its streams.
#[derive(Clone, Copy)]
pub(super) struct Causes<'a> {
    pub(super) trace: &'a Trace,
    pub(super) host: &'a Host<'a>,
    /// The times during which the recording was paused.
    pub(super) pauses: &'a Intervals,
}

impl Causes<'_> {
    /// Returns the parts of the gaps between activities, which are ordered by start, and up to the ends of the window.
    /// `busy` are the times in which other streams ran.
    pub(super) fn of(&self, rows: &[Row], window: Interval, busy: &Intervals) -> Vec<Part> {
        let table = &self.trace.table;
        let (mut walk, mut parts) = (self.host.walk(), Vec::new());
        let mut reached = window.0;
        for (at, &row) in rows.iter().enumerate() {
            let gap = (reached, table.ts(row));
            if gap.0 < gap.1 && at == 0 {
                push(&mut parts, gap, Reason { cause: Cause::NotRecorded, behind: None });
            } else if gap.0 < gap.1 {
                self.gap(&mut walk, gap, (row, busy), &mut parts);
            }
            reached = reached.max(table.end(row));
        }
        if reached < window.1 {
            push(&mut parts, (reached, window.1), Reason { cause: Cause::NotRecorded, behind: None });
        }
        parts
    }

    /// Adds the parts of a gap that an activity ends.
    fn gap(&self, walk: &mut Walk<'_>, gap: Interval, after: (Row, &Intervals), parts: &mut Vec<Part>) {
        let mut from = gap.0;
        for &(start, end) in self.pauses.clipped(gap).as_slice() {
            self.recorded(walk, (from, start), after, parts);
            push(parts, (start, end), Reason { cause: Cause::NotRecorded, behind: None });
            from = end;
        }
        self.recorded(walk, (from, gap.1), after, parts);
    }

    /// Adds the parts of a period in which everything was recorded.
    fn recorded(
        &self,
        walk: &mut Walk<'_>,
        (start, end): Interval,
        (after, busy): (Row, &Intervals),
        parts: &mut Vec<Part>,
    ) {
        if start >= end {
            return;
        }
        let table = &self.trace.table;
        let Some(call) = self.trace.links.launch(after) else {
            return push(parts, (start, end), Reason { cause: Cause::Unknown, behind: Some(after) });
        };
        let launched = (table.ts(call).clamp(start, end), table.end(call).clamp(start, end));
        let mut add = |time, reason| push(parts, time, reason);
        walk.parts(table.track_id(call), (start, launched.0), &mut add);
        let behind = Some(self.trace.links.op(after).unwrap_or(call));
        push(parts, launched, Reason { cause: Cause::Launch, behind });
        let mut from = launched.1;
        for &(busy, idle) in busy.clipped((from, end)).as_slice() {
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
