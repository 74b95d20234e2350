//! What the activities of devices depend on.

use super::builder::Builder;
use super::device::Stream;
use super::graph::{Dependency, Edge, Edges, NodeId, Point};
use super::typical::{Delays, Typical};
use crate::analysis::device::idle::WAIT_NS;
use alloc::vec::Vec;

/// An activity that starts later than this, in ns, after all that it is known to depend on, waited for another stream.
const LATE_NS: i64 = 5_000;

/// An activity starts at most this long, in ns, after the end of the one of another stream that it waited for.
const AFTER_NS: i64 = 20_000;

/// The launch queue of a stream holds 1024 launches; it counts as full from this depth on.
const NEARLY_FULL: usize = 1000;

impl Builder<'_> {
    /// Adds what activities depend on: the launch, the stream, other streams.
    pub(super) fn streams(&self, typical: &Typical, edges: &mut Edges) {
        for stream in &self.streams.all {
            for work in stream.nodes.clone() {
                let to = Point::start(NodeId::new(work));
                if let Some(same) = self.same_kind(work) {
                    let from = Point::end(same);
                    edges.push((to, Edge { from, delay_ns: typical.gap, why: Dependency::Stream }));
                }
                let (before, start) = (self.before(stream, work), self.nodes[work].time.0);
                let mut ready = i64::MIN;
                let launch = self.launch(work).map(|call| self.launched(call, work, typical));
                if let Some(edge) = launch {
                    ready = self.recorded(edge.from).saturating_add(edge.delay_ns);
                }
                if let Some(before) = before {
                    let ended = self.nodes[before].time.1;
                    ready = ready.max(ended.saturating_add(typical.gap));
                    let from = Point::end(NodeId::new(before));
                    if launch.is_none() && start > ended.saturating_add(typical.gap) {
                        let edge = Edge { from, delay_ns: start - ended, why: Dependency::Unrecorded };
                        edges.push((to, edge));
                    } else if !self.streams.follows[work - self.first] {
                        let delay_ns = typical.gap.min(start - ended);
                        edges.push((to, Edge { from, delay_ns, why: Dependency::Stream }));
                    }
                }
                let awaited = self.awaited(stream, work, ready);
                if let Some(other) = awaited {
                    let from = Point::end(NodeId::new(other));
                    let delay_ns = typical.gap.min(start - self.nodes[other].time.1);
                    edges.push((to, Edge { from, delay_ns, why: Dependency::OtherStream }));
                }
                let is_first = before.is_none() && awaited.is_none();
                match launch {
                    Some(edge) if is_first && start - self.recorded(edge.from) >= WAIT_NS => {
                        let delay_ns = start - self.recorded(edge.from);
                        edges.push((to, Edge { delay_ns, why: Dependency::Unrecorded, ..edge }));
                    }
                    Some(edge) => edges.push((to, edge)),
                    None if is_first => edges.extend(self.since_begin(to).map(|edge| (to, edge))),
                    None => {}
                }
            }
        }
    }

    /// The dependency on a launch call. An activity that started earlier than usual shows that it can.
    fn launched(&self, call: NodeId, work: usize, typical: &Typical) -> Edge {
        let recorded = self.nodes[work].time.0 - self.node(call).time.0;
        let delay_ns = typical.launch[self.class(work)].min(recorded);
        Edge { from: Point::start(call), delay_ns, why: Dependency::Launch }
    }

    /// If the activity before one communicates and this one does not, or the other way round: the last one of its own
    /// kind before it. It is what remains to be waited for if communication overlaps.
    fn same_kind(&self, work: usize) -> Option<NodeId> {
        let before = self.streams.other_kind[work - self.first].filter(|other| other.index() + 1 == work)?;
        let same = self.streams.other_kind[before.index() - self.first]?;
        (self.node(same).time.1 <= self.nodes[work].time.0).then_some(same)
    }

    /// The activity of another stream of the device that explains why one started late: the one that ended last before it.
    fn awaited(&self, stream: &Stream, work: usize, ready: i64) -> Option<usize> {
        let start = self.nodes[work].time.0;
        if ready == i64::MIN || start < ready.saturating_add(LATE_NS) {
            return None;
        }
        let others = self.streams.all.iter();
        let others = others.filter(|other| other.device == stream.device && other.track != stream.track);
        let last = |other: &Stream| {
            let ended = self.nodes[other.nodes.clone()].partition_point(|node| node.time.1 <= start);
            Some(other.nodes.start + ended.checked_sub(1)?)
        };
        let latest = others.filter_map(last).max_by_key(|&other| self.nodes[other].time.1)?;
        (self.nodes[latest].time.1 > ready.max(start - AFTER_NS)).then_some(latest)
    }

    /// Adds the launch calls that waited because the queue of their stream was full.
    pub(super) fn queues(&self, typical: &Typical, edges: &mut Edges, durations: &mut Vec<(NodeId, i64)>) {
        let usual = self.usual_launch();
        for stream in self.streams.all.iter().filter(|stream| stream.nodes.len() > NEARLY_FULL) {
            let nodes = &self.nodes[stream.nodes.clone()];
            for (index, work) in stream.nodes.clone().enumerate() {
                let Some(call) = self.launch(work) else { continue };
                let time = self.node(call).time;
                let started = nodes.partition_point(|node| node.time.0 <= time.0);
                if index < started + NEARLY_FULL {
                    continue;
                }
                let freed = nodes.partition_point(|node| node.time.0 <= time.1);
                if freed > started {
                    let from = Point::start(NodeId::new(stream.nodes.start + freed - 1));
                    let edge = Edge { from, delay_ns: typical.gap, why: Dependency::QueueFull };
                    edges.push((Point::end(call), edge));
                    durations.push((call, usual.min(time.1 - time.0)));
                }
            }
        }
    }

    /// The usual duration of a launch call, in ns.
    fn usual_launch(&self) -> i64 {
        let mut durations = Delays::default();
        for call in self.streams.all.iter().flat_map(|s| s.nodes.clone()).filter_map(|work| self.launch(work))
        {
            let time = self.node(call).time;
            durations.push(time.1 - time.0);
        }
        durations.median(0)
    }
}
