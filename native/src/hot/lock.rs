//! Locks that ignore poisoning: the data that they guard is valid after every step.

#[cfg(not(kinetoscope_sanitizer))]
use std::sync::PoisonError;
use std::sync::{Mutex, MutexGuard};
#[cfg(kinetoscope_sanitizer)]
use std::{sync::TryLockError, thread::yield_now};

/// Locks a mutex, even if another holder panicked.
#[cfg(not(kinetoscope_sanitizer))]
pub(crate) fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same for `ThreadSanitizer`. Waiting for a lock is a function of the standard library, which is not instrumented: what
/// the lock guards would be reported. Trying is compiled into this crate.
#[cfg(kinetoscope_sanitizer)]
pub(crate) fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(error)) => return error.into_inner(),
            Err(TryLockError::WouldBlock) => yield_now(),
        }
    }
}

/// Held by tests that record: a process has one recording at a time.
#[cfg(test)]
pub(crate) static RECORDING: Mutex<()> = Mutex::new(());
