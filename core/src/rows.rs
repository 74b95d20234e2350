//! An answer as columns and rows, from which every format is made: text, CSV, Markdown, JSON.

use crate::units;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;
use serde_json::Value;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A duration or time in nanoseconds.
    Ns(i64),
    /// A size in bytes.
    Bytes(i64),
    /// A count or number.
    Int(i64),
    /// A ratio or mean.
    Float(f64),
    /// A share of 1, shown in percent.
    Share(f64),
    /// Yes or no.
    Bool(bool),
    /// A text.
    Text(String),
    /// Anything that JSON can say.
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

/// A column: its key in JSON and CSV, and its title in a table. A column without a title is in no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The key, such as `self_cpu_time_total_ns`.
    pub key: &'static str,
    /// The title, such as `Self CPU`; empty for a column that only JSON and CSV have.
    pub title: &'static str,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// Longest text of a table's cell, in characters.
const WIDEST: usize = 60;

impl Rows {
    /// An answer without rows; `columns` are (key, title).
    pub fn new(columns: &[(&'static str, &'static str)]) -> Rows {
        Rows {
            columns: columns.iter().map(|&(key, title)| Column { key, title }).collect(),
            rows: Vec::new(),
        }
    }

    /// Appends a row.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len());
        self.rows.push(row);
    }

    /// Puts a column with the same value in every row before the others.
    pub fn prepend(&mut self, key: &'static str, value: &Cell) {
        self.columns.insert(0, Column { key, title: "" });
        self.rows.iter_mut().for_each(|row| row.insert(0, value.clone()));
    }

    /// The first row as one line a column, for reading.
    pub fn transposed(&self) -> Rows {
        let mut out = Rows::new(&[("key", "What"), ("value", "Value")]);
        let row = self.rows.first().map_or(&[][..], Vec::as_slice);
        for (column, cell) in self.columns.iter().zip(row).filter(|(c, _)| !c.title.is_empty()) {
            out.push(alloc::vec![column.title.into(), text(cell).into()]);
        }
        out
    }

    /// The first rows only.
    pub fn truncate(&mut self, limit: Option<usize>) {
        self.rows.truncate(limit.unwrap_or(usize::MAX));
    }

    /// A table for a terminal: numbers to the right, text to the left, two blanks between columns.
    pub fn to_text(&self) -> String {
        let shown = self.shown();
        let cells: Vec<Vec<String>> =
            self.rows.iter().map(|row| shown.iter().map(|&c| shorten(&text(&row[c]))).collect()).collect();
        let width = |i: usize| {
            let title = self.columns[shown[i]].title.chars().count();
            cells.iter().map(|row| row[i].chars().count()).max().unwrap_or(0).max(title)
        };
        let widths: Vec<usize> = (0..shown.len()).map(width).collect();
        let left: Vec<bool> = shown.iter().map(|&c| self.is_text(c)).collect();
        let mut out = String::new();
        let titles: Vec<String> = shown.iter().map(|&c| self.columns[c].title.to_owned()).collect();
        line(&mut out, &titles, &widths, &left);
        line(&mut out, &widths.iter().map(|&w| "─".repeat(w)).collect::<Vec<_>>(), &widths, &left);
        for row in &cells {
            line(&mut out, row, &widths, &left);
        }
        out
    }

    /// A Markdown table.
    pub fn to_markdown(&self) -> String {
        let shown = self.shown();
        let mut out = String::new();
        let mut row = |cells: Vec<String>| {
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        };
        row(shown.iter().map(|&c| self.columns[c].title.to_owned()).collect());
        row(shown.iter().map(|&c| if self.is_text(c) { "---" } else { "---:" }.to_owned()).collect());
        for cells in &self.rows {
            row(shown.iter().map(|&c| text(&cells[c]).replace('|', "\\|").replace('\n', " ")).collect());
        }
        out
    }

    /// CSV by RFC 4180, every column, plain numbers.
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        let keys: Vec<String> = self.columns.iter().map(|c| csv_field(c.key)).collect();
        let _ = writeln!(out, "{}\r", keys.join(","));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| csv_field(&plain(cell))).collect();
            let _ = writeln!(out, "{}\r", cells.join(","));
        }
        out
    }

    /// Row `at` as a JSON object.
    pub fn json_row(&self, at: usize) -> String {
        let members: Vec<String> = self
            .columns
            .iter()
            .zip(&self.rows[at])
            .map(|(c, cell)| format!("\"{}\":{}", c.key, json(cell)))
            .collect();
        format!("{{{}}}", members.join(","))
    }

    fn shown(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|&c| !self.columns[c].title.is_empty()).collect()
    }

    fn is_text(&self, column: usize) -> bool {
        self.rows.iter().any(|row| matches!(row[column], Cell::Text(_) | Cell::Json(_)))
    }
}

