//! The tracks of an outline.

use super::Outline;
use crate::analysis::timeline::lane_names::{LABEL, PROCESS, process_name, thread_name};
use crate::analysis::timeline::tracks::TrackKind;
use crate::base::rows::{Column, Rows, columns};
use crate::trace::table::tracks::{Track, plain};
use alloc::string::String;

columns! {
    /// The columns of [`Outline::track_rows`].
    pub const TRACK_COLUMNS: fn row(outline: &Outline, at: usize, start: i64) {
        let (track, of_track) = (outline.tracks.all()[at], &outline.by_track[at]);
        let kind = if track.on_device { TrackKind::Device } else { TrackKind::Host };
        let after = |ns: i64| ns.saturating_sub(start);
    } [
        Column::int("track", "#", "The number of the track, as `density` takes it.") => at,
        Column::word("kind", "Kind", &TrackKind::VOCABULARY, "host for a thread, device for a stream.") =>
            kind.as_str(),
        Column::text("process", "Process", "The name of the process or device.") => outline.process(track),
        Column::text("thread", "Thread", "The name of the thread or stream.") => outline.thread(track),
        Column::text("pid", "", "The pid in the file.") => plain(&outline.names, track.pid),
        Column::text("tid", "", "The tid in the file.") => plain(&outline.names, track.tid),
        Column::int("events", "Events", "The number of objects of traceEvents.") => of_track.total.events as i64,
        Column::int("spans", "Spans", "The number of complete events and of begin events (`ph` is `X` or `B`).") =>
            of_track.total.spans.saturating_add(of_track.begun) as i64,
        Column::ns("start_ns", "Start", "The earliest start, after the start of the recording.").nullable() =>
            of_track.total.time.map(|time| after(time.0)),
        Column::ns("end_ns", "End", "The latest end, after the start of the recording.").nullable() =>
            of_track.total.time.map(|time| after(time.1)),
        Column::float("most_open", "Most open", "The largest mean number of events that last at the same time.") =>
            of_track.density.most(),
    ]
}

impl Outline {
    /// Returns every track, in the order of first appearance.
    pub fn track_rows(&self) -> Rows {
        let start = self.start_ns();
        Rows::from_cells(TRACK_COLUMNS, (0..self.by_track.len()).map(|at| row(self, at, start)))
    }

    /// The name of the process or device of a track.
    pub(super) fn process(&self, track: Track) -> String {
        let name = self.given_name(track, if track.on_device { LABEL } else { PROCESS });
        process_name(track.on_device, plain(&self.names, track.pid), name)
    }

    /// The name of the thread or stream of a track.
    pub(super) fn thread(&self, track: Track) -> String {
        let name = self.given_name(track, i64::from(track.tid.0));
        thread_name(track.on_device, plain(&self.names, track.tid), name)
    }

    fn given_name(&self, track: Track, thread: i64) -> Option<&str> {
        self.metadata_names.get((i64::from(track.pid.0), thread)).map(|&name| self.names.get(name))
    }
}
