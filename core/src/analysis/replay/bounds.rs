//! What changes save at least and at most, by replays under other assumptions than the usual one.
//!
//! The usual replay assumes that launches and gaps take their usual time, that an activity which started late right after one of
//! another stream waited for it, that an idle thread waited for the one that was busy, and that other processes prepare data at the
//! recorded rate. What started later than that explains is late for an unknown reason. The other replays keep those delays, and then
//! leave out one of the guesses each. Without changes, all of them take as long as recorded.

use super::changes::Changes;
use super::graph::{Dependency, Edge, Graph, NodeId, NodeKind, Point};
use super::plan::Plan;
use super::what_if::{Replay, wall};
use alloc::vec;
use alloc::vec::Vec;

/// An assumption of a replay that keeps unexplained delays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Assumption {
    /// All guesses are right.
    Guesses,
    /// Activities did not wait for other streams.
    NoStreams,
    /// Idle threads did not wait for other threads, except for backward passes.
    NoThreads,
    /// Data is prepared as early as it is needed: to take it takes as long as recorded.
    NoData,
}

impl Assumption {
    const ALL: [Assumption; 4] =
        [Assumption::Guesses, Assumption::NoStreams, Assumption::NoThreads, Assumption::NoData];

    /// Whether a dependency is left out.
    fn drops(self, kind: NodeKind, why: Dependency) -> bool {
        match self {
            Assumption::Guesses => false,
            Assumption::NoStreams => why == Dependency::OtherStream,
            Assumption::NoThreads => why == Dependency::Thread && kind == NodeKind::Idle,
            Assumption::NoData => why == Dependency::Data,
        }
    }

    /// The recorded duration of a node that waits for another thread or for data, where the assumption is that it did not.
    fn recorded_ns(self, graph: &Graph, node: usize) -> Option<i64> {
        let end = Point::end(NodeId::new(node));
        let is_backward = || graph.edges(end).any(|edge| edge.why == Dependency::Backward);
        let waits = graph.own_ns[node] == 0
            && match graph.kinds[node] {
                NodeKind::Idle => self == Assumption::NoThreads && !is_backward(),
                NodeKind::Data => self == Assumption::NoData,
                _ => false,
            };
        let time = graph.nodes[node].time;
        waits.then_some(time.1 - time.0)
    }
}

/// Replays under every assumption.
pub(super) struct Bounds<'a> {
    replay: &'a Replay<'a>,
    cases: [Case; Assumption::ALL.len()],
}

/// A replay under an assumption.
struct Case {
    assumption: Assumption,
    /// How much later each point was than all that it depended on, in ns.
    late: Vec<i64>,
    /// The wall time without changes, in ns. Where recorded times contradict each other, it is not the recorded one.
    wall_ns: i64,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(replay: &'a Replay<'a>) -> Bounds<'a> {
        let case = |assumption| {
            let mut case = Case { assumption, late: late(replay, assumption), wall_ns: 0 };
            case.wall_ns = wall_ns(replay, &case, &Changes::default());
            case
        };
        Bounds { replay, cases: Assumption::ALL.map(case) }
    }

    /// Returns the least and the most that changes save, in ns.
    pub(super) fn saving_ns(&self, changes: &Changes) -> (i64, i64) {
        let usual = self.replay.saving_ns(changes);
        let savings =
            self.cases.iter().map(|case| case.wall_ns.saturating_sub(wall_ns(self.replay, case, changes)));
        savings.fold((usual, usual), |(low, high), saving| (low.min(saving), high.max(saving)))
    }
}

/// The wall time of a replay with changes, in ns.
fn wall_ns(replay: &Replay<'_>, case: &Case, changes: &Changes) -> i64 {
    let (assumption, graph) = (case.assumption, replay.graph());
    let plan = Plan::new(&replay.recorded, changes);
    let (mut durations, mut times, mut late) = (Vec::new(), Vec::new(), case.late.clone());
    plan.durations(&mut durations);
    for (node, &kind) in graph.kinds.iter().enumerate() {
        if let Some(ns) = assumption.recorded_ns(graph, node).filter(|_| !plan.is_free(kind)) {
            durations[node] = ns;
        }
        if plan.is_free(kind) {
            late[2 * node + 1] = 0;
        }
    }
    graph.times(&mut times, &durations, &late, |to, edge| {
        let is_dropped = assumption.drops(graph.kinds[to.node().index()], edge.why);
        if is_dropped { None } else { plan.delay(to, edge) }
    });
    wall(times.into_iter())
}

/// How much later than all that it depended on each point was, in ns.
fn late(replay: &Replay<'_>, assumption: Assumption) -> Vec<i64> {
    let graph = replay.graph();
    let mut late = vec![0; graph.nodes.len() * 2];
    for id in graph.ids() {
        let (node, kind) = (graph.node(id), graph.kinds[id.index()]);
        let own_ns = assumption.recorded_ns(graph, id.index()).unwrap_or(graph.own_ns(id));
        let after = |edge: Edge| graph.recorded(edge.from).saturating_add(edge.delay_ns);
        for point in [Point::start(id), Point::end(id)] {
            let edges =
                graph.edges(point).filter(|edge| edge.from != point && !assumption.drops(kind, edge.why));
            let ended = point.is_end().then(|| node.time.0.saturating_add(own_ns));
            if let Some(ready) = edges.map(after).chain(ended).max() {
                late[2 * id.index() + usize::from(point.is_end())] =
                    graph.recorded(point).saturating_sub(ready).max(0);
            }
        }
    }
    late
}
