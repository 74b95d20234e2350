//! Iterations of a trace whose ranges name none: launches that repeat.
//!
//! Each launch has a token: the name of its work; of a graph, the names of all of its work. The host waits longest between two
//! iterations: for tokens, for requests, and to schedule them. So the iterations begin before, or after, the occurrences of the
//! token where it waits most beyond its mean wait. They are iterations if those whose launches another one has as well take
//! most of the time, the host waits several times as long before them as before other launches, and one has several launches.

use super::graphs::mixed;
use crate::analysis::context::Analysis;
use crate::analysis::intervals::Interval;
use crate::base::index::{Index, Keyed};
use crate::base::order::{descending, sort_by_key};
use crate::trace::Trace;
use crate::trace::step_rules::StepName;
use crate::trace::table::events::{Row, Table};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

/// The least number of iterations.
const LEAST: usize = 4;

/// The share of the time that segments that repeat have to take.
const ENOUGH: f64 = 0.6;

/// How many times as long as before other launches the host waits before an iteration, at least.
const LONGER: f64 = 4.0;

/// The share of equal launches from which on two iterations are of one kind.
const SIMILAR: f64 = 0.8;

/// The number of kinds of one length that others are compared with.
const MOST_ALIKE: usize = 8;

/// The number of kinds of iterations that have a name of their own.
const KINDS: usize = 8;

/// Iterations that were inferred.
pub(super) struct Inferred {
    /// The first launch call, the time from its start to the end of the last one, and the name of each iteration.
    pub(super) iterations: Vec<(Row, Interval, StepName)>,
    /// The share of their time of those whose launches another iteration has as well.
    pub(super) confidence: f64,
}

/// The launches of a process, in order of time.
struct Launches {
    calls: Vec<Row>,
    /// The same number for launches of the same work.
    tokens: Vec<u32>,
    /// The sum of the hashes of the tokens before each launch.
    sums: Vec<u64>,
}

/// Returns the iterations that the launches of the busiest process show, if they repeat.
pub(super) fn infer(analysis: &Analysis<'_>) -> Option<Inferred> {
    let trace = analysis.trace;
    let launches = Launches::new(trace)?;
    let mut segments = launches.segments(&trace.table)?;
    let kinds = launches.kinds(&segments);
    let is_alone = |at: usize| kinds[at].count < 2;
    // The recording can begin and end within an iteration.
    let last = segments.len() - usize::from(is_alone(segments.len() - 1));
    let first = usize::from(is_alone(0)).min(last);
    let kinds = &kinds[first..last];
    segments = segments[first..last].to_vec();
    let confidence = launches.repeated(&trace.table, &segments, kinds);
    let has_several = segments.iter().any(|segment| segment.1 - segment.0 > 1);
    if segments.len() < LEAST
        || confidence < ENOUGH
        || !has_several
        || !launches.waits_most(&trace.table, &segments)
    {
        return None;
    }
    let iteration = |(&(from, to), kind): (&(usize, usize), &Kind)| {
        let (first, last) = (launches.calls[from], launches.calls[to - 1]);
        let time = (trace.table.ts(first), trace.table.end(last));
        (first, time, StepName::new(Some(&kind.name()), None, None, None))
    };
    let iterations = segments.iter().zip(kinds).map(iteration).collect();
    Some(Inferred { iterations, confidence })
}

/// The kind of a segment: how many have the same tokens, and the rank of the kind, the most frequent first.
#[derive(Clone, Copy)]
struct Kind {
    count: usize,
    rank: usize,
}

impl Kind {
    fn name(self) -> alloc::string::String {
        if self.rank < KINDS && self.count > 1 { format!("kind {}", self.rank + 1) } else { "other".into() }
    }
}

impl Launches {
    fn new(trace: &Trace) -> Option<Launches> {
        let table = &trace.table;
        let mut hashes: Keyed<u64> = Keyed::default();
        let mut processes: Keyed<usize> = Keyed::default();
        for &(work, call) in &trace.links.launch_of {
            let hash = hashes.entry((i64::from(call), 0));
            *hash = hash.wrapping_add(mixed(u64::from(table.name_id(work).0)));
            *processes.entry((i64::from(table.track(call).pid.0), 0)) += 1;
        }
        let busiest = processes.entries().iter().max_by_key(|process| process.1)?.0.0;
        let is_own = |row: Row| i64::from(table.track(row).pid.0) == busiest;
        let mut calls: Vec<(Row, u64)> = hashes
            .entries()
            .iter()
            .filter_map(|&((call, _), hash)| Some((table.row(call as usize)?, hash)))
            .collect();
        calls.retain(|&(call, _)| is_own(call));
        sort_by_key(&mut calls, |&(call, _)| (table.ts(call), i64::from(call)));
        let (mut known, mut sums) = (Index::default(), vec![0u64]);
        let mut tokens = Vec::with_capacity(calls.len());
        for &(_, hash) in &calls {
            tokens.push(known.get_or_insert((hash as i64, 0), known.len() as u32));
            sums.push(sums[sums.len() - 1].wrapping_add(mixed(hash)));
        }
        Some(Launches { calls: calls.into_iter().map(|call| call.0).collect(), tokens, sums })
    }

