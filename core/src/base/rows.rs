//! An answer as columns and rows, and its formats: text, CSV, Markdown, JSON.

mod cell;
mod column;
mod kinds;
pub(super) mod text;

pub use cell::{Cell, json, quote};
pub use column::{CellType, Column, Layout, Record, Shape};
pub(crate) use column::{Cells, columns, record};
pub(crate) use kinds::RowsOfKinds;
pub use kinds::{Kinds, Variant};

use crate::base::escape::{csv, csv_exact, markdown};
use alloc::borrow::ToOwned;
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
        let column = |&title| Column {
            key: title,
            title,
            kind: CellType::Any,
            optional: true,
            layout: Layout::Plain,
            about: "",
        };
        Rows { columns: titles.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Sets the layout of the columns with these titles.
    #[must_use]
    pub(crate) fn with(mut self, layout: Layout, titles: &[&str]) -> Rows {
        for column in self.columns.iter_mut().filter(|column| titles.contains(&column.title)) {
            column.layout = layout;
        }
        self
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

    /// Formats a table for people: numbers right-aligned, text left-aligned, two spaces between columns. Sentences are whole;
    /// other texts longer than [`WIDEST`] are shortened in the middle.
    pub fn to_text(&self) -> String {
        self.to_text_fitting(None)
    }

    /// As [`Rows::to_text`], with texts of up to `widest` characters.
    pub fn to_text_within(&self, widest: usize) -> String {
        text::table(self, text::Limits { widest, width: None })
    }

    /// As [`Rows::to_text`], in lines of up to `width` characters if there is a width: sentences are wrapped, other texts are
    /// shortened, and columns are left out if that does not suffice. A line below the table names them, unless they are empty.
    pub fn to_text_fitting(&self, width: Option<usize>) -> String {
        text::table(self, text::Limits { widest: WIDEST, width })
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

    /// Formats CSV (RFC 4180) with every column and numbers without units. Texts are as [`csv`] writes
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
