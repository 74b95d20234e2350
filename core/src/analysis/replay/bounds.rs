//! What changes save at least and at most, by replays under other assumptions than the usual one.
//!
//! The usual replay assumes that launches and gaps take their usual time, that an activity which started late right after one of
//! another stream waited for it, and that an idle thread waited for the one that was busy. What started later than that explains
//! is late for an unknown reason. The other replays keep those delays, and then leave out one of the guesses each. Without
//! changes, all of them take as long as recorded.

use super::changes::Changes;
use super::graph::{Dependency, Edge, Graph, NodeKind, Point};
use super::what_if::{Replay, wall};
use crate::analysis::device::idle::Cause;
use alloc::vec;
use alloc::vec::Vec;

/// An assumption of a replay that keeps unexplained delays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Assumption {
    /// All guesses are right.
    Guesses,
    /// Activities did not wait for other streams.
    NoStreams,
    /// Idle threads did not wait for other threads.
    NoThreads,
}

impl Assumption {
    const ALL: [Assumption; 3] = [Assumption::Guesses, Assumption::NoStreams, Assumption::NoThreads];

    /// Whether a dependency is left out.
    fn drops(self, kind: NodeKind, why: Dependency) -> bool {
        match self {
            Assumption::Guesses => false,
            Assumption::NoStreams => why == Dependency::OtherStream,
            Assumption::NoThreads => why == Dependency::Thread && kind == NodeKind::Idle,
        }
    }
}

/// Replays under every assumption.
pub(super) struct Bounds<'a> {
    replay: &'a Replay<'a>,
    /// By assumption: how much later each point was than all that it depended on, in ns.
    late: [Vec<i64>; Assumption::ALL.len()],
}

impl<'a> Bounds<'a> {
    pub(super) fn new(replay: &'a Replay<'a>) -> Bounds<'a> {
        Bounds { replay, late: Assumption::ALL.map(|assumption| late(replay, assumption)) }
    }

    /// Returns the least and the most that changes save of the recorded time, in ns.
    pub(super) fn saving_ns(&self, changes: &Changes) -> (i64, i64) {
        let usual = self.replay.saving_ns(changes);
        let savings = Assumption::ALL.into_iter().zip(&self.late).map(|(assumption, late)| {
            self.replay.recorded_ns().saturating_sub(self.wall_ns(assumption, late, changes))
        });
        savings.fold((usual, usual), |(low, high), saving| (low.min(saving), high.max(saving)))
    }

    fn wall_ns(&self, assumption: Assumption, late: &[i64], changes: &Changes) -> i64 {
        let (replay, graph) = (self.replay, &self.replay.graph);
        let fused = replay.fused(changes);
        let (mut durations, mut times, mut late) = (Vec::new(), Vec::new(), late.to_vec());
        replay.durations(&mut durations, changes);
        for fusion in &fused {
            durations[fusion.call.index()] = 0;
        }
        for (node, &kind) in graph.kinds.iter().enumerate() {
            let is_free = match kind {
                NodeKind::Call(cause) => changes.is_free(cause),
                NodeKind::Data => changes.is_free(Cause::DataLoading),
                _ => false,
            };
            if is_free {
                late[2 * node + 1] = 0;
            }
            if assumption == Assumption::NoThreads && waits_for_thread(graph, node) {
                durations[node] = graph.nodes[node].time.1 - graph.nodes[node].time.0;
            }
        }
        graph.times(&mut times, &durations, &late, |to, edge| {
            let is_dropped = assumption.drops(graph.kinds[to.node().index()], edge.why);
            if is_dropped { None } else { replay.delay(changes, &fused, to, edge) }
        });
        wall(times.into_iter())
    }
}

/// Whether a thread does nothing because it waits for another one.
fn waits_for_thread(graph: &Graph, node: usize) -> bool {
    graph.kinds[node] == NodeKind::Idle && graph.own_ns[node] == 0
}

/// How much later than all that it depended on each point was, in ns.
fn late(replay: &Replay<'_>, assumption: Assumption) -> Vec<i64> {
    let graph = &replay.graph;
    let mut late = vec![0; graph.nodes.len() * 2];
    for id in graph.ids() {
        let (node, kind) = (graph.node(id), graph.kinds[id.index()]);
        let own_ns = if assumption == Assumption::NoThreads && waits_for_thread(graph, id.index()) {
            node.time.1 - node.time.0
        } else {
            graph.own_ns(id)
        };
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
