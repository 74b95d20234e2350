//! The idle time of devices and streams by cause.
//!
//! A gap lies between two activities of a device, or of a stream. Each instant of it has one cause: what the thread that
//! launched the next activity was doing then. While that thread does nothing, the main thread of the host is consulted.
//! While an annotation or the call of autograd is all that the main thread does, the threads of the backward pass are consulted.
//! After the launch, the work is queued. The parts of the gaps add up to the idle time.

mod cause;
mod host;
mod purposes;
mod walk;

pub use cause::Cause;
pub(crate) use cause::whole_cause;
#[doc(hidden)]
pub use cause::{NameSign, name_sign};
pub(crate) use host::{Host, Reason};
pub(crate) use purposes::{Capture, WAIT_NS};
pub(crate) use walk::Walk;

use crate::analysis::intervals::{Interval, Intervals};
use crate::base::diagnostics::Code;
use crate::base::index::Index;
use crate::base::names::NameSet;
use crate::trace::Trace;
use crate::trace::link::is_graph_launch;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use alloc::vec::Vec;

/// A part of a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GapPart {
    /// Start and end, in ns relative to the table's base.
    pub time: Interval,
    /// The cause.
    pub cause: Cause,
    /// The span or the activity that stood behind it.
    pub behind: Option<Row>,
}

/// Returns the times during which the recording of devices was paused, as recordings of Kinetoscope state them.
fn pauses(table: &Table) -> Intervals {
    let pauses = table.names.find("not recorded: CUDA");
    let is_pause = |row: &Row| table.is_span(*row) && Some(table.name_id(*row)) == pauses;
    let rows = table.rows().filter(|row| pauses.is_some() && is_pause(row));
    Intervals::union_of(rows.map(|row| (table.ts(row), table.end(row))).collect())
}

/// What determines the causes of the gaps of a device and its streams.
pub(super) struct Causes<'a> {
    trace: &'a Trace,
    host: &'a Host<'a>,
    /// The times during which the recording was paused.
    pauses: Intervals,
    /// The names of calls that launch CUDA graphs.
    graphs: NameSet,
    /// Why work without a launch waited.
    unlaunched: Cause,
}

/// The activity that ends a gap.
struct Next<'a> {
    row: Row,
    /// The times in which other streams ran.
    busy: &'a Intervals,
    /// Whether other work of the same CUDA graph ran before.
    is_begun: bool,
    /// Whether it is the first work of its stream that was recorded.
    is_first: bool,
}