fn line(out: &mut String, cells: &[String], widths: &[usize], left: &[bool]) {
    let start = out.len();
    for ((cell, &width), &left) in cells.iter().zip(widths).zip(left) {
        let padding = width - cell.chars().count().min(width);
        if !left {
            out.extend(core::iter::repeat_n(' ', padding));
        }
        out.push_str(cell);
        if left {
            out.extend(core::iter::repeat_n(' ', padding));
        }
        out.push_str("  ");
    }
    let end = out[start..].trim_end().len() + start;
    out.truncate(end);
    out.push('\n');
}

/// The middle of a text that is too long, left out.
fn shorten(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let length = text.chars().count();
    if length <= WIDEST {
        return text;
    }
    let head: String = text.chars().take(WIDEST - 20).collect();
    let tail: String = text.chars().skip(length - 19).collect();
    format!("{head}…{tail}")
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Null => "–".to_owned(),
        Cell::Ns(ns) => units::time_ns(*ns, None),
        Cell::Bytes(count) => units::bytes(*count),
        Cell::Float(f) => format!("{f:.2}"),
        Cell::Share(f) => format!("{:.1}%", f * 100.0),
        Cell::Bool(b) => if *b { "yes" } else { "no" }.to_owned(),
        Cell::Int(_) | Cell::Text(_) | Cell::Json(_) => plain(cell),
    }
}

fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Ns(n) | Cell::Bytes(n) | Cell::Int(n) => n.to_string(),
        Cell::Float(f) | Cell::Share(f) => f.to_string(),
        Cell::Bool(b) => b.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Json(value) => value.to_string(),
    }
}

/// A cell as JSON; what JSON cannot say is `null`.
pub fn json(cell: &Cell) -> String {
    match cell {
        Cell::Null => "null".to_owned(),
        Cell::Text(text) => quote(text),
        Cell::Float(f) | Cell::Share(f) if !f.is_finite() => "null".to_owned(),
        other => plain(other),
    }
}

/// A text as a JSON string.
pub fn quote(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

pub(crate) fn csv_field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn rows() -> Rows {
        let mut rows = Rows::new(&[("name", "Name"), ("dur_ns", "Time"), ("note", "")]);
        rows.push(vec!["a \"b\", c".into(), Cell::Ns(1500), Cell::Null]);
        rows.push(vec!["x|y".into(), Cell::Ns(2_000_000), Cell::Float(f64::NAN)]);
        rows
    }

    #[test]
    fn every_format_says_the_same() {
        let rows = rows();
        assert_eq!(
            rows.to_text(),
            "Name         Time\n────────  ───────\na \"b\", c  1.500us\nx|y       2.000ms\n"
        );
        assert_eq!(rows.to_csv(), "name,dur_ns,note\r\n\"a \"\"b\"\", c\",1500,\r\nx|y,2000000,NaN\r\n");
        assert_eq!(
            rows.to_markdown(),
            "| Name | Time |\n| --- | ---: |\n| a \"b\", c | 1.500us |\n| x\\|y | 2.000ms |\n"
        );
        assert_eq!(rows.json_row(1), r#"{"name":"x|y","dur_ns":2000000,"note":null}"#);
    }
}
