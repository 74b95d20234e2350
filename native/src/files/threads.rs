//! Runs the tasks of the engine on threads.

use kinetoscope_core::queries::{Join, Task};
use std::thread;

/// Runs tasks of the engine at the same time, each on a thread of its own.
pub const THREADS: Join = Join::parallel(at_once);

fn at_once(tasks: &mut [Task<'_>]) {
    let Some((last, others)) = tasks.split_last_mut() else { return };
    thread::scope(|scope| {
        for task in others {
            scope.spawn(task);
        }
        last();
    });
}
