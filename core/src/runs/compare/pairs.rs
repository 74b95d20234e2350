//! Which traces of two runs are compared with each other.

use super::profile::Profile;
use crate::runs::ranks::run::ranks_text;
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
    for profile in base {
        match left.iter().position(|other| other.rank() == profile.rank()) {
            Some(at) => pairs.push((profile, left.remove(at))),
            None => only_base.push(profile),
        }
    }
    let is_compared =
        |profile: &&Profile| pairs.iter().any(|pair: &Pair<'_>| pair.0.rank() == profile.rank());
    let mut notes = Vec::new();
    for (side, alone) in [("first", only_base), ("second", left)] {
        let (further, alone): (Vec<&Profile>, Vec<&Profile>) = alone.into_iter().partition(is_compared);
        notes.extend((!further.is_empty()).then(|| {
            let whose = named(&further);
            format!("the {side} run has more recordings of {whose} than the other; they are not compared")
        }));
        notes
            .extend((!alone.is_empty()).then(|| {
                format!("only the {side} run has a trace of {}; it is not compared", named(&alone))
            }));
    }
    (pairs, notes)
}

/// The ranks of profiles, or their names if not all state one.
fn named(profiles: &[&Profile]) -> String {
    let ranks: Option<Vec<i64>> = profiles.iter().map(|profile| profile.rank()).collect();
    match ranks {
        Some(mut ranks) => {
            ranks.sort_unstable();
            ranks.dedup();
            ranks_text(&ranks)
        }
        None => profiles.iter().map(|profile| profile.source()).collect::<Vec<_>>().join(", "),
    }
}
