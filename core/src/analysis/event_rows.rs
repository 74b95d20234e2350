//! Every function event under torch's field names, one row an event.

use super::function_events::{FunctionEvents, Kind, NONE};
use crate::rows::{Cell, Rows};
use crate::table::layout::Key;
use crate::table::tracks;
use crate::trace::Trace;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value;

/// The rows; times in ns after the start of the recording, `cpu_parent` and `cpu_children` as positions.
pub fn event_rows(trace: &Trace, events: &FunctionEvents) -> Rows {
    let table = &trace.table;
    let mut rows = Rows::new(&[
        ("idx", "#"),
        ("name", "Name"),
        ("start_ns", "Start"),
        ("end_ns", "End"),
        ("cpu_time_total_ns", "CPU total"),
        ("self_cpu_time_total_ns", "Self CPU"),
        ("device_time_total_ns", "Device total"),
        ("self_device_time_total_ns", "Self device"),
        ("cpu_memory_usage_bytes", "CPU mem"),
        ("self_cpu_memory_usage_bytes", ""),
        ("device_memory_usage_bytes", "Device mem"),
        ("self_device_memory_usage_bytes", ""),
        ("id", ""),
        ("trace_name", ""),
        ("overload_name", ""),
        ("thread", "Thread"),
        ("fwd_thread", ""),
        ("sequence_nr", ""),
        ("scope", ""),
        ("flops", ""),
        ("input_shapes", ""),
        ("stack", ""),
        ("device_type", "Device"),
        ("is_async", ""),
        ("is_remote", ""),
        ("is_legacy", ""),
        ("is_user_annotation", ""),
        ("cpu_parent", "Parent"),
        ("cpu_children", ""),
    ]);
    let mut children: Vec<Vec<Value>> = vec![Vec::new(); events.len()];
    for (at, &parent) in events.parents.iter().enumerate().filter(|p| *p.1 != NONE) {
        children[parent as usize].push(Value::from(at));
    }
    let device_totals = events.device_totals_ns();
    for (at, children) in children.into_iter().enumerate() {
        let row = events.rows[at];
        let kind = events.kinds[at];
        let int = |key: Key, none: i64| {
            if kind == Kind::Memory { none } else { table.int(row, key).unwrap_or(none) }
        };
        let id = if kind == Kind::Cpu || table.int(row, Key::Correlation).is_none() {
            Key::ExternalId
        } else {
            Key::Correlation
        };
        let (all, own) = (events.memory(at), events.self_memory(at));
        let start = events.start_ns(table, at);
        let parent = events.parents[at];
        rows.push(vec![
            at.into(),
            events.name(at).into(),
            Cell::Ns(start),
            Cell::Ns(start + events.duration_ns(table, at)),
            Cell::Ns(events.cpu_time_total_ns(table, at)),
            Cell::Ns(events.self_ns[at]),
            Cell::Ns(device_totals[at]),
            Cell::Ns(events.self_device_time_total_ns(at)),
            Cell::Bytes(all.cpu),
            Cell::Bytes(own.cpu),
            Cell::Bytes(all.device),
            Cell::Bytes(own.device),
            int(id, 0).into(),
            if kind == Kind::Memory { Cell::Null } else { table.name(row).into() },
            events.overload(at).into(),
            tracks::plain(&table.names, table.track(row).tid).into(),
            int(Key::FwdThreadId, 0).into(),
            int(Key::SequenceNumber, -1).into(),
            Cell::Int(i64::from(events.scope(table, at))),
            events.flops(at).into(),
            Cell::Json(serde_json::from_str(&events.shapes[events.shape(at) as usize]).unwrap_or_default()),
            Cell::Json(events.stacks.get(events.stack(at)).iter().map(|f| Value::from(f.as_str())).collect()),
            device_type(events, kind == Kind::Device).into(),
            Cell::Bool(false),
            Cell::Bool(false),
            Cell::Bool(false),
            Cell::Bool(events.is_user_annotation(table, at)),
            if parent == NONE { Cell::Null } else { Cell::Int(i64::from(parent)) },
            Cell::Json(Value::Array(children)),
        ]);
    }
    rows
}

/// torch's name of the device type.
pub fn device_type(events: &FunctionEvents, on_device: bool) -> &'static str {
    if !on_device {
        return "CPU";
    }
    match events.use_device {
        Some("xpu") => "XPU",
        Some("mtia") => "MTIA",
        Some("hpu") => "HPU",
        Some("privateuse1") => "PrivateUse1",
        _ => "CUDA",
    }
}
