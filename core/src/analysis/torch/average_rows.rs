//! Key averages as rows, under the names of the JSON form.

use super::averages::Average;
use super::device_type::DeviceType;
use crate::rows::{Cell, Column, Rows, Shape};
use alloc::vec;
use serde_json::Value;

/// The columns of the answer.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text("name", "Name", "The operator's or kernel's name; ProfilerStep#N counts as ProfilerStep*."),
    Column::int("count", "# of Calls", "How many events are in the group."),
    Column::ns("cpu_time_total_ns", "CPU total", "Time on the CPU, with that of the events called inside."),
    Column::ns(
        "self_cpu_time_total_ns",
        "Self CPU",
        "Time on the CPU, without that of the events called inside.",
    ),
    Column::ns(
        "device_time_total_ns",
        "Device total",
        "Sum of the durations of the device work that the group and what it called launched.",
    ),
    Column::ns(
        "self_device_time_total_ns",
        "Self device",
        "Sum of the durations of the device work that the group itself launched.",
    ),
    Column::bytes(
        "cpu_memory_usage_bytes",
        "CPU Mem",
        "CPU memory allocated less freed, with that of the events called inside.",
    ),
    Column::bytes(
        "self_cpu_memory_usage_bytes",
        "Self CPU Mem",
        "CPU memory allocated less freed by the group itself.",
    ),
    Column::bytes(
        "device_memory_usage_bytes",
        "Device Mem",
        "Device memory allocated less freed, with that of the events called inside.",
    ),
    Column::bytes(
        "self_device_memory_usage_bytes",
        "Self Device Mem",
        "Device memory allocated less freed by the group itself.",
    ),
    Column::int("flops", "FLOPs", "Estimated floating point operations, by torch's formulas."),
    Column::json("input_shapes", "", Shape::Values, "Shapes of the inputs, where they are grouped by."),
    Column::text("overload_name", "", "The operator's overload, where it is grouped by."),
    Column::json("stack", "", Shape::Texts, "The innermost frames, where they are grouped by."),
    Column::word(
        "device_type",
        "Device",
        &DeviceType::VOCABULARY,
        "Where the events ran: CPU, CUDA, XPU, MTIA, HPU, PrivateUse1.",
    ),
    Column::bool(
        "is_async",
        "",
        "The events ended on another thread than they began; no trace says so, records do.",
    ),
    Column::bool("is_user_annotation", "", "The events are ranges that the user's program named."),
];

/// The groups as rows, in their order.
pub(crate) fn average_rows<'a>(groups: impl IntoIterator<Item = &'a Average>) -> Rows {
    let mut rows = Rows::new(COLUMNS);
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
            group.device_type.as_str().into(),
            Cell::Bool(group.is_async),
            Cell::Bool(group.is_user_annotation),
        ]);
    }
    rows
}
