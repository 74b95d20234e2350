//! Collectives on a device: kernels of NCCL, RCCL and the like.

use super::Call;
use super::groups::{Group, Groups};
use super::record::{Fields, tensors};
use crate::analysis::device::classes::{Class, Classes};
use crate::analysis::device::operation::Operation;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use crate::trace::table::tracks::plain;
use alloc::format;
use alloc::vec::Vec;

/// Returns a call for each communication kernel.
pub(super) fn calls(trace: &Trace, fields: &Fields, groups: &mut Groups) -> Vec<Call> {
    let table = &trace.table;
    let classes = Classes::new(trace);
    let work = table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row));
    let rows: Vec<Row> = work.filter(|&row| classes.class(row) == Class::Communication).collect();
    rows.into_iter().map(|row| call(trace, fields, groups, row)).collect()
}

/// Reads the arguments of a kernel, then those of the call around its launch, which has more of them.
fn call(trace: &Trace, fields: &Fields, groups: &mut Groups, row: Row) -> Call {
    let table = &trace.table;
    let mut call = Call { time: (table.ts(row), table.end(row)), ..Call::default() };
    let mut group = None;
    let enclosing = enclosing_spans(trace, row);
    let events = core::iter::once(row).chain(enclosing.iter().copied());
    for event in events.filter(|&event| fields.has(table, event)) {
        let (described, named) = fields.read(table, event, groups, None);
        call.complete(&described);
        group = group.or(named);
    }
    call.group = group.unwrap_or_else(|| {
        let stream = plain(&table.names, table.track(row).tid);
        let name = if stream.starts_with("stream") { stream.into() } else { format!("stream {stream}") };
        groups.index(Group { name, ..Group::default() })
    });
    let span = enclosing.iter().copied().find(|&row| table.name(row).starts_with("nccl:"));
    if call.operation() == Operation::Other {
        call.operation = Some(Operation::from_name(table.name(span.unwrap_or(row))));
    }
    if call.bytes.is_none() {
        call.bytes = span.and_then(|span| tensors(table, span).bytes).filter(|&bytes| bytes > 0);
    }
    call
}

/// The spans around the launch of a kernel, innermost first.
fn enclosing_spans(trace: &Trace, row: Row) -> Vec<Row> {
    let (table, tree) = (&trace.table, &trace.tree);
    let Some(call) = trace.links.launch(row).or_else(|| trace.links.op(row)) else { return Vec::new() };
    let Some(at) = tree.open_at(table, table.track_id(call), table.ts(call)) else { return Vec::new() };
    core::iter::once(at).chain(tree.ancestors(at)).map(|at| tree.row(at)).collect()
}
