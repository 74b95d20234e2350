//! What a trace is: counts, time, machine, and the metadata beside its events.

use crate::rows::{Cell, Rows};
use crate::table::category::Category;
use crate::table::events::Table;
use crate::time;
use crate::trace::Trace;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value;

/// Who wrote a trace, as far as it tells.
pub fn producer(table: &Table) -> &'static str {
    let has = |key: &str| table.metadata.text(key).is_some();
    let cat = |wanted: fn(&str) -> bool| {
        table.layouts.all().iter().any(|l| l.cat.is_some_and(|cat| wanted(table.names.get(cat))))
    };
    if cat(|c| c.starts_with("mtia")) {
        "PyTorch Kineto (MTIA)"
    } else if has("roctracer_version") || has("hip_runtime_version") {
        "PyTorch Kineto (ROCm)"
    } else if cat(|c| c.starts_with("xpu")) {
        "PyTorch Kineto (XPU)"
    } else if cat(|c| matches!(c, "async_npu" | "async_task_queue" | "HostToDevice")) {
        "Ascend PyTorch profiler"
    } else if has("deviceProperties") || cat(|c| matches!(c, "cpu_op" | "Operator" | "Trace")) {
        "PyTorch Kineto"
    } else if cat(|c| c == "dynamo_timed") {
        "torch._dynamo"
    } else {
        "Chrome trace"
    }
}

/// The time that a trace covers: the profiler's own window and everything in it.
pub fn wall(table: &Table) -> (i64, i64) {
    let timed = table.rows().filter(|&row| table.ph(row) != b'M' && table.ts(row) != time::NONE);
    let marker = |row| table.category(row) == Category::Other && table.name(row) == "Record Window End";
    timed
        .filter(|&row| !marker(row))
        .fold(None, |wall: Option<(i64, i64)>, row| {
            let (start, end) = (table.ts(row), table.end(row));
            Some(wall.map_or((start, end), |w| (w.0.min(start), w.1.max(end))))
        })
        .unwrap_or((0, 0))
}

/// How many events there are of each category, in the order of [`Category`].
pub fn categories(table: &Table) -> Vec<(Category, usize)> {
    let mut counts: Vec<(Category, usize)> = Vec::new();
    let mut per_layout = vec![0usize; table.layouts.all().len()];
    for row in table.rows() {
        per_layout[table.layout_id(row).0 as usize] += 1;
    }
    for (layout, count) in table.layouts.all().iter().zip(per_layout) {
        match counts.iter_mut().find(|c| c.0 == layout.category) {
            Some((_, sum)) => *sum += count,
            None => counts.push((layout.category, count)),
        }
    }
    counts.sort_unstable();
    counts
}

/// One row of facts about a trace.
pub fn info(trace: &Trace) -> Rows {
    let table = &trace.table;
    let metadata = &table.metadata;
    let (start, end) = wall(table);
    let counts = categories(table);
    let count =
        |wanted: fn(Category) -> bool| -> usize { counts.iter().filter(|c| wanted(c.0)).map(|c| c.1).sum() };
    let devices: Vec<Value> =
        metadata.device_names().into_iter().map(|(_, name)| Value::String(name)).collect();
    let mut rows = Rows::new(&[
        ("producer", "Written by"),
        ("events", "Events"),
        ("spans", "Spans"),
        ("operators", "Operators"),
        ("kernels", "Kernels"),
        ("copies", "Copies"),
        ("fills", "Fills"),
        ("tracks", "Tracks"),
        ("lanes", "Lanes"),
        ("ranks", "Ranks"),
        ("rank", "Rank"),
        ("world_size", "World"),
        ("base_time_ns", ""),
        ("start_ns", ""),
        ("wall_ns", "Wall"),
        ("devices", "Devices"),
        ("host", "Host"),
    ]);
    rows.push(vec![
        producer(table).into(),
        table.len().into(),
        trace.tree.len().into(),
        count(|c| c == Category::CpuOp).into(),
        count(|c| c == Category::Kernel).into(),
        count(|c| c == Category::Memcpy).into(),
        count(|c| c == Category::Memset).into(),
        table.tracks.all().len().into(),
        trace.tree.lanes.len().into(),
        1usize.into(),
        metadata.rank().into(),
        metadata.world_size().into(),
        Cell::Int(table.base_ns()),
        Cell::Int(table.base_ns().saturating_add(start)),
        Cell::Ns(end.saturating_sub(start)),
        Cell::Json(Value::Array(devices)),
        host(trace).into(),
    ]);
    rows
}

fn host(trace: &Trace) -> Option<String> {
    trace.table.metadata.value("host_name")?.as_str().map(ToOwned::to_owned)
}

/// The metadata beside the events: key and JSON text.
pub fn metadata(trace: &Trace) -> Rows {
    let mut rows = Rows::new(&[("key", "Key"), ("value", "Value")]);
    for (key, text) in &trace.table.metadata.entries {
        let value = serde_json::from_str(text).map_or_else(|_| Cell::Text(text.clone()), Cell::Json);
        rows.push(vec![key.as_str().into(), value]);
    }
    rows
}
