//! Everything that follows from the summaries of a run, computed once.

mod arrivals;

use super::alike::classes;
use super::bandwidth::{SlowLink, Traffic, slow_links, traffic};
use super::calls::Group;
use super::clocks::{Clocks, clocks};
use super::evidence::evidence;
use super::matching::{Matched, MatchedBy, Matching};
use super::nodes::{SlowNode, slow_nodes};
use super::phases::{Phase, Times, add};
use super::run::{Note, NoteCode, Run};
use super::step_table::StepTable;
use super::stragglers::{Straggler, stragglers};
use super::structure::{GroupUse, groups, title};
use super::waits::{Waits, waits};
use crate::base::units::{counted, time_ns};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// What to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Only rows about this rank.
    pub(crate) rank: Option<i64>,
    /// Only rows about this step.
    pub(crate) step: Option<i64>,
}

impl Filter {
    pub(crate) fn has_rank(self, rank: i64) -> bool {
        self.rank.is_none_or(|wanted| wanted == rank)
    }

    pub(crate) fn has_step(self, step: i64) -> bool {
        self.step.is_none_or(|wanted| wanted == step)
    }
}

/// The findings about a run.
pub(crate) struct Findings<'a> {
    pub(crate) run: &'a Run,
    /// The groups that matched collectives refer to.
    pub(crate) process_groups: Vec<Group>,
    pub(crate) matched: Vec<Matched>,
    pub(crate) waits: Vec<Waits>,
    pub(crate) clocks: Clocks,
    pub(crate) table: StepTable,
    pub(crate) stragglers: Vec<Straggler>,
    /// What the rank of each straggler did more than the others.
    pub(crate) evidence: Vec<String>,
    pub(crate) slow_nodes: Vec<SlowNode<'a>>,
    pub(crate) groups: Vec<GroupUse>,
    pub(crate) traffic: Vec<Traffic>,
    pub(crate) slow_links: Vec<SlowLink>,
    pub(crate) ranks: Vec<RankSum>,
    /// The notes of the run, and those that its collectives add.
    pub(crate) notes: Vec<Note>,
}

/// The sums of one rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RankSum {
    /// Over all steps that several ranks have.
    pub(crate) phases: Times,
    pub(crate) wall_ns: i64,
    /// What it waited for others in collectives.
    pub(crate) wait_ns: i64,
    /// How much later than the median of the others it arrived, over all of its collectives.
    pub(crate) late_ns: i64,
    /// The number of its matched collectives, and of those in which it arrived last.
    pub(crate) matched: usize,
    pub(crate) last: usize,
    /// How much later than the first rank it began to record, on the reference clock.
    pub(crate) start_skew_ns: i64,
    /// Whether it sends and receives messages: a stage of a pipeline.
    pub(crate) is_stage: bool,
    /// The number of its class.
    pub(crate) class: usize,
}

impl RankSum {
    /// The share of the steps of a stage in which it only communicated: the bubble of the pipeline, with its transfers.
    pub(crate) fn bubble(&self) -> Option<f64> {
        let idle = self.phases[Phase::Communication as usize];
        (self.is_stage && self.wall_ns > 0).then(|| idle as f64 / self.wall_ns as f64)
    }
}

impl<'a> Findings<'a> {
    pub(crate) fn new(run: &'a Run) -> Findings<'a> {
        let Matching { groups: process_groups, collectives: matched } = Matching::new(run);
        let clocks = clocks(run, &matched);
        let waits = waits(run, &matched, &clocks);
        let table = StepTable::new(run, &matched, &waits);
        let parts = StepTable::from_parts(run, &matched, &waits, &table);
        let stragglers = stragglers(&table, parts.as_ref());
        let slow_nodes = slow_nodes(run, &table, parts.as_ref());
        let traffic = traffic(run, &matched, &waits);
        let mut findings = Findings {
            evidence: stragglers
                .iter()
                .map(|straggler| evidence(run, straggler.member, straggler.cost_ns))
                .collect(),
            groups: groups(run, &process_groups, &matched),
            slow_links: slow_links(&traffic),
            ranks: Vec::new(),
            notes: run.notes.clone(),
            run,
            process_groups,
            matched,
            waits,
            clocks,
            table,
            stragglers,
            slow_nodes,
            traffic,
        };
        findings.sum();
        findings.note_missing_calls();
        findings.note_skewed_starts();
        if findings.has_no_late_rank() {
            let notes = arrivals::notes(&findings, parts.is_some());
            findings.notes.extend(notes);
        }
        findings
    }

    /// Whether no rank and no machine is late beyond the noise of the run.
    pub(crate) fn has_no_late_rank(&self) -> bool {
        self.stragglers.is_empty() && self.slow_nodes.is_empty()
    }

    /// The stragglers of a rank and a step, with what each did more.
    pub(crate) fn stragglers_of(&self, filter: Filter) -> impl Iterator<Item = (&Straggler, &str)> {
        let all = self.stragglers.iter().zip(&self.evidence);
        let fits = move |straggler: &Straggler| {
            filter.has_rank(self.run.members[straggler.member].rank)
                && straggler.steps.iter().any(|&step| filter.has_step(step))
        };
        all.filter(move |(straggler, _)| fits(straggler))
            .map(|(straggler, evidence)| (straggler, evidence.as_str()))
    }

    /// The slow nodes that have a rank and were late in a step.
    pub(crate) fn slow_nodes_of(&self, filter: Filter) -> impl Iterator<Item = &SlowNode<'a>> {
        self.slow_nodes.iter().filter(move |node| {
            node.ranks.iter().any(|&rank| filter.has_rank(rank))
                && node.late.steps.iter().any(|&step| filter.has_step(step))
        })
    }

