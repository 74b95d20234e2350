//! What the calls that wait for devices wait for.
//!
//! Traces with records of synchronizations (`cuda_sync`) name the stream. In others, a wait ended because of the
//! activity that ended last before it, among those that were launched before the call.

use super::device::{Stream, Streams};
use super::graph::{GraphNode, NodeId};
use crate::analysis::device::names::{is_free_name, is_sync_name};
use crate::base::index::Index;
use crate::base::names::NameSet;
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::layout::Key;
use alloc::vec;
use alloc::vec::Vec;

/// The clocks of host and device differ by up to this, in ns.
pub(super) const TOLERANCE_NS: i64 = 2_000;

/// Finds what calls wait for.
pub(super) struct Waits<'a> {
    trace: &'a Trace,
    nodes: &'a [GraphNode],
    streams: &'a [Stream],
    /// The start of the launch of each activity, by its offset in the nodes of devices; it never decreases in a stream.
    launched: Vec<i64>,
    first: usize,
    /// The synchronizations that were recorded: correlation id and start, with the stream. Sorted.
    recorded: Vec<((i64, i64), u32)>,
    /// The copies that each call launched, by the row of the call.
    copies: Index,
    /// The names of the calls that wait.
    waiting: NameSet,
    /// Those of the calls that free memory of a device: they wait until it is idle.
    freeing: NameSet,
}

impl<'a> Waits<'a> {
    pub(super) fn new(trace: &'a Trace, nodes: &'a [GraphNode], streams: &'a Streams) -> Waits<'a> {
        let table = &trace.table;
        let first = streams.all.first().map_or(nodes.len(), |stream| stream.nodes.start);
        let mut launched = vec![0; nodes.len() - first];
        let mut copies = Index::default();
        for stream in &streams.all {
            let mut latest = i64::MIN;
            for at in stream.nodes.clone() {
                let Some(row) = nodes[at].row else { continue };
                let call = trace.links.launch(row);
                // Work whose launch was not recorded was launched before what follows it.
                latest = call.map_or(latest, |call| latest.max(table.ts(call)));
                launched[at - first] = latest;
                if let Some(call) = call.filter(|_| table.category(row) == Category::Memcpy) {
                    copies.set((i64::from(call), 0), at as u32);
                }
            }
        }
        let mut recorded = Vec::new();
        for row in table.rows_of(Category::Sync) {
            let stream = streams.all.iter().position(|stream| stream.track == table.track_id(row));
            if let Some((id, stream)) = table.int(row, Key::Correlation).zip(stream) {
                recorded.push(((id, table.ts(row)), stream as u32));
            }
        }
        sort_by_key(&mut recorded, |&(key, _)| key);
        let waiting = table.names.that(is_sync_name);
        let freeing = table.names.that(|name| is_free_name(name) && !name.contains("Async"));
        Waits { trace, nodes, streams: &streams.all, launched, first, recorded, copies, waiting, freeing }
    }

    /// Calls `each` with the activities that a call waits for.
    pub(super) fn for_each(&self, call: &GraphNode, each: &mut dyn FnMut(NodeId)) {
        let Some(row) = call.row else { return };
        let table = &self.trace.table;
        if let Some(copy) = self.copies.get((i64::from(row), 0)) {
            let time = self.nodes[copy as usize].time;
            // The last part of a copy from pageable memory can still run when the call ends.
            let shared = call.time.1.min(time.1) - call.time.0.max(time.0);
            if time.1 <= call.time.1 + TOLERANCE_NS || shared / 4 > (time.1 - time.0) / 5 {
                each(NodeId::new(copy as usize));
            }
            return;
        }
        if self.freeing.has(table.name_id(row)) {
            // It also works: a wait is known where it took most of the time.
            let awaited = self.likely(call).and_then(|stream| self.awaited(stream, call));
            let waited = |at: &NodeId| self.nodes[at.index()].time.1 - call.time.0;
            awaited.filter(|at| waited(at) > (call.time.1 - call.time.0) / 4 * 3).into_iter().for_each(each);
            return;
        }
        if !self.waiting.has(table.name_id(row)) {
            return;
        }
        let name = table.name(row);
        if name.contains("DeviceSynchronize") || name.contains("CtxSynchronize") {
            let Some(device) = self.likely(call).map(|stream| stream.device) else { return };
            let streams = self.streams.iter().filter(|stream| stream.device == device);
            streams.filter_map(|stream| self.awaited(stream, call)).for_each(each);
        } else {
            let id = table.int(row, Key::Correlation).filter(|&id| id != 0);
            let known = id.and_then(|id| self.recorded_stream(id, call.time.0));
            let stream = known.map(|at| &self.streams[at]).or_else(|| self.likely(call));
            stream.and_then(|stream| self.awaited(stream, call)).into_iter().for_each(each);
        }
    }

    /// The stream of the recorded synchronization of a call: the first with its id that begins in or after the call.
    fn recorded_stream(&self, id: i64, start: i64) -> Option<usize> {
        let after = self.recorded.partition_point(|&(key, _)| key < (id, start));
        let of_id = |at: usize| self.recorded.get(at).filter(|((known, _), _)| *known == id);
        let found = of_id(after).or_else(|| of_id(after.checked_sub(1)?));
        found.map(|&(_, stream)| stream as usize)
    }

    /// The last activity of a stream that was launched before the call and ended before its end.
    fn awaited(&self, stream: &Stream, call: &GraphNode) -> Option<NodeId> {
        let at = |index: usize| stream.nodes.start - self.first + index;
        let launched = &self.launched[at(0)..at(stream.nodes.len())];
        let before = launched.partition_point(|&launch| launch <= call.time.0);
        let nodes = &self.nodes[stream.nodes.clone()][..before];
        let ended = nodes.partition_point(|node| node.time.1 <= call.time.1 + TOLERANCE_NS);
        Some(NodeId::new(stream.nodes.start + ended.checked_sub(1)?))
    }

    /// The stream whose awaited activity ended last.
    fn likely(&self, call: &GraphNode) -> Option<&'a Stream> {
        let end = |stream: &&Stream| self.awaited(stream, call).map(|node| self.nodes[node.index()].time.1);
        self.streams.iter().filter(|stream| end(stream).is_some()).max_by_key(end)
    }
}
