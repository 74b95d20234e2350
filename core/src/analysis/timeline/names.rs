//! Spans by name, in the complete trace or in a selected part of it.

use crate::analysis::intervals::Interval;
use crate::analysis::query::Query;
use crate::analysis::query::options::{Opt, ROW_LIMIT, TIME, options};
use crate::analysis::query::value::ValueKind;
use crate::base::index::Index;
use crate::base::names::NameId;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Column, Rows, columns};
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::tree::Lane;
use alloc::vec::Vec;

options! {
    /// Options of `names`.
    pub struct NamesOptions {
        /// Start and end in ns after the start of the recording; `None` for the complete recording.
        pub time: Option<(i64, i64)> = TIME,
        /// The numbers of the tracks; empty for all of them.
        pub tracks: Vec<i64> =
            Opt::new("tracks", "LIST", ValueKind::Numbers, "Only these tracks, by their numbers in `tracks`"),
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The query `names`.
pub const NAMES: Query = Query::new("names", "Spans of every category by name", COLUMNS, |trace, request| {
    Ok(names(trace, &request.typed()).into())
})
.examples(&["run.json --time 10ms..20ms", "run.json --tracks 0,3 --row-limit 20"])
.options::<NamesOptions>();

/// Returns the spans of every category, grouped by name.
pub fn names(trace: &Trace, options: &NamesOptions) -> Rows {
    name_rows(trace, options.time, &options.tracks).first(options.row_limit)
}

columns! {
    /// The columns of the answer.
    pub const COLUMNS: fn row(trace: &Trace, group: &Group) {
        let category = Some(group.category).filter(|&c| c != Category::Other);
    } [
        Column::text("name", "Name", "The name of the spans.") => trace.table.names.get(group.name),
        Column::word("category", "Category", &Category::NAMED, "Their category: cpu_op, kernel, python_function, ….")
            .nullable() => category.map(Category::as_str),
        Column::int("count", "Count", "The number of spans.") => group.count,
        Column::ns("total_ns", "Total", "Sum of their durations, clipped to the selected time.") =>
            group.total_ns,
        Column::ns("self_ns", "Self", "The total minus that of the spans inside them.") => group.self_ns,
        Column::ns("mean_ns", "Mean", "The total divided by the count.") =>
            group.total_ns / group.count.max(1),
        Column::ns("min_ns", "Min", "The shortest of the durations.") => group.min_ns,
        Column::ns("max_ns", "Max", "The longest of the durations.") => group.max_ns,
    ]
}

struct Group {
    name: NameId,
    category: Category,
    count: i64,
    total_ns: i64,
    self_ns: i64,
    min_ns: i64,
    max_ns: i64,
}

/// Returns the spans of these tracks (of all, if none are given) within a time after the start of the recording,
/// grouped by name and category and ordered by total time, the longest first.
pub fn name_rows(trace: &Trace, time: Option<Interval>, tracks: &[i64]) -> Rows {
    let mut groups = groups(trace, time, tracks);
    sort_by_key(&mut groups, |g| (descending(g.total_ns), descending(g.count)));
    Rows::from_cells(COLUMNS, groups.iter().map(|group| row(trace, group)))
}

fn groups(trace: &Trace, time: Option<Interval>, tracks: &[i64]) -> Vec<Group> {
    let (table, tree) = (&trace.table, &trace.tree);
    let after = |ns: i64| trace.start_ns.saturating_add(ns);
    let window = time.map_or((i64::MIN, i64::MAX), |(start, end)| (after(start), after(end)));
    let mut groups: Vec<Group> = Vec::new();
    let mut index = Index::default();
    let mut group_of: Vec<u32> = Vec::new();
    let wanted = |lane: &&Lane| tracks.is_empty() || tracks.contains(&i64::from(lane.track.0));
    for lane in tree.lanes().iter().filter(wanted) {
        group_of.clear();
        for at in lane.positions() {
            let row = tree.row(at);
            let (start, end) = (table.ts(row), table.end(row));
            if start >= window.1 {
                break;
            }
            // A span of no duration counts if it lies in the window.
            let is_outside = end <= window.0 && (end > start || start < window.0);
            if is_outside {
                group_of.push(u32::MAX);
                continue;
            }
            let (name, category) = (table.name_id(row), table.category(row));
            let group = index.get_or_insert((i64::from(name.0), category as i64), groups.len() as u32);
            if group as usize == groups.len() {
                let (min_ns, max_ns) = (i64::MAX, 0);
                groups.push(Group { name, category, count: 0, total_ns: 0, self_ns: 0, min_ns, max_ns });
            }
            group_of.push(group);
            let duration = end.min(window.1).saturating_sub(start.max(window.0)).max(0);
            if let Some(parent) = tree.parent(at)
                && let Some(above) = groups.get_mut(group_of[lane.offset(parent)] as usize)
            {
                above.self_ns -= duration;
            }
            let group = &mut groups[group as usize];
            group.count += 1;
            group.total_ns += duration;
            group.self_ns += duration;
            group.min_ns = group.min_ns.min(duration);
            group.max_ns = group.max_ns.max(duration);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows::Cell;

    #[test]
    fn reversed_windows_give_no_negative_times() {
        let text = br#"[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":0,"dur":10}]"#;
        let trace = Trace::read(text).expect("a trace");
        for window in [(8000, 2000), (i64::MAX, i64::MIN)] {
            let rows = name_rows(&trace, Some(window), &[]).rows;
            assert!(rows.iter().flatten().all(|cell| !matches!(cell, Cell::Ns(ns) if *ns < 0)), "{rows:?}");
        }
    }
}
