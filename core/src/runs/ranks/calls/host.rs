//! Collectives on the host: the calls of `c10d`, and the spans in which Gloo or MPI carries them out on threads of their
//! own. No id links the two, so they are joined in order.

use super::Call;
use super::groups::{Group, Groups};
use super::record::{Fields, Tensors, global, tensors};
use crate::analysis::device::names::is_host_collective;
use crate::analysis::device::operation::Operation;
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::{TrackId, plain};
use alloc::vec;
use alloc::vec::Vec;

/// A call that starts a collective.
struct Issue {
    row: Row,
    operation: Operation,
    /// The sizes of its tensors.
    tensors: Tensors,
    /// The arguments, if they were recorded.
    described: Option<Row>,
    is_taken: bool,
}

/// Returns a call for each span of a backend of the host. The rank arrives with the call that started it, if there is
/// one.
pub(super) fn calls(trace: &Trace, fields: &Fields, groups: &mut Groups) -> Vec<Call> {
    let table = &trace.table;
    let mut spans = spans(table);
    if spans.is_empty() {
        return Vec::new();
    }
    sort_by_key(&mut spans, |&row| (table.ts(row), i64::from(row)));
    let mut issues = issues(table, fields);
    let group_of = threads(table, &spans, groups);
    let mut first = 0;
    let mut calls = Vec::new();
    for span in spans {
        while issues.get(first).is_some_and(|issue| issue.is_taken) {
            first += 1;
        }
        let tensors = tensors(table, span);
        let operation = Operation::from_name(table.name(span));
        let begun = issues[first..].iter().take_while(|issue| table.ts(issue.row) <= table.ts(span)).count();
        let begun = &mut issues[first..first + begun];
        // Several can be in flight; the shape distinguishes more than the size.
        let same_shape =
            |issue: &Issue| issue.tensors.shapes.iter().any(|shape| tensors.shapes.contains(shape));
        let fits = |issue: &Issue| !issue.is_taken && is_start(issue, operation, &tensors.elements);
        let exact = begun.iter().position(|issue| fits(issue) && same_shape(issue));
        let issue = exact.or_else(|| begun.iter().position(fits)).map(|at| &mut begun[at]);
        let mut call = Call { operation: Some(operation), ..Call::default() };
        call.bytes = tensors.bytes.filter(|&bytes| bytes > 0);
        call.time = (table.ts(span), table.end(span));
        call.group = group_of.iter().find(|known| known.0 == table.track_id(span)).map_or(0, |known| known.1);
        if let Some(issue) = issue {
            issue.is_taken = true;
            describe(table, fields, groups, issue, &mut call);
        }
        calls.push(call);
    }
    calls
}

/// The spans of the backend.
fn spans(table: &Table) -> Vec<Row> {
    let names = table.names.that(is_host_collective);
    let is_span = |row: &Row| names.has(table.name_id(*row)) && table.is_span(*row);
    if names.is_empty() { Vec::new() } else { table.rows().filter(is_span).collect() }
}

/// The calls of `c10d`, each with the `record_param_comms` inside.
fn issues(table: &Table, fields: &Fields) -> Vec<Issue> {
    let names = table.names.that(|name| name.starts_with("c10d::"));
    let rows = table.rows().filter(|&row| table.category(row) == Category::CpuOp && table.is_span(row));
    let mut rows: Vec<Row> =
        rows.filter(|&row| names.has(table.name_id(row)) || fields.has(table, row)).collect();
    table.sort_by_start(&mut rows);
    let mut issues: Vec<Issue> = Vec::new();
    for row in rows {
        let described = fields.has(table, row).then_some(row);
        let enclosing = issues.last_mut().filter(|last| {
            table.track_id(last.row) == table.track_id(row) && table.end(row) <= table.end(last.row)
        });
        match (enclosing, described) {
            (Some(enclosing), Some(_)) => enclosing.described = enclosing.described.or(described),
            (Some(_), None) => {}
            (None, _) => {
                let operation = Operation::from_name(table.name(row));
                let tensors = tensors(table, row);
                issues.push(Issue { row, operation, tensors, described, is_taken: false });
            }
        }
    }
    issues
}

/// Whether a span can be the work of a call. Gloo carries out a reduce-scatter as an all-reduce.
fn is_start(issue: &Issue, operation: Operation, elements: &[i64]) -> bool {
    let same = issue.operation == operation
        || issue.operation == Operation::Other
        || (issue.operation, operation) == (Operation::ReduceScatter, Operation::AllReduce);
    let known = &issue.tensors.elements;
    same && (elements.is_empty() || known.is_empty() || elements.iter().any(|count| known.contains(count)))
}

/// Sets what the call that started a collective says about it.
fn describe(table: &Table, fields: &Fields, groups: &mut Groups, issue: &Issue, call: &mut Call) {
    call.time.0 = table.ts(issue.row);
    if let Some(row) = issue.described {
        let (mut described, named) = fields.read(table, row, groups, Some(call.group));
        described.complete(call);
        *call = Call { group: named.unwrap_or(call.group), time: call.time, ..described };
        return;
    }
    if issue.operation != Operation::Other {
        call.operation = Some(issue.operation);
    }
    let item = call.bytes.zip(issue.tensors.elements.iter().max());
    if let Some((bytes, &most)) = item
        && let Some(&least) = issue.tensors.elements.iter().filter(|&&count| count > 0).min()
    {
        // The span knows the type, the call knows both the input and the output.
        let size = [1, 2, 4, 8].into_iter().find(|size| {
            issue.tensors.elements.iter().any(|&count| count * size == bytes) || least * size == bytes
        });
        call.bytes = Some(size.map_or(bytes, |size| bytes.max(most.saturating_mul(size))));
    }
    if call.operation().is_point_to_point() {
        let peer = issue.tensors.concrete.get(2).and_then(|value| value.as_str()?.parse().ok());
        call.peer = peer.map(|rank| global(groups.get(call.group), rank));
    }
}

/// The group of each thread that carries out collectives. Each group of Gloo has two, which are started in the order of
/// the groups. Spans on threads of the program belong to the only group.
fn threads(table: &Table, spans: &[Row], groups: &mut Groups) -> Vec<(TrackId, u32)> {
    let mut tracks: Vec<TrackId> = Vec::new();
    let mut is_worker: Vec<bool> = Vec::new();
    for &span in spans {
        let track = table.track_id(span);
        let at = tracks.iter().position(|&known| known == track).unwrap_or_else(|| {
            tracks.push(track);
            is_worker.push(false);
            tracks.len() - 1
        });
        is_worker[at] |= !Operation::from_name(table.name(span)).is_point_to_point();
    }
    let number = |track: TrackId| plain(&table.names, table.tracks.get(track).tid).parse().unwrap_or(0);
    let mut workers: Vec<TrackId> =
        tracks.iter().zip(&is_worker).filter(|known| *known.1).map(|known| *known.0).collect();
    sort_by_key(&mut workers, |&track| (number(track), 0));
    let declared = groups.declared().to_vec();
    let unknown = Group { name: "host".into(), ..Group::default() };
    let is_clear = declared.len() == 1 || workers.len().div_ceil(2) == declared.len();
    let mut of = vec![];
    for track in tracks {
        let place = workers.iter().position(|&worker| worker == track);
        let group = match (declared.as_slice(), place) {
            ([only], _) => only.clone(),
            (all, Some(place)) if is_clear => all[place / 2].clone(),
            (all, None) if !all.is_empty() => all[0].clone(),
            _ => unknown.clone(),
        };
        let at = groups.index(group);
        of.push((track, at));
    }
    of
}
