//! Clocks of the system.

/// Reads a clock of the system, such as `CLOCK_THREAD_CPUTIME_ID`, in ns.
pub fn nanoseconds(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local value.
    let failed = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(failed, 0, "the clock {clock}");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
