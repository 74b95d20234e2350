//! Which traces of two runs are compared with each other.

use super::profile::Profile;
use crate::ranks::run::ranks_text;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Two profiles of the same rank.
type Pair<'a> = (&'a Profile, &'a Profile);

/// Pairs the profiles of each rank: the first recording of one side with the first of the other, and so on. Where neither
/// the traces nor their names state ranks, they are paired in their order. Returns notes about what has no partner.
pub(super) fn by_rank<'a>(base: &'a [Profile], new: &'a [Profile]) -> (Vec<Pair<'a>>, Vec<String>) {
    let mut left: Vec<&Profile> = new.iter().collect();
    let mut pairs = Vec::new();
    let mut only_base = Vec::new();
    for one in base {
        match left.iter().position(|other| other.rank() == one.rank()) {
            Some(at) => pairs.push((one, left.remove(at))),
            None => only_base.push(one),
        }
    }
    let notes = [("first", only_base), ("second", left)];
    let notes = notes.into_iter().filter(|(_, alone)| !alone.is_empty()).map(|(side, alone)| {
        let ranks: Option<Vec<i64>> = alone.iter().map(|one| one.rank()).collect();
        let what = match ranks {
            Some(mut ranks) => {
                ranks.sort_unstable();
                ranks.dedup();
                ranks_text(&ranks)
            }
            None => alone.iter().map(|one| one.source()).collect::<Vec<_>>().join(", "),
        };
        format!("only the {side} run has a trace of {what}; it is not compared")
    });
    (pairs, notes.collect())
}
