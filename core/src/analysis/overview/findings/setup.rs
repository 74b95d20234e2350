//! Findings about how a program is set up: data parallelism, the backend of collectives, memory.

use super::{Finding, FindingCode, share, threshold};
use crate::analysis::context::Analysis;
use crate::analysis::device::memory::MemoryDevice;
use crate::analysis::device::names::is_host_collective;
use crate::analysis::intervals::Collector;
use crate::analysis::torch::device_type::DeviceType;
use crate::base::units::time_ns;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

/// Adds the findings.
pub(super) fn setup(out: &mut Vec<Finding>, analysis: &Analysis<'_>, wall_ns: i64) {
    let devices = analysis.trace.table.metadata.value("deviceProperties");
    let devices = devices.as_ref().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let large = |finding: &Finding| share(finding.cost_ns, wall_ns) >= threshold::EFFECT;
    out.extend(data_parallel(analysis).filter(large));
    out.extend(backend(analysis).filter(large));
    out.extend(memory(analysis, devices));
}

/// The operators with which `DataParallel` copies the model, the inputs and the outputs; old traces have no others.
const COPYING: [&str; 3] = ["Broadcast", "Scatter", "Gather"];

/// Whether a program uses `DataParallel`, as far as its operators show.
pub(super) fn is_data_parallel(table: &Table) -> bool {
    let has = |name: &&str| table.names.find(name).is_some();
    has(&"DataParallel.forward") || COPYING.iter().all(has)
}

/// `DataParallel` copies the model to every device in each step, and one thread starts all work.
fn data_parallel(analysis: &Analysis<'_>) -> Option<Finding> {
    if analysis.devices().len() < 2 {
        return None;
    }
    let table = &analysis.trace.table;
    let is_meant = |name: &str| name == "DataParallel.forward" || COPYING.contains(&name);
    let (ns, longest) = time_of(table, is_meant).filter(|_| is_data_parallel(table))?;
    let message = format!(
        "torch.nn.DataParallel on {} devices took {}: one process copies the model and starts all work",
        analysis.devices().len(),
        time_ns(ns, None)
    );
    let advice = "use DistributedDataParallel with a process for each device";
    let finding = Finding::new(FindingCode::DataParallel, ns, message, advice);
    Some(finding.shown_by("idle", [longest].into()))
}

/// Collectives of tensors on devices go through the host.
fn backend(analysis: &Analysis<'_>) -> Option<Finding> {
    if analysis.devices().is_empty() {
        return None;
    }
    let (ns, longest) = time_of(&analysis.trace.table, is_host_collective)?;
    let message = format!("collectives of Gloo or MPI took {}, though a device was used", time_ns(ns, None));
    let advice = "use NCCL (RCCL on AMD) for tensors on devices: init_process_group(\"nccl\")";
    let finding = Finding::new(FindingCode::HostCollectives, ns, message, advice);
    Some(finding.shown_by("collectives", [longest].into()))
}

/// How long spans of the host with some names were open on any thread, with the longest; `None` if there are none.
fn time_of(table: &Table, is_meant: impl Fn(&str) -> bool) -> Option<(i64, Row)> {
    let meant = table.names.that(is_meant);
    if meant.is_empty() {
        return None;
    }
    let is_host = |category| matches!(category, Category::CpuOp | Category::UserAnnotation);
    let is_meant = |row: Row| meant.has(table.name_id(row)) && is_host(table.category(row));
    let (mut times, mut longest): (Collector, Option<Row>) = (Collector::default(), None);
    for row in table.rows().filter(|&row| is_meant(row) && table.is_span(row)) {
        times.push((table.ts(row), table.end(row)));
        if longest.is_none_or(|longest| table.dur(row) > table.dur(longest)) {
            longest = Some(row);
        }
    }
    Some((times.union().length(), longest?))
}

fn gib(bytes: i64) -> String {
    format!("{:.2} GiB", bytes as f64 / f64::from(1 << 30))
}

/// The memory of a device was nearly used up while it trained. An engine for inference reserves nearly all of it on purpose.
fn memory(analysis: &Analysis<'_>, devices: &[Value]) -> Option<Finding> {
    let table = &analysis.trace.table;
    let record = table.names.find("[memory]")?;
    let is_training = |name: &str| name.contains("Backward") || name.starts_with("Optimizer.");
    if table.names.that(is_training).is_empty() {
        return None;
    }
    let size = |id: i64| {
        let is_own = |(at, device): &(usize, &Value)| device["id"].as_i64().unwrap_or(*at as i64) == id;
        devices.iter().enumerate().find(is_own)?.1["totalGlobalMem"].as_i64().filter(|&size| size > 0)
    };
    let peak = |row: Row| {
        let MemoryDevice { kind, id, .. } = MemoryDevice::from_event(table, row);
        let allocated = table.int(row, Key::TotalAllocated).filter(|_| kind != DeviceType::Cpu)?;
        let size = size(id)?;
        Some((share(allocated, size), allocated, size, id, row))
    };
    let rows = table.rows().filter(|&row| table.name_id(row) == record);
    let highest = rows.filter_map(peak).max_by(|a, b| a.0.total_cmp(&b.0));
    let (share, allocated, size, id, row) = highest?;
    if share <= threshold::MEMORY {
        return None;
    }
    let message: String =
        format!("GPU {id} had {} of {} allocated ({:.0}%)", gib(allocated), gib(size), share * 100.0);
    let advice = "a larger batch may fail: use activation checkpointing, smaller types, or sharding";
    Some(Finding::new(FindingCode::MemoryNearlyFull, 0, message, advice).shown_by("memory", [row].into()))
}
