//! The bytes of the host. Each thread counts in a cache line of its own and adds what it counted to the common total from
//! time to time: threads that allocate do not wait for each other.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

/// The number of threads that count for themselves. Further threads add to the total at once.
const COUNTERS: usize = 1024;

/// What a thread keeps to itself at most, in bytes: the peak is exact up to this number for each thread.
const KEPT: i64 = 4096;

/// The bytes that a thread has allocated minus those that it has freed, since it last added them to the total.
#[repr(align(64))]
struct Counter {
    bytes: AtomicI64,
    is_taken: AtomicBool,
}

/// The counter of threads that have none: a number that is out of range, so that they add to the total.
static NO_COUNTER: Counter = Counter { bytes: AtomicI64::new(i64::MAX / 2), is_taken: AtomicBool::new(true) };

static ALL: [Counter; COUNTERS] =
    [const { Counter { bytes: AtomicI64::new(0), is_taken: AtomicBool::new(false) } }; COUNTERS];

/// The number of counters that have been in use.
static USED: AtomicUsize = AtomicUsize::new(0);

static TOTAL: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

thread_local! {
    /// The counter of the thread; [`NO_COUNTER`] before its first allocation, if there is no free one, and while the thread
    /// ends.
    static OWN: Cell<&'static Counter> = const { Cell::new(&NO_COUNTER) };
    /// Whether the thread has requested a counter.
    static HAS_REQUESTED: Cell<bool> = const { Cell::new(false) };
    static RETURN: Return = const { Return };
}

/// Gives the counter back when the thread ends.
struct Return;

impl Drop for Return {
    fn drop(&mut self) {
        let counter = OWN.replace(&NO_COUNTER);
        if !std::ptr::eq(counter, &raw const NO_COUNTER) {
            add_to_total(counter.bytes.swap(0, Ordering::Relaxed));
            counter.is_taken.store(false, Ordering::Release);
        }
    }
}

/// Counts allocated bytes, or freed ones as a negative number.
#[inline]
pub(super) fn add(bytes: i64) {
    let counter = OWN.get();
    // Only this thread writes to its counter, so that no atomic addition is necessary.
    let kept = counter.bytes.load(Ordering::Relaxed).wrapping_add(bytes);
    if (kept.wrapping_add(KEPT) as u64) < 2 * KEPT as u64 {
        counter.bytes.store(kept, Ordering::Relaxed);
    } else {
        add_slowly(bytes);
    }
}

/// Counts bytes, and returns the total with all that this thread has counted.
pub(super) fn add_exactly(bytes: i64) -> i64 {
    let counter = OWN.get();
    let has_own = !std::ptr::eq(counter, &raw const NO_COUNTER);
    let kept = if has_own { counter.bytes.swap(0, Ordering::Relaxed) } else { 0 };
    add_to_total(kept + bytes)
}

/// Returns the bytes that are allocated now.
pub(super) fn allocated() -> i64 {
    let used = ALL.iter().take(USED.load(Ordering::Relaxed));
    TOTAL.load(Ordering::Relaxed) + used.map(|counter| counter.bytes.load(Ordering::Relaxed)).sum::<i64>()
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

#[cold]
#[inline(never)]
fn add_slowly(bytes: i64) {
    // Registering a destructor may allocate: meanwhile, the thread has no counter.
    if !HAS_REQUESTED.replace(true) && RETURN.try_with(|_| ()).is_ok() {
        OWN.set(take().unwrap_or(&NO_COUNTER));
    }
    add_exactly(bytes);
}

fn take() -> Option<&'static Counter> {
    let is_free = |counter: &&Counter| !counter.is_taken.swap(true, Ordering::Acquire);
    let (at, counter) = ALL.iter().enumerate().find(|(_, counter)| is_free(counter))?;
    USED.fetch_max(at + 1, Ordering::Relaxed);
    Some(counter)
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test: the counters belong to the process.
    #[test]
    fn the_total_is_exact() {
        many_threads();
        one_frees_what_another_allocated();
    }

    /// Threads that allocate and free, more of them than counters, one after the other and at once.
    fn many_threads() {
        let before = allocated();
        for round in 0..3 {
            let threads: Vec<_> = (0..COUNTERS / 2 + 600)
                .map(|at| {
                    std::thread::spawn(move || {
                        for _ in 0..100 {
                            add(100);
                            add(-60);
                        }
                        add(at as i64);
                    })
                })
                .collect();
            let count = threads.len() as i64;
            for thread in threads {
                thread.join().expect("a thread");
            }
            let sum = (round + 1) * (count * 4_000 + count * (count - 1) / 2);
            assert_eq!(allocated() - before, sum);
        }
        assert!(peak() >= allocated());
        assert!(ALL.iter().filter(|counter| counter.is_taken.load(Ordering::Relaxed)).count() < 20);
    }

    fn one_frees_what_another_allocated() {
        let before = allocated();
        add(1_000_000);
        std::thread::spawn(|| add(-999_000)).join().expect("a thread");
        assert_eq!(allocated() - before, 1_000);
    }
}
