//! Samples of call stacks in Chrome's Trace Event Format.
//!
//! The format has three forms of samples: the member `samples` with frames in `stackFrames`, events of the phase `P` with an
//! `sf` or a `stack`, and V8's events `Profile` and `ProfileChunk`. Other events can have a stack as well. These stacks count as samples if
//! there are no others, which is a diagnostic, because they show where events were recorded.
//!
//! Samples are not rows of the table: an exported trace has them where they were. Samples of Kinetoscope's recorder are events
//! of the category [`CATEGORY`] and not in this list.

mod chrome;
pub(crate) mod edit;
mod frames;
pub(crate) mod lines;
mod v8;

use self::frames::Frames;
pub(crate) use self::v8::is_profile;
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::index::Index;
use crate::base::names::Names;
use crate::base::time;
use crate::trace::table::events::Table;
use crate::trace::table::metadata::Source;
use crate::trace::table::tracks::{Track, TrackId};
use alloc::string::String;
use alloc::vec::Vec;

/// The category of the samples of Kinetoscope's recorder.
pub(crate) const CATEGORY: &str = "cpu_sample";

/// The name of a frame that is missing.
const UNKNOWN: &str = "[unknown]";

/// No frame.
pub(crate) const NONE: u32 = u32::MAX;

/// A sample of a call stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The time in ns after the table's base, or [`time::NONE`].
    pub(crate) ts: i64,
    pub(crate) track: TrackId,
    /// The innermost frame.
    pub(crate) frame: u32,
}

/// The samples of a trace, and the frames of their stacks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    frames: Frames,
    list: Vec<Sample>,
}

impl Samples {
    /// Reads the samples. Threads that only samples name become tracks.
    pub(crate) fn new(table: &mut Table, diagnostics: &mut Diagnostics) -> Samples {
        let mut samples = Samples::default();
        if table.metadata.source != Source::Chrome {
            return samples;
        }
        if diagnostics.count(Code::Nanoseconds) > 0 {
            for (_, json) in table.metadata.entries.iter_mut().filter(|entry| entry.0 == edit::SAMPLES) {
                *json = edit::from_nanoseconds(json);
            }
        }
        v8::read(&mut samples, table, diagnostics);
        chrome::read(&mut samples, table, diagnostics);
        samples
    }

    /// The samples: those of V8 first, then those of the member `samples`, then those of events.
    pub(crate) fn list(&self) -> &[Sample] {
        &self.list
    }

    /// The number of frames.
    pub(crate) fn frames(&self) -> usize {
        self.frames.len()
    }

    /// The name of a frame, and the frame that called it or [`NONE`]. No frame is its own caller.
    pub(crate) fn frame(&self, frame: u32) -> (&str, u32) {
        self.frames.get(frame)
    }

    /// The first and the last time of a sample.
    pub(crate) fn span(&self) -> Option<(i64, i64)> {
        let times = || self.list.iter().map(|sample| sample.ts).filter(|&ts| ts != time::NONE);
        Some((times().min()?, times().max()?))
    }

    /// Adds a sample, unless it is outside of the window that was read.
    fn push_within(
        &mut self,
        table: &Table,
        diagnostics: &mut Diagnostics,
        ts: Option<i64>,
        track: TrackId,
        frame: Option<u32>,
    ) {
        let is_outside = |ts: i64| table.metadata.window.is_some_and(|window| ts < window.0 || ts > window.1);
        if ts.is_some_and(is_outside) {
            diagnostics.record(Code::OutsideWindow, None, b"");
            return;
        }
        self.push(diagnostics, ts, track, frame);
    }

    fn push(&mut self, diagnostics: &mut Diagnostics, ts: Option<i64>, track: TrackId, frame: Option<u32>) {
        let ts = ts.filter(|ts| (time::EARLIEST..=time::LATEST).contains(ts));
        diagnostics.record_many(Code::SampleTime, u64::from(ts.is_none()), None, b"");
        let frame = frame.unwrap_or_else(|| {
            diagnostics.record(Code::SampleStack, None, b"");
            self.frames.called(NONE, UNKNOWN)
        });
        self.list.push(Sample { ts: ts.unwrap_or(time::NONE), track, frame });
    }
}

/// Finds the tracks of threads by their ids, which samples can write as strings where events have numbers.
struct Threads {
    /// The threads by process and thread, and by thread with [`Threads::ANY`].
    index: Index,
    ids: Names,
    /// The tracks of the table, then the ids of those that only samples have.
    known: u32,
    added: Vec<[String; 2]>,
}

impl Threads {
    /// In place of a process: that of the only track with the thread.
    const ANY: i64 = -1;

    fn new(table: &Table) -> Threads {
        let (index, ids) = Default::default();
        let mut threads = Threads { index, ids, known: table.tracks.all().len() as u32, added: Vec::new() };
        for (at, track) in (0..).zip(table.tracks.all()).filter(|(_, track)| !track.on_device) {
            let [pid, tid] = [track.pid, track.tid].map(|id| threads.id(table.names.get(id)));
            threads.add(pid, tid, at);
        }
        threads
    }

    fn add(&mut self, pid: i64, tid: i64, at: u32) {
        self.index.get_or_insert((pid, tid), at);
        let is_only = self.index.get((Threads::ANY, tid)).is_none();
        self.index.set((Threads::ANY, tid), if is_only { at } else { NONE });
    }

    /// The number of an id, whether it is a JSON number or a string.
    fn id(&mut self, text: &str) -> i64 {
        i64::from(self.ids.intern(text.trim_matches('"')).0)
    }

    /// The position in [`Threads::tracks`] of a thread, given as JSON texts. A thread without a process is that of the only process
    /// that has it, else one of its own.
    fn get(&mut self, pid: Option<&str>, tid: &str) -> u32 {
        let thread = self.id(tid);
        let process = self.id(pid.unwrap_or(""));
        let only = if pid.is_none() { self.index.get((Threads::ANY, thread)) } else { None };
        let known = only.filter(|&at| at != NONE).or_else(|| self.index.get((process, thread)));
        known.unwrap_or_else(|| {
            let at = self.known + self.added.len() as u32;
            self.added.push([pid.unwrap_or(""), tid].map(String::from));
            self.add(process, thread, at);
            at
        })
    }

    /// The tracks of all threads. Adds those that only samples have.
    fn tracks(self, table: &mut Table) -> Vec<TrackId> {
        let mut tracks: Vec<TrackId> = (0..self.known).map(TrackId).collect();
        for ids in self.added {
            let [pid, tid] = ids.map(|id| table.names.intern(&id));
            tracks.push(table.tracks.intern(Track { pid, tid, on_device: false }));
        }
        tracks
    }
}
