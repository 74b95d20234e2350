//! Assembles a run: which summaries belong together, and what is missing, twice or contradictory.

use super::calls::Call;
use super::clocks::clocks;
use super::matching::Matching;
use super::run::{Member, Note, NoteCode, Run, rank_in, ranks_text};
use super::summary::{MERGED, Summary};
use crate::base::index::Keyed;
use crate::base::order::{sort_by, sort_by_key};
use crate::base::units::{counted, time_ns};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

impl Run {
    /// Returns the run of these summaries. `notes` is what is known of files that have no summary.
    pub fn new(summaries: impl IntoIterator<Item = Summary>, notes: Vec<Note>) -> Run {
        let mut run = Run { notes, ..Run::default() };
        let summaries: Vec<Summary> =
            summaries.into_iter().filter(|summary| run.is_of_a_rank(summary)).collect();
        let ranks = ranks_of(&summaries);
        let mut ranked: Vec<(i64, Summary)> = ranks.into_iter().zip(summaries).collect();
        sort_by_key(&mut ranked, |(rank, summary)| (*rank, summary.time.0));
        run.note_ranks(&ranked);
        let kept = run.one_run(ranked);
        run.world_size =
            kept.iter().filter_map(|(_, summary)| summary.world_size).max().filter(|&size| size > 0);
        for (rank, summary) in kept {
            run.add(rank, summary);
        }
        run.compare_with_size();
        run.sort_calls();
        run
    }

    /// Whether a summary is that of one rank, which is noted if it is not.
    fn is_of_a_rank(&mut self, Summary { source, events, is_merged, .. }: &Summary) -> bool {
        if *events == 0 {
            self.note(NoteCode::NoEvents, format!("{source}: the trace has no events"));
        } else if *is_merged {
            self.note(NoteCode::MergedTrace, format!("{source}: {MERGED}"));
        }
        *events > 0 && !is_merged
    }

    /// Notes ranks that the traces do not state, or state otherwise than their names.
    fn note_ranks(&mut self, ranked: &[(i64, Summary)]) {
        for (rank, Summary { source, rank: stated, .. }) in ranked {
            let (code, message) = match (stated, rank_in(source)) {
                (Some(stated), Some(named)) if *stated != named => (
                    NoteCode::ContradictoryRank,
                    format!("{source}: the trace is of rank {stated}, its name says {named}"),
                ),
                (None, Some(_)) => (NoteCode::AssumedRank, format!("{source}: rank {rank} by its name")),
                (None, None) => {
                    (NoteCode::AssumedRank, format!("{source}: rank {rank} by the order of names"))
                }
                _ => continue,
            };
            self.note(code, message);
        }
    }

    /// Leaves out summaries of another run and those that are there twice.
    fn one_run(&mut self, ranked: Vec<(i64, Summary)>) -> Vec<(i64, Summary)> {
        let ranked = self.keep_one_size(ranked);
        let schema = most(ranked.iter().filter_map(|(_, summary)| summary.schema));
        let mut others = belong_to_another_run(&ranked);
        self.readmit(&ranked, &mut others);
        let mut kept: Vec<(i64, Summary)> = Vec::new();
        for ((rank, summary), is_other) in ranked.into_iter().zip(others) {
            let twice = kept
                .iter()
                .rev()
                .take_while(|(known, _)| *known == rank)
                .find(|(_, other)| other.time.0 < summary.time.1 && summary.time.0 < other.time.1);
            if is_other {
                let message = format!("{}: recorded at another time than the other ranks", summary.source);
                self.note(NoteCode::AnotherRun, message);
            } else if let Some((_, other)) = twice {
                let message =
                    format!("{}: rank {rank} at the same time as {}; not used", summary.source, other.source);
                self.note(NoteCode::DuplicateRank, message);
            } else {
                self.note_defects(&summary, schema);
                kept.push((rank, summary));
            }
        }
        kept
    }

