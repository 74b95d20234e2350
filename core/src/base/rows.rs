//! An answer as columns and rows, and its formats: text, CSV, Markdown, JSON.

mod cell;
mod column;
mod kinds;

pub use cell::{Cell, json, quote};
pub use column::{CellType, Column, Record, Shape};
pub(crate) use column::{Cells, columns, record};
pub(crate) use kinds::RowsOfKinds;
pub use kinds::{Kinds, Variant};

use crate::base::escape::{self, csv, csv_exact, markdown, whole_line};
use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use cell::plain;
use core::fmt::Write;

/// An answer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Rows {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// The maximum width of a cell of a text table, in characters.
pub const WIDEST: usize = 60;

impl Rows {
    /// An answer without rows.
    pub fn new(columns: &[Column]) -> Rows {
        Rows { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// An answer with these rows.
    pub(crate) fn from_cells(columns: &[Column], rows: impl Iterator<Item = Cells>) -> Rows {
        let mut answer = Rows::new(columns);
        rows.for_each(|row| answer.push(row));
        answer
    }

    /// A table for display only, with columns of these titles.
    pub fn page(titles: &[&'static str]) -> Rows {
        let column = |&title| Column { key: title, title, kind: CellType::Any, optional: true, about: "" };
        Rows { columns: titles.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Appends a row.
    pub fn push(&mut self, row: impl Into<Vec<Cell>>) {
        let row = row.into();
        debug_assert_eq!(row.len(), self.columns.len());
        for (column, cell) in self.columns.iter().zip(&row) {
            debug_assert!(column.fits(cell), "{cell:?} does not fit {column:?}");
        }
        self.rows.push(row);
    }

    /// Inserts a first column with the same text in every row.
    pub fn prepend(&mut self, key: &'static str, text: &str) {
        self.columns.insert(0, Column::text(key, "", ""));
        self.rows.iter_mut().for_each(|row| row.insert(0, text.into()));
    }

    /// The first row as a table with one line per titled column, for reading.
    pub fn transposed(&self) -> Rows {
        let mut out = Rows::page(&["What", "Value"]);
        let row = self.rows.first().map_or(&[][..], Vec::as_slice);
        for (column, cell) in self.columns.iter().zip(row).filter(|(c, _)| !c.title.is_empty()) {
            out.push(alloc::vec![column.title.into(), column.shown(cell).into()]);
        }
        out
    }

    /// Keeps the first `limit` rows; `None` keeps all.
    #[must_use]
    pub fn first(mut self, limit: Option<usize>) -> Rows {
        self.rows.truncate(limit.unwrap_or(usize::MAX));
        self
    }

    /// Formats a table for a terminal: numbers right-aligned, text left-aligned, two spaces between columns.
    pub fn to_text(&self) -> String {
        self.to_text_within(WIDEST)
    }

    /// As [`Rows::to_text`], with cells of up to `widest` characters.
    pub fn to_text_within(&self, widest: usize) -> String {
        let shown = self.shown();
        let titles: Vec<String> =
            shown.iter().map(|&c| escape::line(self.columns[c].title).into_owned()).collect();
        let cell = |row: &[Cell], c: usize| shorten(&self.columns[c].shown(&row[c]), widest);
        let cells: Vec<Vec<String>> =
            self.rows.iter().map(|row| shown.iter().map(|&c| cell(row, c)).collect()).collect();
        let width = |i: usize| {
            let title = titles[i].chars().count();
            cells.iter().map(|row| row[i].chars().count()).max().unwrap_or(0).max(title)
        };
        let widths: Vec<usize> = (0..shown.len()).map(width).collect();
        let left: Vec<bool> = shown.iter().map(|&c| self.is_text(c)).collect();
        let mut out = String::new();
        line(&mut out, &titles, &widths, &left);
        line(
            &mut out,
            &widths.iter().map(|&w| "─".repeat(w.min(WIDEST))).collect::<Vec<_>>(),
            &widths,
            &left,
        );
        for row in &cells {
            line(&mut out, row, &widths, &left);
        }
        out
    }

    /// Formats a Markdown table.
    pub fn to_markdown(&self) -> String {
        let shown = self.shown();
        let mut out = String::new();
        let mut row = |cells: Vec<String>| {
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        };
        row(shown.iter().map(|&c| markdown(self.columns[c].title)).collect());
        row(shown.iter().map(|&c| if self.is_text(c) { "---" } else { "---:" }.to_owned()).collect());
        for cells in &self.rows {
            row(shown.iter().map(|&c| markdown(&self.columns[c].shown(&cells[c]))).collect());
        }
        out
    }

    /// Formats CSV (RFC 4180) with every column and numbers without units. Texts are as [`escape::csv`] writes
    /// them, so that a spreadsheet runs none.
    pub fn to_csv(&self) -> String {
        self.csv(csv)
    }

    /// As [`Rows::to_csv`], with texts exactly as they are, for programs.
    pub fn to_exact_csv(&self) -> String {
        self.csv(csv_exact)
    }

    fn csv(&self, field: fn(&str) -> String) -> String {
        let mut out = String::new();
        let keys: Vec<String> = self.columns.iter().map(|c| field(c.key)).collect();
        let _ = writeln!(out, "{}\r", keys.join(","));
        for row in &self.rows {
            let cells = row.iter().map(|cell| match cell {
                Cell::Text(text) => field(text),
                Cell::Json(_) => csv_exact(&plain(cell)),
                _ => plain(cell),
            });
            let cells: Vec<String> = cells.collect();
            let _ = writeln!(out, "{}\r", cells.join(","));
        }
        out
    }

    /// Formats row `at` as a JSON object, without the columns that its kind does not have.
    pub fn json_row(&self, at: usize) -> String {
        let members: Vec<String> = self
            .columns
            .iter()
            .zip(&self.rows[at])
            .filter(|(_, cell)| **cell != Cell::Absent)
            .map(|(c, cell)| format!("{}:{}", quote(c.key), json(cell)))
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
    if let Cow::Owned(safe) = whole_line(&out[start..]) {
        out.truncate(start);
        out.push_str(&safe);
    }
    out.push('\n');
}

/// A text in one line; the middle of one that is too long is replaced by `…`.
fn shorten(text: &str, widest: usize) -> String {
    let text = escape::line(text);
    let length = text.chars().count();
    if length <= widest {
        return text.into_owned();
    }
    let head: String = text.chars().take(widest.saturating_sub(20)).collect();
    let tail: String = text.chars().skip(length - 19).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn rows() -> Rows {
        let mut rows = Rows::new(&[
            Column::text("name", "Name", ""),
            Column::ns("dur_ns", "Time", ""),
            Column::float("note", "", "").nullable(),
        ]);
        rows.push(vec!["a \"b\", c".into(), Cell::Ns(1500), Cell::Null]);
        rows.push(vec!["x|y".into(), Cell::Ns(2_000_000), Cell::Float(f64::NAN)]);
        rows
    }

    #[test]
    fn every_format_has_the_same_values() {
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
