//! Wakes the writer thread when chunks run low.

use crate::hot::lock::hold;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;

/// The writer thread of the present recording.
pub(crate) static WRITER: Mutex<Option<Thread>> = Mutex::new(None);
static IS_AWAKE: AtomicBool = AtomicBool::new(false);

/// Wakes the writer, unless it was woken already since it last slept.
pub(crate) fn wake() {
    if !IS_AWAKE.swap(true, Ordering::Relaxed)
        && let Some(writer) = hold(&WRITER).as_ref()
    {
        writer.unpark();
    }
}

/// Records that the writer is awake, so that the next call of [`wake`] has an effect again.
pub(crate) fn awake() {
    IS_AWAKE.store(false, Ordering::Relaxed);
}
