//! The clock of records: the processor's time stamp counter if its rate is constant, otherwise the system's monotonic
//! clock.
//!
//! Records hold ticks. While recording, ticks and Unix time are read together every few milliseconds, and the reader of
//! the recording interpolates between these pairs. The length of a tick is not assumed.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The clock that gives records their ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The processor's time stamp counter.
    Counter,
    /// The system's monotonic clock, in ns.
    Monotonic,
}

impl Clock {
    /// Returns the best clock of this machine: the counter if the processor reports that its rate is invariant.
    pub(crate) fn detect() -> Clock {
        static CLOCK: OnceLock<Clock> = OnceLock::new();
        *CLOCK.get_or_init(|| if counter_is_invariant() { Clock::Counter } else { Clock::Monotonic })
    }

    /// Returns the clock's name in a recording.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Clock::Counter => "counter",
            Clock::Monotonic => "monotonic",
        }
    }

    /// Returns the present ticks.
    #[inline(always)]
    pub(crate) fn ticks(self) -> u64 {
        match self {
            Clock::Counter => counter(),
            Clock::Monotonic => monotonic_ns(),
        }
    }

    /// Returns ticks and ns since 1970 at the same time: the most precise of eight readings, which is the one with the
    /// fewest ticks between its begin and its end.
    pub(crate) fn reading(self) -> (u64, i64) {
        let once = || {
            let (before, ns, after) = (self.ticks(), monotonic_ns(), self.ticks());
            (after.saturating_sub(before), before + after.saturating_sub(before) / 2, ns)
        };
        let (_, ticks, ns) = (0..8).map(|_| once()).min().unwrap_or_default();
        let ticks = if self == Clock::Monotonic { ns } else { ticks };
        (ticks, ns as i64 + unix_offset_ns())
    }
}

/// Returns the present time in ns since 1970, on the clock of recordings.
pub(crate) fn unix_ns() -> i64 {
    monotonic_ns() as i64 + unix_offset_ns()
}

/// Returns the offset from the monotonic clock to Unix time, in ns. Computed once, so that a change of the system's
/// clock does not shift records.
fn unix_offset_ns() -> i64 {
    static OFFSET: OnceLock<i64> = OnceLock::new();
    *OFFSET.get_or_init(|| {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64);
        unix - monotonic_ns() as i64
    })
}

#[cfg(unix)]
fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local timespec; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(not(unix))]
fn monotonic_ns() -> u64 {
    static START: OnceLock<std::time::Instant> = OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: reading the virtual counter has no side effect and is allowed in user mode.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter() -> u64 {
    monotonic_ns()
}

/// Returns bit 8 of EDX in CPUID leaf 0x80000007: the counter has the same rate in every power state.
#[cfg(target_arch = "x86_64")]
fn counter_is_invariant() -> bool {
    use core::arch::x86_64::__cpuid;
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0
}

#[cfg(not(target_arch = "x86_64"))]
fn counter_is_invariant() -> bool {
    cfg!(target_arch = "aarch64")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_unix_time_of_readings_advance_together() {
        for clock in [Clock::detect(), Clock::Monotonic] {
            let (ticks, ns) = clock.reading();
            std::thread::sleep(std::time::Duration::from_millis(5));
            let (later_ticks, later_ns) = clock.reading();
            assert!(later_ticks > ticks);
            assert!((5_000_000..1_000_000_000).contains(&(later_ns - ns)), "{}", later_ns - ns);
            let unix = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as i64;
            assert!((unix - later_ns).abs() < 1_000_000_000);
        }
    }
}
