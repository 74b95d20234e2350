//! Outlines: exact totals of a trace that may be larger than memory.
//!
//! An outline is read in one pass. It keeps sums by name, category and track, at which times each track has events, and which times the
//! segments of the text have, but no event. With it, a second pass reads the events of a window of time and passes over all segments
//! without such events.
//!
//! Only Chrome traces have outlines. Events are taken as they are in the text, before begin and end events are paired: these count as
//! events, and only complete events have durations.

mod density;
mod packed;
mod part;
mod reader;
mod rows;
mod total;
mod track_rows;
mod window;

pub use part::OutlinePart;
pub use reader::OutlineReader;
pub use rows::COLUMNS;
pub use total::Total;
pub use track_rows::TRACK_COLUMNS;
pub use window::{WindowReader, check_window};

use crate::base::index::Keyed;
use crate::base::names::{NameId, Names};
use crate::trace::table::tracks::{Track, TrackId, Tracks};
use alloc::vec::Vec;
use core::ops::Range;
use density::{Density, most_bins};
use total::Totals;

/// The number of names that are distinguished. Events with further names are summed by category.
const MOST_NAMES: usize = 1 << 18;

/// The largest number of pixels of a density.
const MOST_PIXELS: usize = 1 << 16;

/// A segment of the text, and the times of its events.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    /// Its place in the decompressed text, in bytes.
    range: Range<u64>,
    /// The number of its events.
    events: usize,
    /// The times of its events.
    time: Times,
    /// The number and the times of the events between the block before it and this one.
    before: (usize, Times),
}

/// The times of some events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    /// The earliest start and the latest end.
    range: Option<(i64, i64)>,
    /// Whether some of the events are in every window.
    has_common: bool,
}

impl Times {
    fn add(&mut self, other: Times) {
        self.range = joined(self.range, other.range);
        self.has_common |= other.has_common;
    }

    /// Whether no event is in a window.
    fn are_outside(self, (start, end): (i64, i64)) -> bool {
        !self.has_common && self.range.is_none_or(|range| range.1 < start || end < range.0)
    }
}

/// The range of two ranges.
fn joined(a: Option<(i64, i64)>, b: Option<(i64, i64)>) -> Option<(i64, i64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
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
    by_track: Vec<OfTrack>,
    /// The names that metadata events give: by process, and by thread, `PROCESS` or `LABEL` of `lane_names`.
    metadata_names: Keyed<NameId>,
    /// The start that the profiler marks, in ns after the base.
    marked: Option<i64>,
    /// The earliest time of samples: in the member `samples`, and at which a V8 profile began.
    samples: Option<i64>,
    blocks: Vec<Block>,
    /// Whether some events are in every window: those without a place in time, and parts of V8 profiles.
    has_common: bool,
    /// The number of lines with samples, which are no events.
    lines: u64,
}

impl Outline {
    /// The number of elements that were read: events, and lines with samples.
    fn elements(&self) -> usize {
        (self.all.events + self.lines) as usize
    }

    fn times(&self) -> Times {
        Times { range: self.all.time, has_common: self.has_common }
    }

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
        let first = self.all.time.map(|time| time.0).into_iter().chain(self.samples).min();
        self.marked.or(first).unwrap_or(0)
    }

    /// About how many events begin between two times in ns after the start of the recording, without metadata events.
    pub fn events_within(&self, (from, to): (i64, i64)) -> u64 {
        let time = self.after_base((from, to));
        self.by_track.iter().map(|track| track.density.events_within(time)).sum::<f64>() as u64
    }

    /// The mean number of events of a track that last in each of `pixels` equal parts of the time between two times, in ns after the
    /// start of the recording. Sums are known for 1,024ths of the time of the track, and pauses for 65,536ths; with more than 64 tracks,
    /// for larger parts. Events without a duration count as an eighth of that. At most 65,536 pixels; empty if there is no such track.
    pub fn density(&self, track: TrackId, time: (i64, i64), pixels: usize) -> Vec<f32> {
        let track = self.by_track.get(track.0 as usize);
        track.map_or_else(Vec::new, |track| {
            track.density.means(self.after_base(time), pixels.min(MOST_PIXELS))
        })
    }

    /// The number of tracks.
    pub fn track_count(&self) -> usize {
        self.by_track.len()
    }

    fn after_base(&self, (from, to): (i64, i64)) -> (i64, i64) {
        let start = self.start_ns();
        (start.saturating_add(from), start.saturating_add(to))
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
        for (&track, of_track) in later.tracks.all().iter().zip(&later.by_track) {
            let [pid, tid] = [track.pid, track.tid].map(|id| self.names.intern(later.names.get(id)));
            let at = self.track(Track { pid, tid, ..track });
            let known = &mut self.by_track[at];
            known.total.add(&of_track.total);
            known.begun = known.begun.saturating_add(of_track.begun);
            known.density.append(&of_track.density);
        }
        for &((process, thread), name) in later.metadata_names.entries() {
            let mut id = |id: NameId| self.names.intern(later.names.get(id));
            let thread = if thread < 0 { thread } else { i64::from(id(NameId(thread as u32)).0) };
            let (process, name) = (id(NameId(process as u32)), id(name));
            *self.metadata_names.entry((i64::from(process.0), thread)) = name;
        }
        self.marked = self.marked.or(later.marked);
        self.add_samples(later.samples);
        self.has_common |= later.has_common;
        self.lines += later.lines;
    }

    /// Adds times at which samples begin.
    fn add_samples(&mut self, times: impl IntoIterator<Item = i64>) {
        self.samples = self.samples.into_iter().chain(times).min();
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
            let most = most_bins(at + 1);
            if most < most_bins(at) {
                self.by_track.iter_mut().for_each(|track| track.density.limit(most));
            }
            self.by_track.push(OfTrack { total: Total::default(), begun: 0, density: Density::new(most) });
        }
        at
    }
}

/// What is known about a track.
#[derive(Clone, Debug)]
struct OfTrack {
    total: Total,
    /// The number of begin events.
    begun: u64,
    density: Density,
}
