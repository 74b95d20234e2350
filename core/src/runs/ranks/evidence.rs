//! What a late rank did more than the others: the name with the largest excess of self time, or the span before which it was
//! longer in no span.

use super::run::{Member, Run};
use super::summary::{Named, STEPS, Summary};
use crate::analysis::device::names::short_name;
use crate::base::order::sort_by_key;
use crate::base::units::{counted, time_ns};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Spans of the host.
    Host,
    /// Work of devices.
    Device,
    /// The span after a time in no span.
    Gap,
}

/// What a rank spent longer on than the others.
#[derive(Clone, Debug, PartialEq)]
struct Evidence {
    name: String,
    kind: Kind,
    /// Self time beyond the median of the other ranks, in ns.
    excess_ns: i64,
    count: u64,
    /// The median number of calls on the other ranks.
    others: u64,
}

impl Evidence {
    fn text(&self) -> String {
        let (name, more) = (&self.name, time_ns(self.excess_ns, None));
        let place = match self.kind {
            Kind::Device => short_name(name),
            Kind::Host => name.clone(),
            Kind::Gap => format!("no recorded span, before {name}"),
        };
        if self.kind == Kind::Gap || self.count == self.others {
            return format!("{more} more in {place}");
        }
        let calls = counted(self.count as usize, "call");
        format!("{more} more in {place}: {calls}, {} elsewhere", self.others)
    }
}

/// Says what a rank did more than the others, in all steps. What explains less than half of the time for which others waited
/// is not the reason.
pub(crate) fn evidence(run: &Run, member: usize, waited_ns: i64) -> String {
    let found =
        [Kind::Device, Kind::Host, Kind::Gap].into_iter().filter_map(|kind| excess(run, member, kind));
    let Some(most) = found.max_by_key(|evidence| evidence.excess_ns) else {
        return "cannot tell; nothing that was recorded took longer than on the others".into();
    };
    let explains = most.excess_ns.saturating_mul(2) >= waited_ns;
    if explains { most.text() } else { format!("cannot tell; at most {}", most.text()) }
}

/// Count and self time of each name, and the least self time of any: names that were left out have no more.
struct Sums<'a> {
    of: BTreeMap<&'a str, (u64, i64)>,
    least_ns: i64,
}

impl<'a> Sums<'a> {
    fn new(member: &'a Member, of: fn(&Summary) -> &[Named]) -> Sums<'a> {
        let mut sums: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
        for named in member.windows.iter().flat_map(of) {
            let sum = sums.entry(&named.name).or_default();
            sum.0 = sum.0.saturating_add(named.count);
            sum.1 = sum.1.saturating_add(named.self_ns);
        }
        let least_ns = sums.values().map(|sum| sum.1).min().unwrap_or(0);
        Sums { of: sums, least_ns }
    }

    fn get(&self, name: &str) -> (u64, i64) {
        self.of.get(name).copied().unwrap_or((0, self.least_ns))
    }
}

/// Names that only show that others were waited for.
fn is_wait(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["nccl", "gloo:", "c10d::", "record_param_comms", "rccl"].iter().any(|part| name.contains(part))
}

/// The name with the largest excess. The self time of steps is that of gaps.
fn excess(run: &Run, member: usize, kind: Kind) -> Option<Evidence> {
    let of: fn(&Summary) -> &[Named] = match kind {
        Kind::Device => |summary| &summary.kernels,
        Kind::Host => |summary| &summary.operators,
        Kind::Gap => |summary| &summary.gaps,
    };
    /// More ranks do not change the median much.
    const COMPARED: usize = 16;
    let others = run.members.iter().enumerate().filter(|(at, _)| *at != member).map(|(_, other)| other);
    let step = run.members.len().div_ceil(COMPARED).max(1);
    let others: Vec<Sums<'_>> = others.step_by(step).map(|other| Sums::new(other, of)).collect();
    let own = Sums::new(run.members.get(member)?, of);
    let median = |values: &mut Vec<(u64, i64)>, key: fn(&(u64, i64)) -> i64| {
        sort_by_key(values, |value| (key(value), 0));
        values.get(values.len() / 2).map_or(0, key)
    };
    let to_evidence = |(name, (count, self_ns)): (&str, (u64, i64))| {
        let mut known: Vec<(u64, i64)> = others.iter().map(|other| other.get(name)).collect();
        Evidence {
            name: name.into(),
            kind,
            excess_ns: self_ns.saturating_sub(median(&mut known, |sum| sum.1)),
            count,
            others: median(&mut known, |sum| sum.0 as i64) as u64,
        }
    };
    let known =
        own.of.into_iter().filter(|(name, _)| kind == Kind::Gap || !(is_wait(name) || *name == STEPS));
    known.map(to_evidence).max_by_key(|evidence| evidence.excess_ns).filter(|evidence| evidence.excess_ns > 0)
}
