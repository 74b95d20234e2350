//! Tracks: threads and streams, with counts and times of their events.

use super::counters::counted_device;
use super::lane_names::LaneNames;
use crate::analysis::intervals::Collector;
use crate::analysis::query::Query;
use crate::analysis::query::options::ListOptions;
use crate::base::rows::{Column, Rows, Shape, columns};
use crate::base::time;
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::layout::FieldPlace;
use crate::trace::table::tracks::{TrackId, plain};
use crate::trace::tree::Lane;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value;

/// The query `tracks`.
pub const TRACKS: Query =
    Query::new("tracks", "Threads and streams with their events and busy time", COLUMNS, |trace, request| {
        Ok(request.limited(track_rows(trace)))
    })
    .examples(&["run.json", "run.json --row-limit 10 --format json"])
    .options::<ListOptions>();

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS:
        fn row(trace: &Trace, names: &LaneNames<'_>, at: usize, events: usize, streams: &[Vec<i64>; 3]) {
        let table = &trace.table;
        let track = table.tracks.all()[at];
        let is_device = track.on_device || counted_device(plain(&table.names, track.pid)).is_some();
        let lanes = trace.tree.lanes_of(TrackId(at as u32));
        let (busy_ns, extent) = (busy_ns(trace, lanes), extent(trace, lanes));
        let after = |ns: i64| ns.saturating_sub(trace.start_ns);
        let [priorities, channels, originals] = streams;
    } [
        Column::int("track", "#", "The number of the track, as `tiles` takes it.") => at,
        Column::word("kind", "Kind", &TrackKind::VOCABULARY, "host for a thread, device for a stream.") =>
            if is_device { TrackKind::Device } else { TrackKind::Host }.as_str(),
        Column::text("process", "Process", "The name of the process or device.") => names.process(track),
        Column::text("thread", "Thread", "The name of the thread or stream.") => names.thread(track),
        Column::text("pid", "", "The pid in the file.") => plain(&table.names, track.pid),
        Column::text("tid", "", "The tid in the file.") => plain(&table.names, track.tid),
        Column::int("events", "Events", "The number of events on the track, without metadata events.") =>
            events,
        Column::int("spans", "Spans", "The number of events with a duration.") =>
            lanes.iter().map(|lane| lane.positions().len()).sum::<usize>(),
        Column::int("lanes", "Lanes", "1, plus one for each set of spans that overlap without nesting.") =>
            lanes.len(),
        Column::int("depth", "Levels", "The number of levels in `tiles`: those of all lanes together.") =>
            lanes.iter().map(|lane| i64::from(lane.depth)).sum::<i64>(),
        Column::ns("start_ns", "Start", "The start of the first span, after the start of the recording.")
            .nullable() => extent.map(|time| after(time.0)),
        Column::ns("end_ns", "End", "The end of the last span, after the start of the recording.")
            .nullable() => extent.map(|time| after(time.1)),
        Column::ns("busy_ns", "Busy", "The time during which any span was open. Annotations on a stream do not count: they show what the host did, not work.") =>
            busy_ns,
        Column::json("priorities", "", Shape::Numbers, "The priorities of the stream's kernels. A lower number runs first.") =>
            Value::from(priorities.as_slice()),
        Column::json("channels", "", Shape::Numbers, "The hardware channels of the stream's work. Streams that share a channel can wait for each other.") =>
            Value::from(channels.as_slice()),
        Column::json("original_streams", "", Shape::Numbers, "The streams on which CUDA graphs ran work that is drawn on this one.") =>
            Value::from(originals.as_slice()),
    ]
}

/// The arguments of device work that belong to its stream, in the order of the columns.
const OF_STREAMS: [&str; 3] = ["priority", "channel", "original_stream"];

words! {
    "TrackKind"
    /// The kind of a track.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum TrackKind {
        /// A thread.
        Host = "host",
        /// A stream of a device.
        Device = "device",
    }
}

/// Returns every track with events, in order of first occurrence.
pub(crate) fn track_rows(trace: &Trace) -> Rows {
    let table = &trace.table;
    let names = LaneNames::new(trace);
    let mut events = vec![0usize; table.tracks.all().len()];
    for row in table.rows().filter(|&row| table.ph(row) != b'M' && table.ts(row) != time::NONE) {
        events[table.track_id(row).0 as usize] += 1;
    }
    let streams = streams(trace);
    let mut rows = Rows::new(COLUMNS);
    for (at, &events) in events.iter().enumerate().filter(|(_, events)| **events > 0) {
        rows.push(row(trace, &names, at, events, &streams[at]));
    }
    rows
}

/// The time in which a track has open spans, in ns.
fn busy_ns(trace: &Trace, lanes: &[Lane]) -> i64 {
    let (table, tree) = (&trace.table, &trace.tree);
    let is_annotation = |at| table.category(tree.row(at)) == Category::GpuUserAnnotation;
    let mut busy = Collector::default();
    for at in lanes.iter().flat_map(Lane::positions).filter(|&at| !is_annotation(at)) {
        if tree.parent(at).is_none_or(is_annotation) {
            busy.push((table.ts(tree.row(at)), table.end(tree.row(at))));
        }
    }
    busy.union().length()
}

/// The start and the end of all spans of a track.
fn extent(trace: &Trace, lanes: &[Lane]) -> Option<(i64, i64)> {
    let (table, tree) = (&trace.table, &trace.tree);
    let roots = lanes.iter().flat_map(Lane::positions).filter(|&at| tree.parent(at).is_none());
    let times = roots.map(|root| (table.ts(tree.row(root)), table.end(tree.row(root))));
    times.reduce(|all, time| (all.0.min(time.0), all.1.max(time.1)))
}

/// Returns the distinct values of the arguments in [`OF_STREAMS`] of each track.
fn streams(trace: &Trace) -> Vec<[Vec<i64>; 3]> {
    let table = &trace.table;
    let mut streams: Vec<[Vec<i64>; 3]> = table.tracks.all().iter().map(|_| Default::default()).collect();
    let keys = OF_STREAMS.map(|key| table.names.find(key));
    let is_known = keys.iter().any(Option::is_some);
    for row in table.rows().filter(|&row| is_known && table.category(row).is_device_work()) {
        let track = &mut streams[table.track_id(row).0 as usize];
        for (field, value) in table.all_fields(row).filter(|(field, _)| field.place == FieldPlace::Args) {
            let at = keys.iter().position(|&key| key == Some(field.key));
            if let (Some(at), Some(number)) = (at, value.as_i64()) {
                let numbers = &mut track[at];
                if let Err(place) = numbers.binary_search(&number) {
                    numbers.insert(place, number);
                }
            }
        }
    }
    streams
}
