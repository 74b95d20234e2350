//! The bytes of the host. Each thread counts for itself and adds what it counted to the common total from time to time:
//! threads that allocate do not wait for each other.

use crate::hot::state::{UNRECORDED_BYTES, unrecorded_range};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

/// What a thread has that does not count for itself: a number that is always out of range.
const NOT_COUNTING: i64 = i64::MAX / 2;

static TOTAL: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

thread_local! {
    /// The bytes that the thread has allocated minus those that it has freed, since it last added them to the total;
    /// [`NOT_COUNTING`] before its first allocation and while it ends.
    static OWN: Cell<i64> = const { Cell::new(NOT_COUNTING) };
    /// Whether the thread has begun to count.
    static HAS_BEGUN: Cell<bool> = const { Cell::new(false) };
    static RETURN: Return = const { Return };
}

/// Adds the rest to the total when the thread ends.
struct Return;

impl Drop for Return {
    fn drop(&mut self) {
        add_to_total(OWN.replace(NOT_COUNTING));
    }
}

/// Counts allocated bytes, or freed ones as a negative number, if the thread keeps them to itself. Otherwise, and while
/// allocations are recorded, nothing is counted and `false` is returned: one comparison decides both.
#[inline(always)]
pub(super) fn keep(bytes: i64) -> bool {
    let kept = OWN.get().wrapping_add(bytes);
    let is_kept = (kept.wrapping_add(UNRECORDED_BYTES / 2) as u64) < unrecorded_range();
    if is_kept {
        OWN.set(kept);
    }
    is_kept
}

/// Counts bytes, and returns the total with all that this thread has counted.
pub(super) fn add(bytes: i64) -> i64 {
    if OWN.get() == NOT_COUNTING {
        // Registering a destructor may allocate: meanwhile, the thread does not count for itself.
        if !HAS_BEGUN.replace(true) && RETURN.try_with(|_| ()).is_ok() {
            OWN.set(0);
        }
        return add_to_total(bytes);
    }
    add_to_total(OWN.replace(0) + bytes)
}

/// Returns the bytes that are allocated now: exact up to [`UNRECORDED_BYTES`] / 2 for each other thread that runs.
pub(super) fn allocated() -> i64 {
    let unrecorded = Some(OWN.get()).filter(|&unrecorded| unrecorded != NOT_COUNTING);
    TOTAL.load(Ordering::Relaxed) + unrecorded.unwrap_or(0)
}

/// Returns the most bytes that were allocated at once.
pub(super) fn peak() -> i64 {
    PEAK.load(Ordering::Relaxed).max(allocated())
}

pub(super) fn reset_peak() {
    PEAK.store(allocated(), Ordering::Relaxed);
}

fn add_to_total(bytes: i64) -> i64 {
    let now = TOTAL.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if now > PEAK.load(Ordering::Relaxed) {
        PEAK.fetch_max(now, Ordering::Relaxed);
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(bytes: i64) {
        if !keep(bytes) {
            add(bytes);
        }
    }

    // One test: the total belongs to the process.
    #[test]
    fn the_total_is_exact_when_threads_have_ended() {
        many_threads();
        one_frees_what_another_allocated();
    }

    /// Threads that allocate and free, many at once.
    fn many_threads() {
        let before = allocated();
        for round in 0..3 {
            let threads: Vec<_> = (0..600)
                .map(|at| {
                    std::thread::spawn(move || {
                        for _ in 0..100 {
                            count(100);
                            count(-60);
                        }
                        count(at);
                    })
                })
                .collect();
            let threads = threads.into_iter().map(|thread| thread.join().expect("a thread")).count() as i64;
            let sum = (round + 1) * (threads * 4_000 + threads * (threads - 1) / 2);
            assert_eq!(allocated() - before, sum);
        }
        assert!(peak() >= allocated());
    }

    fn one_frees_what_another_allocated() {
        let before = allocated();
        count(1_000_000);
        std::thread::spawn(|| count(-999_000)).join().expect("a thread");
        assert_eq!(allocated() - before, 1_000);
        count(10);
        assert_eq!(allocated() - before, 1_010, "the thread's own bytes are exact");
    }
}