impl<'a> Causes<'a> {
    pub(super) fn new(trace: &'a Trace, host: &'a Host<'a>) -> Causes<'a> {
        let mut diagnostics = trace.diagnostics.findings().iter();
        let is_filtered = diagnostics.any(|finding| {
            finding.code == Code::NotRecorded && finding.example.contains(Category::Runtime.as_str())
        });
        Causes {
            trace,
            host,
            pauses: pauses(&trace.table),
            graphs: trace.table.names.that(is_graph_launch),
            unlaunched: if is_filtered { Cause::NotRecorded } else { Cause::Unknown },
        }
    }

    /// Returns the parts of the gaps between activities, which are ordered by start, and up to the ends of the window.
    /// `busy` are the times in which other streams ran.
    pub(super) fn parts(&self, rows: &[Row], window: Interval, busy: &Intervals) -> Vec<GapPart> {
        let (table, links) = (&self.trace.table, &self.trace.links);
        let (mut walk, mut parts) = (self.host.walk(), Vec::new());
        let mut reached = window.0;
        let (mut graphs, mut streams) = (Index::default(), Index::default());
        for (at, &row) in rows.iter().enumerate() {
            let graph = links.launch(row).filter(|&call| self.graphs.has(table.name_id(call)));
            let is_begun = graph.is_some_and(|call| !graphs.insert((i64::from(call), 0)));
            let is_first = streams.insert((i64::from(table.track_id(row).0), 0));
            let gap = (reached, table.ts(row));
            if gap.0 < gap.1 && at == 0 {
                push(&mut parts, gap, Reason::new(Cause::NotRecorded, None));
            } else if gap.0 < gap.1 {
                self.gap(&mut walk, gap, &Next { row, busy, is_begun, is_first }, &mut parts);
            }
            reached = reached.max(table.end(row));
        }
        if reached < window.1 {
            push(&mut parts, (reached, window.1), Reason::new(Cause::NotRecorded, None));
        }
        parts
    }

    /// Returns the parts of a period that ends with the first activity of a device. Where the trace shows nothing of the
    /// host, the device was not recorded.
    pub(super) fn before(&self, first: Row, start: i64) -> Vec<GapPart> {
        let (gap, mut parts) = ((start, self.trace.table.ts(first)), Vec::new());
        if gap.0 < gap.1 {
            let next = Next { row: first, busy: &Intervals::default(), is_begun: false, is_first: true };
            self.gap(&mut self.host.walk(), gap, &next, &mut parts);
        }
        // Work that was launched, or awaited, for long before any work of the device was recorded: the device still did work from
        // before the recording.
        let is_wait =
            |cause| matches!(cause, Cause::Queued | Cause::Synchronization | Cause::HostToDeviceCopy);
        let waits = parts.iter().rev().take_while(|part| is_wait(part.cause));
        let (waiting, from) = (waits.clone().count(), waits.last().map_or(gap.1, |part| part.time.0));
        let waiting = if gap.1 - from >= WAIT_NS { waiting } else { 0 };
        let first_wait = parts.len() - waiting;
        for (at, part) in parts.iter_mut().enumerate() {
            if at >= first_wait || part.cause == Cause::Unknown {
                part.cause = Cause::NotRecorded;
            }
        }
        parts
    }

    /// Returns the parts of the time after the last activity of a device, by what the main thread did. Where only a range is open,
    /// the device waited for nothing that was recorded.
    pub(super) fn after(&self, last: i64, end: i64) -> Vec<GapPart> {
        let mut parts = Vec::new();
        match self.host.main() {
            Some(main) => {
                self.host.walk().parts(main, (last, end), &mut |time, mut reason| {
                    if reason.can_wait && reason.cause == Cause::UserCode {
                        reason.cause = Cause::NotRecorded;
                    }
                    push(&mut parts, time, reason);
                });
            }
            None => push(&mut parts, (last, end), Reason::new(Cause::Unknown, None)),
        }
        parts
    }

    /// Adds the parts of a gap that an activity ends.
    fn gap(&self, walk: &mut Walk<'_>, gap: Interval, next: &Next<'_>, parts: &mut Vec<GapPart>) {
        let mut from = gap.0;
        for &(start, end) in self.pauses.clipped(gap).as_slice() {
            self.recorded(walk, (from, start), next, parts);
            push(parts, (start, end), Reason::new(Cause::NotRecorded, None));
            from = end;
        }
        self.recorded(walk, (from, gap.1), next, parts);
    }

    /// Adds the parts of a period in which everything was recorded.
    fn recorded(
        &self,
        walk: &mut Walk<'_>,
        (start, end): Interval,
        next: &Next<'_>,
        parts: &mut Vec<GapPart>,
    ) {
        if start >= end {
            return;
        }
        let (table, behind) = (&self.trace.table, Some(next.row));
        let Some(call) = self.trace.links.launch(next.row) else {
            return push(parts, (start, end), Reason::new(self.unlaunched, behind));
        };
        let launched = (table.ts(call).clamp(start, end), table.end(call).clamp(start, end));
        let mut add = |time, reason| push(parts, time, reason);
        walk.parts(table.track_id(call), (start, launched.0), &mut add);
        let operator = Some(self.trace.links.op(next.row).unwrap_or(call));
        push(parts, launched, Reason::new(self.host.launch(call), operator));
        // A CUDA graph launches its other work itself. A stream can still do work from before the recording.
        let is_unrecorded = next.is_begun || (next.is_first && end - launched.1 >= WAIT_NS);
        let cause = if is_unrecorded { Cause::NotRecorded } else { Cause::Queued };
        let mut from = launched.1;
        for &(busy, idle) in next.busy.clipped((from, end)).as_slice() {
            push(parts, (from, busy), Reason::new(cause, behind));
            push(parts, (busy, idle), Reason::new(Cause::OtherStream, behind));
            from = idle;
        }
        push(parts, (from, end), Reason::new(cause, behind));
    }
}

/// Adds a part. A part that continues the last one is added to it.
fn push(parts: &mut Vec<GapPart>, time: Interval, Reason { cause, behind, .. }: Reason) {
    if time.0 >= time.1 {
        return;
    }
    match parts.last_mut() {
        Some(last) if last.time.1 == time.0 && (last.cause, last.behind) == (cause, behind) => {
            last.time.1 = time.1;
        }
        _ => parts.push(GapPart { time, cause, behind }),
    }
}
