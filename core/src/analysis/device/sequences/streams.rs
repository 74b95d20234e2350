//! The work of all streams as one list, cut where a sequence cannot be one launch.

use super::Gap;
use super::repeats::Token;
use crate::analysis::device::classes::{Class, Classes};
use crate::analysis::device::device_time::activities;
use crate::analysis::device::kernel_keys::{KernelsBy, Keys};
use crate::analysis::device::names::is_sync_name;
use crate::analysis::device::ranges::step_ranges;
use crate::base::index::Index;
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::link::is_graph_launch;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use alloc::vec::Vec;

/// The work of all streams.
pub(super) struct Streams {
    /// The activities, in the order of streams and time.
    pub(super) rows: Vec<Row>,
    /// What is known of each of them.
    pub(super) tokens: Vec<Token>,
}

impl Streams {
    pub(super) fn new(trace: &Trace) -> Streams {
        let (table, links) = (&trace.table, &trace.links);
        let (mut keys, mut index) = (Keys::new(trace, KernelsBy::Name), Index::default());
        let (classes, cuts) = (Classes::new(trace), Cuts::new(trace));
        let mut found = Streams { rows: Vec::new(), tokens: Vec::new() };
        let mut last: Option<(Row, Option<Row>)> = None;
        for (_, mut rows) in activities(table) {
            sort_by_key(&mut rows, |&row| (i64::from(table.track_id(row).0), table.ts(row)));
            for row in rows {
                let launch = links.launch(row);
                let is_graph = launch.is_some_and(|call| is_graph_launch(table.name(call)));
                if is_graph || classes.class(row) == Class::Communication {
                    last = None;
                    continue;
                }
                let before = last.filter(|&before| !cuts.between(table, before, (row, launch)));
                let gap =
                    before.map_or_else(Gap::default, |(before, _)| Gap::between(table, before, row, launch));
                let next = index.len() as u32;
                let name = index.get_or_insert((i64::from(keys.name_key(row)), 0), next);
                found.rows.push(row);
                found.tokens.push(Token {
                    name,
                    is_first: before.is_none(),
                    gap: gap.length,
                    saving: gap.saving,
                });
                let waited = table.category(row) == Category::Memcpy
                    && launch.is_some_and(|call| table.end(call) >= table.end(row));
                last = Some((row, launch)).filter(|_| !waited);
            }
        }
        found
    }
}

/// The times at which lists are cut.
struct Cuts {
    /// The starts and ends of profiler steps, sorted.
    steps: Vec<i64>,
    /// The threads and starts of calls that wait for the device, sorted.
    syncs: Vec<(i64, i64)>,
}

impl Cuts {
    fn new(trace: &Trace) -> Cuts {
        let table = &trace.table;
        let ranges = step_ranges(trace);
        let mut steps: Vec<i64> =
            ranges.iter().flat_map(|&(row, _)| [table.ts(row), table.end(row)]).collect();
        sort_by_key(&mut steps, |&instant| (instant, 0));
        let is_sync = |&row: &Row| {
            matches!(table.category(row), Category::Runtime | Category::Driver)
                && table.is_span(row)
                && is_sync_name(table.name(row))
        };
        let calls = table.rows().filter(is_sync);
        let mut syncs: Vec<(i64, i64)> =
            calls.map(|row| (i64::from(table.track_id(row).0), table.ts(row))).collect();
        sort_by_key(&mut syncs, |&sync| sync);
        Cuts { steps, syncs }
    }

    /// Whether a list is cut between two activities, each with its launch call.
    fn between(&self, table: &Table, before: (Row, Option<Row>), after: (Row, Option<Row>)) -> bool {
        if table.track_id(before.0) != table.track_id(after.0) {
            return true;
        }
        let instant = |(row, launch): (Row, Option<Row>)| table.ts(launch.unwrap_or(row));
        let (from, to) = (instant(before), instant(after));
        let step = |instant: i64| self.steps.partition_point(|&step| step <= instant);
        let synchronized = |call: Row| {
            let thread = i64::from(table.track_id(call).0);
            let until = |instant: i64| self.syncs.partition_point(|&sync| sync < (thread, instant));
            until(from) < until(to)
        };
        step(from) != step(to) || [before.1, after.1].into_iter().flatten().any(synchronized)
    }
}
