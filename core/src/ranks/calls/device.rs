//! Collectives on a device: kernels of NCCL, RCCL and the like.

use super::Call;
use super::groups::{Group, Groups};
use super::record::{Fields, tensors};
use crate::analysis::device::device_time::{Class, Classes};
use crate::ranks::operation::Operation;
use crate::table::events::{Row, Table};
use crate::table::tracks::plain;
use crate::trace::Trace;
use alloc::format;
use alloc::vec::Vec;

/// Returns a call for each communication kernel.
pub(super) fn calls(trace: &Trace, fields: &Fields, groups: &mut Groups) -> Vec<Call> {
    let table = &trace.table;
    let mut classes = Classes::new(trace);
    let work = table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row));
    let rows: Vec<Row> = work.filter(|&row| classes.of(row) == Class::Communication).collect();
    rows.into_iter().map(|row| call(trace, fields, groups, row)).collect()
}

fn call(trace: &Trace, fields: &Fields, groups: &mut Groups, row: Row) -> Call {
    let table = &trace.table;
    let mut call = Call { time: (table.ts(row), table.end(row)), on_device: true, ..Call::default() };
    let around = around(trace, row);
    let arguments = core::iter::once(row).chain(around.iter().copied());
    let described: Vec<Row> = arguments.filter(|&row| fields.has(table, row)).collect();
    let is_grouped = call_group(&described, fields, table, groups, &mut call);
    if !is_grouped {
        let stream = plain(&table.names, table.track(row).tid);
        let name = if stream.starts_with("stream") { stream.into() } else { format!("stream {stream}") };
        call.group = groups.index(Group { name, ..Group::default() });
    }
    let span = around.iter().copied().find(|&row| table.name(row).starts_with("nccl:"));
    let named = span.map_or(row, |span| span);
    if call.operation.is_none_or(|operation| operation == Operation::Other) {
        call.operation = Some(Operation::of(table.name(named)));
    }
    if call.bytes.is_none() {
        call.bytes = span.map(|span| tensors(table, span).bytes).filter(|&bytes| bytes > 0);
    }
    call
}

/// Reads the arguments of the kernel, then those of the call around its launch, which has more of them. Returns whether
/// they name the group.
fn call_group(
    described: &[Row],
    fields: &Fields,
    table: &Table,
    groups: &mut Groups,
    call: &mut Call,
) -> bool {
    let before = call.group;
    call.group = u32::MAX;
    for &row in described {
        let known = call.clone();
        let mut read = Call { group: u32::MAX, ..Call::default() };
        fields.read(table, row, groups, &mut read);
        call.group = if known.group == u32::MAX { read.group } else { known.group };
        call.operation = known.operation.or(read.operation);
        call.seq = known.seq.or(read.seq);
        call.comms_id = known.comms_id.or(read.comms_id);
        call.peer = known.peer.or(read.peer);
        call.bytes = known.bytes.or(read.bytes);
    }
    let is_grouped = call.group != u32::MAX;
    if !is_grouped {
        call.group = before;
    }
    is_grouped
}

/// The spans around the launch of a kernel, innermost first.
fn around(trace: &Trace, row: Row) -> Vec<Row> {
    let (table, tree) = (&trace.table, &trace.tree);
    let Some(call) = trace.links.launch(row).or_else(|| trace.links.op(row)) else { return Vec::new() };
    let Some(at) = tree.open_at(table, table.track_id(call), table.ts(call)) else { return Vec::new() };
    core::iter::once(at).chain(tree.ancestors(at)).map(|at| tree.row(at)).collect()
}
