//! What the threads of the host depend on.

use super::builder::Builder;
use super::graph::{Dependency, Edge, Edges, NodeId, NodeKind, Point};
use super::typical::Delays;
use super::waits::Waits;
use alloc::vec::Vec;
use core::ops::Range;

/// A wait for data that takes at most one in this many parts of the time since the last one did not wait: the data was there.
const SHORT_WAIT: i64 = 20;

impl Builder<'_> {
    /// Adds the activities that calls wait for.
    pub(super) fn waits(&self, edges: &mut Edges, durations: &mut Vec<(NodeId, i64)>) {
        let waits = Waits::new(self.trace, self.nodes, self.streams);
        // Each call with what it waits for, and when that ended.
        let mut found: Vec<(NodeId, NodeId)> = Vec::new();
        let (mut after, mut free) = (Delays::default(), Delays::default());
        let mut ends: Vec<(NodeId, i64)> = Vec::new();
        for thread in self.threads {
            for call in thread.clone().filter(|&at| matches!(self.nodes[at].kind, NodeKind::Call(_))) {
                let node = &self.nodes[call];
                let mut ended = None;
                waits.for_each(node, &mut |awaited| {
                    ended = ended.max(Some(self.node(awaited).time.1));
                    found.push((NodeId::new(call), awaited));
                    // If communication overlaps, the last of each kind is awaited.
                    let other = self.streams.other_kind[awaited.index() - self.first];
                    let other = other.filter(|&other| self.node(other).time.1 <= self.node(awaited).time.1);
                    found.extend(other.map(|other| (NodeId::new(call), other)));
                });
                let Some(end) = ended else { continue };
                ends.push((NodeId::new(call), end));
                if end > node.time.0 {
                    after.push((node.time.1 - end).max(0));
                } else {
                    free.push(node.time.1 - node.time.0);
                }
            }
        }
        let (delay, usual) = (after.median(5_000), free.median(5_000));
        // A call that ended sooner than usual shows that it can; that of a copy from pageable memory ends before the copy.
        let delay_ns = |call: NodeId, end: i64| delay.min(self.node(call).time.1 - end);
        let edge = |call, from: NodeId| {
            let delay_ns = delay_ns(call, self.node(from).time.1);
            Edge { from: Point::end(from), delay_ns, why: Dependency::Synchronization }
        };
        edges.extend(found.into_iter().map(|(call, awaited)| (Point::end(call), edge(call, awaited))));
        for (call, end) in ends {
            let time = self.node(call).time;
            let least = usual.min(time.1 - time.0);
            // Without the wait, the call would have ended earlier.
            if end.saturating_add(delay_ns(call, end)) > time.0 + least {
                durations.push((call, least));
            }
        }
    }

    /// Adds the order of the program, waits for other threads, and waits for data.
    pub(super) fn threads(&self, edges: &mut Edges, durations: &mut Vec<(NodeId, i64)>) {
        for (thread, nodes) in self.threads.iter().enumerate() {
            let mut data: Option<NodeId> = None;
            for at in nodes.clone() {
                let id = NodeId::new(at);
                if at == nodes.start {
                    let main = self.main.filter(|&main| main != thread);
                    let starter = main.or_else(|| self.starter(thread));
                    let begun = starter.and_then(|starter| self.reached(&self.threads[starter], at));
                    let begun = begun.or_else(|| self.since_begin(Point::start(id)));
                    edges.extend(begun.map(|edge| (Point::start(id), edge)));
                }
                match self.nodes[at].kind {
                    NodeKind::Idle => {
                        let edge = self.other_thread(thread, at);
                        durations.extend(edge.map(|_| (id, 0)));
                        edges.extend(edge.map(|edge| (Point::end(id), edge)));
                    }
                    NodeKind::Data => {
                        let time = self.node(id).time;
                        let delay_ns = data.map_or(0, |last| time.1 - self.node(last).time.1);
                        if let Some(last) = data.filter(|_| time.1 - time.0 > delay_ns / SHORT_WAIT) {
                            let edge = Edge { from: Point::end(last), delay_ns, why: Dependency::Data };
                            edges.push((Point::end(id), edge));
                            durations.push((id, 0));
                        }
                        data = Some(id);
                    }
                    _ => {}
                }
            }
        }
    }

    /// The thread that starts the main thread, if that begins with a backward pass: the busiest of those that began earlier.
    fn starter(&self, thread: usize) -> Option<usize> {
        let begin = |thread: usize| self.nodes[self.threads[thread].start].time.0;
        let others = (0..self.threads.len()).filter(|&other| begin(other) < begin(thread));
        others.max_by_key(|&other| self.threads[other].len()).filter(|_| self.begins_backward)
    }

    /// What an idle thread waited for: the last point of a thread that was busy for most of the time, or of the main thread.
    fn other_thread(&self, thread: usize, idle: usize) -> Option<Edge> {
        let time = self.nodes[idle].time;
        let others = self.threads.iter().enumerate().filter(|&(other, _)| other != thread);
        // A backward pass begins when the main thread calls it, whatever that did before.
        let is_awaited = |other: usize| self.is_backward[thread] && self.main == Some(other);
        let busy = others
            .filter(|(other, nodes)| is_awaited(*other) || 2 * self.busy_ns(nodes, time) > time.1 - time.0);
        let reached = busy.filter_map(|(other, nodes)| {
            let edge = self.reached_by(nodes, time.1)?;
            let is_backward = self.is_backward[thread] || self.is_backward[other];
            Some(if is_backward { Edge { why: Dependency::Backward, ..edge } } else { edge })
        });
        let edge = reached.min_by_key(|edge| edge.delay_ns)?;
        (edge.delay_ns < time.1 - time.0).then_some(edge)
    }

    /// The last point that a thread had reached when a node began.
    fn reached(&self, nodes: &Range<usize>, at: usize) -> Option<Edge> {
        self.reached_by(nodes, self.nodes[at].time.0)
    }

    fn reached_by(&self, nodes: &Range<usize>, instant: i64) -> Option<Edge> {
        let begun = self.nodes[nodes.clone()].partition_point(|node| node.time.0 <= instant);
        let at = NodeId::new(nodes.start + begun.checked_sub(1)?);
        let node = self.node(at);
        // The end of an idle period can depend on the thread that waits here.
        let is_over = node.time.1 <= instant && node.kind != NodeKind::Idle;
        let (from, time) =
            if is_over { (Point::end(at), node.time.1) } else { (Point::start(at), node.time.0) };
        Some(Edge { from, delay_ns: instant - time, why: Dependency::Thread })
    }

    /// For how much of a period a thread is not idle.
    fn busy_ns(&self, nodes: &Range<usize>, period: (i64, i64)) -> i64 {
        let all = &self.nodes[nodes.clone()];
        let first = all.partition_point(|node| node.time.1 <= period.0);
        let within = all[first..].iter().take_while(|node| node.time.0 < period.1);
        let busy = within.filter(|node| node.kind != NodeKind::Idle);
        busy.map(|node| node.time.1.min(period.1) - node.time.0.max(period.0)).sum()
    }
}
