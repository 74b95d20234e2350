//! Tracks and times of records: tracks by pairs of numbers, times within the range in which sums cannot overflow.

use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::index::Index;
use crate::base::time;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::table::tracks::{Track, TrackId};
use alloc::string::ToString;

/// A cache of tracks by pairs of numbers.
#[derive(Default)]
pub(super) struct NumberedTracks {
    index: Index,
    /// The track of the last call.
    last: Option<((i64, i64), TrackId)>,
}

impl NumberedTracks {
    pub(super) fn get(&mut self, table: &mut Table, pid: i64, tid: i64, on_device: bool) -> TrackId {
        let key = (pid.wrapping_mul(2) | i64::from(on_device), tid);
        if let Some((last, track)) = self.last
            && last == key
        {
            return track;
        }
        let track = self.find(table, pid, tid, on_device, key);
        self.last = Some((key, track));
        track
    }

    fn find(&mut self, table: &mut Table, pid: i64, tid: i64, on_device: bool, key: (i64, i64)) -> TrackId {
        if let Some(known) = self.index.get(key) {
            return TrackId(known);
        }
        let pid = table.names.intern(&pid.to_string());
        let tid = table.names.intern(&(tid as u64).to_string());
        let track = table.tracks.intern(Track { pid, tid, on_device });
        self.index.set(key, track.0);
        track
    }
}

/// The integer value of a known field; 0 if there is none.
pub(super) fn int(table: &Table, row: Row, key: Key) -> i64 {
    table.int(row, key).unwrap_or(0)
}

/// Clamps a time to a range and counts it if it was outside.
fn clamped(ns: i64, low: i64, high: i64, diagnostics: &mut Diagnostics) -> i64 {
    if ns < low || ns > high {
        diagnostics.record(Code::TimeOutOfRange, None, b"");
    }
    ns.clamp(low, high)
}

/// Clamps the time of a push or pop to the range of starts. Their nesting follows from their order.
pub(super) fn ordered_start(ns: i64, diagnostics: &mut Diagnostics) -> i64 {
    clamped(ns, time::EARLIEST, time::LATEST, diagnostics)
}

/// A start, if it is within its range.
pub(super) fn start(ns: i64, diagnostics: &mut Diagnostics) -> i64 {
    if clamped(ns, time::EARLIEST, time::LATEST, diagnostics) == ns { ns } else { time::NONE }
}

/// Clamps a duration to its range.
pub(super) fn duration(ns: i64, diagnostics: &mut Diagnostics) -> i64 {
    if ns < 0 {
        diagnostics.record(Code::NegativeDuration, None, b"");
        return 0;
    }
    clamped(ns, 0, time::LONGEST, diagnostics)
}
