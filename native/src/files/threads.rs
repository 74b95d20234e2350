//! Runs the tasks of the engine on threads.

use kinetoscope_core::queries::{Join, Task};
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Runs tasks of the engine on as many threads as there are processors, in order: a thread that is free takes the next one.
pub const THREADS: Join = Join::parallel(at_once);

fn at_once(tasks: &mut [Task<'_>]) {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(tasks.len());
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
