//! The streams of devices as nodes: their activities in order of time.

use super::graph::{Kind, Node};
use crate::analysis::device::device_time::{Classes, activities};
use crate::table::tracks::TrackId;
use crate::trace::Trace;
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
}

/// Adds the activities of all devices to the nodes, stream by stream.
pub(super) fn streams(trace: &Trace, nodes: &mut Vec<Node>) -> Streams {
    let table = &trace.table;
    let mut streams = Streams { all: Vec::new(), follows: Vec::new() };
    let (mut classes, mut latest) = (Classes::new(trace), 0);
    for (device, (_, mut rows)) in activities(table).into_iter().enumerate() {
        // The sort is stable: the activities of a stream stay in order of time.
        rows.sort_by_key(|&row| table.track_id(row));
        for &row in &rows {
            let (track, at) = (table.track_id(row), nodes.len());
            let time = (table.ts(row), table.end(row));
            // Activities of a CUDA graph can overlap on one stream.
            let mut follows = false;
            if let Some(stream) = streams.all.last_mut().filter(|stream| stream.track == track) {
                let before = nodes[at - 1].time.1;
                follows = latest <= before && before <= time.0;
                latest = latest.max(time.1);
                stream.nodes.end = at + 1;
            } else {
                latest = time.1;
                streams.all.push(Stream { track, device, nodes: at..at + 1 });
            }
            let kind = Kind::Device(classes.of(row));
            nodes.push(Node { row: Some(row), kind, time });
            streams.follows.push(follows);
        }
    }
    streams
}
