//! Key averages as rows, with the field names of the JSON form.

use super::averages::Average;
use super::device_type::DeviceType;
use crate::base::rows::{Column, Rows, Shape, columns};
use serde_json::Value;

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(group: &Average) [
        Column::text("name", "Name", "The name of the operator or kernel; ProfilerStep#N is grouped as ProfilerStep*.") =>
            group.key.as_str(),
        Column::int("count", "# of Calls", "The number of events in the group.") => group.count as i64,
        Column::ns("cpu_time_total_ns", "CPU total", "CPU time, including callees.") =>
            group.cpu_time_total_ns,
        Column::ns("self_cpu_time_total_ns", "Self CPU", "CPU time, excluding callees.") =>
            group.self_cpu_time_total_ns,
        Column::ns("device_time_total_ns", "Device total", "Sum of the durations of the device work launched by the group and its callees. As in PyTorch, work counts again for the profiler's overhead in its operator and for operators within others of the same name, so the sum can exceed what the devices did; in `summary` it does not.") =>
            group.device_time_total_ns,
        Column::ns("self_device_time_total_ns", "Self device", "Sum of the durations of the device work launched by the group itself.") =>
            group.self_device_time_total_ns,
        Column::bytes("cpu_memory_usage_bytes", "CPU Mem", "CPU memory allocated minus released, including callees.") =>
            group.cpu_memory_usage,
        Column::bytes("self_cpu_memory_usage_bytes", "Self CPU Mem", "CPU memory allocated minus released, excluding callees.") =>
            group.self_cpu_memory_usage,
        Column::bytes("device_memory_usage_bytes", "Device Mem", "Device memory allocated minus released, including callees.") =>
            group.device_memory_usage,
        Column::bytes("self_device_memory_usage_bytes", "Self Device Mem", "Device memory allocated minus released, excluding callees.") =>
            group.self_device_memory_usage,
        Column::int("flops", "FLOPs", "Estimated floating point operations, by PyTorch's formulas.") =>
            group.flops,
        Column::json("input_shapes", "", Shape::Values, "The shapes of the inputs; null unless grouped by shape.") =>
            serde_json::from_str::<Value>(&group.input_shapes).unwrap_or_default(),
        Column::text("overload_name", "", "The overload name of the operator; empty unless grouped by overload.") =>
            group.overload_name.as_str(),
        Column::json("stack", "", Shape::Texts, "The innermost frames; empty unless grouped by stack or module.") =>
            Value::from(group.stack.as_slice()),
        Column::word("device_type", "Device", &DeviceType::VOCABULARY, "The type of the device the events ran on: CPU, CUDA, XPU, MTIA, HPU, PrivateUse1.") =>
            group.device_type.as_str(),
        Column::bool("is_async", "", "Whether the events ended on another thread than they began; only records contain this.") =>
            group.is_async,
        Column::bool("is_user_annotation", "", "Whether the events are user annotations.") =>
            group.is_user_annotation,
    ]
}

/// Returns the groups as rows, in their order.
pub(crate) fn average_rows<'a>(groups: impl IntoIterator<Item = &'a Average>) -> Rows {
    Rows::from_cells(COLUMNS, groups.into_iter().map(row))
}
