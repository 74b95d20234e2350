//! Sets of times, as sorted disjoint half-open intervals in ns.

use crate::order::sort_by_key;
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// A half-open interval `start..end`.
pub(crate) type Interval = (i64, i64);

/// Sorted, disjoint, non-empty intervals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals(Vec<Interval>);

/// Collects intervals. An interval that overlaps or touches the previous one is merged at once, so nested calls take no
/// memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collector(Vec<Interval>);

impl Collector {
    /// Adds an interval.
    pub(crate) fn push(&mut self, interval: Interval) {
        match self.0.last_mut() {
            Some(last) if last.0 <= interval.0 && interval.0 <= last.1 => last.1 = last.1.max(interval.1),
            _ if interval.0 < interval.1 => self.0.push(interval),
            _ => {}
        }
    }

    /// Returns the union of all intervals that were added.
    pub(crate) fn union(self) -> Intervals {
        Intervals::union_of(self.0)
    }
}

impl Intervals {
    /// Returns the union of any intervals.
    pub fn union_of(mut intervals: Vec<Interval>) -> Intervals {
        intervals.retain(|i| i.0 < i.1);
        sort_by_key(&mut intervals, |&interval| interval);
        intervals.dedup_by(|next, last| {
            let joins = next.0 <= last.1;
            if joins {
                last.1 = last.1.max(next.1);
            }
            joins
        });
        Intervals(intervals)
    }

    /// Returns the intervals.
    pub fn as_slice(&self) -> &[Interval] {
        &self.0
    }

    /// Returns the total length in ns.
    pub fn length(&self) -> i64 {
        self.0.iter().map(|i| i.1 - i.0).sum()
    }

    /// Returns the times that lie in both sets.
    pub fn intersection(&self, other: &Intervals) -> Intervals {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut out = Vec::new();
        while let (Some(&&x), Some(&&y)) = (a.peek(), b.peek()) {
            let both = (x.0.max(y.0), x.1.min(y.1));
            if both.0 < both.1 {
                out.push(both);
            }
            if x.1 < y.1 {
                a.next()
            } else {
                b.next()
            };
        }
        Intervals(out)
    }

    /// Returns the times that lie in `self` and not in `other`.
    pub(crate) fn outside(&self, other: &Intervals) -> Intervals {
        Intervals(self.0.iter().flat_map(|&period| other.gaps(period)).collect())
    }

    /// Returns the times that lie in either set.
    pub fn union(&self, other: &Intervals) -> Intervals {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut all: Vec<Interval> = Vec::with_capacity(self.0.len() + other.0.len());
        while let Some(&next) = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if y.0 < x.0 => b.next(),
            (None, _) => b.next(),
            _ => a.next(),
        } {
            match all.last_mut() {
                Some(last) if next.0 <= last.1 => last.1 = last.1.max(next.1),
                _ => all.push(next),
            }
        }
        Intervals(all)
    }

    /// Returns the times that lie in any of the sets.
    pub(crate) fn union_of_all<'a>(sets: impl Iterator<Item = &'a Intervals>) -> Cow<'a, Intervals> {
        let mut sets = sets.filter(|set| !set.0.is_empty());
        let first = sets.next().map_or_else(Cow::default, Cow::Borrowed);
        sets.fold(first, |all, set| Cow::Owned(all.union(set)))
    }

    /// Returns the times that lie within `window`.
    pub fn clipped(&self, window: Interval) -> Intervals {
        let first = self.0.partition_point(|i| i.1 <= window.0);
        let within = self.0[first..].iter().take_while(|i| i.0 < window.1);
        Intervals(within.map(|i| (i.0.max(window.0), i.1.min(window.1))).collect())
    }

    /// Returns the times within `window` that lie in none of the intervals.
    pub fn gaps(&self, window: Interval) -> Vec<Interval> {
        let mut gaps = Vec::new();
        let mut at = window.0;
        for &(start, end) in self.clipped(window).as_slice() {
            if start > at {
                gaps.push((at, start));
            }
            at = end;
        }
        if at < window.1 {
            gaps.push((at, window.1));
        }
        gaps
    }
}

