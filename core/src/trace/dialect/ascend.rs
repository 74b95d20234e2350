//! Traces of Ascend devices.
//!
//! Ascend's profiler writes NPU work without a `cat`, in a process named `Ascend Hardware`. Its spans become kernels
//! and memory copies, so that every analysis treats them as device work.

use crate::base::names::NameId;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::vec::Vec;

/// Sets the category of NPU work.
pub(super) fn apply(table: &mut Table) {
    let Some(hardware) = table.names.find("Ascend Hardware") else { return };
    let processes = processes_named(table, hardware);
    let wanted = |table: &Table, row: Row| {
        table.ph(row) == b'X' && table.layout(row).cat.is_none() && processes.contains(&table.track(row).pid)
    };
    let rows: Vec<Row> = table.rows().filter(|&row| wanted(table, row)).collect();
    for row in rows {
        let name = table.name(row);
        let copy = name.to_ascii_lowercase().contains("memcpy");
        table.set_meaning(row, (b'X', if copy { Category::Memcpy } else { Category::Kernel }), &[]);
    }
}

/// The `pid`s of the processes with this name.
fn processes_named(table: &Table, name: NameId) -> Vec<NameId> {
    let metadata = table.rows().filter(|&row| table.ph(row) == b'M' && table.name(row) == "process_name");
    let named = metadata
        .filter(|&row| table.field(row, Key::Name).and_then(|v| v.as_str()) == Some(table.names.get(name)));
    named.map(|row| table.track(row).pid).collect()
}
