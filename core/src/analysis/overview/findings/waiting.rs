//! Findings about waiting: the data loader, garbage collection.

use super::{Finding, FindingCode, percent, place, share, threshold};
use crate::analysis::device::idle::Cause;
use crate::analysis::device::ranges::Ranges;
use crate::analysis::intervals::Collector;
use crate::base::index::Index;
use crate::base::units::{counted, time_ns};
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Adds the findings. Threads wait in parallel and calls nest, so the cost is the time of the busiest thread, not a sum.
pub(super) fn waiting(out: &mut Vec<Finding>, trace: &Trace, wall_ns: i64) {
    let [data, garbage] = busiest(trace);
    let mut push = |code, busy: Busy, least, cause, what: String, advice| {
        if share(busy.ns, wall_ns) >= least {
            let finding = Finding::new(code, busy.ns, what, advice).caused_by(cause);
            let command = busy.longest.map_or_else(String::new, |row| place(trace, row));
            out.push(finding.shown_by(&command, busy.longest.into_iter().collect()));
        }
    };
    let took = |time: i64| format!("{} ({} of wall)", time_ns(time, None), percent(time, wall_ns));
    push(
        FindingCode::DataLoading,
        data,
        threshold::DATA,
        Cause::DataLoading,
        format!("waiting for the data loader took {} on the busiest thread", took(data.ns)),
        "increase num_workers, prefetch, or make preprocessing cheaper",
    );
    let collections = counted(garbage.count, "garbage collection");
    push(
        FindingCode::GarbageCollection,
        garbage,
        threshold::GARBAGE,
        Cause::GarbageCollection,
        format!("{collections} of Python took {} on the busiest thread", took(garbage.ns)),
        "call gc.freeze() after setup, or gc.disable() and gc.collect() between steps",
    );
}

/// The spans of one kind on one thread or device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Busy {
    /// The time during which any of them is open.
    ns: i64,
    count: usize,
    /// The longest of them.
    longest: Option<Row>,
}

/// Returns the data loading and the garbage collections of the thread that is busiest with each.
fn busiest(trace: &Trace) -> [Busy; 2] {
    let table = &trace.table;
    let collector = table.names.find("Python GC");
    let mut index = Index::default();
    let mut groups: Vec<(usize, Busy, Collector)> = Vec::new();
    let ranges = Ranges::new(&table.names);
    for row in table.rows() {
        let kind = match table.category(row) {
            _ if ranges.is_loading(table, row) => 0,
            Category::PythonFunction if Some(table.name_id(row)) == collector => 1,
            _ => continue,
        };
        if !table.is_span(row) {
            continue;
        }
        let place = table.track_id(row).0;
        let at = index.get_or_insert((kind, i64::from(place)), groups.len() as u32) as usize;
        if at == groups.len() {
            groups.push((kind as usize, Busy::default(), Collector::default()));
        }
        let (_, busy, times) = &mut groups[at];
        busy.count += 1;
        if busy.longest.is_none_or(|longest| table.dur(row) > table.dur(longest)) {
            busy.longest = Some(row);
        }
        times.push((table.ts(row), table.end(row)));
    }
    let mut most = [Busy::default(); 2];
    for (kind, busy, times) in groups {
        let ns = times.union().length();
        if ns > most[kind].ns {
            most[kind] = Busy { ns, ..busy };
        }
    }
    most
}
