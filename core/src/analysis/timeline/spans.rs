//! Spans with their position on the timeline: spans of given names, of a row of `ops`, and those related to one event.

use super::flow_slices::slice_of;
use crate::analysis::query::group_by::GroupBy;
use crate::analysis::torch::averages::group_members;
use crate::analysis::torch::function_events::FunctionEvents;
use crate::base::demangle::demangle;
use crate::base::handle::run;
use crate::base::names::NameId;
use crate::base::order::sort_by_key;
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::link::FORWARD_BACKWARD;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::TrackId;
use crate::trace::tree::Position;
use alloc::vec;
use alloc::vec::Vec;

/// A span with its position on the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// The event.
    pub row: Row,
    /// Its track.
    pub track: TrackId,
    /// The level on the track, counted as in [`tiles`](super::tiles).
    pub depth: u32,
    /// The start, in ns after the start of the recording.
    pub start_ns: i64,
    /// The end, in ns after the start of the recording.
    pub end_ns: i64,
}

words! {
    "Relation"
    /// How another event is related to an event.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Relation {
        /// The event itself.
        Own = "self",
        /// A span that contains the event.
        Ancestor = "ancestor",
        /// The call that launched the event.
        Launch = "launch",
        /// The operator that the event belongs to.
        Operator = "operator",
        /// Device work launched by the event or by what is inside it.
        DeviceWork = "device_work",
        /// The forward operators of the backward operators at and inside the event; if there are none, that of the
        /// innermost enclosing one.
        Forward = "forward",
        /// The backward operators of the event and of what is inside it.
        Backward = "backward",
        /// A flow leads from the other event to this one.
        FlowFrom = "flow_from",
        /// A flow leads from this event to the other one.
        FlowTo = "flow_to",
    }
}

/// Returns the wanted spans, track by track in the order of the tree.
fn collect(trace: &Trace, wanted: &mut dyn FnMut(Row) -> bool) -> Vec<Span> {
    let mut found = Vec::new();
    let (table, tree, origin) = (&trace.table, &trace.tree, trace.start_ns);
    for track in (0..table.tracks.all().len() as u32).map(TrackId) {
        let mut below = 0;
        for lane in trace.tree.lanes_of(track) {
            let mut open: Vec<Position> = Vec::new();
            for at in lane.positions() {
                let parent = tree.parent(at);
                while open.last().is_some_and(|&top| parent != Some(top)) {
                    open.pop();
                }
                let row = tree.row(at);
                if wanted(row) {
                    found.push(Span {
                        row,
                        track,
                        depth: below + open.len() as u32,
                        start_ns: table.ts(row).saturating_sub(origin),
                        end_ns: table.end(row).saturating_sub(origin),
                    });
                }
                open.push(at);
            }
            below += lane.depth;
        }
    }
    found
}

/// Returns whether each name is wanted, by its id. A mangled name is wanted if its demangled form is.
fn wanted_names(table: &Table, names: &[&str]) -> Vec<bool> {
    let is_wanted = |name: &str| {
        names.contains(&name)
            || (name.starts_with("_Z") && demangle(name).is_some_and(|plain| names.contains(&&*plain)))
    };
    (0..table.names.len() as u32).map(|id| is_wanted(table.names.get(NameId(id)))).collect()
}

/// Returns every span with one of these names, ordered by time; only device work if `device_work_only`.
pub fn find(trace: &Trace, names: &[&str], device_work_only: bool) -> Vec<Span> {
    let table = &trace.table;
    let wanted = wanted_names(table, names);
    let is_wanted = |row: Row| {
        wanted[table.name_id(row).0 as usize] && (!device_work_only || table.category(row).is_device_work())
    };
    in_time(collect(trace, &mut { is_wanted }))
}

/// Returns the events of a row of `ops`. `group` is the position of the row when the rows are grouped by `by` and not
/// sorted.
pub fn instances(trace: &Trace, by: GroupBy, group: u32) -> Vec<Span> {
    let is_plain = by == GroupBy::default();
    let events = if is_plain { FunctionEvents::without_inputs(trace) } else { FunctionEvents::new(trace) };
    let mut is_member = vec![false; trace.table.len()];
    for row in group_members(&events, &trace.table, by, group) {
        is_member[row.index()] = true;
    }
    in_time(collect(trace, &mut |row| is_member[row.index()]))
}

