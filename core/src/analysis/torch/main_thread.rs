//! The thread that started the profiler. PyTorch assigns to it what has no thread: the profiler's overhead and the
//! annotations of streams.

use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::tracks::{Track, TrackId};

/// Returns the track of the main thread, whose number is that of its process; without events of it, that of the first
/// event of a thread.
pub(super) fn main_thread(table: &Table) -> Option<TrackId> {
    let on_thread = |&row: &Row| {
        use Category::{CpuOp, Driver, PythonFunction, Runtime, UserAnnotation};
        let category = table.category(row);
        table.is_span(row) && matches!(category, CpuOp | UserAnnotation | PythonFunction | Runtime | Driver)
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