    fn sum(&mut self) {
        let run = self.run;
        let mut ranks = vec![RankSum::default(); run.members.len()];
        for cells in &self.table.cells {
            for (rank, cell) in ranks.iter_mut().zip(cells).filter_map(|(rank, cell)| Some((rank, (*cell)?)))
            {
                add(&mut rank.phases, &cell.phases);
                rank.wall_ns = rank.wall_ns.saturating_add(cell.time.1 - cell.time.0);
            }
        }
        for (collective, waits) in self.matched.iter().zip(&self.waits) {
            for (at, place) in collective.calls.iter().enumerate() {
                let rank = &mut ranks[place.member as usize];
                rank.wait_ns = rank.wait_ns.saturating_add(waits.counted_ns[at]);
                rank.late_ns = rank.late_ns.saturating_add(waits.late_ns[at]);
                rank.matched += 1;
                rank.last += usize::from(waits.last == at);
                rank.is_stage |= collective.by == MatchedBy::Pair;
            }
        }
        let starts =
            run.members.iter().enumerate().map(|(at, member)| self.clocks.aligned(at, member.time().0));
        let starts: Vec<i64> = starts.collect();
        let first = starts.iter().copied().min().unwrap_or(0);
        ranks.iter_mut().zip(&starts).for_each(|(rank, start)| rank.start_skew_ns = start - first);
        let mut late = vec![false; ranks.len()];
        for straggler in &self.stragglers {
            late[straggler.member] = true;
        }
        for (rank, class) in ranks.iter_mut().zip(classes(&self.table, &late)) {
            rank.class = class;
        }
        self.ranks = ranks;
    }

    /// Notes ranks that lack collectives of a group between its first and last one.
    fn note_missing_calls(&mut self) {
        let run = self.run;
        for (group, used) in self.groups.iter().enumerate() {
            let collectives: Vec<&Matched> = (self.matched.iter())
                .filter(|collective| collective.group as usize == group && collective.by != MatchedBy::Pair)
                .collect();
            let mut counts = vec![0usize; run.members.len()];
            collectives
                .iter()
                .flat_map(|collective| &collective.calls)
                .for_each(|place| counts[place.member as usize] += 1);
            for (member, &count) in run.members.iter().zip(&counts) {
                if used.ranks.contains(&member.rank) && count < collectives.len() {
                    let name = title(&self.process_groups[group]);
                    let message = format!(
                        "rank {} has {count} of the {} of group {name}",
                        member.rank,
                        counted(collectives.len(), "collective")
                    );
                    self.notes.push(Note::new(NoteCode::MissingCalls, message));
                }
            }
        }
    }

    /// Notes ranks that began to record before the last one by more than a tenth of the recording.
    fn note_skewed_starts(&mut self) {
        let latest = self.ranks.iter().map(|rank| rank.start_skew_ns).max().unwrap_or(0);
        for (rank, member) in self.ranks.iter().zip(&self.run.members) {
            let (start, end) = member.time();
            let early = latest - rank.start_skew_ns;
            if early.saturating_mul(10) > end - start {
                let message = format!(
                    "rank {} began to record {} before the last rank; what it waited for until then is not counted",
                    member.rank,
                    time_ns(early, None)
                );
                self.notes.push(Note::new(NoteCode::SkewedStart, message));
            }
        }
    }
}
