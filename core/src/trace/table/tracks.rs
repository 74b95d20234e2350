//! Tracks: the distinct (`pid`, `tid`) pairs, separate for host and device.
//!
//! A device ordinal can equal a small process id, so an event's category determines which of the two `pid` is.

use crate::base::index::Index;
use crate::base::names::{NameId, Names};
use alloc::vec::Vec;

/// The index of a [`Track`].
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrackId(pub u32);

/// A track of the timeline: a thread or a device stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Track {
    /// The JSON text of `pid`: `12`, `"Spans"`; empty if the event has none.
    pub pid: NameId,
    /// The JSON text of `tid`.
    pub tid: NameId,
    /// Whether it is a device stream.
    pub on_device: bool,
}

impl Track {
    /// The same track with ids of other names.
    pub(crate) fn among(self, names: &[NameId]) -> Track {
        Track { pid: self.pid.among(names), tid: self.tid.among(names), ..self }
    }
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
    /// Returns the id of `track`. Stores it if it is new.
    pub(crate) fn intern(&mut self, track: Track) -> TrackId {
        let next = self.tracks.len() as u32;
        let id = self.index.get_or_insert(key(track), next);
        if id == next {
            self.tracks.push(track);
        }
        TrackId(id)
    }

    /// The device track with the `pid` and `tid` of this track.
    pub(crate) fn find_on_device(&self, id: TrackId) -> Option<TrackId> {
        self.index.get(key(Track { on_device: true, ..self.get(id) })).map(TrackId)
    }

    /// The track with this id.
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
