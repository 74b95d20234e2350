//! Locks that a panic does not close: what they guard is complete after every step.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic of another holder.
pub(crate) fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