/// The lengths of several sets within a window, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lengths<const N: usize> {
    /// Of each set.
    pub(crate) all: [i64; N],
    /// Of what each set adds to the union of those before it.
    pub(crate) added: [i64; N],
    /// Of what no other set has.
    pub(crate) alone: [i64; N],
}

/// Measures sets within a window, in one pass over all of them.
pub(crate) fn lengths<const N: usize>(sets: &[&Intervals; N], window: Interval) -> Lengths<N> {
    let mut lengths = Lengths { all: [0; N], added: [0; N], alone: [0; N] };
    let mut ended = sets.map(|set| set.0.partition_point(|interval| interval.1 <= window.0));
    let mut at = window.0;
    while at < window.1 {
        let mut until = window.1;
        let mut has = [false; N];
        for ((set, ended), has) in sets.iter().zip(&mut ended).zip(&mut has) {
            *ended += usize::from(set.0.get(*ended).is_some_and(|interval| interval.1 <= at));
            let Some(&(start, end)) = set.0.get(*ended) else { continue };
            *has = start <= at;
            until = until.min(if *has { end } else { start });
        }
        let (length, count) = (until - at, has.iter().filter(|&&has| has).count());
        let mut is_first = true;
        for set in (0..N).filter(|&set| has[set]) {
            lengths.all[set] += length;
            lengths.added[set] += if is_first { length } else { 0 };
            lengths.alone[set] += if count == 1 { length } else { 0 };
            is_first = false;
        }
        at = until;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use alloc::vec;

    /// Returns 0..32 ns as one bit for each ns: the reference implementation.
    fn bits(intervals: &[Interval]) -> u32 {
        intervals.iter().flat_map(|&(a, b)| a..b).fold(0, |bits, at| bits | 1 << at)
    }

    #[test]
    fn operations_equal_those_on_bit_sets() {
        let mut random = Random(7);
        for _ in 0..2000 {
            let mut some = || {
                (0..random.below(6))
                    .map(|_| {
                        let start = random.below(30);
                        (start, (start + random.below(8)).min(32))
                    })
                    .collect::<Vec<_>>()
            };
            let (a, b) = (some(), some());
            let (x, y) = (Intervals::union_of(a.clone()), Intervals::union_of(b.clone()));
            assert_eq!(bits(x.as_slice()), bits(&a));
            let mut collector = Collector::default();
            for &i in &a {
                collector.push(i);
            }
            assert_eq!(collector.union(), x);
            assert_eq!(x.length(), i64::from(bits(&a).count_ones()));
            assert_eq!(bits(x.intersection(&y).as_slice()), bits(&a) & bits(&b));
            assert_eq!(bits(x.union(&y).as_slice()), bits(&a) | bits(&b));
            let within = bits(&[(4, 20)]);
            let counted = |sets: [u32; 2]| sets.map(|bits| i64::from((bits & within).count_ones()));
            let expected = Lengths {
                all: counted([bits(&a), bits(&b)]),
                added: counted([bits(&a), bits(&b) & !bits(&a)]),
                alone: counted([bits(&a) & !bits(&b), bits(&b) & !bits(&a)]),
            };
            assert_eq!(lengths(&[&x, &y], (4, 20)), expected);
            let empty = Intervals::default();
            let all = Intervals::union_of_all([&x, &empty, &y].into_iter());
            assert_eq!(bits(all.as_slice()), bits(&a) | bits(&b));
            assert_eq!(bits(x.outside(&y).as_slice()), bits(&a) & !bits(&b));
            assert_eq!(bits(&x.gaps((4, 20))), !bits(&a) & bits(&[(4, 20)]));
            assert_eq!(bits(x.clipped((4, 20)).as_slice()), bits(&a) & bits(&[(4, 20)]));
        }
        assert_eq!(Intervals::union_of(vec![(5, 5), (9, 3)]).length(), 0);
    }
}
