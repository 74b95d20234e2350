//! The page about the tables for queries, which is written from the schema.

use crate::{check, source};
use kinetoscope_core::queries::schema::{FieldType, Schema, TABLES, VERSION};
use std::fmt::Write;

/// Checks the page.
pub(crate) fn check_page() {
    let mut out = include_str!("schema.md").replace("VERSION", &VERSION.to_string());
    for schema in TABLES {
        table(&mut out, schema);
    }
    check(&source().join("reference/schema.md"), &out);
}

fn table(out: &mut String, schema: &Schema) {
    let order = schema.sorted_by.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    let order = if order.is_empty() { order } else { format!(" Sorted by {order}.") };
    let _ = writeln!(out, "\n## {}\n\n{}{order}\n", schema.name, schema.about);
    let _ = writeln!(out, "| column | type | can be null | meaning |\n|---|---|---|---|");
    for field in schema.fields() {
        let kind = match field.kind {
            FieldType::Int => "int64",
            FieldType::Float => "double",
            FieldType::Bool => "boolean",
            FieldType::Map => "map of texts",
            _ => "text",
        };
        let optional = if field.optional { "yes" } else { "no" };
        let _ = writeln!(out, "| `{}` | {kind} | {optional} | {} |", field.name, field.about);
    }
}
