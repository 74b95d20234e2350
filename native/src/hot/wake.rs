//! How a thread that runs out of room wakes the writer.

use crate::hot::lock::hold;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;

/// The writer of the present recording.
pub(crate) static WRITER: Mutex<Option<Thread>> = Mutex::new(None);
static IS_AWAKE: AtomicBool = AtomicBool::new(false);

/// Wakes the writer, unless that was done since it last slept.
pub(crate) fn wake() {
    if !IS_AWAKE.swap(true, Ordering::Relaxed)
        && let Some(writer) = hold(&WRITER).as_ref()
    {
        writer.unpark();
    }
}

/// The writer is awake: the next [`wake`] is one again.
pub(crate) fn awake() {
    IS_AWAKE.store(false, Ordering::Relaxed);
}
