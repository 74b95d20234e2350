//! Events that PyTorch's views leave out.

use crate::base::names::{NameId, Names};
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::Key;
use alloc::vec::Vec;

/// The names of ranges and events that PyTorch's views leave out.
pub const HIDDEN: [&str; 8] = [
    "[memory]",
    "[OutOfMemory]",
    "profiler::_record_function_enter",
    "profiler::_record_function_enter_new",
    "profiler::_record_function_exit",
    "aten::is_leaf",
    "aten::output_nr",
    "aten::_version",
];

/// The ids of the names of [`HIDDEN`] that a trace has.
pub(crate) fn hidden_names(names: &Names) -> Vec<NameId> {
    HIDDEN.iter().filter_map(|name| names.find(name)).collect()
}

/// Whether PyTorch's views leave an event out.
pub(crate) fn is_hidden(table: &Table, row: Row, names: &[NameId]) -> bool {
    names.contains(&table.name_id(row)) || table.field(row, Key::IsHiddenEvent) == Some(Value::Bool(true))
}
