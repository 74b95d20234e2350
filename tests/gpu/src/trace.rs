//! Lookups in a trace, for the checks.

use kinetoscope_core::trace::table::events::{Row, Table};
use kinetoscope_core::trace::table::fields::Value;
use kinetoscope_core::trace::table::layout::FieldPlace;
use std::collections::BTreeMap;

/// Returns the rows of a category.
pub(crate) fn rows<'a>(table: &'a Table, category: &'a str) -> impl Iterator<Item = Row> + 'a {
    table.rows().filter(move |&row| table.cat(row) == category)
}

/// Returns the rows of a category with a name.
pub(crate) fn named(table: &Table, category: &str, name: &str) -> Vec<Row> {
    rows(table, category).filter(|&row| table.name(row) == name).collect()
}

/// Returns an integer argument.
pub(crate) fn int(table: &Table, row: Row, key: &str) -> Option<i64> {
    table.field_named(row, FieldPlace::Args, key).as_ref().and_then(Value::as_i64)
}

/// Returns the number of rows of each category.
pub(crate) fn counts(table: &Table) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for row in table.rows() {
        *counts.entry(table.cat(row).to_owned()).or_default() += 1;
    }
    counts
}

/// Returns the call that caused a row.
pub(crate) fn call(table: &Table, row: Row) -> Option<Row> {
    let correlation = int(table, row, "correlation")?;
    let calls = rows(table, "cuda_driver").chain(rows(table, "cuda_runtime"));
    calls.into_iter().find(|&call| int(table, call, "correlation") == Some(correlation))
}
