//! The places of the host, and which of them each instant of a step is attributed to.
//!
//! An instant belongs to the innermost span of the thread that runs the steps. While that thread is in no operator and in no
//! call of the runtime, but another thread is in an operator, as in a backward pass, the instant belongs to the innermost
//! span of that thread. Of asynchronous spans that overlap, an instant belongs to the first lane that is in one.

use super::Periods;
use super::overlaps::{Segment, first_lanes};
use super::places::{Builder, IN_FLIGHT, NOWHERE, OTHER_THREADS, ROOT, host_kind};
use crate::analysis::device::ranges::step_names;
use crate::analysis::intervals::{Interval, Intervals};
use crate::base::names::NameSet;
use crate::base::order::sort_by_key;
use crate::runs::compare::kinds::RowKind;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::is_async_begin;
use crate::trace::table::tracks::TrackId;
use crate::trace::tree::{Lane, Position, Tree};
use alloc::vec;
use alloc::vec::Vec;

/// Adds the places of the host, whose collectives were `in_flight`.
pub(super) fn add(periods: &Periods, in_flight: &Intervals, places: &mut Builder<'_>) {
    let trace = places.trace;
    let main = main_track(trace, periods);
    let is_async = is_asynchronous(trace);
    let mut main_segments: Vec<(Segment, u32)> = Vec::new();
    let mut others: Vec<Segment> = Vec::new();
    let steps = step_names(trace);
    for lane in trace.tree.lanes().iter().filter(|lane| !trace.table.tracks.get(lane.track).on_device) {
        let is_main = Some(lane.track) == main && (lane.extra == 0 || is_async);
        let nodes = lane_places(periods, places, (lane, is_main), &steps);
        let has_operators = || {
            let nodes = nodes.iter().filter(|&&node| node != NOWHERE);
            nodes.clone().any(|&node| places.node(node).kind == RowKind::Operator)
        };
        if is_main {
            innermost(&trace.table, &trace.tree, lane, |at, time| {
                main_segments.push(((time, nodes[lane.offset(at)]), lane.extra));
            });
        } else if has_operators() {
            innermost(&trace.table, &trace.tree, lane, |at, time| {
                others.push((time, nodes[lane.offset(at)]));
            });
        }
    }
    let main_segments = if is_async {
        first_lanes(main_segments)
    } else {
        main_segments.into_iter().map(|(segment, _)| segment).collect()
    };
    sort_by_key(&mut others, |segment| segment.0);
    attribute(
        periods,
        places,
        &with_collectives(with_gaps(main_segments, periods), in_flight.as_slice()),
        &others,
    );
}

/// Whether the spans of a trace are its asynchronous ones, because it has no others.
fn is_asynchronous(trace: &Trace) -> bool {
    let first = trace.tree.lanes().first().and_then(|lane| trace.tree.rows_of(lane).first().copied());
    first.is_some_and(|row| is_async_begin(trace.table.ph(row)))
}

/// The thread that runs the steps; without steps, that with the longest operators, or spans if there are none.
fn main_track(trace: &Trace, periods: &Periods) -> Option<TrackId> {
    let table = &trace.table;
    if let Some(&row) = periods.rows.first() {
        return Some(table.track_id(row));
    }
    let mut times = vec![(0i64, 0i64); table.tracks.all().len()];
    for lane in trace.tree.lanes().iter().filter(|lane| !table.tracks.get(lane.track).on_device) {
        let time = &mut times[lane.track.0 as usize];
        let is_own = |at: Position| table.category(trace.tree.row(at)) == Category::Window;
        let is_outermost = |&at: &Position| !is_own(at) && trace.tree.parent(at).is_none_or(is_own);
        for at in lane.positions().filter(is_outermost) {
            time.1 += table.dur(trace.tree.row(at)).max(0);
        }
        let operators =
            trace.tree.rows_of(lane).iter().filter(|&&row| table.category(row) == Category::CpuOp);
        time.0 += operators.map(|&row| table.dur(row).max(0)).sum::<i64>();
    }
    let longest = (0..times.len()).max_by_key(|&track| (times[track], core::cmp::Reverse(track)))?;
    Some(TrackId(longest as u32)).filter(|_| times[longest].1 > 0)
}

