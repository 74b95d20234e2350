//! The list of the library of queries.

use super::output::document;
use kinetoscope_tables::sql::{QUERIES, Query};
use serde_json::json;
use std::fmt::Write;

/// The queries of the library, with a line each.
pub(super) fn list() -> String {
    let longest = QUERIES.iter().map(|query| query.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for query in QUERIES {
        let _ = writeln!(out, "{:<longest$}  {}", query.name, query.about());
    }
    out
}

/// The queries of the library with their texts, as JSON.
pub(super) fn as_json() -> String {
    let row = |query: &Query| {
        json!({ "name": query.name, "about": query.about(), "equals": query.equals(), "sql": query.sql })
            .to_string()
    };
    let rows: Vec<String> = QUERIES.iter().map(row).collect();
    document("queries", &rows)
}
