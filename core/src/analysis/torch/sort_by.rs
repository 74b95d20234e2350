//! The attributes that PyTorch's `table()` sorts by.
//!
//! It takes any attribute of its rows that Python can compare. Attributes that are `None`, objects or numbers which a
//! trace does not have, such as `thread`, are left out.

use crate::analysis::query::value::without_backend;
use crate::analysis::torch::averages::Average;
use crate::analysis::torch::event_ids::EventIds;
use crate::base::order::{descending, float_key, sort_by, sort_by_key};
use crate::base::words::{Word, words};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;
use serde_json::Value;

words! {
    "SortBy"
    /// An attribute of the rows of PyTorch's table to sort by, in descending order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SortBy {
        /// The number of calls.
        Count = "count",
        /// Mean CPU time of a call.
        CpuTime = "cpu_time",
        /// CPU time, including children.
        CpuTimeTotal = "cpu_time_total",
        /// CPU time, excluding children.
        SelfCpuTimeTotal = "self_cpu_time_total",
        /// Mean device time of a call.
        DeviceTime = "device_time",
        /// Device time, including children.
        DeviceTimeTotal = "device_time_total",
        /// Device time, excluding children.
        SelfDeviceTimeTotal = "self_device_time_total",
        /// Host memory allocated minus released, including children.
        CpuMemoryUsage = "cpu_memory_usage",
        /// Host memory allocated minus released, excluding children.
        SelfCpuMemoryUsage = "self_cpu_memory_usage",
        /// Device memory allocated minus released, including children.
        DeviceMemoryUsage = "device_memory_usage",
        /// Device memory allocated minus released, excluding children.
        SelfDeviceMemoryUsage = "self_device_memory_usage",
        /// Floating point operations.
        Flops = "flops",
        /// The name.
        Key = "key",
        /// The shapes of the inputs: of averages as text, of events as lists of numbers.
        InputShapes = "input_shapes",
        /// The overload name.
        OverloadName = "overload_name",
        /// The frames of the stack, one after the other.
        Stack = "stack",
        /// The record scope.
        Scope = "scope",
        /// The process of an RPC.
        NodeId = "node_id",
        /// Whether the event ended on another thread, or was open when the recording ended.
        IsAsync = "is_async",
        /// Whether the event ran in another process.
        IsRemote = "is_remote",
        /// Whether the event is from the legacy profiler.
        IsLegacy = "is_legacy",
        /// Whether the event is a user annotation.
        IsUserAnnotation = "is_user_annotation",
        /// The name; of events only.
        Name = "name",
        /// The external or correlation id; of events only.
        Id = "id",
        /// The autograd sequence number; of events only.
        SequenceNr = "sequence_nr",
        /// The thread of the forward operator; of events only.
        FwdThread = "fwd_thread",
        /// The number of the device; of events only.
        DeviceIndex = "device_index",
        /// The number of the stream or thread; of events only.
        DeviceResourceId = "device_resource_id",
    }
}

impl SortBy {
    /// Returns the attribute with PyTorch's name, in which `cuda`, `xpu` or `privateuse1` can replace `device`.
    pub fn from_name(name: &str) -> Option<SortBy> {
        SortBy::from_word(&without_backend(name))
    }

    /// Returns whether averages lack the attribute.
    pub fn is_of_events(self) -> bool {
        self as usize >= SortBy::Name as usize
    }

    /// Sorts rows, the greatest first. The sort is stable.
    pub(super) fn sort(self, rows: &mut [Average]) {
        if !self.is_text() {
            return sort_by_key(rows, |row| (descending(float_key(self.value(row))), 0));
        }
        let mut texts: Vec<String> = rows.iter().map(|row| self.text(row)).collect();
        sort_by(&mut texts, Ord::cmp);
        sort_by_key(rows, |row| {
            let text = self.text(row);
            (descending(texts.partition_point(|other| *other < text) as i64), 0)
        });
    }

    fn is_text(self) -> bool {
        use SortBy::{InputShapes, Key, Name, OverloadName, Stack};
        matches!(self, Key | Name | InputShapes | OverloadName | Stack)
    }

    /// Returns a text whose order is that of the attribute in Python.
    fn text(self, row: &Average) -> String {
        match self {
            SortBy::OverloadName => row.overload_name.clone(),
            SortBy::Stack => row.stack.join("\0"),
            SortBy::InputShapes if row.event.is_some() => sortable(&row.input_shapes),
            SortBy::InputShapes => row.input_shapes.clone(),
            _ => row.key.clone(),
        }
    }

    /// Returns the number of a row, in PyTorch's units.
    fn value(self, row: &Average) -> f64 {
        let us = &row.torch_us;
        let calls = row.count.max(1) as f64;
        let flag = |is_set: bool| f64::from(u8::from(is_set));
        let id = |of: fn(EventIds) -> i64| row.event.map_or(0, of) as f64;
        match self {
            SortBy::Count => row.count as f64,
            SortBy::CpuTime => us.cpu_time_total / calls,
            SortBy::DeviceTime => us.device_time_total / calls,
            SortBy::CpuTimeTotal => us.cpu_time_total,
            SortBy::SelfCpuTimeTotal => us.self_cpu_time_total,
            SortBy::DeviceTimeTotal => us.device_time_total,
            SortBy::SelfDeviceTimeTotal => us.self_device_time_total,
            SortBy::CpuMemoryUsage => row.cpu_memory_usage as f64,
            SortBy::SelfCpuMemoryUsage => row.self_cpu_memory_usage as f64,
            SortBy::DeviceMemoryUsage => row.device_memory_usage as f64,
            SortBy::SelfDeviceMemoryUsage => row.self_device_memory_usage as f64,
            SortBy::Flops => row.flops as f64,
            SortBy::Scope => f64::from(row.scope),
            SortBy::NodeId => row.node_id.unwrap_or(-1) as f64,
            SortBy::IsAsync => flag(row.is_async),
            SortBy::IsRemote => flag(row.is_remote),
            SortBy::IsLegacy => flag(row.is_legacy),
            SortBy::IsUserAnnotation => flag(row.is_user_annotation),
            SortBy::Id => id(|ids| ids.id),
            SortBy::SequenceNr => id(|ids| ids.sequence_nr),
            SortBy::FwdThread => id(|ids| ids.fwd_thread),
            SortBy::DeviceIndex => id(|ids| ids.device_index),
            SortBy::DeviceResourceId => id(|ids| ids.device_resource_id),
            SortBy::Key | SortBy::Name | SortBy::InputShapes | SortBy::OverloadName | SortBy::Stack => 0.0,
        }
    }
}

/// Returns a text whose order is that of lists of numbers in Python: the numbers have equal widths, and the end of a
/// list precedes every number.
fn sortable(lists: &str) -> String {
    fn add(value: &Value, out: &mut String) {
        match value {
            Value::Array(items) => {
                for item in items {
                    add(item, out);
                }
                out.push('\0');
            }
            // Writing to a `String` cannot fail.
            number => drop(write!(out, "{:0>20}", number.to_string())),
        }
    }
    let mut out = String::new();
    add(&serde_json::from_str(lists).unwrap_or_default(), &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::sortable;

    #[test]
    fn shapes_have_the_order_of_lists() {
        let ordered = ["[]", "[[]]", "[[], [1]]", "[[2]]", "[[2, 3], [4]]", "[[2, 10]]", "[[10]]"];
        let texts = ordered.map(sortable);
        assert!(texts.is_sorted(), "{texts:?}");
    }
}