    /// Finds the ranks that only their clocks separate from the others: those whose collectives match and give a clock.
    fn readmit(&mut self, ranked: &[(i64, Summary)], others: &mut [bool]) {
        let is_kept = |rank: i64, others: &[bool]| {
            ranked.iter().zip(others).any(|((known, _), &other)| *known == rank && !other)
        };
        let apart: Vec<usize> = (0..ranked.len()).filter(|&at| !is_kept(ranked[at].0, others)).collect();
        if apart.is_empty() {
            return;
        }
        let mut tried = Run::default();
        for (at, (rank, summary)) in ranked.iter().enumerate() {
            if !others[at] || apart.contains(&at) {
                tried.add(*rank, summary.clone());
            }
        }
        tried.sort_calls();
        let clocks = clocks(&tried, &Matching::new(&tried).collectives).of;
        let clock = |rank: i64| {
            let at = tried.members.binary_search_by_key(&rank, |member| member.rank).ok()?;
            clocks[at].as_ref().ok()
        };
        if !ranked.iter().any(|(rank, _)| is_kept(*rank, others) && clock(*rank).is_some()) {
            return;
        }
        for at in apart {
            others[at] &= clock(ranked[at].0).is_none();
        }
        let mut distant: Vec<(i64, &Summary, i64)> = (ranked.iter().zip(&*others))
            .filter(|(_, is_other)| !**is_other)
            .filter_map(|((rank, summary), _)| Some((*rank, summary, clock(*rank)?.offset_ns)))
            .filter(|(.., offset)| offset.saturating_abs() > GAP)
            .collect();
        distant.dedup_by_key(|(rank, ..)| *rank);
        for (_, summary, offset_ns) in distant {
            let offset = time_ns(offset_ns.saturating_abs(), None);
            let side = if offset_ns < 0 { "behind" } else { "ahead of" };
            let message =
                format!("{}: its clock is {offset} {side} that of the reference rank", summary.source);
            self.note(NoteCode::DistantClock, message);
        }
    }

    fn sort_calls(&mut self) {
        for member in &mut self.members {
            sort_by_key(&mut member.calls, |call| call.time);
        }
    }

    /// Leaves out summaries of a run of another size.
    fn keep_one_size(&mut self, mut ranked: Vec<(i64, Summary)>) -> Vec<(i64, Summary)> {
        let size = most(ranked.iter().filter_map(|(_, summary)| summary.world_size));
        ranked.retain(|(_, summary)| match summary.world_size.zip(size) {
            Some((stated, size)) if stated != size => {
                let message = format!("{}: of a run of {stated} ranks, not {size}", summary.source);
                self.note(NoteCode::AnotherRun, message);
                false
            }
            _ => true,
        });
        ranked
    }

    /// Notes what a summary that is used lacks. `schema` is the most frequent version of the trace format.
    fn note_defects(&mut self, summary: &Summary, schema: Option<i64>) {
        let source = &summary.source;
        if summary.is_partial {
            self.note(NoteCode::Partial, format!("{source}: a part could not be read"));
        }
        if let Some((stated, schema)) = summary.schema.zip(schema).filter(|(stated, most)| stated != most) {
            let message = format!("{source}: schema version {stated}, the others have {schema}");
            self.note(NoteCode::MixedSchema, message);
        }
        if summary.calls_left_out > 0 {
            let message =
                format!("{source}: {} left out", counted(summary.calls_left_out as usize, "collective"));
            self.note(NoteCode::CallsLeftOut, message);
        }
    }

    /// Adds a window of a rank.
    fn add(&mut self, rank: i64, mut summary: Summary) {
        let groups = core::mem::take(&mut summary.groups);
        let indexes: Vec<u32> = groups.into_iter().map(|group| self.groups.index(group)).collect();
        if self.members.last().is_none_or(|member| member.rank != rank) {
            self.members.push(Member { rank, ..Member::default() });
        }
        let Some(member) = self.members.last_mut() else { return };
        let mut known: Keyed<i64> = Keyed::default();
        for step in &member.steps {
            *known.entry((step.number, 0)) += 1;
        }
        for step in &mut summary.steps {
            let count = known.entry((step.number, 0));
            step.cycle = *count;
            *count += 1;
        }
        member.steps.append(&mut summary.steps);
        let mut calls: Vec<Call> = core::mem::take(&mut summary.calls);
        for call in &mut calls {
            call.group = indexes.get(call.group as usize).copied().unwrap_or(0);
        }
        if member.calls.is_empty() {
            member.calls = calls;
        } else {
            member.calls.append(&mut calls);
        }
        member.windows.push(summary);
    }

