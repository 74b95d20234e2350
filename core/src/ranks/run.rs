//! The ranks of a run: which summaries belong together, and what is missing, twice or contradictory.

use super::calls::{Call, Group, index_of};
use super::summary::{StepTimes, Summary};
use crate::index::Keyed;
use crate::order::sort_by_key;
use crate::rows::one_line;
use crate::words::words;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

words! {
    "RunNote"
    /// What is noted about the traces of a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum NoteCode {
        /// A file could not be read.
        Unreadable = "unreadable",
        /// A file in a folder or an archive is not a trace.
        Skipped = "skipped",
        /// A part of a trace could not be read.
        Partial = "partial",
        /// A rank has no trace.
        MissingRank = "missing_rank",
        /// Two traces are the same, or of the same rank at the same time. The first one is used.
        DuplicateRank = "duplicate_rank",
        /// The trace and its file name state different ranks, or the run has too few ranks for it. The rank in the trace is
        /// used.
        ContradictoryRank = "contradictory_rank",
        /// The trace does not state a rank. It is taken from the file name, or from the order of the names.
        AssumedRank = "assumed_rank",
        /// The trace is of another run: of another size, or of another time. It is not used.
        AnotherRun = "another_run",
        /// The trace has another version of the trace format than most others.
        MixedSchema = "mixed_schema",
        /// Ranks have more or fewer collectives of a group than others.
        MissingCalls = "missing_calls",
        /// A rank began to record before others. What it waited for until then is not counted.
        SkewedStart = "skewed_start",
        /// Collectives were left out of a summary to keep it small.
        CallsLeftOut = "calls_left_out",
    }
}

impl NoteCode {
    /// Whether the answer lacks something that was requested.
    pub fn is_loss(self) -> bool {
        matches!(
            self,
            NoteCode::Unreadable
                | NoteCode::Partial
                | NoteCode::MissingRank
                | NoteCode::DuplicateRank
                | NoteCode::ContradictoryRank
                | NoteCode::AnotherRun
                | NoteCode::MixedSchema
                | NoteCode::CallsLeftOut
        )
    }
}

/// Something about the traces of a run that its user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// What it is about.
    pub code: NoteCode,
    /// A sentence without a period.
    pub message: String,
}

impl Note {
    /// Returns a note. Control characters, which names of files can have, become spaces.
    pub fn new(code: NoteCode, message: impl AsRef<str>) -> Note {
        Note { code, message: one_line(message.as_ref()) }
    }
}

/// One rank. Several recordings of it follow one another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Member {
    pub(crate) rank: i64,
    /// The summaries, in order of time, without their calls and groups.
    pub(crate) windows: Vec<Summary>,
    /// The calls of all windows; their groups are those of the run.
    pub(crate) calls: Vec<Call>,
    pub(crate) steps: Vec<StepTimes>,
}

impl Member {
    /// The start of the first window and the end of the last.
    pub(crate) fn time(&self) -> (i64, i64) {
        let start = self.windows.first().map_or(0, |window| window.time.0);
        (start, self.windows.last().map_or(start, |window| window.time.1))
    }

    pub(crate) fn host(&self) -> &str {
        self.windows.first().map_or("", |window| &window.host)
    }
}

/// The machines of these ranks, sorted.
pub(crate) fn hosts<'a>(members: impl IntoIterator<Item = &'a Member>) -> Vec<&'a str> {
    let mut hosts: Vec<&str> = members.into_iter().map(Member::host).collect();
    hosts.sort_unstable();
    hosts.dedup();
    hosts
}

/// The ranks of one run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Ordered by rank.
    pub(crate) members: Vec<Member>,
    pub(crate) groups: Vec<Group>,
    pub(crate) world_size: Option<i64>,
    pub(crate) missing: Vec<i64>,
    pub(crate) notes: Vec<Note>,
}

impl Run {
    /// Returns the run of these summaries. `notes` is what is known of files that have no summary.
    pub fn new(summaries: impl IntoIterator<Item = Summary>, notes: Vec<Note>) -> Run {
        let mut run = Run { notes, ..Run::default() };
        let summaries: Vec<Summary> = summaries.into_iter().collect();
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
        for member in &mut run.members {
            sort_by_key(&mut member.calls, |call| call.time);
        }
        run
    }

    /// What should be known about the traces.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The rank, the name of the trace and the number of events of each recording that is used.
    pub fn recordings(&self) -> impl Iterator<Item = (i64, &str, u64)> {
        self.members.iter().flat_map(|member| {
            member.windows.iter().map(|window| (member.rank, window.source.as_str(), window.events))
        })
    }

