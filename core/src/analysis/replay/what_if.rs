//! Replays of a graph with changes.

use super::changes::Changes;
use super::graph::{Dependency, Edge, Graph, NodeId, NodeKind, Point};
use crate::analysis::device::device_time::{Class, Classes};
use crate::analysis::device::idle::{Cause, Host};
use crate::analysis::device::sequences::{Search, sequences};
use crate::base::error::Error;
use crate::base::units::{counted, time_ns};
use crate::trace::Trace;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

/// Replays of a trace.
pub struct Replay<'a> {
    trace: &'a Trace,
    pub(super) graph: Graph,
    /// The time of the code of the host by cause, by node.
    code: Vec<(NodeId, Cause, i64)>,
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

/// An activity that needs no launch of its own.
pub(super) struct Fused {
    work: NodeId,
    call: NodeId,
}

/// Replays with a larger error than this are no basis for an answer.
pub const LARGEST_ERROR: f64 = 0.1;

impl<'a> Replay<'a> {
    /// Prepares the replays of a trace.
    pub fn new(trace: &'a Trace) -> Replay<'a> {
        Replay::with_host(trace, &Host::new(trace))
    }

    /// The same for a host that is known.
    pub(crate) fn with_host(trace: &'a Trace, host: &Host<'_>) -> Replay<'a> {
        let graph = Graph::from_trace(trace, host);
        let code = code(&graph, host);
        let recorded_ns = wall(graph.ids().flat_map(|id| [graph.node(id).time.0, graph.node(id).time.1]));
        let mut replay = Replay { trace, graph, code, recorded_ns, replayed_ns: 0 };
        replay.replayed_ns = replay.wall_ns(&Changes::default());
        replay
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
        let name = row.map_or("", |row| self.trace.table.name(row));
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
        let late = self.graph.ids().filter_map(|id| {
            let edges = self.graph.edges(Point::start(id));
            let ready =
                edges.map(|edge| self.graph.recorded(edge.from).saturating_add(edge.delay_ns)).max()?;
            let node = self.graph.node(id);
            Some((node.time.0.saturating_sub(ready), node.row?))
        });
        late.max_by_key(|late| late.0).map_or((0, None), |(late, row)| (late, Some(row)))
    }

