//! The parallelism of a run: what each process group is for.
//!
//! The description of a group decides if it names a kind of parallelism. Otherwise its traffic does: messages between
//! neighbours are a pipeline; parts for each rank are experts; collectives of activations in the forward pass are tensor
//! parallelism; gradients in the backward pass or the optimizer are data parallelism.

use super::calls::Group;
use super::matching::Matched;
use super::phases::Phase;
use super::run::Run;
use crate::analysis::device::operation::Operation;
use crate::base::words::words;
use alloc::vec;
use alloc::vec::Vec;

words! {
    "Parallelism"
    /// What a process group is for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Parallelism {
        /// Each rank has its own batch.
        Data = "data",
        /// Each rank has a part of each tensor.
        Tensor = "tensor",
        /// Each rank has some of the layers.
        Pipeline = "pipeline",
        /// Each rank has some of the experts.
        Expert = "expert",
        /// Each rank has a part of the sequence.
        Context = "context",
        /// Not known.
        Unknown = "unknown",
    }
}

/// A group of the run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GroupUse {
    pub(crate) parallelism: Parallelism,
    /// Whether the description of the group names it.
    pub(crate) is_stated: bool,
    /// The ranks: those that the traces state, else those that took part.
    pub(crate) ranks: Vec<i64>,
    /// The number of matched collectives.
    pub(crate) matched: usize,
    /// The sum of their sizes.
    pub(crate) bytes: i64,
}

/// Returns the use of each group of the run.
pub(crate) fn groups(run: &Run, groups: &[Group], matched: &[Matched]) -> Vec<GroupUse> {
    let mut counts = vec![Counts::default(); groups.len()];
    for collective in matched {
        counts[collective.group as usize].add(run, collective);
    }
    let used = groups.iter().zip(&counts);
    used.map(|(group, counts)| {
        let stated = stated(&group.description).or_else(|| stated(&group.name));
        let ranks = if group.ranks.is_empty() { counts.ranks.clone() } else { group.ranks.clone() };
        GroupUse {
            parallelism: stated.unwrap_or_else(|| counts.parallelism()),
            is_stated: stated.is_some(),
            ranks,
            matched: counts.all,
            bytes: counts.bytes,
        }
    })
    .collect()
}

/// The words of descriptions that name a kind of parallelism, the more specific ones first.
const WORDS: [(&str, Parallelism); 20] = [
    ("tp", Parallelism::Tensor),
    ("tensor", Parallelism::Tensor),
    ("model", Parallelism::Tensor),
    ("mp", Parallelism::Tensor),
    ("pp", Parallelism::Pipeline),
    ("pipe", Parallelism::Pipeline),
    ("pipeline", Parallelism::Pipeline),
    ("ep", Parallelism::Expert),
    ("expert", Parallelism::Expert),
    ("moe", Parallelism::Expert),
    ("cp", Parallelism::Context),
    ("context", Parallelism::Context),
    ("sp", Parallelism::Context),
    ("sequence", Parallelism::Context),
    ("dp", Parallelism::Data),
    ("data", Parallelism::Data),
    ("fsdp", Parallelism::Data),
    ("ddp", Parallelism::Data),
    ("shard", Parallelism::Data),
    ("replicate", Parallelism::Data),
];

/// The kind of parallelism that a description such as `mesh_tp` or `dp02` names.
fn stated(description: &str) -> Option<Parallelism> {
    let text = description.to_ascii_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    words.into_iter().find_map(|word| WORDS.iter().find(|known| known.0 == word).map(|known| known.1))
}

/// What a group was used for.
#[derive(Clone, Debug, Default)]
struct Counts {
    all: usize,
    bytes: i64,
    messages: usize,
    to_all: usize,
    forward: usize,
    /// Reductions in the backward pass or the optimizer.
    gradients: usize,
    ranks: Vec<i64>,
}

impl Counts {
    fn add(&mut self, run: &Run, collective: &Matched) {
        let first = collective.first(run);
        self.all += 1;
        self.bytes = self.bytes.saturating_add(first.bytes.unwrap_or(0));
        for place in &collective.calls {
            let rank = run.members[place.member as usize].rank;
            if let Err(at) = self.ranks.binary_search(&rank) {
                self.ranks.insert(at, rank);
            }
        }
        let doing = |phase: Phase| first.doing[phase as usize];
        let is_late = doing(Phase::Backward) + doing(Phase::Optimizer) > doing(Phase::Forward);
        match first.operation() {
            Operation::Send | Operation::Receive | Operation::SendReceive => self.messages += 1,
            Operation::AllToAll => self.to_all += 1,
            Operation::AllReduce | Operation::ReduceScatter if is_late => self.gradients += 1,
            Operation::AllReduce | Operation::AllGather | Operation::ReduceScatter => self.forward += 1,
            _ => {}
        }
    }

    fn parallelism(&self) -> Parallelism {
        let most = [self.messages, self.to_all, self.forward, self.gradients].into_iter().max().unwrap_or(0);
        match most {
            _ if most * 2 < self.all => Parallelism::Unknown,
            _ if self.gradients * 3 >= most && self.gradients > 0 => Parallelism::Data,
            most if most == self.messages => Parallelism::Pipeline,
            most if most == self.to_all => Parallelism::Expert,
            _ => Parallelism::Tensor,
        }
    }
}

/// The name of a group for people: its description, or its name.
pub(crate) fn title(group: &Group) -> &str {
    if group.description.is_empty() { &group.name } else { &group.description }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_name_the_parallelism() {
        for (text, expected) in [
            ("mesh_tp", Some(Parallelism::Tensor)),
            ("dp02", Some(Parallelism::Data)),
            ("mesh_fsdp", Some(Parallelism::Data)),
            ("TENSOR_MODEL_PARALLEL_GROUP", Some(Parallelism::Tensor)),
            ("PIPELINE_MODEL_PARALLEL_GROUP", Some(Parallelism::Pipeline)),
            ("CONTEXT_PARALLEL_GROUP", Some(Parallelism::Context)),
            ("default_pg", None),
            ("depth", None),
        ] {
            assert_eq!(stated(text), expected, "{text}");
        }
    }
}
