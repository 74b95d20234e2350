//! Locks that ignore poisoning: the data that they guard is valid after every step.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if another holder panicked.
pub(crate) fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held by tests that record: a process has one recording at a time.
#[cfg(test)]
pub(crate) static RECORDING: Mutex<()> = Mutex::new(());
