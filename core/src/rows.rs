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
    /// A duration, or a time after the start of the recording, in nanoseconds.
    Ns(i64),
    /// A Unix time in nanoseconds: more than a floating point number holds exactly.
    UnixNs(i64),
    /// A size in bytes.
    Bytes(i64),
    /// A count or number.
    Int(i64),
    /// A large count, shown with an SI prefix.
    Amount(i64),
    /// An amount by second, shown with an SI prefix.
    Rate(f64),
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

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellType {
    /// [`Cell::Ns`].
    Ns,
    /// [`Cell::UnixNs`].
    UnixNs,
    /// [`Cell::Bytes`].
    Bytes,
    /// [`Cell::Int`].
    Int,
    /// [`Cell::Amount`].
    Amount,
    /// [`Cell::Rate`].
    Rate,
    /// [`Cell::Float`].
    Float,
    /// [`Cell::Share`].
    Share,
    /// [`Cell::Bool`].
    Bool,
    /// [`Cell::Text`].
    Text,
    /// [`Cell::Json`] of this shape, in TypeScript's notation.
    Json(&'static str),
    /// Whatever a page of text shows.
    Any,
}

impl CellType {
    fn fits(self, cell: &Cell) -> bool {
        matches!(
            (self, cell),
            (CellType::Any, _)
                | (CellType::Ns, Cell::Ns(_))
                | (CellType::UnixNs, Cell::UnixNs(_))
                | (CellType::Bytes, Cell::Bytes(_))
                | (CellType::Int, Cell::Int(_))
                | (CellType::Amount, Cell::Amount(_))
                | (CellType::Rate, Cell::Rate(_))
                | (CellType::Float, Cell::Float(_))
                | (CellType::Share, Cell::Share(_))
                | (CellType::Bool, Cell::Bool(_))
                | (CellType::Text, Cell::Text(_))
                | (CellType::Json(_), Cell::Json(_))
        )
    }
}

/// A column: its key in JSON and CSV, its title in a table, what its cells are and what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The key, such as `self_cpu_time_total_ns`.
    pub key: &'static str,
    /// The title, such as `Self CPU`; empty for a column that only JSON and CSV have.
    pub title: &'static str,
    /// What its cells are.
    pub kind: CellType,
    /// A cell can be [`Cell::Null`].
    pub optional: bool,
    /// One sentence that explains the number; empty without the feature `help`.
    pub about: &'static str,
}

/// A text that only explains: empty in a build without the feature `help`.
pub(crate) const fn help(text: &'static str) -> &'static str {
    if cfg!(feature = "help") { text } else { "" }
}

impl Column {
    const fn of(kind: CellType, key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column { key, title, kind, optional: false, about: help(about) }
    }

    /// A column of [`CellType::Ns`].
    pub const fn ns(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::of(CellType::Ns, key, title, about)
    }

    /// A column of [`CellType::UnixNs`].
    pub const fn unix_ns(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::of(CellType::UnixNs, key, title, about)
    }

    /// A column of [`CellType::Bytes`].
    pub const fn bytes(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::of(CellType::Bytes, key, title, about)
    }

    /// A column of [`CellType::Int`].
    pub const fn int(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::of(CellType::Int, key, title, about)
    }

    /// A column of [`CellType::Amount`].
    pub const fn amount(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::of(CellType::Amount, key, title, about)
    }

    /// A column of [`CellType::Rate`].
    pub const fn rate(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::of(CellType::Rate, key, title, about)
    }

    /// A column of [`CellType::Float`].
    pub const fn float(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::of(CellType::Float, key, title, about)
    }

    /// A column of [`CellType::Share`].
    pub const fn share(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::of(CellType::Share, key, title, about)
    }

    /// A column of [`CellType::Bool`].
    pub const fn bool(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::of(CellType::Bool, key, title, about)
    }

    /// A column of [`CellType::Text`].
    pub const fn text(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::of(CellType::Text, key, title, about)
    }

    /// A column of [`CellType::Json`] of this shape.
    pub const fn json(
        key: &'static str,
        title: &'static str,
        shape: &'static str,
        about: &'static str,
    ) -> Column {
        Column::of(CellType::Json(shape), key, title, about)
    }

    /// The same column, where a cell can be empty.
    pub const fn or_null(self) -> Column {
        Column { optional: true, ..self }
    }
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
    /// An answer without rows.
    pub fn new(columns: &[Column]) -> Rows {
        Rows { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// A table that is only looked at, of columns with these titles.
    pub fn page(titles: &[&'static str]) -> Rows {
        let column = |&title| Column { key: title, title, kind: CellType::Any, optional: true, about: "" };
        Rows { columns: titles.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Appends a row.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len());
        for (column, cell) in self.columns.iter().zip(&row) {
            let fits = column.kind.fits(cell) || (column.optional && *cell == Cell::Null);
            debug_assert!(fits, "{cell:?} does not fit {column:?}");
        }
        self.rows.push(row);
    }

    /// Puts a column with the same text in every row before the others.
    pub fn prepend(&mut self, key: &'static str, text: &str) {
        self.columns.insert(0, Column::text(key, "", ""));
        self.rows.iter_mut().for_each(|row| row.insert(0, text.into()));
    }

    /// The first row as one line a column, for reading.
    pub fn transposed(&self) -> Rows {
        let mut out = Rows::page(&["What", "Value"]);
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
        Cell::Amount(n) => units::with_prefix(*n as f64),
        Cell::Rate(f) => units::with_prefix(*f),
        Cell::Float(f) => format!("{f:.2}"),
        Cell::Share(f) => format!("{:.1}%", f * 100.0),
        Cell::Bool(b) => if *b { "yes" } else { "no" }.to_owned(),
        Cell::UnixNs(_) | Cell::Int(_) | Cell::Text(_) | Cell::Json(_) => plain(cell),
    }
}

fn plain(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Ns(n) | Cell::UnixNs(n) | Cell::Bytes(n) | Cell::Amount(n) | Cell::Int(n) => n.to_string(),
        Cell::Rate(f) | Cell::Float(f) | Cell::Share(f) => f.to_string(),
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
        Cell::Rate(f) | Cell::Float(f) | Cell::Share(f) if !f.is_finite() => "null".to_owned(),
        other => plain(other),
    }
}

/// A text as a JSON string.
pub(crate) fn quote(text: &str) -> String {
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
        let mut rows = Rows::new(&[
            Column::text("name", "Name", ""),
            Column::ns("dur_ns", "Time", ""),
            Column::float("note", "", "").or_null(),
        ]);
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
