//! Builds the graph of a trace.

use super::device::{Stream, Streams, streams};
use super::graph::{Edges, Graph, Kind, Node, NodeId};
use super::host::{Threads, threads};
use super::typical::Typical;
use crate::analysis::device::idle::Host;
use crate::trace::Trace;
use alloc::vec::Vec;
use core::ops::Range;

/// The nodes of a graph, while its edges are added.
pub(super) struct Builder<'a> {
    pub(super) trace: &'a Trace,
    pub(super) nodes: &'a [Node],
    /// The nodes of each thread of the host.
    pub(super) threads: &'a [Range<usize>],
    /// The main thread of the host.
    pub(super) main: Option<usize>,
    pub(super) streams: &'a Streams,
    /// The index of the first node of a device.
    first: usize,
    /// The launch call of each node of a device.
    launches: Vec<Option<NodeId>>,
}

impl Graph {
    /// Builds the graph of a trace.
    pub(crate) fn of(trace: &Trace, host: &Host<'_>) -> Graph {
        let Threads { mut nodes, places: threads, tracks, of_call } = threads(trace, host);
        let streams = streams(trace, &mut nodes);
        let first = streams.all.first().map_or(nodes.len(), |stream| stream.nodes.start);
        let launch = |node: &Node| node.row.and_then(|row| of_call[trace.links.launch(row)?.index()]);
        let launches = nodes[first..].iter().map(launch).collect();
        let main = tracks.iter().position(|&track| Some(track) == host.main());
        let (mut edges, mut own) = (Edges::with_capacity(trace.links.launch_of.len() * 2), Vec::new());
        let builder =
            Builder { trace, nodes: &nodes, threads: &threads, main, streams: &streams, first, launches };
        let typical = Typical::of(&builder);
        builder.streams(&typical, &mut edges);
        builder.waits(&mut edges, &mut own);
        builder.queues(&typical, &mut edges, &mut own);
        builder.threads(&mut edges, &mut own);
        let places = threads.into_iter().chain(streams.all.into_iter().map(|stream| stream.nodes)).collect();
        for (node, ns) in own {
            nodes[node.index()].own_ns = ns;
        }
        Graph::new(nodes, places, tracks, typical.gap, &edges)
    }
}

impl Builder<'_> {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The call that launched the work of a node.
    pub(super) fn launch(&self, work: usize) -> Option<NodeId> {
        self.launches[work - self.first]
    }

    /// The class of the work of a node, as an index.
    pub(super) fn class(&self, work: usize) -> usize {
        match self.nodes[work].kind {
            Kind::Device(class) => class as usize,
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
