//! Converts ticks to nanoseconds by linear interpolation between readings of the clock.

use crate::base::order::sort_by_key;
use crate::base::time;
use alloc::vec::Vec;

/// Readings of the clock: ticks and ns since 1970 at the same instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    readings: Vec<(u64, i64)>,
}

impl Clock {
    pub(super) fn add(&mut self, ticks: u64, ns: i64) {
        self.readings.push((ticks.min(time::LATEST as u64), ns.clamp(time::EARLIEST, time::LATEST)));
    }

    /// The lines between the readings. Readings at which the clock went backwards are left out.
    pub(super) fn lines(&self) -> Lines {
        let mut readings = self.readings.clone();
        sort_by_key(&mut readings, |reading| (reading.0 as i64, 0));
        readings.dedup_by(|next, last| next.0 == last.0 || next.1 < last.1);
        let first = readings.first().copied().unwrap_or_default();
        let mut lines: Vec<Line> = readings.windows(2).map(|pair| Line::between(pair[0], pair[1])).collect();
        if lines.is_empty() {
            lines.push(Line { ticks: first.0, ns: first.1, rate: 1 << BITS });
        }
        Lines { lines, last: 0 }
    }
}

const BITS: u32 = 32;

/// Computes `ns / ticks` with [`BITS`] fractional bits. It does not use 128-bit division, which is a large function.
fn fraction(ns: u64, ticks: u64) -> u64 {
    let (mut digits, mut rest) = (ns / ticks, u128::from(ns % ticks));
    for _ in 0..BITS {
        rest *= 2;
        digits = digits.saturating_mul(2);
        if rest >= u128::from(ticks) {
            rest -= u128::from(ticks);
            digits = digits.saturating_add(1);
        }
    }
    digits
}

#[derive(Clone, Copy, Debug)]
struct Line {
    ticks: u64,
    ns: i64,
    /// Nanoseconds per tick, times 2 to the power of [`BITS`].
    rate: u64,
}

impl Line {
    fn between(from: (u64, i64), to: (u64, i64)) -> Line {
        let (ticks, ns) = (to.0 - from.0, to.1.saturating_sub(from.1) as u64);
        Line { ticks: from.0, ns: from.1, rate: fraction(ns, ticks.max(1)) }
    }

    fn at(self, ticks: u64) -> i64 {
        let ns = |ticks: u64| {
            let half = 1 << (BITS - 1);
            i64::try_from((u128::from(ticks) * u128::from(self.rate) + half) >> BITS).unwrap_or(i64::MAX)
        };
        match ticks.checked_sub(self.ticks) {
            Some(after) => self.ns.saturating_add(ns(after)),
            None => self.ns.saturating_sub(ns(self.ticks - ticks)),
        }
    }
}

/// The clock of a recording.
#[derive(Debug)]
pub(super) struct Lines {
    lines: Vec<Line>,
    /// The line that was used last. Times are nearly in order.
    last: usize,
}

impl Lines {
    /// Converts ticks to ns since 1970. The first and the last line extend beyond the readings.
    pub(super) fn ns(&mut self, ticks: u64) -> i64 {
        let holds = |at: usize| {
            self.lines[at].ticks <= ticks && self.lines.get(at + 1).is_none_or(|next| ticks < next.ticks)
        };
        if !holds(self.last) {
            self.last = self.lines.partition_point(|line| line.ticks <= ticks).saturating_sub(1);
        }
        self.lines[self.last].at(ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_exact_and_times_between_them_are_monotonic() {
        let mut clock = Clock::default();
        let readings =
            [(1000, 5_000_000_000), (4000, 5_000_001_000), (9001, 5_000_002_667), (9002, 5_000_002_668)];
        for (ticks, ns) in readings {
            clock.add(ticks, ns);
        }
        let mut lines = clock.lines();
        for (ticks, ns) in readings {
            assert!((lines.ns(ticks) - ns).abs() <= 1, "{ticks}");
        }
        let times: Vec<i64> = (0..12_000).map(|ticks| lines.ns(ticks)).collect();
        assert!(times.is_sorted());
        assert_eq!(lines.ns(2500), 5_000_000_500);
    }

    #[test]
    fn ticks_in_ns_are_unchanged() {
        let mut clock = Clock::default();
        clock.add(1 << 60, 1_700_000_000_000_000_000);
        clock.add((1 << 60) + 20_000_000, 1_700_000_000_020_000_000);
        let mut lines = clock.lines();
        assert_eq!(lines.ns((1 << 60) + 12_345_678), 1_700_000_000_012_345_678);
        assert_eq!(lines.ns((1 << 60) - 1), 1_699_999_999_999_999_999);
    }
}
