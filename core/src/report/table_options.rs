//! The arguments of torch's `table()`, and its defaults.

use crate::analysis::torch::averages::Average;
use crate::units::TimeUnit;
use crate::words::words;
use alloc::string::String;

words! {
    "SortBy"
    /// A column that torch's table is sorted by, descending.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SortBy {
        /// How many calls.
        Count = "count",
        /// Mean time on the CPU.
        CpuTime = "cpu_time",
        /// Time on the CPU.
        CpuTimeTotal = "cpu_time_total",
        /// The same without what was called inside.
        SelfCpuTimeTotal = "self_cpu_time_total",
        /// Mean time on the device.
        DeviceTime = "device_time",
        /// Time on the device.
        DeviceTimeTotal = "device_time_total",
        /// The same without what was called inside.
        SelfDeviceTimeTotal = "self_device_time_total",
        /// Memory of the CPU.
        CpuMemoryUsage = "cpu_memory_usage",
        /// The same without what was called inside.
        SelfCpuMemoryUsage = "self_cpu_memory_usage",
        /// Memory of the device.
        DeviceMemoryUsage = "device_memory_usage",
        /// The same without what was called inside.
        SelfDeviceMemoryUsage = "self_device_memory_usage",
        /// Floating point operations.
        Flops = "flops",
    }
}

impl SortBy {
    /// The column of torch's name, which has `cuda`, `xpu` or `privateuse1` for `device` as well.
    pub fn of(name: &str) -> Option<SortBy> {
        let name = name.replace("privateuse1", "device").replace("cuda", "device").replace("xpu", "device");
        SortBy::ALL.iter().copied().find(|by| by.as_str() == name)
    }

    /// The value of a row, in torch's units.
    pub(super) fn value(self, row: &Average) -> f64 {
        let us = &row.torch_us;
        let calls = row.count.max(1) as f64;
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
        }
    }
}

/// The arguments of torch's `table()`, with its defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableOptions {
    /// The column to sort by; rows stay as they are without one.
    pub sort_by: Option<SortBy>,
    /// How many rows; `None` for all.
    pub row_limit: Option<usize>,
    /// Leave out rows whose first event has a parent.
    pub top_level_events_only: bool,
    /// The unit of all times.
    pub time_unit: Option<TimeUnit>,
    /// Longest name; `None` for any.
    pub max_name_column_width: Option<usize>,
    /// Longest shapes; `None` for any.
    pub max_shapes_column_width: Option<usize>,
    /// Longest stack frame; `None` for any.
    pub max_src_column_width: Option<usize>,
    /// A line above the table.
    pub header: Option<String>,
}

impl TableOptions {
    /// Torch's default of `row_limit`.
    pub const ROW_LIMIT: usize = 100;
    /// Torch's default of `max_name_column_width`.
    pub const NAME_WIDTH: usize = 55;
    /// Torch's default of `max_shapes_column_width`.
    pub const SHAPES_WIDTH: usize = 80;
    /// Torch's default of `max_src_column_width`.
    pub const SRC_WIDTH: usize = 75;

    /// The same, sorted by a column.
    #[must_use]
    pub fn with_sort_by(self, column: SortBy) -> TableOptions {
        TableOptions { sort_by: Some(column), ..self }
    }

    /// The same with at most this many rows; `None` for all.
    #[must_use]
    pub fn with_row_limit(self, rows: Option<usize>) -> TableOptions {
        TableOptions { row_limit: rows, ..self }
    }

    /// The same with all times in one unit.
    #[must_use]
    pub fn with_time_unit(self, unit: TimeUnit) -> TableOptions {
        TableOptions { time_unit: Some(unit), ..self }
    }
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions {
            sort_by: None,
            row_limit: Some(TableOptions::ROW_LIMIT),
            top_level_events_only: false,
            time_unit: None,
            max_name_column_width: Some(TableOptions::NAME_WIDTH),
            max_shapes_column_width: Some(TableOptions::SHAPES_WIDTH),
            max_src_column_width: Some(TableOptions::SRC_WIDTH),
            header: None,
        }
    }
}
