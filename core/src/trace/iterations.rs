//! The iterations of an inference engine, by the names of annotated ranges.
//!
//! A range within another one of the same thread is a part of it, and completes what its name states. A trace without ranges of
//! the host has their copies on streams; of each device, those of the stream with most of them are used.

use super::Trace;
use super::step_rules::{Matcher, StepName};
use super::table::category::Category;
use super::table::events::{Row, Table};
use crate::base::index::Keyed;
use crate::base::names::NameId;
use crate::base::order::{descending, sort_by_key};
use alloc::vec;
use alloc::vec::Vec;

/// The number of iterations of other threads that can begin between a call and its iteration.
const MOST_THREADS: usize = 256;

/// A range that is an iteration, and what its name states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Iteration {
    pub(crate) row: Row,
    pub(crate) name: StepName,
}

/// The iterations of a trace, ordered by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Iterations(pub(crate) Vec<Iteration>);

impl Iterations {
    pub(crate) fn new(trace: &Trace) -> Iterations {
        let table = &trace.table;
        let mut found = Found::new(trace);
        table.rows().filter(|&row| is_range(table, row)).for_each(|row| found.add(row));
        if found.ranges.is_empty() && !trace.step_rules.are_chosen() {
            let is_copy =
                |row: &Row| table.category(*row) == Category::GpuUserAnnotation && table.is_span(*row);
            table.rows().filter(is_copy).for_each(|row| found.add(row));
            found.keep_one_stream(table);
        }
        Iterations(found.outermost(table))
    }

    /// The iteration on the thread of a call that is running when the call begins.
    pub(crate) fn around(&self, table: &Table, call: Row) -> Option<&Iteration> {
        let begun = self.0.partition_point(|one| table.ts(one.row) <= table.ts(call));
        let own = |one: &&Iteration| table.track_id(one.row) == table.track_id(call);
        let last = self.0[..begun].iter().rev().take(MOST_THREADS).find(own);
        last.filter(|one| table.ts(call) < table.end(one.row))
    }

    /// The ranges with their numbers: those that names state, else counted from 1 in each process.
    pub(crate) fn numbered(&self, table: &Table) -> Vec<(Row, i64)> {
        let mut counts: Keyed<i64> = Keyed::default();
        let number = |one: &Iteration| {
            let count = counts.entry((i64::from(table.track(one.row).pid.0), 0));
            *count += 1;
            (one.row, one.name.number.unwrap_or(*count))
        };
        self.0.iter().map(number).collect()
    }
}

impl Trace {
    /// Whether a line of the user in the rules for iterations is the name of a range of the host.
    pub fn has_own_steps(&self) -> bool {
        let (table, own) = (&self.table, self.step_rules.own(&self.table.names));
        let ranges = table.rows().filter(|&row| is_range(table, row));
        let names = table.names.among(ranges.map(|row| table.name_id(row)), |_| true);
        table.names.iter().any(|(id, _)| names.has(id) && own.step_name(id).is_some())
    }

    /// Makes ranges of the host the steps, instead of those that rules recognise: the ranges for whose names `step_of` returns
    /// something. Returns the number of those names.
    pub fn choose_steps(&mut self, step_of: impl Fn(&str) -> Option<StepName>) -> usize {
        let table = &self.table;
        let ranges = table.rows().filter(|&row| is_range(table, row));
        let names = table.names.among(ranges.map(|row| table.name_id(row)), |_| true);
        let named = table.names.iter().filter(|&(id, _)| names.has(id));
        let chosen: Vec<(NameId, StepName)> =
            named.filter_map(|(id, name)| Some((id, step_of(name)?))).collect();
        let count = chosen.len();
        self.step_rules.choose(chosen);
        count
    }
}

/// Whether a row is a range of the host that can be an iteration: neither a Python call nor one of the runtime, nor a begin whose
/// end is missing.
fn is_range(table: &Table, row: Row) -> bool {
    matches!(table.category(row), Category::UserAnnotation | Category::CpuOp | Category::Other)
        && table.is_span(row)
        && !(table.ph(row) == b'B' && table.dur(row) <= 0)
}

/// What is known of a name.
#[derive(Clone, Copy)]
enum Known {
    Nothing,
    IsOther,
    /// It is that of an iteration, which states what has this index.
    States(u32),
}

/// The ranges with names of iterations.
struct Found<'a> {
    trace: &'a Trace,
    /// What is known of each name.
    known: Vec<Known>,
    names: Vec<StepName>,
    ranges: Vec<(Row, u32)>,
    matcher: Matcher<'a>,
}