    /// The graph that is replayed.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns what changes would save of the replayed time, in ns; negative if they would cost time.
    pub fn saving_ns(&self, changes: &Changes) -> i64 {
        self.replayed_ns.saturating_sub(self.wall_ns(changes))
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

    /// Returns the duration of every node without waiting in a replay, in ns.
    pub fn own_durations(&self, changes: &Changes) -> Vec<i64> {
        let mut durations = Vec::new();
        self.durations(&mut durations, changes, &self.fused(changes));
        durations
    }

    fn run(&self, scratch: &mut Scratch, changes: &Changes) {
        let fused = self.fused(changes);
        let Scratch { durations, times } = scratch;
        self.durations(durations, changes, &fused);
        self.graph.times(times, durations, &[], |to, edge| self.delay(changes, &fused, to, edge));
    }

    /// The delay of a dependency in a replay; `None` if it is not there.
    pub(super) fn delay(&self, changes: &Changes, fused: &[Fused], to: Point, edge: &Edge) -> Option<i64> {
        let is_fused = |node: NodeId| fused.binary_search_by_key(&node, |fusion| fusion.work).is_ok();
        match edge.why {
            Dependency::Launch if is_fused(to.node()) => None,
            Dependency::Stream if is_fused(to.node()) => Some(0),
            _ if !self.holds(changes, to, edge) => None,
            // The call of a copy from pageable memory ends before the copy.
            Dependency::Synchronization if changes.is_delay_free(edge.why) => Some(edge.delay_ns.min(0)),
            why if changes.is_delay_free(why) => Some(0),
            _ => Some(edge.delay_ns),
        }
    }

    /// The activities that follow another one in a sequence that is one kernel, with their calls.
    pub(super) fn fused(&self, changes: &Changes) -> Vec<Fused> {
        if changes.fuse.is_empty() {
            return Vec::new();
        }
        let sequences = sequences(self.trace, &Search::default()).unwrap_or_default();
        let chosen = changes.fuse.iter().filter_map(|number| sequences.get(number.checked_sub(1)?));
        let rows = chosen.flat_map(|sequence| sequence.occurrences().flat_map(|rows| &rows[1..]));
        let mut rows: Vec<Row> = rows.copied().collect();
        rows.sort_unstable();
        let is_fused =
            |id: &NodeId| self.graph.node(*id).row.is_some_and(|row| rows.binary_search(&row).is_ok());
        let launch = |work: NodeId| {
            let call = self.graph.edges(Point::start(work)).find(|edge| edge.why == Dependency::Launch)?;
            Some(Fused { work, call: call.from.node() })
        };
        self.graph.ids().filter(is_fused).filter_map(launch).collect()
    }

    /// Checks that the trace has the work and the sequences that changes are about.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] with the first that it does not have.
    pub(super) fn check_changes(&self, changes: &Changes) -> Result<(), Error> {
        let mut classes = Classes::new(self.trace);
        for faster in &changes.faster {
            let mut rows = self.graph.nodes.iter().filter_map(|node| node.row.zip(node.kind.class()));
            let fits = |(row, class): (Row, Class)| {
                faster.fits(class, classes.category(row), self.trace.table.name(row))
            };
            if !rows.any(fits) {
                return Err(Error::BadOption(format!("faster: no work of a device matches {}", faster.work)));
            }
        }
        if changes.fuse.is_empty() {
            return Ok(());
        }
        let count = sequences(self.trace, &Search::default())?.len();
        match changes.fuse.iter().find(|&&number| number == 0 || number > count) {
            Some(number) => {
                let has = counted(count, "sequence");
                Err(Error::BadOption(format!("fuse: sequence {number}: the trace has {has}")))
            }
            None => Ok(()),
        }
    }

    /// Sets the durations of all nodes without waiting, in ns.
    pub(super) fn durations(&self, durations: &mut Vec<i64>, changes: &Changes, fused: &[Fused]) {
        durations.clone_from(&self.graph.own_ns);
        for &(node, cause, ns) in &self.code {
            if changes.is_free(cause) {
                durations[node.index()] -= ns;
            }
        }
        let mut classes = Classes::new(self.trace);
        let mut factors: Vec<Option<f64>> = vec![None; self.trace.table.names.len()];
        for (at, (duration, kind)) in durations.iter_mut().zip(&self.graph.kinds).enumerate() {
            match *kind {
                NodeKind::Call(cause) if changes.is_free(cause) => *duration = 0,
                NodeKind::Data if changes.is_free(Cause::DataLoading) => *duration = 0,
                NodeKind::Device(class) if !changes.faster.is_empty() || !changes.faster_rows.is_empty() => {
                    let Some(row) = self.graph.nodes[at].row else { continue };
                    let known = &mut factors[self.trace.table.name_id(row).0 as usize];
                    let factor = *known.get_or_insert_with(|| {
                        let name = self.trace.table.name(row);
                        let category = classes.category(row);
                        let fitting =
                            changes.faster.iter().filter(|faster| faster.fits(class, category, name));
                        fitting.map(|faster| faster.factor).product()
                    });
                    let own = changes.faster_rows.binary_search_by_key(&row, |faster| faster.0);
                    let factor = own.map_or(factor, |own| factor * changes.faster_rows[own].1);
                    *duration = (*duration as f64 / factor + 0.5) as i64;
                }
                _ => {}
            }
        }
        for fusion in fused {
            durations[fusion.call.index()] = 0;
        }
    }

    /// Whether a dependency is there in a replay.
    fn holds(&self, changes: &Changes, to: Point, edge: &Edge) -> bool {
        let is_communication =
            |point: Point| self.graph.kinds[point.node().index()] == NodeKind::Device(Class::Communication);
        match edge.why {
            Dependency::Data => !changes.is_free(Cause::DataLoading),
            Dependency::Synchronization | Dependency::QueueFull => {
                match self.graph.kinds[to.node().index()] {
                    NodeKind::Call(cause) => !changes.is_free(cause),
                    _ => true,
                }
            }
            Dependency::Stream | Dependency::OtherStream if changes.overlap_communication => {
                !is_communication(edge.from) || is_communication(to)
            }
            _ => true,
        }
    }
}

pub(super) fn wall(times: impl Iterator<Item = i64>) -> i64 {
    let range = times.fold(None, |range: Option<(i64, i64)>, time| {
        Some(range.map_or((time, time), |(first, last)| (first.min(time), last.max(time))))
    });
    range.map_or(0, |(first, last)| last.saturating_sub(first))
}

/// The causes of the code between calls.
fn code(graph: &Graph, host: &Host<'_>) -> Vec<(NodeId, Cause, i64)> {
    let mut code: Vec<(NodeId, Cause, i64)> = Vec::new();
    // An idle period that is no wait for another thread is code, too.
    let is_code = |id| match graph.node(id).kind {
        NodeKind::Host => true,
        NodeKind::Idle => graph.own_ns(id) > 0,
        _ => false,
    };
    for (thread, nodes) in graph.threads() {
        let mut walk = host.walk_alone();
        for id in nodes.filter(|&id| is_code(id)) {
            walk.parts(thread, graph.node(id).time, &mut |time, reason| {
                let ns = time.1 - time.0;
                let mut node_causes = code.iter_mut().rev().take_while(|known| known.0 == id);
                match node_causes.find(|known| known.1 == reason.cause) {
                    Some(known) => known.2 += ns,
                    None => code.push((id, reason.cause, ns)),
                }
            });
        }
    }
    code
}
