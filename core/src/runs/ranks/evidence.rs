//! What a rank did more than the others: the name with the largest excess of self time.

use super::run::{Member, Run};
use super::summary::{Named, Summary};
use crate::base::units::{counted, time_ns};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A name that took longer on one rank than on the others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) name: String,
    /// Self time beyond the median of the other ranks, in ns.
    pub(crate) excess_ns: i64,
    pub(crate) count: u64,
    /// The median number of calls on the other ranks.
    pub(crate) others: u64,
}

impl Evidence {
    pub(crate) fn text(&self) -> String {
        let name = crate::analysis::device::names::short_name(&self.name);
        let more = time_ns(self.excess_ns, None);
        if self.count == self.others {
            format!("{more} more in {name}")
        } else {
            format!(
                "{more} more in {name}: {}, {} elsewhere",
                counted(self.count as usize, "call"),
                self.others
            )
        }
    }
}

/// Count and self time of each name.
type Sums<'a> = BTreeMap<&'a str, (u64, i64)>;

fn sums(member: &Member, of: fn(&Summary) -> &[Named]) -> Sums<'_> {
    let mut sums = Sums::new();
    for named in member.windows.iter().flat_map(of) {
        let sum = sums.entry(&named.name).or_default();
        sum.0 = sum.0.saturating_add(named.count);
        sum.1 = sum.1.saturating_add(named.self_ns);
    }
    sums
}

/// Returns the name with the largest excess on a rank, among what the host and what the device ran.
pub(crate) fn evidence(run: &Run, member: usize) -> Option<Evidence> {
    let host = excess(run, member, |summary| &summary.operators);
    let device = excess(run, member, |summary| &summary.kernels);
    [device, host].into_iter().flatten().max_by_key(|evidence| evidence.excess_ns)
}

/// Names that only show that others were waited for.
fn is_wait(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["nccl", "gloo:", "c10d::", "record_param_comms", "rccl"].iter().any(|part| name.contains(part))
}

fn excess(run: &Run, member: usize, of: fn(&Summary) -> &[Named]) -> Option<Evidence> {
    /// More ranks do not change the median much.
    const COMPARED: usize = 16;
    let others = run.members.iter().enumerate().filter(|(at, _)| *at != member).map(|(_, other)| other);
    let step = run.members.len().div_ceil(COMPARED).max(1);
    let others: Vec<Sums<'_>> = others.step_by(step).map(|other| sums(other, of)).collect();
    let member_sums = sums(run.members.get(member)?, of);
    let median = |values: &mut Vec<(u64, i64)>, key: fn(&(u64, i64)) -> i64| {
        values.sort_by_key(key);
        values.get(values.len() / 2).map_or(0, key)
    };
    let to_evidence = |(name, (count, self_ns)): (&str, (u64, i64))| {
        let mut known: Vec<(u64, i64)> =
            others.iter().map(|other| other.get(name).copied().unwrap_or_default()).collect();
        Evidence {
            name: name.into(),
            excess_ns: self_ns.saturating_sub(median(&mut known, |sum| sum.1)),
            count,
            others: median(&mut known, |sum| sum.0 as i64) as u64,
        }
    };
    let known = member_sums.into_iter().filter(|(name, _)| !is_wait(name)).map(to_evidence);
    known.max_by_key(|evidence| evidence.excess_ns).filter(|evidence| evidence.excess_ns > 0)
}
