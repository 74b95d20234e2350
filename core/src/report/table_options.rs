//! The arguments of PyTorch's `table()`, with its defaults.

use crate::analysis::torch::averages::Average;
use crate::units::TimeUnit;
use crate::words::words;
use alloc::string::String;

words! {
    "SortBy"
    /// A column of PyTorch's table to sort by, in descending order.
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
    }
}

impl SortBy {
    /// Returns the column with PyTorch's name, in which `cuda`, `xpu` or `privateuse1` can replace `device`.
    pub fn of(name: &str) -> Option<SortBy> {
        let name = name.replace("privateuse1", "device").replace("cuda", "device").replace("xpu", "device");
        SortBy::ALL.iter().copied().find(|by| by.as_str() == name)
    }

    /// Returns the value of a row, in PyTorch's units.
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

/// The arguments of PyTorch's `table()`, with its defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableOptions {
    /// The column to sort by; `None` keeps the order of the rows.
    pub sort_by: Option<SortBy>,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
    /// Leave out rows whose first event has a parent.
    pub top_level_events_only: bool,
    /// The unit of all times; `None` chooses one for each value.
    pub time_unit: Option<TimeUnit>,
    /// The maximum width of names; `None` for no limit.
    pub max_name_column_width: Option<usize>,
    /// The maximum width of shapes; `None` for no limit.
    pub max_shapes_column_width: Option<usize>,
    /// The maximum width of stack frames; `None` for no limit.
    pub max_src_column_width: Option<usize>,
    /// A line above the table.
    pub header: Option<String>,
}

impl TableOptions {
    /// PyTorch's default of `row_limit`.
    pub const ROW_LIMIT: usize = 100;
    /// PyTorch's default of `max_name_column_width`.
    pub const NAME_WIDTH: usize = 55;
    /// PyTorch's default of `max_shapes_column_width`.
    pub const SHAPES_WIDTH: usize = 80;
    /// PyTorch's default of `max_src_column_width`.
    pub const SRC_WIDTH: usize = 75;

    /// Returns the same options, sorted by a column.
    #[must_use]
    pub fn with_sort_by(self, column: SortBy) -> TableOptions {
        TableOptions { sort_by: Some(column), ..self }
    }

    /// Returns the same options with a maximum number of rows; `None` for all.
    #[must_use]
    pub fn with_row_limit(self, rows: Option<usize>) -> TableOptions {
        TableOptions { row_limit: rows, ..self }
    }

    /// Returns the same options with all times in one unit.
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