    /// Compares the ranks with the size of the run, if that is known.
    fn compare_with_size(&mut self) {
        let Some(size) = self.world_size else { return };
        let ranks = self.members.iter().map(|member| member.rank);
        let beyond: Vec<i64> = ranks.filter(|rank| !(0..size).contains(rank)).collect();
        if !beyond.is_empty() {
            let message = format!("{} in a run of {size}", ranks_text(&beyond));
            self.note(NoteCode::ContradictoryRank, message);
        }
        let has = |rank: i64| self.members.binary_search_by_key(&rank, |member| member.rank).is_ok();
        self.missing = (0..size.min(1 << 20)).filter(|&rank| !has(rank)).collect();
        if !self.missing.is_empty() {
            let message = format!("no trace of {}", ranks_text(&self.missing));
            self.note(NoteCode::MissingRank, message);
        }
    }
}

/// Returns the most frequent value; of equally frequent ones, the one that came first.
fn most(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut counts: Vec<(i64, usize)> = vec![];
    for value in values {
        match counts.iter_mut().find(|count| count.0 == value) {
            Some(count) => count.1 += 1,
            None => counts.push((value, 1)),
        }
    }
    let largest = counts.iter().map(|count| count.1).max()?;
    counts.iter().find(|count| count.1 == largest).map(|count| count.0)
}

/// The rank of each summary: from the trace, else from its name, else the lowest free one in the order of names. Recordings of one
/// worker are of one rank.
fn ranks_of(summaries: &[Summary]) -> Vec<i64> {
    let known = |summary: &Summary| summary.rank.or_else(|| rank_in(&summary.source));
    let taken: Vec<i64> = summaries.iter().filter_map(known).collect();
    let unknown = summaries.iter().filter(|summary| known(summary).is_none());
    let mut names: Vec<&str> = unknown.map(|summary| worker(&summary.source)).collect();
    sort_by(&mut names, Ord::cmp);
    names.dedup();
    let free: Vec<i64> = (0..).filter(|rank| !taken.contains(rank)).take(names.len()).collect();
    let by_order = |summary: &Summary| names.binary_search(&worker(&summary.source)).map_or(0, |at| free[at]);
    summaries.iter().map(|summary| known(summary).unwrap_or_else(|| by_order(summary))).collect()
}

/// The gap between cycles, in ns: more than the clocks of machines differ by.
const GAP: i64 = 10_000_000_000;

/// Whether each summary is of another run. Recordings at about the same time are one cycle. The cycle with the most ranks
/// belongs to the run, and so does each cycle that has at least half of its ranks in common with it.
fn belong_to_another_run(ranked: &[(i64, Summary)]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..ranked.len()).collect();
    sort_by_key(&mut order, |&at| ranked[at].1.time);
    let mut cycles: Vec<Vec<usize>> = Vec::new();
    let mut end = i64::MIN;
    for at in order {
        let time = ranked[at].1.time;
        match cycles.last_mut() {
            Some(cycle) if time.0 <= end.saturating_add(GAP) => cycle.push(at),
            _ => cycles.push([at].into()),
        }
        end = end.max(time.1);
    }
    let ranks = |cycle: &Vec<usize>| -> Vec<i64> {
        let mut ranks: Vec<i64> = cycle.iter().map(|&at| ranked[at].0).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    };
    let cycle_ranks: Vec<Vec<i64>> = cycles.iter().map(ranks).collect();
    let largest = cycle_ranks.iter().rev().max_by_key(|ranks| ranks.len());
    let is_known = |rank: &&i64| largest.is_some_and(|largest| largest.binary_search(rank).is_ok());
    let mut others = vec![false; ranked.len()];
    for (cycle, ranks) in cycles.iter().zip(&cycle_ranks) {
        let is_other = 2 * ranks.iter().filter(is_known).count() < ranks.len();
        for &at in cycle {
            others[at] = is_other;
        }
    }
    others
}

