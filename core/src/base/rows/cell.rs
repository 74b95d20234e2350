//! The values of an answer, and their formats.

use crate::base::escape;
use crate::base::units;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use serde_json::Value;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No cell: rows of this kind do not have the column.
    Absent,
    /// No value.
    Null,
    /// A duration, or a time after the start of the recording, in ns.
    Ns(i64),
    /// A Unix time in ns, which may need more digits than an `f64` holds.
    UnixNs(i64),
    /// A size in bytes.
    Bytes(i64),
    /// A count or number.
    Int(i64),
    /// A large count, shown with an SI prefix.
    Amount(i64),
    /// A rate per second, shown with an SI prefix.
    Rate(f64),
    /// A ratio or mean.
    Float(f64),
    /// A ratio, shown in percent.
    Share(f64),
    /// A boolean, shown as `yes` or `no`.
    Bool(bool),
    /// A text.
    Text(String),
    /// Any JSON value.
    Json(Value),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Null, Into::into)
    }
}

impl From<bool> for Cell {
    fn from(flag: bool) -> Cell {
        Cell::Bool(flag)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Float(number)
    }
}

impl From<Value> for Cell {
    fn from(value: Value) -> Cell {
        Cell::Json(value)
    }
}

impl From<i64> for Cell {
    fn from(n: i64) -> Cell {
        Cell::Int(n)
    }
}

impl From<usize> for Cell {
    fn from(n: usize) -> Cell {
        Cell::Int(n as i64)
    }
}

/// Formats a cell for a table.
pub(super) fn text(cell: &Cell) -> String {
    match cell {
        Cell::Absent => String::new(),
        Cell::Null => "–".to_owned(),
        Cell::Ns(ns) => units::time_ns(*ns, None),
        Cell::Bytes(count) => units::bytes(*count),
        Cell::Amount(n) => units::with_prefix(*n as f64),
        Cell::Rate(f) => units::with_prefix(*f),
        Cell::Float(f) => format!("{f:.2}"),
        Cell::Share(f) => format!("{:.1}%", f * 100.0),
        Cell::Bool(b) => if *b { "yes" } else { "no" }.to_owned(),
        Cell::UnixNs(_) | Cell::Int(_) | Cell::Text(_) | Cell::Json(_) => plain(cell),
    }
}

/// Formats a cell without units.
pub(super) fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Absent | Cell::Null => String::new(),
        Cell::Ns(n) | Cell::UnixNs(n) | Cell::Bytes(n) | Cell::Amount(n) | Cell::Int(n) => n.to_string(),
        Cell::Rate(f) | Cell::Float(f) | Cell::Share(f) => f.to_string(),
        Cell::Bool(b) => b.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Json(value) => escape::json(&value.to_string()).into_owned(),
    }
}

/// Formats a cell as JSON. Numbers that are not finite become `null`.
pub fn json(cell: &Cell) -> String {
    match cell {
        Cell::Absent | Cell::Null => "null".to_owned(),
        Cell::Text(text) => quote(text),
        Cell::Json(value) => value.to_string(),
        Cell::Rate(f) | Cell::Float(f) | Cell::Share(f) if !f.is_finite() => "null".to_owned(),
        other => plain(other),
    }
}

/// Formats a text as a JSON string.
pub fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
