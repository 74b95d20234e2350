//! The thread that started the profiler. PyTorch assigns to it what has no thread: the profiler's overhead and the
//! annotations of streams.

use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::merged::{recording_of, recordings};
use crate::trace::table::tracks::{Track, TrackId};
use alloc::vec;
use alloc::vec::Vec;

/// The main thread of each recording: that whose number is that of its process; without events of it, that of the first event of
/// a thread.
#[derive(Clone, Debug, Default)]
pub(super) struct MainThreads(Vec<Option<TrackId>>);

impl MainThreads {
    /// Finds the main threads of a trace, which has several recordings if it was merged.
    pub(super) fn new(table: &Table) -> MainThreads {
        let on_thread = |&row: &Row| {
            use Category::{CpuOp, Driver, PythonFunction, Runtime, UserAnnotation};
            let category = table.category(row);
            table.is_span(row)
                && matches!(category, CpuOp | UserAnnotation | PythonFunction | Runtime | Driver)
        };
        let mut main: Vec<Option<TrackId>> = vec![None; recordings(table)];
        let mut first: Vec<Option<(i64, TrackId)>> = vec![None; main.len()];
        for row in table.rows().filter(on_thread) {
            let (at, track) = (recording_of(table, row), table.track_id(row));
            let Track { pid, tid, .. } = table.tracks.get(track);
            if pid == tid {
                main[at].get_or_insert(track);
                if main.len() == 1 {
                    break;
                }
            }
            if first[at].is_none_or(|(ts, _)| table.ts(row) < ts) {
                first[at] = Some((table.ts(row), track));
            }
        }
        let either =
            |(main, first): (Option<TrackId>, Option<(i64, TrackId)>)| main.or(first.map(|first| first.1));
        MainThreads(main.into_iter().zip(first).map(either).collect())
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
