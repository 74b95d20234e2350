//! Runs the tasks of the engine on threads.

use kinetoscope_core::queries::{Join, Task};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The number of threads that compute at most. More would wait for the decompression.
const MOST_THREADS: usize = 8;

/// The number of threads that compute at the same time.
pub(super) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}

/// Runs tasks of the engine on as many threads as there are processors, in order: a thread that is free takes the next one.
pub const THREADS: Join = Join::parallel(at_once);

fn at_once(tasks: &mut [Task<'_>]) {
    let threads = processors().min(tasks.len());
    let waiting = Mutex::new(tasks.iter_mut());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(task) = next() {
            task();
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
}
