//! Distributions of durations that can be merged: `DDSketch` (Masson, Rim and Lee, VLDB 2019).
//!
//! A duration of `x` ns is counted in the bin `ceil(log(x) / log(γ))` with γ = (1 + α) / (1 - α). A quantile is the middle
//! of its bin, 2γ^i / (γ + 1), so it differs from the exact one by at most the share α. Counts of equal bins add up, so
//! any order of merging gives the same sketch.

use alloc::vec::Vec;

/// The largest relative error of a quantile, α.
pub const RELATIVE_ERROR: f64 = 0.01;

const GAMMA: f64 = (1.0 + RELATIVE_ERROR) / (1.0 - RELATIVE_ERROR);

/// A distribution of durations in ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    /// The bins with counts, in ascending order. Durations of 0 are in a bin of their own.
    bins: Vec<(i32, u64)>,
}

/// The bin of durations of 0.
const ZERO: i32 = i32::MIN;

fn bin(ns: i64) -> i32 {
    if ns <= 0 { ZERO } else { libm::ceil(libm::log(ns as f64) / libm::log(GAMMA)) as i32 }
}

/// The middle of a bin, in ns.
fn middle(bin: i32) -> f64 {
    if bin == ZERO { 0.0 } else { 2.0 * libm::pow(GAMMA, f64::from(bin)) / (GAMMA + 1.0) }
}

impl Sketch {
    /// Returns the sketch of these durations, in ns.
    pub fn of(durations: &[i64]) -> Sketch {
        let mut bins: Vec<i32> = durations.iter().map(|&ns| bin(ns)).collect();
        bins.sort_unstable();
        let mut sketch = Sketch::default();
        for bin in bins {
            sketch.append(bin, 1);
        }
        sketch
    }

    /// Adds to the last bin, or appends one after it.
    fn append(&mut self, bin: i32, count: u64) {
        match self.bins.last_mut() {
            Some(last) if last.0 == bin => last.1 = last.1.saturating_add(count),
            _ => self.bins.push((bin, count)),
        }
    }

    /// Returns the sketch of the durations of both.
    #[must_use]
    pub fn merged(&self, other: &Sketch) -> Sketch {
        let (mut a, mut b) = (self.bins.iter().peekable(), other.bins.iter().peekable());
        let mut sketch = Sketch::default();
        while let Some(&(bin, count)) = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if y.0 < x.0 => b.next(),
            (None, _) => b.next(),
            _ => a.next(),
        } {
            sketch.append(bin, count);
        }
        sketch
    }

    /// The number of durations.
    pub fn count(&self) -> u64 {
        self.bins.iter().fold(0, |sum, bin| sum.saturating_add(bin.1))
    }

    /// Returns the quantile `q` between 0 and 1, in ns; 0 if there are no durations.
    pub fn quantile(&self, q: f64) -> f64 {
        let last = self.count().saturating_sub(1);
        let place = libm::floor(q.clamp(0.0, 1.0) * last as f64) as u64;
        let mut before = 0u64;
        for &(bin, count) in &self.bins {
            before = before.saturating_add(count);
            if place < before {
                return middle(bin);
            }
        }
        0.0
    }

    pub(super) fn bins(&self) -> &[(i32, u64)] {
        &self.bins
    }

    /// Returns a sketch of these bins, which need not be in order.
    pub(super) fn from_bins(mut bins: Vec<(i32, u64)>) -> Sketch {
        bins.sort_unstable();
        let mut sketch = Sketch::default();
        for (bin, count) in bins {
            sketch.append(bin, count);
        }
        sketch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    #[test]
    fn quantiles_are_within_the_stated_error() {
        let mut random = Random(11);
        for round in 0..50 {
            let largest = [10, 1000, 1_000_000, 1 << 40][round % 4];
            let mut all: Vec<i64> = (0..=random.below(500)).map(|_| random.below(largest)).collect();
            let sketch = Sketch::of(&all);
            all.sort_unstable();
            assert_eq!(sketch.count(), all.len() as u64);
            for q in [0.0, 0.1, 0.5, 0.9, 0.99, 1.0] {
                let exact = all[libm::floor(q * (all.len() - 1) as f64) as usize] as f64;
                let error = (sketch.quantile(q) - exact).abs();
                assert!(error <= exact * RELATIVE_ERROR * 1.000_001, "{q}: {exact} {error}");
            }
        }
        assert!(Sketch::default().quantile(0.5).abs() < 1e-9);
    }

    #[test]
    fn merging_is_the_sketch_of_all() {
        let mut random = Random(12);
        let mut some = || (0..random.below(60)).map(|_| random.below(10_000)).collect::<Vec<i64>>();
        for _ in 0..50 {
            let (a, b) = (some(), some());
            let all: Vec<i64> = a.iter().chain(&b).copied().collect();
            let (x, y) = (Sketch::of(&a), Sketch::of(&b));
            assert_eq!(x.merged(&y), Sketch::of(&all));
            assert_eq!(y.merged(&x), x.merged(&y));
        }
    }
}
