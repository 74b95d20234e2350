//! Key averages as rows, under the names of the JSON form.

use super::averages::Average;
use super::event_rows::device_type;
use super::function_events::FunctionEvents;
use crate::rows::{Cell, Rows};
use alloc::vec;
use serde_json::Value;

/// The groups as rows, in their order.
pub fn average_rows<'a>(events: &FunctionEvents, groups: impl IntoIterator<Item = &'a Average>) -> Rows {
    let mut rows = Rows::new(&[
        ("name", "Name"),
        ("count", "# of Calls"),
        ("cpu_time_total_ns", "CPU total"),
        ("self_cpu_time_total_ns", "Self CPU"),
        ("device_time_total_ns", "Device total"),
        ("self_device_time_total_ns", "Self device"),
        ("cpu_memory_usage_bytes", "CPU Mem"),
        ("self_cpu_memory_usage_bytes", "Self CPU Mem"),
        ("device_memory_usage_bytes", "Device Mem"),
        ("self_device_memory_usage_bytes", "Self Device Mem"),
        ("flops", "FLOPs"),
        ("input_shapes", ""),
        ("overload_name", ""),
        ("stack", ""),
        ("device_type", "Device"),
        ("is_async", ""),
        ("is_user_annotation", ""),
    ]);
    for group in groups {
        let shapes = match group.input_shapes.as_str() {
            "" => Value::Null,
            text => serde_json::from_str(text).unwrap_or(Value::Null),
        };
        rows.push(vec![
            group.key.as_str().into(),
            Cell::Int(group.count as i64),
            Cell::Ns(group.cpu_time_total_ns),
            Cell::Ns(group.self_cpu_time_total_ns),
            Cell::Ns(group.device_time_total_ns),
            Cell::Ns(group.self_device_time_total_ns),
            Cell::Bytes(group.cpu_memory_usage),
            Cell::Bytes(group.self_cpu_memory_usage),
            Cell::Bytes(group.device_memory_usage),
            Cell::Bytes(group.self_device_memory_usage),
            group.flops.into(),
            Cell::Json(shapes),
            group.overload_name.as_str().into(),
            Cell::Json(group.stack.iter().map(|f| Value::from(f.as_str())).collect()),
            device_type(events, group.on_device).into(),
            Cell::Bool(false),
            Cell::Bool(group.is_user_annotation),
        ]);
    }
    rows
}
