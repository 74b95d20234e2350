//! The table `tracks`.

use super::column::{Data, Field, place};
use super::{Schema, Source};
use crate::analysis::timeline::lane_names::LaneNames;
use crate::table::tracks::{Track, plain};
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use core::ops::Range;

const FIELDS: [Field; 7] = [
    Field::int("track", "The number of the track, as `tiles` and the table `events` have it."),
    Field::name("pid", "The pid in the file: a process, or the number of a device."),
    Field::name("tid", "The tid in the file: a thread, or the number of a stream."),
    Field::name("process", "The name of the process or device."),
    Field::name("thread", "The name of the thread or stream."),
    Field::int("device", "The device, if the track is a stream.").optional(),
    Field::int("stream", "The stream, if the track is one.").optional(),
];

pub(super) const SCHEMA: Schema = Schema {
    name: "tracks",
    about: "A row is a thread or a stream: the pid and the tid that events have in common.",
    fields: &FIELDS,
    sorted_by: &["track"],
    source: |trace, _| Box::new(Tracks { trace, names: LaneNames::new(trace) }),
};

struct Tracks<'t> {
    trace: &'t Trace,
    names: LaneNames<'t>,
}

impl Tracks<'_> {
    fn text(&self, column: usize, track: Track) -> String {
        let names = &self.trace.table.names;
        match column {
            1 => plain(names, track.pid).to_owned(),
            2 => plain(names, track.tid).to_owned(),
            3 => self.names.process(track),
            _ => self.names.thread(track),
        }
    }
}

impl Source for Tracks<'_> {
    fn len(&self) -> usize {
        self.trace.table.tracks.all().len()
    }

    fn read(&self, column: usize, rows: Range<usize>) -> Data {
        let table = &self.trace.table;
        let tracks = table.tracks.all()[rows.clone()].iter().copied();
        match column {
            0 => Data::Ints(rows.map(|at| i64::try_from(at).ok()).collect()),
            5 => Data::Ints(tracks.map(|track| place(table, track).map(|place| place.0)).collect()),
            6 => Data::Ints(tracks.map(|track| place(table, track).map(|place| place.1)).collect()),
            text => Data::Texts(tracks.map(|track| Some(self.text(text, track))).collect()),
        }
    }
}
