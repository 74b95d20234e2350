//! Which calls of several ranks are one collective.
//!
//! Calls are matched by the number in their process group; else by the id that they have in common; else by order. The
//! order is realigned where a rank lacks calls: the ends of a collective agree on all ranks, up to the offset between
//! their clocks. The two sides of a message are matched within their pair of ranks.

mod align;

use self::align::{Aligned, Item, align};
use super::calls::{Call, Group};
use super::run::Run;
use crate::analysis::device::operation::Operation;
use crate::base::index::Keyed;
use crate::base::order::{descending, sort_by_key};
use crate::base::words::words;
use alloc::vec;
use alloc::vec::Vec;

words! {
    "MatchedBy"
    /// How the calls of a collective were matched.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum MatchedBy {
        /// By the number in the process group.
        Sequence = "sequence_number",
        /// By the id that they have in common.
        Id = "comms_id",
        /// By order.
        Order = "order",
        /// As the two sides of a message, by order.
        Pair = "pair",
    }
}

/// A call: the index of its rank in the run, and its index among the calls of the rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallId {
    pub(crate) member: u32,
    pub(crate) call: u32,
}

/// The calls of one collective, at most one on each rank, ordered by rank.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matched {
    pub(crate) group: u32,
    pub(crate) by: MatchedBy,
    /// The share of the calls of the group whose ends agree; 1 for a number or an id.
    pub(crate) confidence: f64,
    pub(crate) calls: Vec<CallId>,
}

impl Matched {
    pub(crate) fn first<'a>(&self, run: &'a Run) -> &'a Call {
        call(run, self.calls[0])
    }

    /// What it is; a message for both of its sides.
    pub(crate) fn operation(&self, run: &Run) -> Operation {
        if self.by == MatchedBy::Pair { Operation::SendReceive } else { self.first(run).operation() }
    }

    /// When the last rank left.
    pub(crate) fn end(&self, run: &Run) -> i64 {
        self.calls.iter().map(|&place| call(run, place).time.1).max().unwrap_or(0)
    }
}

pub(crate) fn call(run: &Run, place: CallId) -> &Call {
    &run.members[place.member as usize].calls[place.call as usize]
}

/// The collectives of a run, and their groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matching {
    /// The groups of the run, then those into which groups without a name were divided.
    pub(crate) groups: Vec<Group>,
    /// All collectives that several ranks have, in order of time.
    pub(crate) collectives: Vec<Matched>,
}

impl Matching {
    pub(crate) fn new(run: &Run) -> Matching {
        let mut out = Matching { groups: run.groups.as_slice().to_vec(), collectives: Vec::new() };
        let mut by_order: Keyed<Vec<CallId>> = Keyed::default();
        let mut messages: Keyed<Vec<CallId>> = Keyed::default();
        let mut numbered = Numbered::default();
        for (member, at) in run.members.iter().zip(0..) {
            numbered.next_member();
            for (call, index) in member.calls.iter().zip(0..) {
                let place = CallId { member: at, call: index };
                match (call.operation().is_point_to_point(), call.peer) {
                    (true, Some(peer)) => messages.entry(pair(call, member.rank, peer)).push(place),
                    (true, None) => {}
                    (false, _) if numbered.add(call, place) => {}
                    (false, _) => by_order.entry((i64::from(call.group), 0)).push(place),
                }
            }
        }
        out.collectives.extend(numbered.finish());
        for ((group, _), places) in by_order.into_entries() {
            out.in_order(run, group as u32, by_rank(&places), MatchedBy::Order);
        }
        for ((group, _), places) in messages.into_entries() {
            out.in_order(run, group as u32, by_rank(&places), MatchedBy::Pair);
        }
        out.collectives.retain(|collective| collective.calls.len() > 1);
        sort_by_key(&mut out.collectives, |collective| (collective.end(run), i64::from(collective.group)));
        out
    }

