//! Replays of a graph with changes.

use super::changes::Changes;
use super::code::Code;
use super::graph::{Graph, Point};
use super::plan::{Plan, Recorded};
use crate::analysis::context::Analysis;
use crate::analysis::device::classes::Class;
use crate::analysis::device::idle::{Cause, Host};
use crate::analysis::device::sequences::{Search, sequences};
use crate::base::error::Error;
use crate::base::units::{counted, time_ns};
use crate::trace::Trace;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::vec::Vec;

/// Replays of a trace.
pub struct Replay<'a> {
    pub(super) recorded: Recorded<'a>,
    /// From the first to the last point as recorded, in ns.
    recorded_ns: i64,
    /// The same, replayed without changes.
    replayed_ns: i64,
}

/// The memory of a replay, for several in sequence.
#[derive(Default)]
pub(crate) struct Scratch {
    durations: Vec<i64>,
    times: Vec<i64>,
}

/// Bounds that are further apart than this share of the wall time do not tell what a change saves.
const WIDEST: f64 = 0.25;

/// Replays with a larger error than this are no basis for an answer.
pub const LARGEST_ERROR: f64 = 0.1;

impl<'a> Replay<'a> {
    /// Prepares the replays of a trace.
    pub fn new(trace: &'a Trace) -> Replay<'a> {
        let analysis = &Analysis::new(trace);
        Replay::with_host(analysis, &Host::new(analysis))
    }

    /// The same for a host that is known.
    pub(crate) fn with_host(analysis: &Analysis<'a>, host: &Host<'_>) -> Replay<'a> {
        let (trace, kinds) = (analysis.trace, analysis.kinds().clone());
        let graph = Graph::from_trace(analysis, host);
        let code = Code::new(&trace.table, &graph, host);
        let recorded_ns = wall(graph.ids().flat_map(|id| [graph.node(id).time.0, graph.node(id).time.1]));
        let mut replay =
            Replay { recorded: Recorded { trace, graph, code, kinds }, recorded_ns, replayed_ns: 0 };
        replay.replayed_ns = replay.wall_ns(&Changes::default());
        replay
    }

    /// How long the main thread worked, or those that run backward passes while it waited, in ns. Calls that can wait for a device do
    /// not count. `None` if no launches were recorded.
    pub(crate) fn worked_ns(&self) -> Option<i64> {
        self.recorded.code.worked_ns
    }

    /// The time of calls in which these threads can have waited for the device although the replay knows of no wait, in ns.
    pub(crate) fn doubtful_ns(&self) -> i64 {
        self.recorded.code.doubtful_ns
    }

    /// What the main thread worked on and those that run backward passes, by cause, in ns.
    pub(crate) fn worked(&self) -> &[(Cause, i64)] {
        &self.recorded.code.worked
    }

    /// The recorded time from the first to the last point of the graph, in ns.
    pub fn recorded_ns(&self) -> i64 {
        self.recorded_ns
    }

    /// The same time in the replay without changes.
    pub fn replayed_ns(&self) -> i64 {
        self.replayed_ns
    }

    /// How far the replay without changes is from what was recorded, in ns.
    pub fn error_ns(&self) -> i64 {
        self.replayed_ns.saturating_sub(self.recorded_ns).saturating_abs()
    }

    /// The error as a share of the recorded time.
    pub fn error(&self) -> f64 {
        if self.recorded_ns == 0 { 0.0 } else { self.error_ns() as f64 / self.recorded_ns as f64 }
    }

    /// Whether the error is small enough for an answer.
    ///
    /// # Errors
    /// Returns [`Error::Unfit`] with the reason if it is larger than [`LARGEST_ERROR`].
    pub fn check(&self) -> Result<(), Error> {
        if self.error() <= LARGEST_ERROR {
            return Ok(());
        }
        let (late_ns, row) = self.unexplained();
        let name = row.map_or("", |row| self.recorded.trace.table.name(row));
        Err(Error::Unfit(format!(
            "replayed without changes, this trace takes {} instead of {}, which is {:.0}% off: {name} starts {} later than the launches, streams and waits in the trace explain",
            time_ns(self.replayed_ns, None),
            time_ns(self.recorded_ns, None),
            self.error() * 100.0,
            time_ns(late_ns, None),
        )))
    }

