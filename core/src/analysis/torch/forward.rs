//! Which track ran the forward operators of a thread, for the backward functions that name it.

use crate::index::Index;
use crate::table::layout::Key;
use crate::trace::Trace;

/// The tracks of the threads that ran forward operators, by the profiler's own number of the thread, as `fwdbwd` arrows
/// tell.
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
