//! Where a series of values changes for good: E-divisive with the divergence of energies (Matteson and James, JASA 2014).
//!
//! A series is split where the energy distance of both parts, scaled by their lengths, is largest. The split counts if
//! fewer than 1 % of permutations of the series have one as large. Both parts are searched in the same way. A single
//! outlier is no change point: each part has at least [`SHORTEST`] values.

use crate::base::random::Random;
use alloc::vec;
use alloc::vec::Vec;

/// The fewest values before and after a change point.
pub(super) const SHORTEST: usize = 3;

/// The number of permutations: fewer of long series, because each takes the square of their length.
fn permutations(length: usize) -> u32 {
    if length <= 100 { 999 } else { 199 }
}

/// The share of permutations with as large a distance below which a split counts.
const LEVEL: f64 = 0.01;

/// A change point: the index of the first value after it, and the share of permutations that are as far apart.
pub(super) type ChangePoint = (usize, f64);

/// Returns the change points of a series in ascending order.
pub(super) fn change_points(values: &[f64]) -> Vec<ChangePoint> {
    let mut found = Vec::new();
    let mut open = vec![(0, values.len())];
    while let Some((start, end)) = open.pop() {
        let part = &values[start..end];
        let Some((at, distance)) = split(part) else { continue };
        let probability = probability(part, distance);
        if probability < LEVEL {
            found.push((start + at, probability));
            open.extend([(start, start + at), (start + at, end)]);
        }
    }
    crate::base::order::sort_by_key(&mut found, |point| (point.0 as i64, 0));
    found
}

/// The place where both parts are farthest apart, with their distance.
fn split(values: &[f64]) -> Option<(usize, f64)> {
    let n = values.len();
    if n < 2 * SHORTEST {
        return None;
    }
    // Sums of the distances within the first part, within the rest, and between both.
    let to = |at: usize, range: core::ops::Range<usize>| -> f64 {
        values[range].iter().map(|other| (values[at] - other).abs()).sum()
    };
    let mut before = 0.0;
    let mut after: f64 = (0..n).map(|at| to(at, 0..at)).sum();
    let mut between = 0.0;
    let mut best: Option<(usize, f64)> = None;
    for at in 1..n {
        // The value before `at` moves from the second part to the first.
        let (left, right) = (to(at - 1, 0..at - 1), to(at - 1, at..n));
        before += left;
        after -= right;
        between += right - left;
        if !(SHORTEST..=n - SHORTEST).contains(&at) {
            continue;
        }
        let (m, k) = (at as f64, (n - at) as f64);
        let energy = 2.0 * between / (m * k) - 2.0 * before / (m * m) - 2.0 * after / (k * k);
        let distance = m * k / (m + k) * energy;
        if best.is_none_or(|(_, largest)| distance > largest) {
            best = Some((at, distance));
        }
    }
    best
}

/// Distances of equal parts differ by rounding.
const ROUNDED: f64 = 1.0 - 1e-9;

/// The seed of the permutations, so that an answer repeats.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The share of permutations whose parts are at least as far apart, with the series itself.
fn probability(values: &[f64], distance: f64) -> f64 {
    let mut shuffled = values.to_vec();
    let mut random = Random(SEED);
    let mut as_large = 1;
    let count = permutations(values.len());
    for _ in 0..count {
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, random.below(at as u64 + 1) as usize);
        }
        as_large += u32::from(split(&shuffled).is_some_and(|(_, other)| other >= distance * ROUNDED));
    }
    f64::from(as_large) / f64::from(count + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(random: &mut Random, level: f64, n: usize) -> Vec<f64> {
        (0..n).map(|_| level + random.below(1000) as f64 / 1000.0).collect()
    }

    #[test]
    fn levels_are_separated_where_they_change() {
        let mut random = Random(7);
        let series =
            [noisy(&mut random, 10.0, 20), noisy(&mut random, 13.0, 15), noisy(&mut random, 11.0, 25)]
                .concat();
        let found: Vec<usize> = change_points(&series).into_iter().map(|point| point.0).collect();
        assert_eq!(found, [20, 35]);
    }

    #[test]
    fn series_without_a_change_and_outliers_have_none() {
        let quiet = (1..100).filter(|&seed| {
            let mut series = noisy(&mut Random(seed), 10.0, 40);
            series[20] += 30.0;
            change_points(&series).is_empty()
        });
        assert!(quiet.count() >= 95);
        assert!(change_points(&[1.0, 2.0, 3.0]).is_empty());
        assert!(change_points(&[5.0; 50]).is_empty());
    }

    /// The distance by its definition.
    #[test]
    fn distances_are_those_of_all_pairs() {
        let mut random = Random(3);
        for n in [6, 9, 14] {
            let values = noisy(&mut random, 0.0, n);
            let mean = |a: &[f64], b: &[f64]| {
                let sum: f64 = a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs())).sum();
                sum / (a.len() * b.len()) as f64
            };
            let distance = |at: usize| {
                let (a, b) = values.split_at(at);
                let scale = (a.len() * b.len()) as f64 / n as f64;
                scale * (2.0 * mean(a, b) - mean(a, a) - mean(b, b))
            };
            let (at, found) = split(&values).expect("a split");
            let best = (SHORTEST..=n - SHORTEST).max_by(|&x, &y| distance(x).total_cmp(&distance(y)));
            assert_eq!(Some(at), best);
            assert!((found - distance(at)).abs() < 1e-9);
        }
    }
}