/// The worker in a name as the handler for TensorBoard gives it, `WORKER.TIME.pt.trace.json`; else the complete name.
fn worker(name: &str) -> &str {
    let part = name.split_once(".pt.trace.json").and_then(|(before, _)| before.rsplit_once('.'));
    let is_time = |time: &str| time.len() >= 10 && time.bytes().all(|b| b.is_ascii_digit());
    part.filter(|(_, time)| is_time(time)).map_or(name, |(worker, _)| worker)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(source: &str, rank: Option<i64>, time: (i64, i64)) -> Summary {
        Summary { source: source.into(), rank, time, world_size: Some(3), events: 1, ..Summary::default() }
    }

    fn codes(run: &Run) -> Vec<NoteCode> {
        run.notes.iter().map(|note| note.code).collect()
    }

    #[test]
    fn ranks_come_from_the_trace_then_the_name_then_the_order() {
        assert_eq!(rank_in("out/rank12.pt.trace.json.gz"), Some(12));
        assert_eq!(rank_in("worker0_span1.pt.trace.json.gz"), Some(0));
        assert_eq!(rank_in("sampled_rank-1.json.gz"), Some(1));
        assert_eq!(rank_in("trace.json"), None);
        assert_eq!(rank_in("ranks_rank3.json"), Some(3));
        assert_eq!(rank_in("lowrank8_rank1.json"), Some(1));
        assert_eq!(rank_in("rank10/trace.json"), Some(10));
        let run = Run::new(
            vec![
                summary("rank1.json", Some(0), (0, 9)),
                summary("rank2.json", None, (0, 9)),
                summary("x.json", None, (0, 9)),
            ],
            Vec::new(),
        );
        assert_eq!(run.members.iter().map(|member| member.rank).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(codes(&run), [NoteCode::ContradictoryRank, NoteCode::AssumedRank, NoteCode::AssumedRank]);
    }

    #[test]
    fn two_cycles_are_two_windows_and_a_copy_is_named() {
        let run = Run::new(
            vec![
                summary("b", Some(0), (20, 30)),
                summary("a", Some(0), (0, 10)),
                summary("copy", Some(0), (0, 10)),
            ],
            Vec::new(),
        );
        assert_eq!((run.len(), run.members[0].windows.len()), (1, 2));
        assert_eq!(run.members[0].time(), (0, 30));
        assert_eq!(codes(&run), [NoteCode::DuplicateRank, NoteCode::MissingRank]);
        assert_eq!(run.missing, [1, 2]);
    }

    #[test]
    fn ranks_of_another_run_are_not_used() {
        let other = Summary { world_size: Some(8), ..summary("other", Some(2), (0, 9)) };
        let day = 86_400_000_000_000;
        assert_eq!(worker("a/box_1.1619600000123.pt.trace.json.gz"), "a/box_1");
        assert_eq!(worker("rank.12.pt.trace.json"), "rank.12.pt.trace.json");
        let run = Run::new(
            vec![
                summary("a", Some(0), (0, 9)),
                summary("b", Some(1), (0, 9)),
                summary("late", Some(2), (day, day + 9)),
                other,
            ],
            Vec::new(),
        );
        assert_eq!(run.len(), 2);
        assert_eq!(codes(&run), [NoteCode::AnotherRun, NoteCode::AnotherRun, NoteCode::MissingRank]);
    }

    #[test]
    fn ranks_beyond_the_run_and_control_characters_are_noted() {
        let run = Run::new(
            vec![summary("\u{1b}[31m\n0", Some(0), (0, 9)), summary("x", Some(i64::MAX), (0, 9))],
            vec![Note::new(NoteCode::Skipped, "a\nNote: b")],
        );
        let texts: Vec<&str> = run.notes.iter().map(|note| note.message.as_str()).collect();
        assert_eq!(texts[0], "a\nNote: b");
        let page = run.page(&crate::runs::ranks::query::RanksOptions::default()).to_text(None);
        assert!(page.lines().any(|line| line == "Note: a\\nNote: b.") && !page.contains('\u{1b}'), "{page}");
        assert_eq!(texts[1], "rank 9223372036854775807 in a run of 3");
        assert_eq!(texts[2], "no trace of ranks 1, 2");
    }
}