    /// The number of ranks with a trace.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether no rank has a trace.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn note(&mut self, code: NoteCode, message: String) {
        self.notes.push(Note::new(code, message));
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
        let ranked = self.of_one_size(ranked);
        let schema = most(ranked.iter().filter_map(|(_, summary)| summary.schema));
        let others = of_another_run(&ranked);
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

    /// Leaves out summaries of a run of another size.
    fn of_one_size(&mut self, mut ranked: Vec<(i64, Summary)>) -> Vec<(i64, Summary)> {
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
            let message = format!("{source}: {} collectives left out", summary.calls_left_out);
            self.note(NoteCode::CallsLeftOut, message);
        }
    }

    /// Adds a window of a rank.
    fn add(&mut self, rank: i64, mut summary: Summary) {
        let groups = core::mem::take(&mut summary.groups);
        let indexes: Vec<u32> = groups.into_iter().map(|group| index_of(&mut self.groups, group)).collect();
        if self.members.last().is_none_or(|member| member.rank != rank) {
            self.members.push(Member { rank, ..Member::default() });
        }
        let Some(member) = self.members.last_mut() else { return };
        let mut known: Keyed<i64> = Keyed::default();
        for step in &member.steps {
            *known.of((step.number, 0)) += 1;
        }
        for step in &mut summary.steps {
            let count = known.of((step.number, 0));
            step.cycle = *count;
            *count += 1;
        }
        member.steps.append(&mut summary.steps);
        let mut calls = core::mem::take(&mut summary.calls);
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

/// The rank of each summary: from the trace, else from its name, else the lowest free one in the order of names.
fn ranks_of(summaries: &[Summary]) -> Vec<i64> {
    let known = |summary: &Summary| summary.rank.or_else(|| rank_in(&summary.source));
    let taken: Vec<i64> = summaries.iter().filter_map(known).collect();
    let unknown = summaries.iter().filter(|summary| known(summary).is_none());
    let mut names: Vec<&str> = unknown.map(|summary| summary.source.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let free: Vec<i64> = (0..).filter(|rank| !taken.contains(rank)).take(names.len()).collect();
    let by_order = |summary: &Summary| names.binary_search(&summary.source.as_str()).map_or(0, |at| free[at]);
    summaries.iter().map(|summary| known(summary).unwrap_or_else(|| by_order(summary))).collect()
}

/// Whether each summary is of another run. Recordings at about the same time are one cycle. The cycle with the most ranks
/// belongs to the run, and so does each of which at least half of the ranks are in that one.
fn of_another_run(ranked: &[(i64, Summary)]) -> Vec<bool> {
    /// The gap between cycles, in ns: more than the clocks of machines differ by.
    const GAP: i64 = 10_000_000_000;
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

/// The rank in the name of a file, or else of its folders: the last number after `rank`, or else after `worker`.
pub(crate) fn rank_in(name: &str) -> Option<i64> {
    let name = name.to_ascii_lowercase();
    let number = |after: &str| {
        let after = after.strip_prefix(['-', '_', '.', '=']).unwrap_or(after);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        after[..digits].parse().ok()
    };
    let in_part = |part: &str| {
        let of = |word: &str| part.rmatch_indices(word).find_map(|(at, _)| number(&part[at + word.len()..]));
        of("rank").or_else(|| of("worker"))
    };
    name.rsplit(['/', '\\']).find_map(in_part)
}

/// Ranks in words: `rank 3`, `ranks 0-3, 7`.
pub(crate) fn ranks_text(ranks: &[i64]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < ranks.len() {
        let mut last = at;
        while last + 1 < ranks.len() && ranks[last + 1] == ranks[last] + 1 {
            last += 1;
        }
        let part = match last - at {
            0 => format!("{}", ranks[at]),
            1 => format!("{}, {}", ranks[at], ranks[last]),
            _ => format!("{}-{}", ranks[at], ranks[last]),
        };
        parts.push(part);
        at = last + 1;
    }
    let word = if ranks.len() == 1 { "rank " } else { "ranks " };
    word.to_owned() + &parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(source: &str, rank: Option<i64>, time: (i64, i64)) -> Summary {
        Summary { source: source.into(), rank, time, world_size: Some(3), ..Summary::default() }
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
        assert_eq!(texts[0], "a Note: b");
        assert_eq!(texts[1], "rank 9223372036854775807 in a run of 3");
        assert_eq!(texts[2], "no trace of ranks 1, 2");
    }

    #[test]
    fn ranks_are_listed_as_ranges() {
        assert_eq!(ranks_text(&[3]), "rank 3");
        assert_eq!(ranks_text(&[0, 1, 2, 3, 7, 9, 10]), "ranks 0-3, 7, 9, 10");
    }
}
