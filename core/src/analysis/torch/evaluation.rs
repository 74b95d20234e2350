//! PyTorch's `BasicEvaluation`: the self time of every call, the number of kernels queued when it began, and the idle
//! time of the device during the call; and a ranking of the calls to optimize.
//!
//! - **queue depth**: kernels launched minus kernels started, at the start of a call.
//! - **idle**: from the end of an event with an empty queue to the start of the next one with a non-empty queue; also
//!   before the first and after the last event of the queue.
//! - **rank**: among the calls during which the queue fell from a depth of [`PEAK`] or more to empty, those with the
//!   highest normalised share of idle time plus [`SELF_WEIGHT`] times the normalised self time.
//!
//! PyTorch itself finds no launches in real results, because it compares their names with those of methods; all its
//! depths are then 0. This module implements the intended behaviour, which its results on constructed events show.

mod call;
mod overlaps;
mod rank;

pub use call::{Call, Evaluation, Metrics, Queued};
pub use overlaps::Overlaps;
pub use rank::{PEAK, SELF_WEIGHT};

use super::event_tree::{EventNode, EventTree};
use super::patterns::Scene;
use crate::analysis::intervals::Interval;
use crate::analysis::query::Query;
use crate::analysis::query::options::ListOptions;
use crate::base::handle::collect;
use crate::base::order::sort_by_key;
use crate::base::rows::{Column, Rows, columns};
use crate::trace::Trace;
use crate::trace::link::is_launch_name;
use crate::trace::table::events::Table;
use crate::trace::table::layout::Key;
use alloc::vec::Vec;

/// Evaluates calls against launches and kernels, which can be in any order.
pub fn evaluate(calls: &[Call], mut launches: Vec<Queued>, mut kernels: Vec<Queued>) -> Evaluation {
    sort_by_key(&mut launches, |l| (l.time.0, 0));
    sort_by_key(&mut kernels, |k| (k.time.0, 0));
    let mut out = Evaluation { metrics: self_times(calls), ..Evaluation::default() };
    queue_depths(&mut out, calls, &launches, &kernels);
    let idle = Overlaps::new(idle_times(&out, calls));
    for (metrics, call) in out.metrics.iter_mut().zip(calls) {
        metrics.idle_ns = idle.with(call.time);
    }
    out.ranked = rank::rank(&out, calls);
    out
}

fn self_times(calls: &[Call]) -> Vec<Metrics> {
    let duration = |call: &Call| call.time.1.saturating_sub(call.time.0);
    let initial =
        |call: &Call| Metrics { duration_ns: duration(call), self_ns: duration(call), ..Metrics::default() };
    let mut metrics: Vec<Metrics> = calls.iter().map(initial).collect();
    for call in calls {
        if let Some(parent) = call.parent {
            let self_ns = &mut metrics[parent.index()].self_ns;
            *self_ns = self_ns.saturating_sub(duration(call));
        }
    }
    metrics
}

#[derive(Clone, Copy)]
enum Event {
    Launch(usize),
    Kernel(usize),
    Call(usize),
}

fn queue_depths(out: &mut Evaluation, calls: &[Call], launches: &[Queued], kernels: &[Queued]) {
    let kernel_of = kernels_of(launches, kernels);
    let mut events: Vec<(i64, Event)> = Vec::with_capacity(launches.len() + kernels.len() + calls.len());
    events.extend(launches.iter().enumerate().map(|(at, l)| (l.time.0, Event::Launch(at))));
    events.extend(kernels.iter().enumerate().map(|(at, k)| (k.time.0, Event::Kernel(at))));
    events.extend(calls.iter().enumerate().map(|(at, c)| (c.time.0, Event::Call(at))));
    sort_by_key(&mut events, |e| (e.0, 0));
    // The number of kernels launched, and of kernels started.
    let (mut launched, mut begun) = (0usize, 0usize);
    for (start, event) in events {
        if let Event::Launch(at) = event
            && let Some(kernel) = kernel_of[at]
        {
            launched = kernel + 1;
        }
        while kernels.get(begun).is_some_and(|kernel| kernel.time.0 <= start) {
            begun += 1;
        }
        let depth = launched.saturating_sub(begun);
        match event {
            Event::Launch(at) => out.queue.push((launches[at].time, depth)),
            Event::Kernel(at) => out.queue.push((kernels[at].time, depth)),
            Event::Call(at) => out.metrics[at].queue_depth = depth,
        }
    }
}

/// Returns the kernel of each launch: the first one with its id that does not precede the kernel of an earlier launch.
fn kernels_of(launches: &[Queued], kernels: &[Queued]) -> Vec<Option<usize>> {
    let mut by_id: Vec<(i64, usize)> =
        kernels.iter().enumerate().map(|(at, kernel)| (kernel.id, at)).collect();
    sort_by_key(&mut by_id, |&(id, at)| (id, at as i64));
    let mut last = 0;
    let kernel = |launch: &Queued| {
        let at = by_id.partition_point(|&entry| entry < (launch.id, last));
        let found = by_id.get(at).filter(|entry| entry.0 == launch.id).map(|entry| entry.1);
        last = found.unwrap_or(last);
        found
    };
    launches.iter().map(kernel).collect()
}