    /// The activity that started the longest after all that it is known to have waited for.
    fn unexplained(&self) -> (i64, Option<Row>) {
        let late = self.recorded.graph.ids().filter_map(|id| {
            let edges = self.recorded.graph.edges(Point::start(id));
            let ready = edges
                .map(|edge| self.recorded.graph.recorded(edge.from).saturating_add(edge.delay_ns))
                .max()?;
            let node = self.recorded.graph.node(id);
            Some((node.time.0.saturating_sub(ready), node.row?))
        });
        late.max_by_key(|late| late.0).map_or((0, None), |(late, row)| (late, Some(row)))
    }

    /// The graph that is replayed.
    pub fn graph(&self) -> &Graph {
        &self.recorded.graph
    }

    /// Returns what changes would save of the replayed time, in ns; negative if they would cost time.
    pub fn saving_ns(&self, changes: &Changes) -> i64 {
        self.replayed_ns.saturating_sub(self.wall_ns(changes))
    }

    /// Whether the least and the most that a change saves, in ns, are close enough to each other.
    pub(super) fn is_known(&self, (low_ns, high_ns): (i64, i64)) -> bool {
        high_ns.saturating_sub(low_ns) as f64 <= WIDEST * self.replayed_ns as f64
    }

    /// Returns the time from the first to the last point of a replay, in ns.
    pub fn wall_ns(&self, changes: &Changes) -> i64 {
        self.wall_in(&mut Scratch::default(), changes)
    }

    /// The same with the memory of an earlier replay.
    pub(crate) fn wall_in(&self, scratch: &mut Scratch, changes: &Changes) -> i64 {
        self.run(scratch, changes);
        wall(scratch.times.iter().copied())
    }

    /// Returns the start and the end of every node in a replay.
    pub fn times(&self, changes: &Changes) -> Vec<i64> {
        let mut scratch = Scratch::default();
        self.run(&mut scratch, changes);
        scratch.times
    }

    /// Returns the time of the host that changes leave out, without waits, in ns.
    pub(crate) fn freed_ns(&self, changes: &Changes) -> i64 {
        let plan = Plan::new(&self.recorded, changes);
        let code = self.recorded.code.parts.iter().filter(|part| changes.is_free(part.1)).map(|part| part.2);
        let graph = &self.recorded.graph;
        let calls = graph.ids().filter(|&id| plan.is_free(graph.kinds[id.index()]));
        code.chain(calls.map(|id| graph.own_ns(id))).fold(0, i64::saturating_add)
    }

    /// Returns the duration of every node without waiting in a replay, in ns.
    pub fn own_durations(&self, changes: &Changes) -> Vec<i64> {
        let mut durations = Vec::new();
        Plan::new(&self.recorded, changes).durations(&mut durations);
        durations
    }

    fn run(&self, scratch: &mut Scratch, changes: &Changes) {
        let (plan, Scratch { durations, times }) = (Plan::new(&self.recorded, changes), scratch);
        plan.durations(durations);
        self.recorded.graph.times(times, durations, &[], |to, edge| plan.delay(to, edge));
    }

    /// Checks that the trace has the work and the sequences that changes are about.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] with the first that it does not have.
    pub(super) fn check_changes(&self, changes: &Changes) -> Result<(), Error> {
        let classes = self.recorded.classes();
        for faster in &changes.faster {
            let mut rows =
                self.recorded.graph.nodes.iter().filter_map(|node| node.row.zip(node.kind.class()));
            let fits = |(row, class): (Row, Class)| {
                faster.fits(class, classes.category(row), self.recorded.trace.table.name(row))
            };
            if !rows.any(fits) {
                return Err(Error::BadOption(format!("faster: no work of a device matches {}", faster.work)));
            }
        }
        if changes.fuse.is_empty() {
            return Ok(());
        }
        let count = sequences(self.recorded.trace, &Search::default())?.len();
        match changes.fuse.iter().find(|&&number| number == 0 || number > count) {
            Some(number) => {
                let has = counted(count, "sequence");
                Err(Error::BadOption(format!("fuse: sequence {number}: the trace has {has}")))
            }
            None => Ok(()),
        }
    }
}

pub(super) fn wall(times: impl Iterator<Item = i64>) -> i64 {
    let range = times.fold(None, |range: Option<(i64, i64)>, time| {
        Some(range.map_or((time, time), |(first, last)| (first.min(time), last.max(time))))
    });
    range.map_or(0, |(first, last)| last.saturating_sub(first))
}
