//! The numbers of processes and threads in a merged trace.

use alloc::vec::Vec;

/// The number of `pid`s and `tid`s of each rank.
pub(crate) const NUMBERS: i64 = 10_000_000;

/// The first number of those that do not fit. Numbers of processes on Linux are smaller.
pub(crate) const RENUMBERED: i64 = 5_000_000;

/// What a merged trace states about its ranks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Merged {
    /// Each rank with its numbers that do not fit, by rank.
    pub(super) others: Vec<(i64, Vec<i64>)>,
    /// The index of the first event of each recording.
    pub(super) starts: Vec<usize>,
}

impl Merged {
    /// The number of ranks.
    pub(crate) fn ranks(&self) -> usize {
        self.others.len()
    }

    /// The rank and the own number of a `pid` or `tid`.
    pub(super) fn resolve(&self, number: i64) -> Option<(i64, i64)> {
        let (rank, local) = (number.div_euclid(NUMBERS), number.rem_euclid(NUMBERS));
        let others = &self.others[self.others.binary_search_by_key(&rank, |known| known.0).ok()?].1;
        let other = || others.get(usize::try_from(local - RENUMBERED).ok()?).copied();
        (if local < RENUMBERED { Some(local) } else { other() }).map(|local| (rank, local))
    }
}
