//! Rows of a timeline: the distinct (`pid`, `tid`) pairs, apart for host and device.
//!
//! A GPU's ordinal can equal a small process id, so an event's category decides which of the two a pair means.

use crate::index::Index;
use crate::names::{NameId, Names};
use alloc::vec::Vec;

/// The number of a [`Track`].
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrackId(pub u32);

/// One row of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Track {
    /// The JSON text of `pid`: `12`, `"Spans"`; empty when the event has none.
    pub pid: NameId,
    /// The JSON text of `tid`.
    pub tid: NameId,
    /// The row of a device stream.
    pub on_device: bool,
}

fn key(track: Track) -> (i64, i64) {
    (i64::from(track.pid.0) << 32 | i64::from(track.tid.0), i64::from(track.on_device))
}

/// All tracks of a trace, in the order of first appearance.
#[derive(Clone, Debug, Default)]
pub struct Tracks {
    tracks: Vec<Track>,
    index: Index,
}

impl Tracks {
    /// The number of `track`, which is stored when it is new.
    pub(crate) fn intern(&mut self, track: Track) -> TrackId {
        let next = self.tracks.len() as u32;
        let id = self.index.of(key(track), next);
        if id == next {
            self.tracks.push(track);
        }
        TrackId(id)
    }

    /// The track of the same `pid` and `tid`, as the row of a device.
    pub(crate) fn find_on_device(&self, id: TrackId) -> Option<TrackId> {
        self.index.get(key(Track { on_device: true, ..self.get(id) })).map(TrackId)
    }

    /// The track of this number.
    pub fn get(&self, id: TrackId) -> Track {
        self.tracks[id.0 as usize]
    }

    /// Every track.
    pub fn all(&self) -> &[Track] {
        &self.tracks
    }
}

/// A `pid` or `tid` without the quotes of a JSON string.
pub(crate) fn plain(names: &Names, id: NameId) -> &str {
    let text = names.get(id);
    text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text)
}