/// Adds the places of the spans of a lane. Returns the place of each.
fn lane_places(
    periods: &Periods,
    places: &mut Builder<'_>,
    (lane, is_main): (&Lane, bool),
    steps: &NameSet,
) -> Vec<u32> {
    let Trace { table, tree, .. } = places.trace;
    let self_ns = tree.self_times(table, lane);
    let is_own = |row: Row| table.category(row) == Category::Window;
    let mut nodes = vec![NOWHERE; lane.positions().len()];
    let mut step_of = vec![u32::MAX; nodes.len()];
    for at in lane.positions() {
        let (row, offset) = (tree.row(at), lane.offset(at));
        if is_own(row) {
            continue;
        }
        let Some(step) = periods.at(table.ts(row)) else { continue };
        step_of[offset] = step as u32;
        let above =
            tree.parent(at).map(|parent| (nodes[lane.offset(parent)], step_of[lane.offset(parent)], parent));
        // A span that began before the step is around it, not in it.
        let (parent, under) = match above {
            Some((node, of, parent)) if node != NOWHERE && of == step as u32 => (node, parent.index() as i64),
            _ => (if is_main { ROOT } else { OTHER_THREADS }, -1 - step as i64),
        };
        // What is inside of such a span counts for it.
        if steps.has(table.name_id(row)) || places.node(parent).is_whole {
            nodes[offset] = parent;
            places.add(parent, step, 0, (0, self_ns[offset]));
        } else {
            nodes[offset] = places.place(row, host_kind(table.category(row)), (parent, under), None);
            places.add(nodes[offset], step, 1, (0, self_ns[offset]));
        }
        // Calls of the runtime launch work for the operator around them.
        let is_call = places.node(nodes[offset]).kind == RowKind::Runtime;
        places.of_row[row.index()] = if is_call { parent } else { nodes[offset] };
    }
    nodes
}

/// Calls `segment` with each period of a lane and the innermost span in it, in order of time.
fn innermost(table: &Table, tree: &Tree, lane: &Lane, mut segment: impl FnMut(Position, Interval)) {
    let mut open: Vec<Position> = Vec::new();
    let mut reached = i64::MIN;
    let mut close = |open: &mut Vec<Position>, until: i64, reached: &mut i64| {
        while let Some(&top) = open.last() {
            let end = table.end(tree.row(top)).min(until);
            if end > *reached {
                segment(top, (*reached, end));
                *reached = end;
            }
            if table.end(tree.row(top)) > until {
                break;
            }
            open.pop();
        }
    };
    for at in lane.positions() {
        let start = table.ts(tree.row(at));
        close(&mut open, start, &mut reached);
        reached = reached.max(start);
        open.push(at);
    }
    close(&mut open, i64::MAX, &mut reached);
}

/// Adds the times of the steps in which the main thread has no span; there are none within the annotation of a step.
fn with_gaps(segments: Vec<Segment>, periods: &Periods) -> Vec<Segment> {
    let mut all = Vec::with_capacity(segments.len());
    let (first, last) = (periods.times.first(), periods.times.last());
    let (Some(&(mut reached, _)), Some(&(_, end))) = (first, last) else { return segments };
    for (time, node) in segments {
        if time.0 > reached {
            all.push(((reached, time.0), ROOT));
        }
        reached = reached.max(time.1);
        all.push((time, if node == NOWHERE { ROOT } else { node }));
    }
    if end > reached {
        all.push(((reached, end), ROOT));
    }
    all
}

/// Divides what is outside of spans by whether a collective is in flight.
fn with_collectives(segments: Vec<Segment>, in_flight: &[Interval]) -> Vec<Segment> {
    let mut all = Vec::with_capacity(segments.len());
    let mut add = |time: Interval, node| {
        if time.0 < time.1 {
            all.push((time, node));
        }
    };
    let mut first = 0;
    for ((start, end), node) in segments {
        let mut reached = start;
        while in_flight.get(first).is_some_and(|period| period.1 <= start) {
            first += 1;
        }
        for &(from, until) in in_flight[first..].iter().take_while(|period| node == ROOT && period.0 < end) {
            let (from, until) = (from.max(reached), until.min(end));
            add((reached, from), ROOT);
            add((from, until), IN_FLIGHT);
            reached = until;
        }
        add((reached, end), node);
    }
    all
}

/// Attributes the time of the steps to places.
fn attribute(periods: &Periods, places: &mut Builder<'_>, segments: &[Segment], others: &[Segment]) {
    let mut first = 0;
    for &(time, node) in segments {
        let waits = !matches!(places.node(node).kind, RowKind::Operator | RowKind::Runtime)
            && !places.node(node).is_whole;
        let mut reached = time.0;
        while others.get(first).is_some_and(|other| other.0.1 <= time.0) {
            first += 1;
        }
        let running = others[first..].iter().take_while(|other| waits && other.0.0 < time.1);
        for &((start, end), other) in running.filter(|other| other.1 != NOWHERE) {
            let (start, end) = (start.max(reached), end.min(time.1));
            if start < end {
                places.add_period(periods, node, (reached, start));
                places.add_period(periods, other, (start, end));
                reached = end;
            }
        }
        places.add_period(periods, node, (reached, time.1));
    }
}
