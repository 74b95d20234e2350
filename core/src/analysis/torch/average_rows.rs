//! Key averages as rows, with the field names of the JSON form.

use super::averages::Average;
use super::device_type::DeviceType;
use crate::base::rows::{Cell, Column, Rows, Shape};
use alloc::vec;
use serde_json::Value;

/// The columns of the answer.
pub(crate) const COLUMNS: &[Column] = &[
    Column::text(
        "name",
        "Name",
        "The name of the operator or kernel; ProfilerStep#N is grouped as ProfilerStep*.",
    ),
    Column::int("count", "# of Calls", "The number of events in the group."),
    Column::ns("cpu_time_total_ns", "CPU total", "CPU time, including callees."),
    Column::ns("self_cpu_time_total_ns", "Self CPU", "CPU time, excluding callees."),
    Column::ns(
        "device_time_total_ns",
        "Device total",
        "Sum of the durations of the device work launched by the group and its callees. As in PyTorch, work counts again for the profiler's overhead in its operator and for operators within others of the same name, so the sum can exceed what the devices did; in `summary` it does not.",
    ),
    Column::ns(
        "self_device_time_total_ns",
        "Self device",
        "Sum of the durations of the device work launched by the group itself.",
    ),
    Column::bytes(
        "cpu_memory_usage_bytes",
        "CPU Mem",
        "CPU memory allocated minus released, including callees.",
    ),
    Column::bytes(
        "self_cpu_memory_usage_bytes",
        "Self CPU Mem",
        "CPU memory allocated minus released, excluding callees.",
    ),
    Column::bytes(
        "device_memory_usage_bytes",
        "Device Mem",
        "Device memory allocated minus released, including callees.",
    ),
    Column::bytes(
        "self_device_memory_usage_bytes",
        "Self Device Mem",
        "Device memory allocated minus released, excluding callees.",
    ),
    Column::int("flops", "FLOPs", "Estimated floating point operations, by PyTorch's formulas."),
    Column::json(
        "input_shapes",
        "",
        Shape::Values,
        "The shapes of the inputs; null unless grouped by shape.",
    ),
    Column::text("overload_name", "", "The overload name of the operator; empty unless grouped by overload."),
    Column::json("stack", "", Shape::Texts, "The innermost frames; empty unless grouped by stack or module."),
    Column::word(
        "device_type",
        "Device",
        &DeviceType::VOCABULARY,
        "The type of the device the events ran on: CPU, CUDA, XPU, MTIA, HPU, PrivateUse1.",
    ),
    Column::bool(
        "is_async",
        "",
        "Whether the events ended on another thread than they began; only records contain this.",
    ),
    Column::bool("is_user_annotation", "", "Whether the events are user annotations."),
];

/// Returns the groups as rows, in their order.
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
