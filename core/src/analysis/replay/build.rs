//! Builds the graph of a trace.

use super::builder::Builder;
use super::device::streams;
use super::graph::{Edges, Graph, GraphNode, NodeId};
use super::host::{Threads, threads};
use super::typical::Typical;
use crate::analysis::context::Analysis;
use crate::analysis::device::idle::Host;
use crate::trace::Trace;
use crate::trace::table::tracks::TrackId;
use alloc::vec;
use alloc::vec::Vec;

impl Graph {
    /// Builds the graph of a trace.
    pub(crate) fn from_trace(analysis: &Analysis<'_>, host: &Host<'_>) -> Graph {
        let trace = analysis.trace;
        let Threads { mut nodes, places: threads, tracks, of_call } = threads(trace, host);
        let streams = streams(analysis, &mut nodes);
        if let Some(window) = trace.table.metadata.window {
            // Of what reaches beyond the window that was read, the part in it counts.
            let within = |ns: i64| ns.clamp(window.0, window.1);
            for node in &mut nodes {
                node.time = (within(node.time.0), within(node.time.1));
            }
        }
        let first = streams.all.first().map_or(nodes.len(), |stream| stream.nodes.start);
        let launch = |node: &GraphNode| node.row.and_then(|row| of_call[trace.links.launch(row)?.index()]);
        let launches = nodes[first..].iter().map(launch).collect();
        let main = tracks.iter().position(|&track| Some(track) == host.main());
        let (mut edges, mut durations) = (Edges::with_capacity(trace.links.launch_of.len() * 2), Vec::new());
        let start = |&at: &usize| nodes[at].time.0;
        let of_streams = || streams.all.iter().map(|stream| stream.nodes.start).min_by_key(start);
        let begin = threads.iter().map(|thread| thread.start).min_by_key(start).or_else(of_streams);
        let begin = begin.map(NodeId::new);
        let builder = Builder {
            trace,
            nodes: &nodes,
            threads: &threads,
            is_backward: tracks.iter().map(|&track| host.is_backward(track)).collect(),
            main,
            begins_backward: host.main().is_some_and(|main| begins_backward(trace, main)),
            streams: &streams,
            begin,
            first,
            launches,
        };
        let typical = Typical::new(&builder);
        builder.streams(&typical, &mut edges);
        builder.waits(&mut edges, &mut durations);
        builder.queues(&typical, &mut edges, &mut durations);
        builder.threads(&mut edges, &mut durations);
        let mut follows = vec![true; first];
        for thread in &threads {
            follows[thread.start] = false;
        }
        follows.extend(streams.follows);
        let places = threads.into_iter().chain(streams.all.into_iter().map(|stream| stream.nodes)).collect();
        Graph::new((nodes, follows), places, tracks, typical.gap, (&edges, &durations))
    }
}

/// Whether the first span of a thread is one of a backward pass.
fn begins_backward(trace: &Trace, thread: TrackId) -> bool {
    let lanes = trace.tree.lanes_of(thread).iter();
    let first = lanes.filter_map(|lane| Some(trace.tree.row(lane.positions().next()?)));
    let first = first.min_by_key(|&row| trace.table.ts(row));
    first.is_some_and(|row| trace.table.name(row).starts_with("autograd::engine::evaluate_function"))
}
