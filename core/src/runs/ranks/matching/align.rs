//! Aligns the calls of two ranks, of which either may lack some.
//!
//! The ends of one collective agree on both ranks up to the offset between their clocks. The offset with which most ends
//! agree is found first; then the most calls in order are matched whose ends agree. If the ends do not
//! agree with any offset, the kinds of the calls alone decide, by their longest common subsequence. Calls between two
//! matches whose ends are too far apart match in order if they overlap in time.

use alloc::vec;
use alloc::vec::Vec;

/// A call, as far as alignment uses it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    /// What it is, and its size; 0 if it is not known.
    pub(super) kind: (i64, i64),
    /// When the rank arrived, and when it left.
    pub(super) time: (i64, i64),
}

impl Item {
    /// Whether both can be one collective: the same operation, with sizes that do not contradict.
    fn fits(&self, other: &Item) -> bool {
        let (a, b) = (self.kind, other.kind);
        a.0 == b.0 && (a.1 == b.1 || a.1 == 0 || b.1 == 0)
    }
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

/// How far apart calls may be that count as overlapping, in ns: the times of short kernels are not exact.
const SLACK: i64 = 200_000;

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
    pairs.filter(|(x, y)| x.fits(y)).map(|(x, y)| y.time.1.saturating_sub(x.time.1)).collect()
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

/// A pair of calls whose ends agree, at the end of the best sequence of such pairs.
#[derive(Clone, Copy, Debug)]
struct Link {
    pair: (usize, usize),
    /// The number of pairs up to here, and the sum of the distances between their ends.
    count: usize,
    distance: i64,
    before: Option<usize>,
}

impl Link {
    fn is_better_than(&self, other: &Link) -> bool {
        self.count > other.count || (self.count == other.count && self.distance < other.distance)
    }
}

/// The best link that ends before each call: a Fenwick tree of prefix maxima.
struct Prefixes(Vec<Option<usize>>);

impl Prefixes {
    /// Returns the best of the links that end before call `end`.
    fn before(&self, end: usize, links: &[Link]) -> Option<usize> {
        let (mut at, mut best) = (end, None);
        while at > 0 {
            best = better(links, best, self.0[at]);
            at &= at - 1;
        }
        best
    }

    fn add(&mut self, end: usize, link: usize, links: &[Link]) {
        let mut at = end + 1;
        while at < self.0.len() {
            self.0[at] = better(links, self.0[at], Some(link));
            at += at & at.wrapping_neg();
        }
    }
}

fn better(links: &[Link], a: Option<usize>, b: Option<usize>) -> Option<usize> {
    match (a, b) {
        (Some(x), Some(y)) => Some(if links[y].is_better_than(&links[x]) { y } else { x }),
        (some, None) | (None, some) => some,
    }
}

/// Matches the most calls in order whose ends agree; of several such matchings, the one with the closest ends.
fn by_ends(a: &[Item], b: &[Item], offset: i64, tolerance: i64) -> Vec<(usize, usize)> {
    let mut links: Vec<Link> = Vec::new();
    let mut prefixes = Prefixes(vec![None; b.len() + 1]);
    let latest: Vec<i64> = (b.iter())
        .scan(i64::MIN, |latest, y| {
            *latest = y.time.1.max(*latest);
            Some(*latest)
        })
        .collect();
    for (at, x) in a.iter().enumerate() {
        let end = x.time.1.saturating_add(offset);
        let first = latest.partition_point(|&latest| latest < end.saturating_sub(tolerance));
        let first_link = links.len();
        let near = b.iter().enumerate().skip(first);
        for (other, y) in near.take_while(|(_, y)| y.time.0 <= end.saturating_add(tolerance)) {
            let far = y.time.1.saturating_sub(end).saturating_abs();
            if y.fits(x) && far <= tolerance {
                let before = prefixes.before(other, &links);
                let (count, distance) = before.map_or((0, 0), |at| (links[at].count, links[at].distance));
                let distance = distance.saturating_add(far);
                links.push(Link { pair: (at, other), count: count + 1, distance, before });
            }
        }
        for link in first_link..links.len() {
            prefixes.add(links[link].pair.1, link, &links);
        }
    }
    let last = prefixes.before(b.len(), &links);
    let mut pairs: Vec<(usize, usize)> =
        core::iter::successors(last, |&at| links[at].before).map(|at| links[at].pair).collect();
    pairs.reverse();
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
            let (start, end) = (x.time.0.saturating_add(offset), x.time.1.saturating_add(offset));
            start <= y.time.1.saturating_add(SLACK) && y.time.0 <= end.saturating_add(SLACK)
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
        let equal = a.iter().zip(b).enumerate().filter(|(_, (x, y))| x.fits(y));
        return equal.map(|(at, _)| (at, at)).collect();
    }
    let width = b.len() + 1;
    let mut longest = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i].fits(&b[j]) {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        if a[i].fits(&b[j]) {
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
    use crate::base::random::Random;

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
            let item = |(at, &kind): (usize, &i64)| Item {
                kind: (kind, 0),
                time: (at as i64 * far - 9, at as i64 * far),
            };
            kinds.iter().enumerate().map(item).collect()
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
