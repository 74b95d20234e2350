//! The streams of devices as nodes: their activities in order of time.

use super::graph::{GraphNode, NodeId, NodeKind};
use crate::analysis::context::Analysis;
use crate::analysis::device::classes::Class;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use crate::trace::table::tracks::TrackId;
use alloc::vec::Vec;
use core::ops::Range;

/// A stream: its nodes, and the index of its device.
pub(super) struct Stream {
    pub(super) track: TrackId,
    pub(super) device: usize,
    pub(super) nodes: Range<usize>,
}

/// The streams of all devices.
pub(super) struct Streams {
    pub(super) all: Vec<Stream>,
    /// Whether each of their nodes starts after the end of the node before it on the same stream.
    pub(super) follows: Vec<bool>,
    /// Of each of their nodes, the last one before it on its stream that communicates if the node does not, or the other
    /// way round.
    pub(super) other_kind: Vec<Option<NodeId>>,
}

/// Adds the activities of all devices to the nodes, stream by stream.
pub(super) fn streams(analysis: &Analysis<'_>, nodes: &mut Vec<GraphNode>) -> Streams {
    let table = &analysis.trace.table;
    let mut streams = Streams { all: Vec::new(), follows: Vec::new(), other_kind: Vec::new() };
    let (classes, mut latest) = (analysis.classes(), 0);
    // The last work of the stream that does not communicate, and the last that does.
    let mut last: [Option<NodeId>; 2] = [None; 2];
    let devices = analysis.activities();
    nodes.reserve_exact(devices.iter().map(|(_, rows)| rows.len()).sum());
    for (device, (_, rows)) in devices.iter().enumerate() {
        let mut rows = rows.clone();
        // The sort is stable: the activities of a stream stay in order of time.
        rows.sort_by_key(|&row| table.track_id(row));
        for &row in &rows {
            let (track, at) = (table.track_id(row), nodes.len());
            let mut time = (table.ts(row), table.end(row));
            // Activities of a CUDA graph can overlap on one stream.
            let mut follows = false;
            if let Some(stream) = streams.all.last_mut().filter(|stream| stream.track == track) {
                let before = nodes[at - 1].time.1;
                if is_dependent_launch(analysis.trace, (nodes[at - 1].row, row), latest) {
                    time.0 = latest;
                }
                follows = latest <= before && before <= time.0;
                latest = latest.max(time.1);
                stream.nodes.end = at + 1;
            } else {
                (latest, last) = (time.1, [None; 2]);
                streams.all.push(Stream { track, device, nodes: at..at + 1 });
            }
            let class = classes.class(row);
            let communicates = usize::from(class == Class::Communication);
            streams.other_kind.push(last[1 - communicates]);
            last[communicates] = Some(NodeId::new(at));
            let kind = NodeKind::Device(class);
            nodes.push(GraphNode { row: Some(row), kind, time });
            streams.follows.push(follows);
        }
    }
    streams
}

/// Whether a kernel began before the end of the one before it although they were launched apart (programmatic dependent
/// launch): it can only prepare itself until `latest`, when that one has ended.
fn is_dependent_launch(trace: &Trace, (before, row): (Option<Row>, Row), latest: i64) -> bool {
    let table = &trace.table;
    if table.ts(row) >= latest || table.end(row) < latest {
        return false;
    }
    let launches = before.and_then(|before| trace.links.launch(before)).zip(trace.links.launch(row));
    launches.is_some_and(|(first, second)| first != second)
}
