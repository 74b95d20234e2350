//! How fast collectives were, by group, kind and size, and which links are slower than others.
//!
//! The bandwidth of a collective is its size divided by the transfer, without the wait. The bus bandwidth is that times
//! the factor of nccl-tests, which makes collectives of different kinds and sizes of groups comparable.

use super::matching::{Matched, MatchedBy};
use super::phases::sum;
use super::run::{Run, hosts};
use super::waits::Waits;
use crate::analysis::device::operation::Operation;
use crate::base::index::Keyed;
use crate::base::order::{descending, sort_by_key};
use alloc::vec::Vec;

/// The collectives of one group, kind and size; of messages, those of one pair of ranks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traffic {
    pub(crate) group: u32,
    pub(crate) operation: Operation,
    pub(crate) bytes: i64,
    /// The ranks that took part.
    pub(crate) ranks: Vec<i64>,
    pub(crate) count: usize,
    /// The sum of the waits of all ranks, in ns.
    pub(crate) wait_ns: i64,
    /// The sum of the transfers, each counted once, in ns.
    pub(crate) transfer_ns: i64,
    /// The median transfer, in ns.
    pub(crate) usual_ns: i64,
}

impl Traffic {
    /// Bytes per second of the usual transfer.
    pub(crate) fn rate(&self) -> Option<f64> {
        (self.bytes > 0 && self.usual_ns > 0).then(|| self.bytes as f64 * 1e9 / self.usual_ns as f64)
    }

    /// Bytes per second on the bus of each rank.
    pub(crate) fn bus_rate(&self) -> Option<f64> {
        Some(self.rate()? * self.operation.bus_factor(self.ranks.len()))
    }

    /// The number of machines of the ranks.
    pub(crate) fn nodes(&self, run: &Run) -> usize {
        let members = run.members.iter().filter(|member| self.ranks.contains(&member.rank));
        hosts(members).len()
    }
}

/// Returns the traffic, the longest first.
pub(crate) fn traffic(run: &Run, matched: &[Matched], waits: &[Waits]) -> Vec<Traffic> {
    let mut all: Keyed<Vec<usize>> = Keyed::default();
    for (at, collective) in matched.iter().enumerate() {
        let first = collective.first(run);
        let is_pair = collective.by == MatchedBy::Pair;
        let operation = collective.operation(run);
        let pair = if is_pair {
            (collective.calls[0].member << 16 | (collective.calls[1].member & 0xffff)) + 1
        } else {
            0
        };
        let group = (i64::from(collective.group) << 36) | (i64::from(pair) << 4) | operation as i64;
        all.entry((group, first.bytes.unwrap_or(0))).push(at);
    }
    let mut traffic: Vec<Traffic> = all
        .into_entries()
        .into_iter()
        .map(|((key, bytes), places)| {
            let first = &matched[places[0]];
            let calls = places.iter().flat_map(|&at| &matched[at].calls);
            let mut ranks: Vec<i64> = calls.map(|place| run.members[place.member as usize].rank).collect();
            ranks.sort_unstable();
            ranks.dedup();
            let mut transfers: Vec<i64> = places.iter().map(|&at| waits[at].transfer_ns()).collect();
            transfers.sort_unstable();
            Traffic {
                group: first.group,
                operation: Operation::from_index((key & 15) as usize),
                bytes,
                ranks,
                count: places.len(),
                wait_ns: sum(places.iter().flat_map(|&at| &waits[at].counted_ns)),
                transfer_ns: sum(&transfers),
                usual_ns: transfers[transfers.len() / 2],
            }
        })
        .collect();
    sort_by_key(&mut traffic, |traffic| {
        (descending(traffic.wait_ns.saturating_add(traffic.transfer_ns)), traffic.bytes)
    });
    traffic
}

/// A group, or a pair of ranks, whose transfers take longer than those of the same kind and size elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlowLink {
    /// The index of its traffic.
    pub(crate) traffic: usize,
    /// The median transfer of the other groups, in ns.
    pub(crate) others_ns: i64,
    /// What the difference adds up to, in ns.
    pub(crate) cost_ns: i64,
}

/// Returns the slow links, the most expensive first. A link is slow if its usual transfer takes half as long again as that
/// of at least two others, and of none of them more than a quarter longer than theirs.
pub(crate) fn slow_links(traffic: &[Traffic]) -> Vec<SlowLink> {
    let mut links = Vec::new();
    for (at, link) in traffic.iter().enumerate() {
        let alike = traffic.iter().enumerate().filter(|(other, traffic)| {
            *other != at
                && traffic.operation == link.operation
                && traffic.bytes == link.bytes
                && traffic.ranks.len() == link.ranks.len()
                && traffic.ranks != link.ranks
        });
        let mut others: Vec<i64> = alike.map(|(_, traffic)| traffic.usual_ns).collect();
        others.sort_unstable();
        let Some(&most) = others.last() else { continue };
        let others_ns = others[others.len() / 2];
        let is_slow = link.usual_ns.saturating_mul(2) > others_ns.saturating_mul(3)
            && most.saturating_mul(4) <= others_ns.saturating_mul(5);
        if others.len() >= 2 && link.count >= 3 && link.bytes > 0 && is_slow {
            let cost_ns = (link.usual_ns - others_ns).saturating_mul(link.count as i64);
            links.push(SlowLink { traffic: at, others_ns, cost_ns });
        }
    }
    sort_by_key(&mut links, |link| (descending(link.cost_ns), link.traffic as i64));
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn traffic(ranks: [i64; 2], usual_ns: i64) -> Traffic {
        Traffic {
            group: 0,
            operation: Operation::AllReduce,
            bytes: 1000,
            ranks: ranks.into(),
            count: 4,
            wait_ns: 0,
            transfer_ns: 4 * usual_ns,
            usual_ns,
        }
    }

    #[test]
    fn a_link_is_slow_against_others_that_agree() {
        let links = slow_links(&[traffic([0, 1], 100), traffic([2, 3], 220), traffic([4, 5], 110)]);
        assert_eq!(links, vec![SlowLink { traffic: 1, others_ns: 110, cost_ns: 440 }]);
        assert_eq!(slow_links(&[traffic([0, 1], 100), traffic([2, 3], 220), traffic([4, 5], 150)]), []);
        assert_eq!(slow_links(&[traffic([0, 1], 100), traffic([2, 3], 220)]), []);
    }

    #[test]
    fn an_all_reduce_moves_nearly_twice_its_size() {
        let of_two = traffic([0, 1], 1000);
        assert_eq!((of_two.rate(), of_two.bus_rate()), (Some(1e9), Some(1e9)));
        let of_four = Traffic { ranks: vec![0, 1, 2, 3], ..of_two };
        assert_eq!(of_four.bus_rate(), Some(1.5e9));
    }
}
