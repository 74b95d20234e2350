//! The traces that tests read, and comparison of answers.

#![allow(dead_code)]

use kinetoscope_core::base::rows::{Cell, Rows};
use kinetoscope_core::trace::Trace;
use kinetoscope_tables::arrow::{RankTrace, RunId};
use kinetoscope_tables::sql::Answer;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The test data of the repository.
pub(crate) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data")
}

/// The traces of other people; they are not part of the repository.
pub(crate) fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    folder.is_dir().then_some(folder)
}

/// Every file below a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Reads a file, if it is a trace.
pub(crate) fn read(path: &Path) -> Option<RankTrace> {
    Some(ranked(kinetoscope::files::open(path).ok()?, "run", 0))
}

pub(crate) fn ranked(trace: Trace, run: &str, rank: i64) -> RankTrace {
    RankTrace::new(trace, RunId::new(run).expect("an id"), rank)
}

/// The rows of an answer of SQL as texts, sorted, for these columns.
pub(crate) fn rows_of(answer: &Answer, columns: &[&str]) -> Vec<Vec<String>> {
    let indexes: Vec<usize> =
        columns.iter().map(|column| answer.schema.index_of(column).expect("a column")).collect();
    let mut rows = Vec::new();
    answer
        .for_each_row(|row| rows.push(indexes.iter().map(|&at| number_text(&row[at])).collect()))
        .expect("values");
    rows.sort();
    rows
}

/// Rows of the engine as texts, sorted, for these columns.
pub(crate) fn rows_of_engine(
    answer: &Rows,
    columns: &[&str],
    only: Option<(&str, &str)>,
) -> Vec<Vec<String>> {
    // `left` and `right` are keywords of SQL.
    let index = |key: &str| {
        let key =
            if ["left_value", "right_value"].contains(&key) { key.trim_end_matches("_value") } else { key };
        answer.columns.iter().position(|column| column.key == key)
    };
    let indexes: Vec<usize> = columns.iter().map(|key| index(key).expect("a column")).collect();
    let is_wanted = |row: &&Vec<Cell>| {
        only.is_none_or(|(key, value)| row[index(key).expect("a column")] == Cell::Text(value.to_owned()))
    };
    let mut rows: Vec<Vec<String>> = answer
        .rows
        .iter()
        .filter(is_wanted)
        .map(|row| indexes.iter().map(|&at| cell_text(&row[at])).collect())
        .collect();
    rows.sort();
    rows
}

fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Absent | Cell::Null => "null".to_owned(),
        Cell::Ns(n) | Cell::UnixNs(n) | Cell::Bytes(n) | Cell::Int(n) | Cell::Amount(n) => n.to_string(),
        Cell::Rate(x) | Cell::Float(x) | Cell::Share(x) => format!("{x:?}"),
        Cell::Bool(flag) => flag.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Json(value) => value.to_string(),
    }
}

fn number_text(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => format!("{:?}", number.as_f64().expect("a number")),
        // Shapes are written as in Python, and as JSON by the engine.
        Value::String(text) if text.starts_with('[') => text.replace(", ", ","),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Says why a test does nothing, so that it is counted as skipped.
pub(crate) fn skip(reason: &str) {
    let thread = std::thread::current();
    let _ = writeln!(std::io::stderr(), "SKIPPED {}: {reason}", thread.name().unwrap_or("a test"));
}
