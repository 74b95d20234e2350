//! Sets of times, as sorted disjoint half-open intervals in ns.

use crate::base::order::sort_by_key;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use core::array;

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
    let mut sweep = Sweep::new(sets, window.0);
    sweep.to(window.1);
    sweep.lengths
}

/// Measures sets within each of several windows, which can overlap, in one pass over all of them.
pub(crate) fn lengths_in<const N: usize>(sets: &[&Intervals; N], windows: &[Interval]) -> Vec<Lengths<N>> {
    let mut lengths = vec![Lengths::default(); windows.len()];
    let mut bounds: Vec<(i64, usize)> = Vec::with_capacity(2 * windows.len());
    for (at, &(start, end)) in windows.iter().enumerate().filter(|(_, window)| window.0 < window.1) {
        bounds.extend([(start, 2 * at), (end, 2 * at + 1)]);
    }
    sort_by_key(&mut bounds, |&(time, bound)| (time, bound as i64));
    let Some(&(first, _)) = bounds.first() else { return lengths };
    let mut sweep = Sweep::new(sets, first);
    for (time, bound) in bounds {
        sweep.to(time);
        let window = &mut lengths[bound / 2];
        // At the start of a window it has the lengths before, at its end those in it.
        *window = if bound % 2 == 0 { sweep.lengths } else { sweep.lengths.since(window) };
    }
    lengths
}

/// Measures sets while time passes.
struct Sweep<'s, const N: usize> {
    sets: &'s [&'s Intervals; N],
    /// The number of intervals of each set that have ended.
    ended: [usize; N],
    at: i64,
    lengths: Lengths<N>,
}

impl<'s, const N: usize> Sweep<'s, N> {
    fn new(sets: &'s [&'s Intervals; N], at: i64) -> Self {
        let ended = sets.map(|set| set.0.partition_point(|interval| interval.1 <= at));
        Sweep { sets, ended, at, lengths: Lengths::default() }
    }

    fn to(&mut self, end: i64) {
        while self.at < end {
            let mut until = end;
            let mut has = [false; N];
            for ((set, ended), has) in self.sets.iter().zip(&mut self.ended).zip(&mut has) {
                *ended += usize::from(set.0.get(*ended).is_some_and(|interval| interval.1 <= self.at));
                let Some(&(start, end)) = set.0.get(*ended) else { continue };
                *has = start <= self.at;
                until = until.min(if *has { end } else { start });
            }
            self.lengths.add(&has, until - self.at);
            self.at = until;
        }
    }
}

impl<const N: usize> Lengths<N> {
    /// Adds a period in which some of the sets are.
    fn add(&mut self, has: &[bool; N], length: i64) {
        let count = has.iter().filter(|&&has| has).count();
        let mut is_first = true;
        for set in (0..N).filter(|&set| has[set]) {
            self.all[set] += length;
            self.added[set] += if is_first { length } else { 0 };
            self.alone[set] += if count == 1 { length } else { 0 };
            is_first = false;
        }
    }

    fn since(&self, before: &Lengths<N>) -> Lengths<N> {
        let difference = |now: &[i64; N], before: &[i64; N]| array::from_fn(|set| now[set] - before[set]);
        Lengths {
            all: difference(&self.all, &before.all),
            added: difference(&self.added, &before.added),
            alone: difference(&self.alone, &before.alone),
        }
    }
}

impl<const N: usize> Default for Lengths<N> {
    fn default() -> Self {
        Lengths { all: [0; N], added: [0; N], alone: [0; N] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

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
            let windows = [(4, 20), (0, 7), (6, 6), (9, 3), (5, 30), (4, 20)];
            let alone = windows.map(|window| lengths(&[&x, &y], window));
            assert_eq!(lengths_in(&[&x, &y], &windows), alone);
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
