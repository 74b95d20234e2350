//! Each collective in two parts: waiting for the last rank, and the transfer.
//!
//! All ranks leave a collective together, so the rank that spends the least time in it arrived last. That least time is
//! the transfer; what a rank spends beyond it is its wait. This needs no clocks. The two sides of a message are compared
//! by the aligned times of their starts: the earlier one waits for the later one. Without known
//! clocks, all of their time counts as transfer.

use super::clocks::Clocks;
use super::matching::{Matched, MatchedBy, call};
use super::run::Run;
use alloc::vec::Vec;

/// The parts of one collective.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Waits {
    /// The wait and the transfer of each rank that took part, in ns.
    pub(crate) parts: Vec<(i64, i64)>,
    /// The part of each wait that lies after the last rank began to record, in ns. What lies before shows when the
    /// recordings began.
    pub(crate) counted_ns: Vec<i64>,
    /// By how much each rank arrived later than the median of the others, as far as it is counted, in ns; 0 if it did
    /// not.
    pub(crate) late_ns: Vec<i64>,
    /// The index of the rank that arrived last, among those that took part.
    pub(crate) last: usize,
}

impl Waits {
    /// The shortest transfer, in ns.
    pub(crate) fn transfer_ns(&self) -> i64 {
        self.parts.iter().map(|part| part.1).min().unwrap_or(0)
    }
}

/// Parts every collective.
pub(crate) fn waits(run: &Run, matched: &[Matched], clocks: &Clocks) -> Vec<Waits> {
    matched.iter().map(|collective| part(run, collective, clocks)).collect()
}

fn part(run: &Run, matched: &Matched, clocks: &Clocks) -> Waits {
    let durations: Vec<i64> = matched.calls.iter().map(|&place| call(run, place).duration()).collect();
    let starts: Vec<i64> = matched
        .calls
        .iter()
        .map(|&place| clocks.aligned(place.member as usize, call(run, place).time.0))
        .collect();
    let is_known =
        matched.calls.iter().all(|place| clocks.of.get(place.member as usize).is_some_and(Result::is_ok));
    let parts: Vec<(i64, i64)> = if matched.by == MatchedBy::Pair && !is_known {
        durations.iter().map(|&duration| (0, duration)).collect()
    } else if matched.by == MatchedBy::Pair {
        let latest = starts.iter().copied().max().unwrap_or(0);
        let wait = |(&start, &duration): (&i64, &i64)| {
            let wait = (latest - start).clamp(0, duration);
            (wait, duration - wait)
        };
        starts.iter().zip(&durations).map(wait).collect()
    } else {
        let least = durations.iter().copied().min().unwrap_or(0);
        durations.iter().map(|&duration| (duration - least, least)).collect()
    };
    let last = (0..parts.len()).min_by_key(|&at| (parts[at].0, at)).unwrap_or(0);
    let begun = matched.calls.iter().map(|place| {
        let member = place.member as usize;
        clocks.aligned(member, run.members[member].time().0)
    });
    let begun = begun.max().unwrap_or(i64::MIN);
    let counted = |(part, &start): (&(i64, i64), &i64)| (part.0 - (begun - start).max(0)).max(0);
    let counted_ns: Vec<i64> = parts.iter().zip(&starts).map(counted).collect();
    Waits { late_ns: late(&counted_ns), counted_ns, last, parts }
}

/// By how much each rank waited less than the median of the others.
fn late(waits: &[i64]) -> Vec<i64> {
    let mut sorted = waits.to_vec();
    sorted.sort_unstable();
    waits.iter().map(|&wait| (median_without(&sorted, wait) - wait).max(0)).collect()
}

/// The median of sorted values without one of them: the lower one of two in the middle.
pub(super) fn median_without(sorted: &[i64], excluded: i64) -> i64 {
    if sorted.len() < 2 {
        return excluded;
    }
    let half = (sorted.len() - 2) / 2;
    let removed = sorted.partition_point(|&value| value < excluded);
    sorted[if half < removed { half } else { half + 1 }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    #[test]
    fn the_rank_that_spends_the_least_time_is_late() {
        assert_eq!(late(&[30, 0, 28, 31]), [0, 30, 2, 0]);
        assert_eq!(late(&[30, 0]), [0, 30]);
    }

    #[test]
    fn the_median_is_that_of_the_others() {
        let mut random = Random(9);
        for _ in 0..500 {
            let mut all: Vec<i64> = (0..2 + random.below(8)).map(|_| random.below(9)).collect();
            all.sort_unstable();
            let at = random.below(all.len() as u64) as usize;
            let mut others = all.clone();
            let excluded = others.remove(at);
            assert_eq!(median_without(&all, excluded), others[(others.len() - 1) / 2]);
        }
        assert_eq!(median_without(&[4], 4), 4);
    }
}
