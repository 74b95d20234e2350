//! The ranks of a run, and what is noted about their traces.

use super::calls::{Call, GroupList};
use super::summary::{StepTimes, Summary};
use crate::base::order::sort_by;
use crate::base::words::words;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
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
        /// A trace has no events. It is not used.
        NoEvents = "no_events",
        /// A trace has the events of several ranks, because `merge` wrote it. It is not used.
        MergedTrace = "merged_trace",
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
        /// The clock of a rank is far from those of the others. Its collectives show that it is of the same run.
        DistantClock = "distant_clock",
        /// Ranks have more or fewer collectives of a group than others.
        MissingCalls = "missing_calls",
        /// A rank began to record before others. What it waited for until then is not counted.
        SkewedStart = "skewed_start",
        /// No rank is late in one phase, but some arrive last at collectives more often than by chance.
        ArrivesLast = "arrives_last",
        /// The traces cannot show whether a rank is late.
        LatenessUnknown = "lateness_unknown",
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
                | NoteCode::NoEvents
                | NoteCode::MergedTrace
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
    /// Returns a note.
    pub fn new(code: NoteCode, message: impl Into<String>) -> Note {
        Note { code, message: message.into() }
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
    sort_by(&mut hosts, Ord::cmp);
    hosts.dedup();
    hosts
}

/// The ranks of one run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Ordered by rank.
    pub(crate) members: Vec<Member>,
    pub(crate) groups: GroupList,
    pub(crate) world_size: Option<i64>,
    pub(crate) missing: Vec<i64>,
    pub(crate) notes: Vec<Note>,
}

impl Run {
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

    pub(super) fn note(&mut self, code: NoteCode, message: String) {
        self.notes.push(Note::new(code, message));
    }
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

    #[test]
    fn ranks_are_listed_as_ranges() {
        assert_eq!(ranks_text(&[3]), "rank 3");
        assert_eq!(ranks_text(&[0, 1, 2, 3, 7, 9, 10]), "ranks 0-3, 7, 9, 10");
    }
}
