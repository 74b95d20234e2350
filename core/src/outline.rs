//! Outlines: exact totals of a trace that may be larger than memory.
//!
//! An outline is read in one pass. It keeps sums by name, category and track, and which times the segments of the text have, but no
//! event. With it, a second pass reads the events of a window of time and passes over all segments without such events.
//!
//! Only Chrome traces have outlines. Events are taken as they are in the text, before begin and end events are paired: these count as
//! events, and only complete events have durations.

mod part;
mod reader;
mod rows;
mod total;
mod window;

pub use part::Part;
pub use reader::OutlineReader;
pub use rows::COLUMNS;
pub use total::Total;
pub use window::WindowReader;

use crate::names::{NameId, Names};
use crate::table::tracks::{Track, Tracks};
use alloc::vec::Vec;
use core::ops::Range;
use total::Totals;

/// The number of names that are distinguished. Events with further names are summed by category.
const MOST_NAMES: usize = 1 << 18;

/// A segment of the text, and the times of its events.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    /// Its place in the decompressed text, in bytes.
    range: Range<u64>,
    /// The number of its events.
    events: usize,
    /// The earliest start and the latest end; `None` if some of its events are in every window.
    time: Option<(i64, i64)>,
}

/// Exact totals of a trace.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// The names and categories of the events, and the names of processes and threads.
    names: Names,
    all: Total,
    /// By category and name.
    groups: Totals,
    tracks: Tracks,
    /// By track.
    by_track: Vec<Total>,
    /// The names that metadata events give to threads and processes: process, thread or none, name.
    given: Vec<(NameId, Option<NameId>, NameId)>,
    /// The start that the profiler marks, in ns after the base.
    marked: Option<i64>,
    blocks: Vec<Block>,
    /// Whether some events are in every window: metadata events, and events without a time.
    has_timeless: bool,
}

impl Outline {
    /// The number of events.
    pub fn events(&self) -> u64 {
        self.all.events
    }

    /// The totals of all events.
    pub fn all(&self) -> Total {
        self.all
    }

    /// The start of the recording, in ns after the base.
    pub fn start_ns(&self) -> i64 {
        self.marked.or(self.all.time.map(|time| time.0)).unwrap_or(0)
    }

    /// Adds what comes later in the trace.
    fn append(&mut self, later: &Outline) {
        self.all.add(&later.all);
        let names: Vec<Option<NameId>> =
            later.names.iter().map(|(_, text)| self.distinguished(text)).collect();
        for &(category, name, ref total) in later.groups.iter() {
            let category = self.names.intern(later.names.get(category));
            self.groups.add((category, names[name.0 as usize]), total);
        }
        self.groups.merged += later.groups.merged;
        for (&track, total) in later.tracks.all().iter().zip(&later.by_track) {
            let [pid, tid] = [track.pid, track.tid].map(|id| self.names.intern(later.names.get(id)));
            let at = self.track(Track { pid, tid, ..track });
            self.by_track[at].add(total);
        }
        for &(process, thread, name) in &later.given {
            let mut id = |id| self.names.intern(later.names.get(id));
            let given = (id(process), thread.map(&mut id), id(name));
            self.give(given);
        }
        self.marked = self.marked.or(later.marked);
        self.has_timeless |= later.has_timeless;
    }

    /// The id of a name of events; `None` if it is new and there are too many.
    fn distinguished(&mut self, name: &str) -> Option<NameId> {
        let has_space = self.names.len() < MOST_NAMES;
        self.names.find(name).or_else(|| has_space.then(|| self.names.intern(name)))
    }

    /// The index of a track.
    fn track(&mut self, track: Track) -> usize {
        let at = self.tracks.intern(track).0 as usize;
        if at == self.by_track.len() {
            self.by_track.push(Total::default());
        }
        at
    }

    /// Sets the name of a process or thread.
    fn give(&mut self, given: (NameId, Option<NameId>, NameId)) {
        match self.given.iter_mut().find(|known| (known.0, known.1) == (given.0, given.1)) {
            Some(known) => *known = given,
            None => self.given.push(given),
        }
    }
}
