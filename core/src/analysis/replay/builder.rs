//! The nodes of a graph, while its edges are added.

use super::device::{Stream, Streams};
use super::graph::{Dependency, Edge, GraphNode, NodeId, NodeKind, Point};
use crate::trace::Trace;
use alloc::vec::Vec;
use core::ops::Range;

/// The nodes of a graph, while its edges are added.
pub(super) struct Builder<'a> {
    pub(super) trace: &'a Trace,
    pub(super) nodes: &'a [GraphNode],
    /// The nodes of each thread of the host.
    pub(super) threads: &'a [Range<usize>],
    /// Whether each of them runs backward passes.
    pub(super) is_backward: Vec<bool>,
    /// The main thread of the host.
    pub(super) main: Option<usize>,
    /// Whether that begins with a backward pass.
    pub(super) begins_backward: bool,
    pub(super) streams: &'a Streams,
    /// The first node of the earliest thread, or without threads of the earliest stream.
    pub(super) begin: Option<NodeId>,
    /// The index of the first node of a device.
    pub(super) first: usize,
    /// The launch call of each node of a device.
    pub(super) launches: Vec<Option<NodeId>>,
}

impl Builder<'_> {
    pub(super) fn node(&self, id: NodeId) -> &GraphNode {
        &self.nodes[id.index()]
    }

    /// The call that launched the work of a node.
    pub(super) fn launch(&self, work: usize) -> Option<NodeId> {
        self.launches[work - self.first]
    }

    /// When a point was recorded.
    pub(super) fn recorded(&self, point: Point) -> i64 {
        let time = self.node(point.node()).time;
        if point.is_end() { time.1 } else { time.0 }
    }

    /// The time since the beginning, for a point that depends on nothing that was recorded.
    pub(super) fn since_begin(&self, to: Point) -> Option<Edge> {
        let from = Point::start(self.begin?);
        let delay_ns = self.recorded(to) - self.recorded(from);
        (from != to).then_some(Edge { from, delay_ns, why: Dependency::Unrecorded })
    }

    /// The class of the work of a node, as an index.
    pub(super) fn class(&self, work: usize) -> usize {
        match self.nodes[work].kind {
            NodeKind::Device(class) => class as usize,
            _ => 0,
        }
    }

    /// The activity that ended last before the start of another one, among those before it on its stream. Activities of
    /// a CUDA graph can overlap on one stream.
    pub(super) fn before(&self, stream: &Stream, work: usize) -> Option<usize> {
        const SEARCHED: usize = 8;
        let start = self.nodes[work].time.0;
        let before = (stream.nodes.start..work).rev().take(SEARCHED);
        before
            .filter(|&other| self.nodes[other].time.1 <= start)
            .max_by_key(|&other| self.nodes[other].time.1)
    }
}
