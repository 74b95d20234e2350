//! Aligns the calls of two ranks, of which either may lack some.
//!
//! The ends of one collective agree on both ranks up to the offset between their clocks. The offset with which most ends
//! agree is found first; then each call is matched, in order, with the call that ends closest to it. If the ends do not
//! agree with any offset, the kinds of the calls alone decide, by their longest common subsequence. Calls between two
//! matches whose ends are too far apart match in order if they overlap in time.

use alloc::vec;
use alloc::vec::Vec;

/// A call, as far as alignment uses it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    /// Calls of different kinds never match.
    pub(super) kind: (i64, i64),
    /// When the rank arrived, and when it left.
    pub(super) time: (i64, i64),
}

/// The pairs of calls that match, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Aligned {
    pub(super) pairs: Vec<(usize, usize)>,
    /// The share of the calls of the rank with fewer calls whose ends agree; half of it if only the order decided.
    pub(super) confidence: f64,
    /// The median distance of the ends from their offset, in ns.
    pub(super) spread_ns: i64,
}

impl Aligned {
    /// Pairs every call with the one in the same place.
    pub(super) fn one_by_one(count: usize) -> Aligned {
        Aligned { pairs: (0..count).map(|at| (at, at)).collect(), confidence: 1.0, spread_ns: 0 }
    }
}

/// How far apart the ends of one collective may be, in ns. The smallest one with which most calls match is used.
const TOLERANCES: [i64; 4] = [20_000, 200_000, 2_000_000, 20_000_000];

/// The number of calls of each rank that the offset is found from.
const SAMPLED: usize = 1000;

/// The share of calls whose ends must agree.
const ENOUGH: f64 = 0.8;

/// Returns the pairs of calls of two ranks, each in order of time.
pub(super) fn align(a: &[Item], b: &[Item]) -> Aligned {
    let least = a.len().min(b.len());
    if least == 0 {
        return Aligned::default();
    }
    let mut differences = differences(a, b);
    differences.sort_unstable();
    let mut best = Aligned::default();
    for tolerance in TOLERANCES {
        let Some(offset) = densest(&differences, tolerance) else { break };
        let pairs = by_ends(a, b, offset, tolerance);
        let confidence = pairs.len() as f64 / least as f64;
        if confidence > best.confidence {
            let spread_ns = spread(a, b, offset, &pairs);
            best = Aligned { pairs: between(a, b, offset, pairs), confidence, spread_ns };
        }
        if best.confidence >= ENOUGH {
            return best;
        }
    }
    let pairs = by_kind(a, b);
    if pairs.len() > 2 * best.pairs.len() {
        let confidence = pairs.len() as f64 / least as f64 / 2.0;
        return Aligned { pairs, confidence, spread_ns: i64::MAX };
    }
    best
}

/// The differences between the ends of all calls of one kind.
fn differences(a: &[Item], b: &[Item]) -> Vec<i64> {
    let some = |items: &[Item]| -> Vec<Item> { items.iter().take(SAMPLED).copied().collect() };
    let (a, b) = (some(a), some(b));
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
    pairs.filter(|(x, y)| x.kind == y.kind).map(|(x, y)| y.time.1.saturating_sub(x.time.1)).collect()
}

/// Returns the middle of the window of this width with the most differences; of several, the one closest to 0.
fn densest(differences: &[i64], tolerance: i64) -> Option<i64> {
    let mut best: Option<(usize, i64)> = None;
    let mut first = 0;
    for (at, &last) in differences.iter().enumerate() {
        while last.saturating_sub(differences[first]) > tolerance {
            first += 1;
        }
        let (count, middle) = (at + 1 - first, differences[first + (at - first) / 2]);
        let is_better = best.is_none_or(|(most, offset)| {
            count > most || (count == most && middle.saturating_abs() < offset.saturating_abs())
        });
        if is_better {
            best = Some((count, middle));
        }
    }
    best.map(|(_, middle)| middle)
}

/// Matches each call with the closest later one, in order, whose end agrees.
fn by_ends(a: &[Item], b: &[Item], offset: i64, tolerance: i64) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut next = 0;
    for (at, x) in a.iter().enumerate() {
        let end = x.time.1.saturating_add(offset);
        let far = |y: &Item| (y.time.1.saturating_sub(end)).saturating_abs();
        let candidates = b.iter().enumerate().skip(next);
        // Calls are ordered by arrival, so ends are nearly in order; those in flight at the same time may not be.
        let near = candidates.take_while(|(_, y)| y.time.0 <= end.saturating_add(tolerance));
        let fitting = near.filter(|(_, y)| y.kind == x.kind && far(y) <= tolerance);
        if let Some((found, _)) = fitting.min_by_key(|(_, y)| far(y)) {
            pairs.push((at, found));
            next = found + 1;
        }
    }
    pairs
}

