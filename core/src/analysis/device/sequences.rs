//! Sequences of device work that repeat: candidates for a fused kernel or a CUDA graph.
//!
//! The work of each stream is one list in the order of time. It is cut where a sequence cannot be one launch: where the
//! thread that launched synchronized with the device, after a copy whose call returned after its end, at the start and the
//! end of a profiler step, around the work of CUDA graphs, which is one launch already, and around collectives, which
//! wait for other ranks. `repeats` finds what repeats in the lists. With the name of an operator, a sequence is all work
//! that one call of the operator launched.
//!
//! - The **gap** before an activity lasts from the end of the previous one on the stream to its start.
//! - The **saving** is the part of the gaps whose activity was launched by a call that returned after the previous one had
//!   ended. The stream waited for that call, so with one launch for the sequence the gap is gone. This is an upper
//!   bound: what the host did between the calls has to be done before the launch.

mod calls;
mod repeats;
mod streams;

use self::streams::Streams;
use crate::base::error::Error;
use crate::base::order::{descending, sort_by_key};
use crate::trace::Trace;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::TrackId;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Which sequences are searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The smallest number of activities.
    pub min_length: usize,
    /// The largest number of activities; `None` for [`Search::LENGTH`], or for any length below operators.
    pub max_length: Option<usize>,
    /// The smallest number of occurrences.
    pub min_count: usize,
    /// A part of the name of an operator, a user annotation or a Python function: a sequence is the work below each
    /// outermost call of them.
    pub operator: Option<String>,
}

impl Default for Search {
    fn default() -> Self {
        Search { min_length: 2, max_length: None, min_count: 3, operator: None }
    }
}

impl Search {
    /// The largest number of activities, unless another is given.
    pub const LENGTH: usize = 8;
    /// The largest number that can be given for sequences on streams: the search takes time for each length.
    pub const LONGEST: usize = 32;

    fn check(&self) -> Result<(), Error> {
        let max =
            self.max_length.unwrap_or(if self.operator.is_some() { usize::MAX } else { Search::LENGTH });
        let longest = if self.operator.is_some() { usize::MAX } else { Search::LONGEST };
        if self.min_length == 0 || self.min_count == 0 {
            Err(Error::BadOption("the minimum length and the minimum count must be at least 1".into()))
        } else if max < self.min_length {
            let min = self.min_length;
            Err(Error::BadOption(format!("the maximum length {max} is below the minimum length {min}")))
        } else if max > longest {
            Err(Error::BadOption(format!("the maximum length must be at most {longest}")))
        } else {
            Ok(())
        }
    }
}

/// A sequence of activities with equal names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sequence {
    /// The first call of the operator, if sequences below operators are searched.
    pub operator: Option<Row>,
    /// The number of activities.
    pub length: usize,
    /// The activities of every occurrence, one occurrence after the other.
    pub rows: Vec<Row>,
    /// The number of streams.
    pub streams: usize,
    /// The sum of the durations of the activities, in ns.
    pub time_ns: i64,
    /// The sum of the gaps between the activities of an occurrence, in ns.
    pub gap_ns: i64,
    /// The sum of the durations of the launch calls, except for the first of each occurrence, in ns.
    pub launch_ns: i64,
    /// The part of the gaps in which the stream waited for a launch call, in ns.
    pub saving_ns: i64,
}

impl Sequence {
    /// Returns the activities of each occurrence, in the order of time.
    pub fn occurrences(&self) -> impl ExactSizeIterator<Item = &[Row]> {
        self.rows.chunks_exact(self.length.max(1))
    }

    fn new(trace: &Trace, operator: Option<Row>, length: usize, rows: Vec<Row>) -> Sequence {
        let (table, links) = (&trace.table, &trace.links);
        let mut sequence = Sequence { operator, length, rows, ..Sequence::default() };
        let mut tracks: Vec<TrackId> = Vec::new();
        for rows in sequence.rows.chunks_exact(length) {
            for (at, &row) in rows.iter().enumerate() {
                sequence.time_ns += table.dur(row).max(0);
                if !tracks.contains(&table.track_id(row)) {
                    tracks.push(table.track_id(row));
                }
                if at > 0 {
                    let gap = Gap::between(table, rows[at - 1], row, links.launch(row));
                    sequence.gap_ns += gap.length;
                    sequence.saving_ns += gap.saving;
                    sequence.launch_ns += links.launch(row).map_or(0, |call| table.dur(call).max(0));
                }
            }
        }
        sequence.streams = tracks.len();
        sequence
    }
}

/// The time between two activities, in ns.
#[derive(Clone, Copy, Debug, Default)]
struct Gap {
    length: i64,
    saving: i64,
}

impl Gap {
    fn between(table: &Table, before: Row, after: Row, launch: Option<Row>) -> Gap {
        let length = (table.ts(after) - table.end(before)).max(0);
        let waits = launch.is_some_and(|call| table.end(call) > table.end(before));
        Gap { length, saving: if waits { length } else { 0 } }
    }
}

/// Returns the sequences, the largest saving first. No activity is in two of them, so their savings add up.
///
/// # Errors
/// Returns [`Error::BadOption`] if the lengths or the count are out of range.
pub fn sequences(trace: &Trace, search: &Search) -> Result<Vec<Sequence>, Error> {
    search.check()?;
    let mut found = if let Some(name) = &search.operator {
        calls::sequences(trace, search, name)
    } else {
        on_streams(trace, search)
    };
    sort_by_key(&mut found, |sequence| (descending(sequence.saving_ns), descending(sequence.gap_ns)));
    Ok(found)
}

fn on_streams(trace: &Trace, search: &Search) -> Vec<Sequence> {
    let streams = Streams::new(trace);
    let max = search.max_length.unwrap_or(Search::LENGTH);
    let repeats = repeats::find(&streams.tokens, (search.min_length, max), search.min_count);
    let sequence = |(length, starts): &(usize, Vec<u32>)| {
        let starts = starts.iter().map(|&start| start as usize);
        let rows = starts.flat_map(|start| streams.rows[start..start + length].iter().copied());
        Sequence::new(trace, None, *length, rows.collect())
    };
    repeats.iter().map(sequence).collect()
}
