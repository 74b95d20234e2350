//! The arguments of PyTorch's `table()`, with its defaults.

use super::sort_by::SortBy;
use crate::base::units::TimeUnit;
use alloc::string::String;

/// The arguments of PyTorch's `table()`, with its defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableOptions {
    /// The attribute to sort by; `None` keeps the order of the rows.
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

    /// Returns the same options, sorted by an attribute.
    #[must_use]
    pub fn with_sort_by(self, attribute: SortBy) -> TableOptions {
        TableOptions { sort_by: Some(attribute), ..self }
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