fn idle_times(out: &Evaluation, calls: &[Call]) -> Vec<Interval> {
    let mut idle = Vec::new();
    let (first, last) = (out.queue.first(), out.queue.last());
    let earliest = calls.iter().map(|call| call.time.0).min();
    // If several calls begin at the latest start, the one given last counts.
    let latest = calls.iter().max_by_key(|call| call.time.0).map(|call| call.time.1);
    if let (Some(first), Some(last), Some(earliest), Some(latest)) = (first, last, earliest, latest) {
        idle.push((earliest, first.0.0));
        idle.push((last.0.1, latest));
    }
    let mut since = None;
    for &((start, end), depth) in &out.queue {
        match since {
            None if depth == 0 => since = Some(end),
            Some(from) if depth > 0 => {
                idle.push((from, start));
                since = None;
            }
            _ => {}
        }
    }
    idle
}

/// Returns the calls of an event tree.
pub fn calls(table: &Table, tree: &EventTree) -> Vec<Call> {
    let call = |node| Call { time: tree.time(table, node), parent: tree.parent(node) };
    collect(tree.len(), call)
}

/// Returns the launches and kernels of a trace, without copies and memsets.
pub fn queue(trace: &Trace) -> (Vec<Queued>, Vec<Queued>) {
    let table = &trace.table;
    let is_kernel = |name: &str| {
        let name = name.to_ascii_lowercase();
        !["mem", "cpy", "alloc"].iter().any(|part| name.contains(part))
    };
    let (mut launches, mut kernels) = (Vec::new(), Vec::new());
    for row in table.rows().filter(|&row| table.is_span(row)) {
        let category = table.category(row);
        let id = table.int(row, Key::Correlation).or_else(|| table.int(row, Key::ExternalId));
        let queued = Queued { time: (table.ts(row), table.end(row)), id: id.unwrap_or(0) };
        if category.is_launch_call() && is_launch_name(table.name(row)) && is_kernel(table.name(row)) {
            launches.push(queued);
        } else if category.is_device_work() && is_kernel(table.name(row)) {
            kernels.push(queued);
        }
    }
    (launches, kernels)
}

/// The query `evaluation`.
pub const EVALUATION: Query = Query::new(
    "evaluation",
    "Calls during which the launch queue ran empty: `BasicEvaluation`",
    COLUMNS,
    |trace, request| Ok(request.limited(evaluation_rows(trace))),
)
.examples(&["run.json --row-limit 10", "run.json --format csv -o evaluation.csv"])
.options::<ListOptions>()
.hint("the launch queue never fell from 4 or more kernels to 0, or no launches were recorded");

columns! {
    /// The columns of the answer.
    pub const COLUMNS: fn row(scene: &Scene<'_>, call: EventNode, metrics: &Metrics) [
        Column::text("name", "Event", "The operator, annotation or Python function.") => scene.name(call),
        Column::ns("start_ns", "At", "The start of the event, after the start of the recording.") =>
            scene.start_ns(call),
        Column::ns("duration_ns", "Duration", "The duration of the event.") => metrics.duration_ns,
        Column::ns("self_time_ns", "Self", "The duration minus that of its callees; negative if these extend beyond it.") =>
            metrics.self_ns,
        Column::ns("idle_time_ns", "GPU idle", "The idle time of the device during the event.") =>
            metrics.idle_ns,
        Column::share("fraction_idle", "Idle", "The share of the duration during which the device was idle.") =>
            metrics.fraction_idle(),
        Column::int("queue_depth", "Queue", "The number of launched kernels that had not started when the event began.") =>
            metrics.queue_depth,
        Column::text("place", "Place", "The innermost function outside of PyTorch: path(line of its def): name.")
            .nullable() => scene.place(call),
    ]
}

/// Returns the ranked calls, the most promising first; none if the launch queue never fell from a peak to empty.
pub(crate) fn evaluation_rows(trace: &Trace) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    let (launches, kernels) = queue(trace);
    if launches.is_empty() || kernels.is_empty() {
        return rows;
    }
    let scene = Scene::new(trace);
    let found = evaluate(&calls(&trace.table, &scene.tree), launches, kernels);
    for &call in &found.ranked {
        rows.push(row(&scene, call, &found.metrics[call.index()]));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_times_do_not_overflow() {
        let call =
            |parent: Option<usize>| Call { time: (i64::MIN, i64::MAX), parent: parent.map(EventNode::new) };
        let metrics = evaluate(&[None, Some(0), Some(0)].map(call), Vec::new(), Vec::new()).metrics;
        assert_eq!((metrics[0].duration_ns, metrics[0].self_ns), (i64::MAX, -i64::MAX));
    }

    #[test]
    fn the_device_is_idle_after_the_queue_empties() {
        let call = |start, end| Call { time: (start, end), parent: None };
        let queued = |start, end, id| Queued { time: (start, end), id };
        let launches = (0..5).map(|n| queued(n * 10, n * 10 + 5, n)).collect();
        let kernels = (0..5).map(|n| queued(100 + n * 10, 110 + n * 10, n)).collect();
        let found = evaluate(&[call(0, 60), call(105, 160)], launches, kernels);
        assert_eq!(found.queue.iter().map(|q| q.1).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 4, 3, 2, 1, 0]);
        assert_eq!(found.metrics[1].queue_depth, 4);
        assert_eq!(found.metrics[1].idle_ns, 10);
    }
}
