//! The tracks of forward threads, for the backward functions that refer to them.

use crate::base::index::Index;
use crate::trace::Trace;
use crate::trace::table::layout::Key;

/// Returns the track of each thread that ran forward operators, by the thread number that backward functions record.
/// The `fwdbwd` flows connect the two.
pub(super) fn forward_threads(trace: &Trace) -> Index {
    let table = &trace.table;
    let mut threads = Index::default();
    for &(backward, forward) in &trace.links.forward_of {
        if let Some(thread) = table.int(backward, Key::FwdThreadId).filter(|&thread| thread != 0) {
            threads.set((thread, 0), table.track_id(forward).0);
        }
    }
    threads
}
