//! The thread that started the profiler. PyTorch assigns to it what has no thread: the profiler's overhead and the
//! annotations of streams.

use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::merged::{recording_of, recordings};
use crate::table::tracks::{Track, TrackId};
use alloc::vec::Vec;

/// The main thread of each recording.
#[derive(Clone, Debug, Default)]
pub(super) struct MainThreads(Vec<Option<TrackId>>);

impl MainThreads {
    /// Finds the main threads of a trace, which has several recordings if it was merged.
    pub(super) fn of(table: &Table) -> MainThreads {
        MainThreads((0..recordings(table)).map(|recording| main_thread(table, recording)).collect())
    }

    /// The main thread of the recording of an event.
    pub(super) fn at(&self, table: &Table, row: Row) -> Option<TrackId> {
        self.0.get(recording_of(table, row)).copied().flatten()
    }

    /// Whether no main thread is known.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

/// Returns the track of the main thread, whose number is that of its process; without events of it, that of the first
/// event of a thread.
fn main_thread(table: &Table, recording: usize) -> Option<TrackId> {
    let on_thread = |&row: &Row| {
        use Category::{CpuOp, Driver, PythonFunction, Runtime, UserAnnotation};
        let category = table.category(row);
        recording_of(table, row) == recording
            && table.is_span(row)
            && matches!(category, CpuOp | UserAnnotation | PythonFunction | Runtime | Driver)
    };
    let mut first = None;
    for row in table.rows().filter(on_thread) {
        let track = table.track_id(row);
        let Track { pid, tid, .. } = table.tracks.get(track);
        if pid == tid {
            return Some(track);
        }
        if first.is_none_or(|(ts, _)| table.ts(row) < ts) {
            first = Some((table.ts(row), track));
        }
    }
    first.map(|(_, track)| track)
}
