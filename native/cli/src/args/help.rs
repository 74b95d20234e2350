//! The texts below the help of a command: its examples and the columns of its answer.

use kinetoscope_core::base::rows::{Column, Variant};
use kinetoscope_core::queries::Query;
use std::fmt::Write;

pub(super) fn examples(command: &str, examples: &[&str]) -> String {
    let lines: Vec<String> = examples.iter().map(|e| format!("  kinetoscope {command} {e}")).collect();
    format!("Examples:\n{}", lines.join("\n"))
}

/// The columns of a query; of rows of several kinds, those of each kind.
pub(super) fn columns_of(query: &Query) -> String {
    let Some(kinds) = query.kinds else { return columns("Columns", &query.columns()) };
    let of_kind = |variant: &Variant| {
        columns(&format!("Columns of rows of the kind {}", variant.kinds.join(", ")), variant.columns)
    };
    let first = columns("The first column of every row", &[kinds.column]);
    first + &kinds.variants.iter().map(of_kind).collect::<String>()
}

/// Columns with their JSON keys.
pub(super) fn columns(title: &str, columns: &[Column]) -> String {
    let mut out = format!("{title}, by their keys in JSON and CSV:\n");
    let longest = columns.iter().map(|column| column.key.len()).max().unwrap_or(0);
    for column in columns {
        let _ = writeln!(out, "  {:<longest$}  {}", column.key, column.about);
    }
    out + "\n"
}
