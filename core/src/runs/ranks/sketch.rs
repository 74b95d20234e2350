//! Distributions of durations that can be merged: `DDSketch` (Masson, Rim and Lee, VLDB 2019).
//!
//! A duration of `x` ns is counted in the bin `ceil(log(x) / log(γ))` with γ = (1 + α) / (1 - α). A quantile is the middle
//! of its bin, 2γ^i / (γ + 1), so it differs from the exact one by at most the share α. Counts of equal bins add up, so
//! any order of merging gives the same sketch.

use crate::base::order::sort_by_key;
use alloc::vec::Vec;

/// The largest relative error of a quantile, α.
pub(crate) const RELATIVE_ERROR: f64 = 0.01;

const GAMMA: f64 = (1.0 + RELATIVE_ERROR) / (1.0 - RELATIVE_ERROR);

/// A distribution of durations in ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sketch {
    /// The bins with counts, in ascending order. Durations of 0 are in a bin of their own.
    bins: Vec<(i32, u64)>,
}

/// The bin of durations of 0.
const ZERO: i32 = i32::MIN;

fn bin(ns: i64) -> i32 {
    if ns <= 0 { ZERO } else { libm::ceil(libm::log(ns as f64) / libm::log(GAMMA)) as i32 }
}

impl Sketch {
    /// Returns the sketch of these durations, in ns.
    pub(crate) fn from_durations(durations: &[i64]) -> Sketch {
        let mut bins: Vec<i32> = durations.iter().map(|&ns| bin(ns)).collect();
        sort_by_key(&mut bins, |&bin| (i64::from(bin), 0));
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

    pub(super) fn bins(&self) -> &[(i32, u64)] {
        &self.bins
    }

    /// Returns a sketch of these bins, which need not be in order.
    pub(super) fn from_bins(mut bins: Vec<(i32, u64)>) -> Sketch {
        sort_by_key(&mut bins, |&(bin, count)| (i64::from(bin), count as i64));
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

    /// The middle of a bin, in ns.
    fn middle(bin: i32) -> f64 {
        if bin == ZERO { 0.0 } else { 2.0 * libm::pow(GAMMA, f64::from(bin)) / (GAMMA + 1.0) }
    }

    /// Returns the quantile `q` of a number of durations.
    fn quantile(sketch: &Sketch, count: usize, q: f64) -> f64 {
        let mut left = libm::floor(q * (count - 1) as f64) as u64;
        let mut bins = sketch.bins.iter();
        let found = bins.find(|(_, count)| {
            let is_inside = left < *count;
            left = left.saturating_sub(*count);
            is_inside
        });
        found.map_or(0.0, |&(bin, _)| middle(bin))
    }

    #[test]
    fn quantiles_are_within_the_stated_error() {
        let mut random = Random(11);
        for round in 0..50 {
            let largest = [10, 1000, 1_000_000, 1 << 40][round % 4];
            let mut all: Vec<i64> = (0..=random.below(500)).map(|_| random.below(largest)).collect();
            let sketch = Sketch::from_durations(&all);
            all.sort_unstable();
            for q in [0.0, 0.1, 0.5, 0.9, 0.99, 1.0] {
                let exact = all[libm::floor(q * (all.len() - 1) as f64) as usize] as f64;
                let error = (quantile(&sketch, all.len(), q) - exact).abs();
                assert!(error <= exact * RELATIVE_ERROR * 1.000_001, "{q}: {exact} {error}");
            }
        }
    }
}