/// The median distance of the ends of pairs from their offset.
fn spread(a: &[Item], b: &[Item], offset: i64, pairs: &[(usize, usize)]) -> i64 {
    let far = |&(i, j): &(usize, usize)| {
        let difference = b[j].time.1.saturating_sub(a[i].time.1);
        difference.saturating_sub(offset).saturating_abs()
    };
    let mut all: Vec<i64> = pairs.iter().map(far).collect();
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or(0)
}

/// Adds pairs of calls between the pairs that are known: calls that overlap in time, by the order of their kinds.
fn between(a: &[Item], b: &[Item], offset: i64, known: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let mut pairs = Vec::with_capacity(known.len());
    let mut next = (0, 0);
    for (i, j) in known.into_iter().chain([(a.len(), b.len())]) {
        let left = by_kind(&a[next.0..i], &b[next.1..j]);
        let overlap = |x: &Item, y: &Item| {
            x.time.0.saturating_add(offset) <= y.time.1 && y.time.0 <= x.time.1.saturating_add(offset)
        };
        let left = left.into_iter().map(|(x, y)| (next.0 + x, next.1 + y));
        pairs.extend(left.filter(|&(x, y)| overlap(&a[x], &b[y])));
        if i < a.len() {
            pairs.push((i, j));
        }
        next = (i + 1, j + 1);
    }
    pairs
}

/// The longest common subsequence of the kinds. Beyond [`SAMPLED`] calls, the kinds are compared one by one.
fn by_kind(a: &[Item], b: &[Item]) -> Vec<(usize, usize)> {
    if a.len() > SAMPLED || b.len() > SAMPLED {
        let equal = a.iter().zip(b).enumerate().filter(|(_, (x, y))| x.kind == y.kind);
        return equal.map(|(at, _)| (at, at)).collect();
    }
    let width = b.len() + 1;
    let mut longest = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i].kind == b[j].kind {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i].kind == b[j].kind {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Calls of one kind that end at these times, in us.
    fn items(ends: &[i64]) -> Vec<Item> {
        ends.iter().map(|&end| Item { kind: (0, 0), time: (end * 1000 - 500, end * 1000) }).collect()
    }

    #[test]
    fn a_missing_call_does_not_shift_the_others() {
        let mut random = Random(3);
        for _ in 0..100 {
            let mut end = 0;
            let all: Vec<i64> = (0..60)
                .map(|_| {
                    end += 100 + random.below(900);
                    end
                })
                .collect();
            let offset = random.below(2_000_000) - 1_000_000;
            let lost: Vec<usize> = (0..4).map(|_| random.below(60) as usize).collect();
            let rest: Vec<usize> = (0..60).filter(|at| !lost.contains(at)).collect();
            let ends: Vec<i64> = rest.iter().map(|&at| all[at] + offset + random.below(4)).collect();
            let aligned = align(&items(&all), &items(&ends));
            let expected: Vec<(usize, usize)> = rest.iter().copied().zip(0..).collect();
            assert_eq!(aligned.pairs, expected);
            assert!(aligned.confidence > 0.999);
        }
    }

    #[test]
    fn kinds_decide_where_ends_do_not_agree() {
        let with = |kinds: &[i64], far: i64| -> Vec<Item> {
            let one = |(at, &kind): (usize, &i64)| Item {
                kind: (kind, 0),
                time: (at as i64 * far - 9, at as i64 * far),
            };
            kinds.iter().enumerate().map(one).collect()
        };
        let aligned = align(&with(&[1, 2, 3, 4, 5, 6], 1 << 30), &with(&[1, 2, 4, 5, 6], 1 << 33));
        assert_eq!(aligned.pairs, [(0, 0), (1, 1), (3, 2), (4, 3), (5, 4)]);
        assert!((aligned.confidence - 0.5).abs() < 1e-9);
    }

    #[test]
    fn calls_of_different_kinds_never_match() {
        let mut b = items(&[1000, 2000, 3000]);
        b[1].kind = (1, 0);
        assert_eq!(align(&items(&[1000, 2000, 3000]), &b).pairs, [(0, 0), (2, 2)]);
    }

    #[test]
    fn a_call_that_ends_late_on_one_rank_matches_between_its_neighbours() {
        let mut b = items(&[1000, 2000, 3000, 4000, 5000, 6000]);
        b[2].time.1 += 900_000;
        let aligned = align(&items(&[1000, 2000, 3000, 4000, 5000, 6000]), &b);
        assert_eq!(aligned.pairs, [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]);
        assert!(aligned.confidence < 1.0);
    }
}
