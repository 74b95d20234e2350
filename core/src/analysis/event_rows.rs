//! Every function event under torch's field names, one row an event.

use super::function_events::{FunctionEvents, Kind, NONE};
use crate::rows::{Cell, Column, Rows};
use crate::table::layout::Key;
use crate::table::tracks;
use crate::trace::Trace;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::Value;

/// The columns of the answer.
pub const COLUMNS: &[Column] = &[
    Column::int("idx", "#", "The event's position."),
    Column::text("name", "Name", "The event's name."),
    Column::ns("start_ns", "Start", "When it began, after the start of the recording."),
    Column::ns("end_ns", "End", "When it ended, after the start of the recording."),
    Column::ns("cpu_time_total_ns", "CPU total", "Time on the CPU, with that of the events called inside."),
    Column::ns(
        "self_cpu_time_total_ns",
        "Self CPU",
        "Time on the CPU, without that of the events called inside.",
    ),
    Column::ns(
        "device_time_total_ns",
        "Device total",
        "Sum of the durations of the device work that it and what it called launched.",
    ),
    Column::ns(
        "self_device_time_total_ns",
        "Self device",
        "Sum of the durations of the device work that it launched itself.",
    ),
    Column::bytes(
        "cpu_memory_usage_bytes",
        "CPU mem",
        "CPU memory allocated less freed, with that of the events called inside.",
    ),
    Column::bytes("self_cpu_memory_usage_bytes", "", "CPU memory allocated less freed by the event itself."),
    Column::bytes(
        "device_memory_usage_bytes",
        "Device mem",
        "Device memory allocated less freed, with that of the events called inside.",
    ),
    Column::bytes(
        "self_device_memory_usage_bytes",
        "",
        "Device memory allocated less freed by the event itself.",
    ),
    Column::int("id", "", "The external or correlation id; 0 for none."),
    Column::text("trace_name", "", "The name as the trace has it.").or_null(),
    Column::text("overload_name", "", "The operator's overload."),
    Column::text("thread", "Thread", "The thread or stream."),
    Column::int("fwd_thread", "", "The thread of the forward operator; 0 for none."),
    Column::int("sequence_nr", "", "The autograd sequence number; -1 for none."),
    Column::int("scope", "", "torch's record scope: 0 function, 1 backward function, 7 user scope."),
    Column::int("flops", "", "Estimated floating point operations, by torch's formulas."),
    Column::json("input_shapes", "", "unknown[] | null", "Shapes of the inputs."),
    Column::json("stack", "", "string[]", "The Python stack, innermost frame first."),
    Column::text("device_type", "Device", "Where it ran: CPU, CUDA, XPU, MTIA, HPU, PrivateUse1."),
    Column::bool("is_async", "", "It ended on another thread than it began; no trace says so."),
    Column::bool("is_remote", "", "It ran in another process by RPC; no trace says so."),
    Column::bool("is_legacy", "", "It comes from the legacy profiler."),
    Column::bool("is_user_annotation", "", "It is a range that the user's program named."),
    Column::int("cpu_parent", "Parent", "The position of the event that called it.").or_null(),
    Column::json("cpu_children", "", "number[]", "The positions of the events that it called."),
];

/// The rows; times in ns after the start of the recording, `cpu_parent` and `cpu_children` as positions.
pub fn event_rows(trace: &Trace, events: &FunctionEvents) -> Rows {
    let table = &trace.table;
    let mut rows = Rows::new(COLUMNS);
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
