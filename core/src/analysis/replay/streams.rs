//! What the activities of devices depend on.

use super::build::Builder;
use super::device::Stream;
use super::graph::{Edge, Edges, NodeId, Point, Why};
use super::typical::{Delays, Typical};
use crate::order::sort_by_key;
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
        let ended = self.by_end();
        for stream in &self.streams.all {
            for work in stream.nodes.clone() {
                let to = Point::start(NodeId::new(work));
                let mut ready = i64::MIN;
                let mut add = |from: Point, at: i64, delay_ns: i64, why: Why| {
                    ready = ready.max(at + delay_ns);
                    edges.push((to, Edge { from, delay_ns, why }));
                };
                if let Some(call) = self.launch(work) {
                    let latency = typical.launch[self.class(work)];
                    add(Point::start(call), self.node(call).time.0, latency, Why::Launch);
                }
                if let Some(before) = self.before(stream, work) {
                    let end = Point::end(NodeId::new(before));
                    add(end, self.nodes[before].time.1, typical.gap, Why::Stream);
                }
                if let Some(other) = self.awaited(&ended, stream, work, ready) {
                    let from = Point::end(NodeId::new(other));
                    edges.push((to, Edge { from, delay_ns: typical.gap, why: Why::OtherStream }));
                }
            }
        }
    }

    /// The activities of each device by their end, with the indices of their streams.
    fn by_end(&self) -> Vec<Vec<(i64, usize, usize)>> {
        let devices = self.streams.all.last().map_or(0, |stream| stream.device + 1);
        let mut ended: Vec<Vec<(i64, usize, usize)>> = (0..devices).map(|_| Vec::new()).collect();
        for (index, stream) in self.streams.all.iter().enumerate() {
            let ends = stream.nodes.clone().map(|work| (self.nodes[work].time.1, work, index));
            ended[stream.device].extend(ends);
        }
        for ended in &mut ended {
            sort_by_key(ended, |&(end, work, _)| (end, work as i64));
        }
        ended
    }

    /// The activity of another stream that explains why one started late.
    fn awaited(
        &self,
        ended: &[Vec<(i64, usize, usize)>],
        stream: &Stream,
        work: usize,
        ready: i64,
    ) -> Option<usize> {
        const SEARCHED: usize = 8;
        let start = self.nodes[work].time.0;
        if ready == i64::MIN || start < ready + LATE_NS {
            return None;
        }
        let ended = &ended[stream.device];
        let before = ended.partition_point(|&(end, ..)| end <= start);
        let last = ended[..before].iter().rev().take(SEARCHED);
        let mut recent = last.take_while(|&&(end, ..)| end > ready.max(start - AFTER_NS));
        recent.find(|&&(_, other, _)| !stream.nodes.contains(&other)).map(|&(_, other, _)| other)
    }

    /// Adds the launch calls that waited because the queue of their stream was full.
    pub(super) fn queues(&self, typical: &Typical, edges: &mut Edges, own: &mut Vec<(NodeId, i64)>) {
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
                    let edge = Edge { from, delay_ns: typical.gap, why: Why::QueueFull };
                    edges.push((Point::end(call), edge));
                    own.push((call, usual.min(time.1 - time.0)));
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
