//! Medians, their bootstrap intervals, and Student's t-test.
//!
//! The bootstrap distribution of a median is computed in closed form (Maritz and Jarrett, JASA 1978) instead of by drawing
//! samples, so an interval needs no seed and is the same each time.

use crate::base::order::{float_key, sort_by_key};
use alloc::vec;
use alloc::vec::Vec;

/// The mean; 0 of no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The sample variance; 0 of fewer than two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    squares / values.len().saturating_sub(1).max(1) as f64
}

/// The values in ascending order.
pub(super) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    sort_by_key(&mut values, |&value| (float_key(value), 0));
    values
}

/// The median; the mean of the two middle values if their number is even, and 0 of no values.
pub(crate) fn median(values: &[f64]) -> f64 {
    let values = sorted(values);
    match values.len() {
        0 => 0.0,
        n => f64::midpoint(values[(n - 1) / 2], values[n / 2]),
    }
}

/// The mean of the middle values, without a fifth of the values at each end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trimmed {
    pub(super) mean: f64,
    /// The variance of this mean.
    pub(super) variance: f64,
    /// The number of values that were not left out.
    pub(super) kept: usize,
}

impl Trimmed {
    /// Computes the mean and its variance from that of the winsorized values (Yuen, Biometrika 1974). Of fewer than five
    /// values, or if it is not trimmed, none is left out.
    pub(super) fn new(values: &[f64], is_trimmed: bool) -> Trimmed {
        let mut values = sorted(values);
        let (n, cut) = (values.len(), if is_trimmed { values.len() / 5 } else { 0 });
        let kept = n - 2 * cut;
        let middle = mean(&values[cut..n - cut]);
        if let (Some(&low), Some(&high)) = (values.get(cut), values.get((n - cut).wrapping_sub(1))) {
            values[..cut].fill(low);
            values[n - cut..].fill(high);
        }
        let squares = variance(&values) * n.saturating_sub(1) as f64;
        let variance = squares / (kept * kept.saturating_sub(1)).max(1) as f64;
        Trimmed { mean: middle, variance, kept }
    }
}

/// The distance from the median that half of the values are within, scaled to the standard deviation of a normal
/// distribution.
pub(super) fn spread(values: &[f64]) -> f64 {
    let middle = median(values);
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    1.4826 * median(&distances)
}

/// The share of resamples of `n` values whose median is the value of each place in ascending order. Where `n` is even,
/// half of the weight is that of the lower middle value, and half that of the upper.
fn median_weights(n: usize) -> Vec<f64> {
    // The share of resamples whose value of rank k, counted from 1, is among the first i values.
    let within = |k: usize, i: usize| match i {
        0 => 0.0,
        i if i == n => 1.0,
        i => beta(k as f64, (n - k + 1) as f64, i as f64 / n as f64),
    };
    let both = |i: usize| f64::midpoint(within(n.div_ceil(2), i), within(n / 2 + 1, i));
    let mut weights = vec![0.0; n];
    let mut before = 0.0;
    for (at, weight) in weights.iter_mut().enumerate() {
        let now = both(at + 1);
        *weight = now - before;
        before = now;
    }
    weights
}

/// The values that a resample's median can be, with their weights.
fn medians(values: &[f64]) -> Vec<(f64, f64)> {
    /// Weights that do not count.
    const LEAST: f64 = 1e-9;
    let weights = median_weights(values.len());
    sorted(values).into_iter().zip(weights).filter(|(_, weight)| *weight > LEAST).collect()
}

/// The bootstrap interval of the median of `b` minus the median of `a`: each side of it has the share `tail` of resamples.
/// With few values, its ends are the largest differences that there can be.
pub(super) fn interval(a: &[f64], b: &[f64], tail: f64) -> (f64, f64) {
    let (a, b) = (medians(a), medians(b));
    let mut differences: Vec<(f64, f64)> = Vec::with_capacity(a.len() * b.len());
    for &(x, weight) in &a {
        differences.extend(b.iter().map(|&(y, other)| (y - x, weight * other)));
    }
    sort_by_key(&mut differences, |(difference, _)| (float_key(*difference), 0));
    let end = |ordered: &mut dyn Iterator<Item = &(f64, f64)>| {
        let (mut share, mut last) = (0.0, 0.0);
        for &(difference, weight) in ordered {
            last = difference;
            share += weight;
            if share > tail {
                break;
            }
        }
        last
    };
    (end(&mut differences.iter()), end(&mut differences.iter().rev()))
}

/// The probability that Student's t with `freedom` degrees of freedom is at least as far from 0.
pub(super) fn two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// The regularized incomplete beta function, by the continued fraction of DLMF 8.17.22, which is evaluated from
/// its front by Lentz's method.
fn beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast below the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(b, a, 1.0 - x);
    }
    let scale = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    let factor = libm::exp(scale + a * libm::log(x) + b * libm::log1p(-x)) / a;
    factor / continued_fraction(a, b, x)
}

fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut value, mut c, mut d) = (1.0, 1.0, 0.0);
    for term in 1..2000 {
        let m = f64::from(term / 2);
        let numerator = if term % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        d = 1.0 / nonzero(1.0 + numerator * d);
        c = nonzero(1.0 + numerator / c);
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

/// Adjusts probabilities so that the chance of any false one among all is that of one (Holm 1979).
pub(super) fn holm(probabilities: &mut [f64]) {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    sort_by_key(&mut order, |&at| (float_key(probabilities[at]), 0));
    let mut least: f64 = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        let left = (probabilities.len() - rank) as f64;
        least = least.max((probabilities[at] * left).min(1.0));
        probabilities[at] = least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-6 * b.abs().max(1e-6), "{a} {b}");
    }

    #[test]
    fn t_has_the_probabilities_of_tables() {
        // Critical values of Student's t, two-sided.
        close(two_sided(12.706_204_736, 1.0), 0.05);
        close(two_sided(4.604_094_871, 4.0), 0.01);
        close(two_sided(2.024_394_164, 38.0), 0.05);
        close(two_sided(0.0, 7.0), 1.0);
        assert!(two_sided(f64::INFINITY, 3.0) == 0.0);
    }

    #[test]
    fn weights_are_those_of_all_resamples() {
        // Of the 27 resamples of three values, 7 have the least one as their median.
        let weights = median_weights(3);
        close(weights[0], 7.0 / 27.0);
        close(weights[1], 13.0 / 27.0);
        // Of the 256 of four, the second value is one of the lowest in 67 (the first) to 189 (the first two).
        let mut lower = [0; 4];
        let mut upper = [0; 4];
        for resample in 0..256usize {
            let mut drawn = [resample & 3, resample >> 2 & 3, resample >> 4 & 3, resample >> 6];
            sort_by_key(&mut drawn, |&at| (at as i64, 0));
            lower[drawn[1]] += 1;
            upper[drawn[2]] += 1;
        }
        for (at, weight) in median_weights(4).into_iter().enumerate() {
            close(weight, f64::from(lower[at] + upper[at]) / 512.0);
        }
        close(median_weights(1000).iter().sum(), 1.0);
    }

    #[test]
    fn intervals_are_those_of_drawn_resamples() {
        let mut random = Random(5);
        let mut draw = |n: usize, from: f64| -> Vec<f64> {
            (0..n).map(|_| from + random.below(1000) as f64 / 100.0).collect()
        };
        let (a, b) = (draw(15, 100.0), draw(21, 104.0));
        let mut random = Random(9);
        let mut resampled = |values: &[f64]| {
            let drawn: Vec<f64> =
                values.iter().map(|_| values[random.below(values.len() as u64) as usize]).collect();
            median(&drawn)
        };
        let differences: Vec<f64> = (0..20_000).map(|_| resampled(&b) - resampled(&a)).collect();
        let differences = sorted(&differences);
        let (low, high) = interval(&a, &b, 0.05);
        let within =
            differences.iter().filter(|&&difference| low <= difference && difference <= high).count();
        assert!((17_800..18_500).contains(&within), "{within}");
    }

    #[test]
    fn intervals_change_sign_with_the_sides() {
        let (a, b) = ([5.0, 7.0, 4.0, 4.5], [6.0, 9.0, 8.0]);
        let (low, high) = interval(&a, &b, 0.025);
        assert_eq!(interval(&b, &a, 0.025), (-high, -low));
        assert_eq!((low, high), (-1.0, 5.0));
    }

    #[test]
    fn adjusted_probabilities_keep_their_order() {
        let mut probabilities = [0.01, 0.04, 0.03, 0.005];
        holm(&mut probabilities);
        for (adjusted, expected) in probabilities.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            close(*adjusted, expected);
        }
    }

    #[test]
    fn a_trimmed_mean_ignores_outliers() {
        let steady = [1.0, 1.1, 0.9, 1.0, 1.0];
        let (plain, outlier) = (Trimmed::new(&steady, true), Trimmed::new(&[1.0, 1.1, 0.9, 1.0, 50.0], true));
        close(plain.mean, 1.0);
        close(outlier.mean, 3.1 / 3.0);
        assert!(outlier.variance < 0.01 && outlier.kept == 3);
        // Of few values it is the mean, with the variance of a mean.
        let few = Trimmed::new(&[1.0, 2.0, 6.0], true);
        close(few.mean, 3.0);
        close(few.variance, variance(&[1.0, 2.0, 6.0]) / 3.0);
        assert_eq!(Trimmed::new(&[], true).kept, 0);
    }

    #[test]
    fn the_spread_ignores_outliers() {
        assert!(spread(&[1.0, 1.1, 0.9, 1.0, 50.0]) < 0.2);
        close(median(&[3.0, 1.0, 2.0, 10.0]), 2.5);
    }
}
