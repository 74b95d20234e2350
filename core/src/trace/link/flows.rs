//! Links that flows state: operators to device work without correlation ids, and forward to backward operators.

use super::{FORWARD_BACKWARD, Links, TO_WORK};
use crate::base::join::Join;
use crate::base::maxima::Maxima;
use crate::base::order::sort_by_key;
use crate::trace::pair::Pairs;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::tree::{Position, Tree};
use alloc::vec::Vec;
use core::ops::Range;

/// The operators of every track, indexed by start time.
pub(super) struct OpIndex<'a> {
    table: &'a Table,
    tree: &'a Tree,
    /// Track, start, position in the tree.
    starts: Vec<(u32, i64, Position)>,
}

impl<'a> OpIndex<'a> {
    pub(super) fn new(table: &'a Table, tree: &'a Tree) -> Self {
        let mut starts: Vec<(u32, i64, Position)> = Vec::new();
        for lane in tree.lanes() {
            let ops = lane.positions().map(|at| (tree.row(at), at));
            let ops = ops.filter(|&(row, _)| table.category(row) == Category::CpuOp);
            starts.extend(ops.map(|(row, at)| (lane.track.0, table.ts(row), at)));
        }
        sort_by_key(&mut starts, |&(track, ts, _)| (i64::from(track), ts));
        OpIndex { table, tree, starts }
    }

    fn last_before(&self, event: Row) -> Option<Position> {
        let key = (self.table.track_id(event).0, self.table.ts(event));
        let end = self.starts.partition_point(|&(track, ts, _)| (track, ts) <= key);
        self.starts[..end].last().filter(|s| s.0 == key.0).map(|s| s.2)
    }

    /// The innermost operator that starts at the time of an event, on its track.
    fn starting_at(&self, event: Row) -> Option<Row> {
        let row = self.tree.row(self.last_before(event)?);
        (self.table.ts(row) == self.table.ts(event)).then_some(row)
    }

    fn ends(&self) -> Maxima {
        Maxima::new(self.starts.iter().map(|&(_, _, at)| self.table.end(self.tree.row(at))))
    }

    /// The innermost operator that contains the time of an event, on its track. `ends` are those of the operators.
    fn containing(&self, ends: &Maxima, event: Row) -> Option<Row> {
        let (track, instant) = (self.table.track_id(event).0, self.table.ts(event));
        let before = self.starts.partition_point(|&(other, ts, _)| (other, ts) <= (track, instant));
        let (other, _, at) = self.starts[ends.last_before(before, instant)?];
        (other == track).then_some(self.tree.row(at))
    }
}

/// Links work to the operator at the start of its flow.
pub(super) fn link_by_flows(ops: &OpIndex<'_>, pairs: &Pairs, links: &mut Links) {
    let table = ops.table;
    let mut flows: Vec<((u32, i64), Row)> = Vec::new();
    for &(start, end) in pairs.flows.iter().filter(|p| TO_WORK.contains(&table.cat(p.0))) {
        // The flow ends on the host track; the work is on the device track with the same `pid` and `tid`.
        let track = table.tracks.find_on_device(table.track_id(end));
        flows.extend(track.map(|track| ((track.0, table.ts(end)), start)));
    }
    sort_by_key(&mut flows, |&((track, ts), _)| (i64::from(track), ts));
    let ends = ops.ends();
    let op_of = |row: Row| {
        let key = (table.track_id(row).0, table.ts(row));
        let found = flows.binary_search_by_key(&key, |flow| flow.0).ok()?;
        Some((row, ops.containing(&ends, flows[found].1)?))
    };
    let work = table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row));
    let found: Vec<(Row, Row)> = work.filter(|&row| links.op(row).is_none()).filter_map(op_of).collect();
    links.op_of.extend(found);
    sort_by_key(&mut links.op_of, |&(row, _)| (i64::from(row), 0));
}

pub(super) fn link_backward(ops: &OpIndex<'_>, pairs: &Pairs, links: &mut Links, join: Join) {
    let table = ops.table;
    let of_part = |part: Range<usize>| -> Vec<(Row, Row)> {
        let flows = pairs.flows[part].iter();
        let flows = flows.filter(|&&(start, _)| FORWARD_BACKWARD.contains(&table.cat(start)));
        flows.filter_map(|&(s, f)| Some((ops.starting_at(f)?, ops.starting_at(s)?))).collect()
    };
    links.forward_of = join.parts(pairs.flows.len(), of_part).concat();
    if links.forward_of.is_empty() {
        links.forward_of = by_sequence_number(ops);
    }
    sort_by_key(&mut links.forward_of, |&(row, forward)| (i64::from(row), i64::from(forward)));
    links.forward_of.dedup_by_key(|pair| pair.0);
}

/// Links backward operators to forward operators by sequence number, if one thread ran all forward operators.
fn by_sequence_number(ops: &OpIndex<'_>) -> Vec<(Row, Row)> {
    let table = ops.table;
    let mut forward: Vec<(i64, Row)> = Vec::new();
    let mut backward: Vec<(i64, Row)> = Vec::new();
    for &(_, _, at) in &ops.starts {
        let row = ops.tree.row(at);
        let Some(sequence) = table.int(row, Key::SequenceNumber).filter(|&n| n >= 0) else { continue };
        let from_forward = table.int(row, Key::FwdThreadId).is_none_or(|thread| thread == 0);
        if from_forward { &mut forward } else { &mut backward }.push((sequence, row));
    }
    let threads = forward.iter().map(|&(_, row)| table.track_id(row));
    if threads.clone().min() != threads.max() {
        return Vec::new();
    }
    sort_by_key(&mut forward, |&(sequence, row)| (sequence, table.ts(row)));
    let last = |sequence: i64| {
        let end = forward.partition_point(|f| f.0 <= sequence);
        forward[..end].last().filter(|f| f.0 == sequence).map(|f| f.1)
    };
    backward.iter().filter_map(|&(sequence, row)| Some((row, last(sequence)?))).collect()
}
