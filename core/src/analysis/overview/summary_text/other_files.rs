//! What a summary shows of files that are not traces of events: memory snapshots and execution traces.

use super::{TOP, top};
use crate::analysis::device::memory::Memory;
use crate::analysis::device::owners::{BEFORE, OUTSIDE, Owners};
use crate::analysis::device::segments::DeviceSegments;
use crate::analysis::overview::summary::Summary;
use crate::base::index::Keyed;
use crate::base::names::{NameId, Names};
use crate::base::order::{descending, sort_by_key};
use crate::base::page::Page;
use crate::base::rows::{Cell, Rows};
use crate::base::units::{bytes, counted, time_ns};
use crate::trace::Trace;
use crate::trace::execution::{ExecutionNode, nodes_of};
use crate::trace::read::snapshot::SOURCE;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// What follows the kind of a file that has no events.
pub(super) const EMPTY: &str = " without events";

/// How to record what a snapshot without a history lacks.
const RECORD: &str =
    "record it with torch.cuda.memory._record_memory_history() before the work that is of interest";

fn is_snapshot(trace: &Trace) -> bool {
    trace.table.metadata.text(SOURCE).is_some()
}

/// The number of entries in the history of a snapshot.
fn history(trace: &Trace) -> usize {
    trace.table.rows().filter(|&row| trace.table.ph(row) != b'M').count()
}

/// The second line of the summary; `None` for traces of events.
pub(super) fn facts(trace: &Trace, summary: &Summary) -> Option<Vec<String>> {
    if is_snapshot(trace) {
        let sum = |of: fn(&DeviceSegments) -> usize| -> usize { summary.segments.iter().map(of).sum() };
        let history = match history(trace) {
            0 => "no history".into(),
            n => {
                let time = time_ns(summary.wall.1 - summary.wall.0, None);
                format!("history of {} in {time}", counted(n, "allocator event"))
            }
        };
        let counts = [(sum(|device| device.segments), "segment"), (sum(|device| device.blocks), "block")];
        return Some(counts.map(|(n, what)| counted(n, what)).into_iter().chain([history]).collect());
    }
    let nodes: Vec<ExecutionNode<'_>> = nodes_of(&trace.table)?.collect();
    let operators = nodes.iter().filter(|node| !node.schema().is_empty()).count();
    let mut ids = Keyed::<bool>::default();
    for id in nodes.iter().filter_map(|node| node.int("id")) {
        *ids.entry((id, 0)) = true;
    }
    let is_root = |node: &&ExecutionNode<'_>| {
        node.parent().is_none_or(|parent| ids.get((parent, 0)).is_none() || node.int("id") == Some(parent))
    };
    let roots: Vec<&str> = nodes.iter().filter(is_root).map(ExecutionNode::name).collect();
    let mut facts =
        vec![counted(nodes.len(), "node"), format!("{} with a schema", counted(operators, "operator"))];
    match roots[..] {
        [] => {}
        [root] => facts.push(format!("root {root}")),
        _ => facts.push(counted(roots.len(), "root")),
    }
    if let Some(schema) = trace.table.metadata.text("schema") {
        facts.push(format!("version {} of the format", schema.trim_matches('"')));
    }
    facts.push("no times".to_string());
    Some(facts)
}

/// The memory of each device in a snapshot, and who owned it at the peak.
pub(super) fn memory(out: &mut Page, trace: &Trace, summary: &Summary) {
    if !is_snapshot(trace) {
        return;
    }
    let mut rows =
        Rows::page(&["Device", "Segments", "Reserved", "Allocated", "Share", "Largest free block"]);
    for device in &summary.segments {
        rows.push(vec![
            device.device.as_str().into(),
            device.segments.into(),
            Cell::Bytes(device.reserved),
            Cell::Bytes(device.allocated),
            device.share().map_or(Cell::Null, Cell::Share),
            Cell::Bytes(device.largest_free),
        ]);
    }
    out.indented("Memory at the time of the snapshot", &rows);
    if history(trace) == 0 {
        out.blank();
        out.line("The snapshot has no history, so it does not show when memory was allocated, its peak, or its owners:");
        out.line(format!("{RECORD}."));
        return;
    }
    let (memory, owners) = (Memory::new(trace), Owners::from_stacks(trace));
    let peaks = memory.devices.iter().zip(memory.at_peaks());
    for (device, live) in peaks.filter(|(device, _)| device.allocations > 0) {
        let held: Vec<Row> = live.iter().map(|record| record.row).collect();
        let before = live.iter().map(|record| record.bytes).fold(device.peak, i64::saturating_sub);
        let mut lines = Vec::new();
        if before > 0 {
            lines.push((BEFORE, 0, before));
        }
        let sums = owners.sums(&held);
        lines.extend(sums.iter().map(|&(sum, n, first)| (owners.name(first).unwrap_or(OUTSIDE), n, sum)));
        let mut rows = Rows::page(&["Owner", "Count", "Allocated", "Share of peak"]);
        for (name, count, sum) in lines.into_iter().take(TOP) {
            let share = Cell::Share(sum as f64 / device.peak.max(1) as f64);
            rows.push(vec![name.into(), count.into(), Cell::Bytes(sum), share]);
        }
        let at = memory.records[device.peak_at].ts.saturating_sub(trace.start_ns);
        let title =
            format!("Owners at the peak of {}: {} at {}", device.name, bytes(device.peak), time_ns(at, None));
        out.indented(&title, &rows);
    }
}

/// The operators of an execution trace by their number, and the commands for it.
pub(super) fn nodes(out: &mut Page, trace: &Trace) {
    let Some(nodes) = nodes_of(&trace.table) else { return };
    let mut names = Names::default();
    let mut counts: Keyed<i64> = Keyed::default();
    for node in nodes.filter(|node| !node.schema().is_empty()) {
        *counts.entry((i64::from(names.intern(node.name()).0), 0)) += 1;
    }
    let mut counts = counts.into_entries();
    sort_by_key(&mut counts, |&((name, _), count)| (descending(count), name));
    let mut rows = Rows::page(&["Operator", "Calls"]);
    for &((name, _), count) in counts.iter().take(TOP) {
        let name = names.get(NameId(name as u32));
        rows.push(vec![name.into(), Cell::Int(count)]);
    }
    out.indented(&top("operators by calls", counts.len()), &rows);
    out.blank();
    out.line("An execution trace has no times. `nodes` lists its operators with tensors and arguments. `events` and");
    out.line("`export execution-trace` of the trace that was recorded with it use it by --execution-trace.");
}