impl<'a> Found<'a> {
    fn new(trace: &'a Trace) -> Found<'a> {
        let names = &trace.table.names;
        Found {
            trace,
            known: vec![Known::Nothing; names.len()],
            names: Vec::new(),
            ranges: Vec::new(),
            matcher: trace.step_rules.matcher(names),
        }
    }

    fn add(&mut self, row: Row) {
        let name = self.trace.table.name_id(row);
        if let Some(index) = self.index_of(name) {
            self.ranges.push((row, index));
        }
    }

    fn index_of(&mut self, name: NameId) -> Option<u32> {
        match self.known[name.0 as usize] {
            Known::States(index) => return Some(index),
            Known::IsOther => return None,
            Known::Nothing => {}
        }
        let index = self.matcher.step_name(name).map(|stated| {
            self.names.push(stated);
            self.names.len() as u32 - 1
        });
        self.known[name.0 as usize] = index.map_or(Known::IsOther, Known::States);
        index
    }

    /// Keeps the ranges of one stream of each device.
    fn keep_one_stream(&mut self, table: &Table) {
        let mut counts: Keyed<i64> = Keyed::default();
        for &(row, _) in &self.ranges {
            *counts.entry((i64::from(table.track_id(row).0), 0)) += 1;
        }
        let pid = |track: i64| table.tracks.all()[track as usize].pid;
        let mut streams: Vec<(i64, i64)> =
            counts.entries().iter().map(|&((track, _), count)| (count, track)).collect();
        sort_by_key(&mut streams, |&(count, track)| (descending(count), track));
        let mut kept: Vec<i64> = Vec::new();
        for (_, track) in streams {
            if kept.iter().all(|&other| pid(other) != pid(track)) {
                kept.push(track);
            }
        }
        self.ranges.retain(|&(row, _)| kept.contains(&i64::from(table.track_id(row).0)));
    }

    /// Returns the ranges that are within no other one of their thread, ordered by time.
    fn outermost(mut self, table: &Table) -> Vec<Iteration> {
        sort_by_key(&mut self.ranges, |&(row, _)| (table.ts(row), descending(table.end(row))));
        sort_by_key(&mut self.ranges, |&(row, _)| (i64::from(table.track_id(row).0), 0));
        let mut found: Vec<Iteration> = Vec::new();
        for &(row, index) in &self.ranges {
            let name = &self.names[index as usize];
            let around = found.last_mut().filter(|last| {
                table.track_id(last.row) == table.track_id(row) && table.end(row) <= table.end(last.row)
            });
            match around {
                Some(around) => around.name.complete(name),
                None => found.push(Iteration { row, name: name.clone() }),
            }
        }
        sort_by_key(&mut found, |iteration| (table.ts(iteration.row), i64::from(iteration.row)));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;

    fn range(name: &str, (pid, tid): (u32, u32), (ts, dur): (u32, u32)) -> String {
        format!(
            r#"{{"ph":"X","cat":"user_annotation","name":"{name}","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur}}}"#
        )
    }

    fn iterations(events: &[String]) -> Vec<(String, i64, Option<i64>)> {
        let trace = Trace::read(format!("[{}]", events.join(",")).as_bytes()).expect("a trace");
        let found = Iterations::new(&trace);
        let phases: Vec<(String, Option<i64>)> =
            found.0.iter().map(|one| (one.name.phase.clone(), one.name.tokens)).collect();
        let numbers = found.numbered(&trace.table).into_iter().map(|(_, number)| number);
        phases.into_iter().zip(numbers).map(|((phase, tokens), number)| (phase, number, tokens)).collect()
    }

    #[test]
    fn ranges_within_others_complete_them() {
        let found = iterations(&[
            range("step[DECODE bs=4]", (1, 1), (110, 50)),
            range("execute_new_4_cached_1", (1, 1), (100, 90)),
            range("step[DECODE bs=2]", (1, 1), (190, 10)),
            range("step[EXTEND bs=1 toks=7]", (1, 2), (120, 10)),
            range("other", (1, 1), (0, 1000)),
        ]);
        let decode = |number, tokens| ("decode".into(), number, Some(tokens));
        assert_eq!(found, [decode(1, 4), ("prefill".into(), 2, Some(7)), decode(3, 2)]);
    }

    #[test]
    fn each_process_counts_its_own() {
        let found = iterations(&[
            range("step[DECODE bs=4]", (1, 1), (0, 10)),
            range("step[DECODE bs=4]", (2, 1), (5, 10)),
            range("[Executor] _forward_step 17: 0 ctx reqs, 4 gen reqs", (2, 1), (20, 10)),
            range("step[DECODE bs=4]", (2, 1), (40, 10)),
        ]);
        assert_eq!(found.iter().map(|one| one.1).collect::<Vec<_>>(), [1, 1, 17, 3]);
    }

    #[test]
    fn copies_on_a_stream_are_used_without_ranges_of_the_host() {
        let copies: Vec<String> = [(7, 100), (7, 300), (9, 110)]
            .map(|(stream, ts)| range("step[DECODE bs=4]", (0, stream), (ts, 50)))
            .map(|event| event.replace("user_annotation", "gpu_user_annotation"))
            .into();
        assert_eq!(iterations(&copies).len(), 2);
        let mut both = copies;
        both.push(range("step[DECODE bs=3]", (1, 1), (0, 10)));
        assert_eq!(iterations(&both), [("decode".into(), 1, Some(3))]);
    }
}