    /// Matches calls by order: those of each rank with those of the rank that has the most.
    fn in_order(&mut self, run: &Run, group: u32, mut ranks: Vec<Vec<CallId>>, by: MatchedBy) {
        if ranks.len() < 2 {
            return;
        }
        let items =
            |places: &[CallId]| -> Vec<Item> { places.iter().map(|&place| item(run, place, by)).collect() };
        sort_by_key(&mut ranks, |rank| (descending(rank.len() as i64), i64::from(rank[0].member)));
        let reference = items(&ranks[0]);
        // Messages between two ranks arrive in order, and their ends need not agree.
        let is_complete = |rank: &[CallId]| by == MatchedBy::Pair && rank.len() == reference.len();
        let aligned: Vec<Aligned> = ranks[1..]
            .iter()
            .map(|rank| {
                if is_complete(rank) {
                    Aligned::one_by_one(rank.len())
                } else {
                    align(&reference, &items(rank))
                }
            })
            .collect();
        let is_named = self.groups[group as usize].is_named;
        let others = if is_named || by == MatchedBy::Pair { Vec::new() } else { strangers(&aligned) };
        let mut found: Vec<Matched> = (ranks[0].iter())
            .map(|&place| Matched { group, by, confidence: 1.0, calls: vec![place] })
            .collect();
        for (at, (rank, aligned)) in ranks[1..].iter().zip(aligned).enumerate() {
            if others.contains(&at) {
                continue;
            }
            for (a, b) in aligned.pairs {
                found[a].calls.push(rank[b]);
                found[a].confidence = found[a].confidence.min(aligned.confidence);
            }
        }
        for collective in &mut found {
            sort_by_key(&mut collective.calls, |place| (i64::from(place.member), 0));
        }
        self.collectives.append(&mut found);
        if !others.is_empty() {
            self.groups.push(self.groups[group as usize].clone());
            let next = self.groups.len() as u32 - 1;
            let rest = others.iter().map(|&at| core::mem::take(&mut ranks[at + 1])).collect();
            self.in_order(run, next, rest, by);
        }
    }
}

/// The key of the messages from one rank to another.
fn pair(call: &Call, rank: i64, peer: i64) -> (i64, i64) {
    let (from, to) = if call.operation() == Operation::Send { (rank, peer) } else { (peer, rank) };
    (i64::from(call.group), (from << 32) | (to & 0xffff_ffff))
}

/// Divides calls, which are ordered by rank, into those of each rank.
fn by_rank(places: &[CallId]) -> Vec<Vec<CallId>> {
    places.chunk_by(|a, b| a.member == b.member).map(<[CallId]>::to_vec).collect()
}

/// Of the ranks that have a group without a name, those that are not in the group of the reference: their ends agree
/// much less with its ends than those of other ranks do. Several groups can use streams of one number.
fn strangers(aligned: &[Aligned]) -> Vec<usize> {
    /// How much less the ends agree.
    const LESS: i64 = 4;
    let closest = aligned.iter().map(|alignment| alignment.spread_ns).min().unwrap_or(0).max(1000);
    let is_stranger = |alignment: &Aligned| alignment.spread_ns > closest.saturating_mul(LESS);
    let all: Vec<usize> = (0..aligned.len()).filter(|&at| is_stranger(&aligned[at])).collect();
    // A single rank has no group of its own.
    if all.len() > 1 { all } else { Vec::new() }
}

/// Calls with a number or an id.
#[derive(Default)]
struct Numbered {
    by_number: Keyed<Vec<CallId>>,
    by_id: Keyed<Vec<CallId>>,
    /// How often the rank used each number: the calls of a coalesced collective share theirs.
    used: Keyed<i64>,
}

impl Numbered {
    fn next_member(&mut self) {
        self.used = Keyed::default();
    }

    /// Adds a call. Returns whether it has a number or an id.
    fn add(&mut self, call: &Call, place: CallId) -> bool {
        let key = match (call.seq, call.comms_id) {
            (Some(seq), _) => (i64::from(call.group) << 1, seq),
            (None, Some(id)) => ((i64::from(call.group) << 1) | 1, id),
            (None, None) => return false,
        };
        let used = self.used.entry(key);
        let number = core::mem::replace(used, *used + 1);
        let all = if key.0 & 1 == 0 { &mut self.by_number } else { &mut self.by_id };
        all.entry(((key.0 >> 1) | (number << 32), key.1)).push(place);
        true
    }

    fn finish(self) -> impl Iterator<Item = Matched> {
        let matched = |by: MatchedBy| {
            move |((group, _), calls): ((i64, i64), Vec<CallId>)| Matched {
                group: group as u32,
                by,
                confidence: 1.0,
                calls,
            }
        };
        let numbered = self.by_number.into_entries().into_iter().map(matched(MatchedBy::Sequence));
        numbered.chain(self.by_id.into_entries().into_iter().map(matched(MatchedBy::Id)))
    }
}

fn item(run: &Run, place: CallId, by: MatchedBy) -> Item {
    let call = call(run, place);
    let operation = match call.operation() {
        // The two sides of a message have different names, and so has an all-to-all whose call was not recorded.
        _ if by == MatchedBy::Pair => Operation::SendReceive,
        Operation::AllToAll | Operation::Gather | Operation::Scatter => Operation::SendReceive,
        operation => operation,
    };
    let bytes = if operation == Operation::SendReceive { 0 } else { call.bytes.unwrap_or(0) };
    Item { kind: (operation as i64, bytes), time: call.time }
}