    /// Whether the host waits much longer before segments than within them.
    fn waits_most(&self, table: &Table, segments: &[(usize, usize)]) -> bool {
        let waits = self.waits(table);
        let mean = |sum: i64, count: usize| sum as f64 / count.max(1) as f64;
        let before: i64 = segments.iter().map(|segment| waits[segment.0]).sum();
        let within = || segments.iter().flat_map(|segment| segment.0 + 1..segment.1);
        let others = mean(within().map(|at| waits[at]).sum(), within().count());
        mean(before, segments.len()) >= LONGER * others
    }

    /// How long the host waits before each launch, except for a few very long waits; that before the first one is 0.
    fn waits(&self, table: &Table) -> Vec<i64> {
        let wait = |pair: &[Row]| table.ts(pair[1]).saturating_sub(table.end(pair[0])).max(0);
        let mut waits = vec![0];
        waits.extend(self.calls.windows(2).map(wait));
        let mut longest = waits.clone();
        sort_by_key(&mut longest, |&wait| (descending(wait), 0));
        let most = longest.get(LEAST - 1).copied().unwrap_or(0);
        for wait in &mut waits {
            *wait = (*wait).min(most);
        }
        waits
    }

    /// The launches from each wait before or after a token to the next, of the token where the host waits most beyond its mean wait.
    fn segments(&self, table: &Table) -> Option<Vec<(usize, usize)>> {
        let (count, waits) = (self.calls.len(), self.waits(table));
        let mean = waits.iter().sum::<i64>() as f64 / count as f64;
        let tokens = self.tokens.iter().max().map_or(0, |most| *most as usize + 1);
        // Of each token, how much longer than the mean the host waits before it, and after it.
        let mut beyond = vec![[0.0; 2]; tokens];
        for (at, &token) in self.tokens.iter().enumerate() {
            beyond[token as usize][0] += waits[at] as f64 - mean;
            beyond[token as usize][1] += waits.get(at + 1).map_or(0.0, |&wait| wait as f64 - mean);
        }
        let all =
            beyond.iter().enumerate().flat_map(|(token, sums)| [(sums[0], token, 0), (sums[1], token, 1)]);
        let (_, token, after) = all.filter(|one| one.0 > 0.0).max_by(|a, b| a.0.total_cmp(&b.0))?;
        let of_token = self.tokens.iter().enumerate().filter(|one| *one.1 as usize == token);
        let mut starts: Vec<usize> = of_token.map(|(at, _)| at + after).filter(|&at| at < count).collect();
        if after == 1 {
            starts.insert(0, 0);
        }
        let ends = starts[1..].iter().copied().chain([count]);
        Some(starts.iter().copied().zip(ends).filter(|segment| segment.0 < segment.1).collect())
    }

    /// The share of the time of segments that those take that repeat. A segment lasts until the next one begins.
    fn repeated(&self, table: &Table, segments: &[(usize, usize)], kinds: &[Kind]) -> f64 {
        let start = |at: usize| self.calls.get(at).or(self.calls.last()).map_or(0, |&call| table.ts(call));
        let (mut repeated, mut all) = (0, 0);
        for (&(from, to), kind) in segments.iter().zip(kinds) {
            let ns = start(to) - start(from);
            all += ns;
            repeated += if kind.count > 1 { ns } else { 0 };
        }
        if all > 0 { repeated as f64 / all as f64 } else { 0.0 }
    }

    fn kinds(&self, segments: &[(usize, usize)]) -> Vec<Kind> {
        let numbers = self.numbers(segments);
        let mut counts: Vec<(usize, usize)> = Vec::new();
        for &number in &numbers {
            if number == counts.len() {
                counts.push((0, number));
            }
            counts[number].0 += 1;
        }
        let mut order = counts.clone();
        sort_by_key(&mut order, |one| (descending(one.0 as i64), 0));
        let mut ranks = vec![0; counts.len()];
        order.iter().enumerate().for_each(|(rank, one)| ranks[one.1] = rank);
        numbers.into_iter().map(|number| Kind { count: counts[number].0, rank: ranks[number] }).collect()
    }

    /// The number of the kind of each segment. Segments are of one kind if they have the same launches in any order, or as many
    /// launches and most of them in the same order, as prefills of different lengths do.
    fn numbers(&self, segments: &[(usize, usize)]) -> Vec<usize> {
        let (mut known, mut lengths): (Index, Keyed<Vec<usize>>) = Default::default();
        let mut firsts: Vec<(usize, usize)> = Vec::new();
        let mut numbers = Vec::with_capacity(segments.len());
        for &(from, to) in segments {
            let hash = self.sums[to].wrapping_sub(self.sums[from]) as i64;
            let alike = lengths.entry(((to - from) as i64, 0));
            let number = known.get((hash, (to - from) as i64)).map(|number| number as usize);
            let similar =
                || alike.iter().copied().find(|&number| self.are_similar(firsts[number].0, from, to - from));
            let number = number.or_else(similar).unwrap_or(firsts.len());
            if number == firsts.len() {
                firsts.push((from, to));
                if alike.len() < MOST_ALIKE {
                    alike.push(number);
                }
            }
            known.set((hash, (to - from) as i64), number as u32);
            numbers.push(number);
        }
        numbers
    }

    /// Whether most launches of two segments of a length are the same.
    fn are_similar(&self, a: usize, b: usize, length: usize) -> bool {
        let (a, b) = (&self.tokens[a..a + length], &self.tokens[b..b + length]);
        a.iter().zip(b).filter(|(a, b)| a == b).count() as f64 >= SIMILAR * length as f64
    }
}