fn in_time(mut spans: Vec<Span>) -> Vec<Span> {
    sort_by_key(&mut spans, |span| (span.start_ns, i64::from(span.row)));
    spans
}

/// Returns the event itself and every related event: ancestors innermost first, its launch, the device work that it
/// launched, forward and backward operators, and flows.
pub fn related(trace: &Trace, event: Row) -> (Option<Span>, Vec<(Relation, Span)>) {
    let (tree, links) = (&trace.tree, &trace.links);
    let Some(at) = tree.positions().find(|&at| tree.row(at) == event) else { return (None, Vec::new()) };
    let mut inside: Vec<Row> = subtree(trace, at).map(|at| tree.row(at)).collect();
    sort_by_key(&mut inside, |&row| (i64::from(row), 0));
    let mut all: Vec<(Row, Relation)> = Vec::new();
    let mut add = |row: Row, relation: Relation| all.push((row, relation));
    tree.ancestors(at).for_each(|at| add(tree.row(at), Relation::Ancestor));
    links.launch(event).into_iter().for_each(|row| add(row, Relation::Launch));
    links.op(event).into_iter().for_each(|row| add(row, Relation::Operator));
    for &(work, cause) in links.launch_of.iter().chain(&links.op_of) {
        if inside.binary_search(&cause).is_ok() {
            add(work, Relation::DeviceWork);
        }
    }
    let mut has_forward = false;
    for &(backward, forward) in &links.forward_of {
        if inside.binary_search(&backward).is_ok() {
            add(forward, Relation::Forward);
            has_forward = true;
        }
        if inside.binary_search(&forward).is_ok() {
            add(backward, Relation::Backward);
        }
    }
    if !has_forward {
        let mut above = tree.ancestors(at).map(|at| tree.row(at));
        above.find_map(|row| links.forward(row)).into_iter().for_each(|row| add(row, Relation::Forward));
    }
    all.extend(flows(trace, event));
    sort_by_key(&mut all, |&(row, relation)| (i64::from(row), relation as i64));
    all.dedup();
    let is_wanted = |row: Row| row == event || all.binary_search_by_key(&row, |r| r.0).is_ok();
    let spans = collect(trace, &mut { is_wanted });
    let mut related: Vec<(Relation, Span)> = Vec::new();
    for span in &spans {
        let first = all.partition_point(|r| r.0 < span.row);
        related.extend(all[first..].iter().take_while(|r| r.0 == span.row).map(|r| (r.1, *span)));
    }
    let order = |&(relation, span): &(Relation, Span)| {
        let time = if relation == Relation::Ancestor { -i64::from(span.depth) } else { span.start_ns };
        (relation as i64, time)
    };
    sort_by_key(&mut related, order);
    (spans.iter().find(|span| span.row == event).copied(), related)
}

/// Returns the events that flows connect with this one, except for flows from launches and to backward operators, which
/// are resolved by the links.
fn flows(trace: &Trace, event: Row) -> Vec<(Row, Relation)> {
    let table = &trace.table;
    let is_known = |row: Row| {
        matches!(table.cat(row), "ac2g" | "async_npu" | "async_gpu")
            || FORWARD_BACKWARD.contains(&table.cat(row))
    };
    let slice = |row: Row| slice_of(trace, row).map(|at| trace.tree.row(at));
    // The work of a device has a track of its own with the same ids.
    let ids = |row: Row| (table.track(row).pid, table.track(row).tid);
    let is_on = |row: Row| ids(row) == ids(event) && slice(row) == Some(event);
    let mut found = Vec::new();
    for &(start, end) in trace.pairs.flows.iter().filter(|pair| !is_known(pair.0)) {
        if is_on(start) {
            found.extend(slice(end).map(|row| (row, Relation::FlowTo)));
        }
        if is_on(end) {
            found.extend(slice(start).map(|row| (row, Relation::FlowFrom)));
        }
    }
    found
}

/// Returns a span and everything inside it.
fn subtree(trace: &Trace, at: Position) -> impl Iterator<Item = Position> {
    let tree = &trace.tree;
    // The contents follow directly: the parent of each lies at or after the span; that of the next span outside lies
    // before.
    let is_inside =
        move |&next: &Position| next == at || tree.parent(next).is_some_and(|parent| parent >= at);
    run(at.index()..tree.len()).take_while(is_inside)
}
