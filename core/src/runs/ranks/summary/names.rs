//! What a rank ran, by name, and the times in which it ran nothing.

use crate::analysis::device::ranges::step_names;
use crate::base::names::NameId;
use crate::base::order::{descending, sort_by_key};
use crate::runs::ranks::phases::program_threads;
use crate::runs::ranks::sketch::Sketch;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::Table;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The number of names that are kept, by self time.
const KEPT: usize = 256;

/// The name of all steps together.
pub(crate) const STEPS: &str = "ProfilerStep";

/// Everything of one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) count: u64,
    /// The sum of the durations, without those of what ran inside.
    pub(crate) self_ns: i64,
    /// The durations.
    pub(crate) durations: Sketch,
}

/// Durations and self time by name, while they are collected.
struct Collected {
    of: Vec<(i64, Vec<i64>)>,
}

impl Collected {
    fn new(table: &Table) -> Collected {
        Collected { of: vec![(0, Vec::new()); table.names.len()] }
    }

    fn add(&mut self, name: NameId, self_ns: i64, duration: i64) {
        let times = &mut self.of[name.0 as usize];
        times.0 += self_ns;
        times.1.push(duration);
    }

    /// Returns the names with the most self time.
    fn finish(self, table: &Table, step: Option<NameId>) -> Vec<Named> {
        let all = self.of.into_iter().enumerate().filter(|(_, times)| !times.1.is_empty());
        let mut all: Vec<(NameId, i64, Vec<i64>)> =
            all.map(|(name, (self_ns, durations))| (NameId(name as u32), self_ns, durations)).collect();
        sort_by_key(&mut all, |(name, self_ns, _)| (descending(*self_ns), i64::from(name.0)));
        all.truncate(KEPT);
        let named = |(name, self_ns, durations): (NameId, i64, Vec<i64>)| Named {
            name: if step == Some(name) { STEPS.into() } else { table.names.get(name).into() },
            count: durations.len() as u64,
            self_ns,
            durations: Sketch::from_durations(&durations),
        };
        all.into_iter().map(named).collect()
    }
}

/// What the host ran: operators, annotations and Python functions. All steps have one name.
pub(super) fn operators(trace: &Trace) -> Vec<Named> {
    let (table, tree) = (&trace.table, &trace.tree);
    let mut collected = Collected::new(table);
    let steps = step_names(trace);
    let step = table.names.iter().find(|&(id, _)| steps.has(id)).map(|(id, _)| id);
    for lane in tree.lanes() {
        let self_ns = tree.self_times(table, lane);
        for (at, self_ns) in lane.positions().zip(self_ns) {
            let row = tree.row(at);
            if !matches!(
                table.category(row),
                Category::CpuOp | Category::UserAnnotation | Category::PythonFunction
            ) {
                continue;
            }
            let name = table.name_id(row);
            let name = step.filter(|_| steps.has(name)).unwrap_or(name);
            collected.add(name, self_ns, table.dur(row).max(0));
        }
    }
    collected.finish(table, step)
}

/// What the devices ran.
pub(super) fn kernels(trace: &Trace) -> Vec<Named> {
    let table = &trace.table;
    let mut collected = Collected::new(table);
    for row in table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row)) {
        let duration = table.dur(row).max(0);
        collected.add(table.name_id(row), duration, duration);
    }
    collected.finish(table, None)
}

/// The times in which no thread of the program was in a span, by the name of the span that ended them. Steps do not count as
/// spans.
pub(super) fn gaps(trace: &Trace) -> Vec<Named> {
    let table = &trace.table;
    let is_program = program_threads(trace);
    let steps = step_names(trace);
    let mut spans: Vec<((i64, i64), NameId)> = Vec::new();
    for row in table.rows().filter(|&row| table.is_span(row) && !steps.has(table.name_id(row))) {
        let is_host = !table.category(row).is_device_work() && table.category(row) != Category::Overhead;
        let (start, end) = (table.ts(row), table.end(row));
        let is_inside = spans.last().is_some_and(|&((from, until), _)| from <= start && end <= until);
        if is_host && !is_inside && is_program[table.track_id(row).0 as usize] {
            spans.push(((start, end), table.name_id(row)));
        }
    }
    sort_by_key(&mut spans, |&((start, end), _)| (start, descending(end)));
    let mut collected = Collected::new(table);
    let mut reached = spans.first().map_or(0, |span| span.0.0);
    for ((start, end), name) in spans {
        if start > reached {
            collected.add(name, start - reached, start - reached);
        }
        reached = reached.max(end);
    }
    collected.finish(table, None)
}
