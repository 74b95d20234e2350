//! The tracks of an outline.

use super::Outline;
use crate::analysis::timeline::lane_names::{LABEL, PROCESS, process_name, thread_name};
use crate::analysis::timeline::tracks::TrackKind;
use crate::base::rows::{Cell, Column, Rows};
use crate::trace::table::tracks::{Track, plain};
use alloc::string::String;
use alloc::vec;

/// The columns of [`Outline::track_rows`].
pub const TRACK_COLUMNS: &[Column] = &[
    Column::int("track", "#", "The number of the track, as `density` takes it."),
    Column::word("kind", "Kind", &TrackKind::VOCABULARY, "host for a thread, device for a stream."),
    Column::text("process", "Process", "The name of the process or device."),
    Column::text("thread", "Thread", "The name of the thread or stream."),
    Column::text("pid", "", "The pid in the file."),
    Column::text("tid", "", "The tid in the file."),
    Column::int("events", "Events", "The number of objects of traceEvents."),
    Column::int("spans", "Spans", "The number of complete events and of begin events (`ph` is `X` or `B`)."),
    Column::ns("start_ns", "Start", "The earliest start, after the start of the recording.").nullable(),
    Column::ns("end_ns", "End", "The latest end, after the start of the recording.").nullable(),
    Column::float("most_open", "Most open", "The largest mean number of events that last at the same time."),
];

impl Outline {
    /// Returns every track, in the order of first appearance.
    pub fn track_rows(&self) -> Rows {
        let mut rows = Rows::new(TRACK_COLUMNS);
        let start = self.start_ns();
        let after = |ns: i64| Cell::Ns(ns.saturating_sub(start));
        for (at, (&track, own)) in self.tracks.all().iter().zip(&self.by_track).enumerate() {
            let kind = if track.on_device { TrackKind::Device } else { TrackKind::Host };
            rows.push(vec![
                at.into(),
                kind.as_str().into(),
                self.process(track).into(),
                self.thread(track).into(),
                plain(&self.names, track.pid).into(),
                plain(&self.names, track.tid).into(),
                Cell::Int(own.total.events as i64),
                Cell::Int(own.total.spans.saturating_add(own.begun) as i64),
                own.total.time.map_or(Cell::Null, |time| after(time.0)),
                own.total.time.map_or(Cell::Null, |time| after(time.1)),
                Cell::Float(own.density.most()),
            ]);
        }
        rows
    }

    /// The name of the process or device of a track.
    pub(super) fn process(&self, track: Track) -> String {
        let given = self.given_name(track, if track.on_device { LABEL } else { PROCESS });
        process_name(track.on_device, plain(&self.names, track.pid), given)
    }

    /// The name of the thread or stream of a track.
    pub(super) fn thread(&self, track: Track) -> String {
        let given = self.given_name(track, i64::from(track.tid.0));
        thread_name(track.on_device, plain(&self.names, track.tid), given)
    }

    fn given_name(&self, track: Track, thread: i64) -> Option<&str> {
        self.given.get((i64::from(track.pid.0), thread)).map(|&name| self.names.get(name))
    }
}
