//! Links between activities: correlation ids, contexts, streams and user annotations.

use crate::base::index::Index;
use crate::base::order::sort_by_key;
use crate::trace::read::recording::kept::Activities;
use crate::trace::table::events::Row;
use crate::trace::table::tracks::TrackId;
use alloc::vec::Vec;
use kinetoscope_stream::activity::{Activity, MISSING, NO_STREAM, Record, span_kind};

/// A user annotation on a stream, with times in ticks.
pub(super) struct Observed {
    pub(super) id: u32,
    pub(super) track: TrackId,
    pub(super) begin: i64,
    pub(super) end: i64,
}

/// An allocation of device memory, or a release if `bytes` is negative.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub(super) ticks: i64,
    pub(super) device: u32,
    pub(super) address: u64,
    pub(super) bytes: i64,
    /// The bytes allocated on the device after the change.
    pub(super) total: i64,
    pub(super) correlation: u64,
}

/// An event recorded on a stream.
struct Recorded {
    context: u64,
    event: u64,
    correlation: u64,
    stream: u32,
}

/// The key of an event. Event ids are unique within a context only.
fn event_key(context: u64, event: u64) -> i64 {
    (context << 32 | event & u64::from(u32::MAX)) as i64
}

impl Recorded {
    fn key(&self) -> (i64, i64) {
        (event_key(self.context, self.event), self.correlation as i64)
    }
}

#[derive(Default)]
pub(super) struct Links {
    /// The id of a span, by the correlation id of a call and the kind of the span.
    spans: Index,
    /// The demangled name of a kernel, by the id of its name in the recording.
    pub(super) kernels: Index,
    /// The device of a context.
    contexts: Index,
    /// Recorded events, sorted by context, event and correlation id.
    events: Vec<Recorded>,
    /// Tracks, by process or device (and which of the two) and thread or stream.
    pub(super) tracks: Index,
    /// The row of a call, by its correlation id.
    calls: Index,
    /// The correlation ids and rows of activities that calls caused.
    caused: Vec<(u64, Row)>,
    /// The index into `observed`, by track and id.
    ranges: Index,
    pub(super) observed: Vec<Observed>,
    changes: Vec<Change>,
}

impl Links {
    /// Collects the links that are needed before rows are appended.
    pub(super) fn new(activities: &Activities) -> Links {
        let mut links = Links::default();
        for record in activities.records() {
            match record.activity {
                Activity::External => {
                    if let Ok(id) = u32::try_from(record.value(0)) {
                        links.spans.set((record.correlation as i64, i64::from(record.lane)), id);
                    }
                }
                Activity::Event => links.events.push(Recorded {
                    context: record.value(0),
                    event: record.value(1),
                    correlation: record.correlation,
                    stream: record.stream,
                }),
                activity if activity.is_on_device() => {
                    links.contexts.set((record.value(0) as i64, 0), record.lane);
                }
                _ => {}
            }
        }
        sort_by_key(&mut links.events, Recorded::key);
        links
    }

    /// The span in which a call was made.
    pub(super) fn span(&self, correlation: u64, kind: u32) -> Option<u32> {
        self.spans.get((correlation as i64, i64::from(kind))).filter(|id| *id != 0)
    }

    /// The device of a record: its lane, or that of its context.
    pub(super) fn device(&self, record: &Record<'_>) -> i64 {
        match record.activity {
            Activity::Sync | Activity::Event => {
                self.contexts.get((record.value(0) as i64, 0)).map_or(0, i64::from)
            }
            _ => i64::from(record.lane),
        }
    }

    /// The stream and the correlation id of the event that a synchronization waited for; -1 each if it was not
    /// recorded.
    pub(super) fn awaited(&self, record: &Record<'_>) -> Option<(i64, i64)> {
        let event = record.value(2);
        if record.activity != Activity::Sync || event == MISSING {
            return None;
        }
        let (wanted, before) = (event_key(record.value(0), event), record.correlation as i64);
        let next = self.events.partition_point(|e| e.key() < (wanted, before));
        let recorded = self.events[..next].last().filter(|e| e.key().0 == wanted);
        Some(recorded.map_or((-1, -1), |e| (i64::from(e.stream), e.correlation as i64)))
    }

    /// Adds the row of a record.
    pub(super) fn add_row(
        &mut self,
        record: &Record<'_>,
        row: Row,
        track: TrackId,
        (begin, end): (i64, i64),
    ) {
        let correlation = record.correlation;
        if record.activity.is_call() {
            self.calls.set((correlation as i64, 0), row.index() as u32);
        } else if correlation != 0 && !matches!(record.activity, Activity::Overhead | Activity::Event) {
            self.caused.push((correlation, row));
        }
        if record.activity.is_on_device()
            && record.stream != NO_STREAM
            && let Some(id) = self.span(correlation, span_kind::ANNOTATION)
        {
            let next = self.observed.len() as u32;
            let at = self.ranges.get_or_insert((i64::from(track.0), i64::from(id)), next);
            if at == next {
                self.observed.push(Observed { id, track, begin, end });
            }
            let seen = &mut self.observed[at as usize];
            (seen.begin, seen.end) = (seen.begin.min(begin), seen.end.max(end));
        }
    }

    /// The row of the call with this correlation id.
    pub(super) fn call(&self, correlation: u64) -> Option<Row> {
        self.calls.get((correlation as i64, 0)).map(|row| Row::new(row as usize))
    }

    /// Calls with the activities that they caused: call row, correlation id, activity row; sorted by correlation id.
    pub(super) fn launched(&self) -> Vec<(Row, u64, Row)> {
        let launched = self.caused.iter().filter_map(|&(id, row)| Some((self.call(id)?, id, row)));
        let mut launched: Vec<_> = launched.collect();
        sort_by_key(&mut launched, |&(_, correlation, row)| (correlation as i64, i64::from(row)));
        launched
    }

    /// Adds an allocation or release of device memory.
    pub(super) fn add_change(&mut self, ticks: i64, record: &Record<'_>) {
        self.changes.push(Change {
            ticks,
            device: record.lane,
            address: record.value(0),
            bytes: record.value(1) as i64,
            total: 0,
            correlation: record.correlation,
        });
    }

    /// The changes of device memory, sorted by device and time, with the totals of each device.
    pub(super) fn changes(&mut self) -> Vec<Change> {
        let mut changes = core::mem::take(&mut self.changes);
        sort_by_key(&mut changes, |change| (i64::from(change.device), change.ticks));
        for device in changes.chunk_by_mut(|a, b| a.device == b.device) {
            let mut total = 0i64;
            for change in device {
                total = total.saturating_add(change.bytes);
                change.total = total;
            }
        }
        changes
    }
}
