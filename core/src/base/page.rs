//! A page of text for people. It is built of lines and tables, so that no text of a trace can begin a line of its own.

use crate::base::escape::whole_line;
use crate::base::rows::Rows;
use alloc::format;
use alloc::string::String;
use core::fmt::{self, Display, Formatter};
use core::ops::Deref;

/// A page of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page(String);

impl Page {
    /// Appends one line. A line feed in it is shown as `\n`.
    pub fn line(&mut self, line: impl AsRef<str>) {
        self.0.push_str(&whole_line(line.as_ref()));
        self.0.push('\n');
    }

    /// Appends an empty line.
    pub fn blank(&mut self) {
        self.0.push('\n');
    }

    /// Appends a table.
    pub fn table(&mut self, rows: &Rows) {
        self.0.push_str(&rows.to_text());
    }

    /// Appends a table with cells of up to `widest` characters.
    pub fn table_within(&mut self, rows: &Rows, widest: usize) {
        self.0.push_str(&rows.to_text_within(widest));
    }

    /// Appends an empty line, a title and a table with cells of up to `widest` characters; nothing for a table without rows.
    pub fn section(&mut self, title: &str, rows: &Rows, widest: usize) {
        if !rows.rows.is_empty() {
            self.blank();
            self.line(title);
            self.table_within(rows, widest);
        }
    }

    /// Appends an empty line, a title and a table below it, indented by two blanks; nothing for a table without rows.
    pub fn indented(&mut self, title: &str, rows: &Rows) {
        if rows.rows.is_empty() {
            return;
        }
        self.blank();
        self.line(title);
        for line in rows.to_text().lines() {
            self.line(format!("  {line}"));
        }
    }

    /// Returns the text.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Deref for Page {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Display for Page {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
