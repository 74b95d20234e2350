//! A page of text for people. It is built of lines and tables, so that no text of a trace can begin a line of its own, and is
//! laid out for the width of its reader.

use crate::base::escape::whole_line;
use crate::base::rows::text::{Limits, table, wrapped};
use crate::base::rows::{Rows, WIDEST};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display, Formatter, Write};

/// A page of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    blocks: Vec<Block>,
    /// Whether lines stay as they are, however long.
    is_exact: bool,
}

/// A part of a page.
#[derive(Clone, Debug, PartialEq)]
enum Block {
    /// A line, and by how many characters what does not fit into it is indented.
    Line(String, usize),
    Table {
        rows: Rows,
        /// The longest text in a cell, in characters.
        widest: usize,
        indent: usize,
    },
}

/// A title of a list of which at most so many rows are shown.
pub(crate) fn listed(what: &str, of: usize, most: usize) -> String {
    if of > most { format!("{what}: {most} of {of}") } else { what.into() }
}

impl Page {
    /// A page whose lines are those of another program: they are never wrapped.
    pub fn exact() -> Page {
        Page { is_exact: true, ..Page::default() }
    }

    /// Appends one line. A line feed in it is shown as `\n`.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let blanks = line.as_ref().bytes().take_while(|&byte| byte == b' ').count();
        self.hanging(line, blanks + 2);
    }

    /// Appends one line. If it has to be wrapped, its further lines are indented by `indent` blanks.
    pub(crate) fn hanging(&mut self, line: impl AsRef<str>, indent: usize) {
        self.blocks.push(Block::Line(whole_line(line.as_ref()).into_owned(), indent));
    }

    /// Appends an empty line.
    pub fn blank(&mut self) {
        self.line("");
    }

    /// Appends a table.
    pub fn table(&mut self, rows: &Rows) {
        self.table_within(rows, WIDEST);
    }

    /// Appends a table with cells of up to `widest` characters.
    pub fn table_within(&mut self, rows: &Rows, widest: usize) {
        self.blocks.push(Block::Table { rows: rows.clone(), widest, indent: 0 });
    }

    /// Appends an empty line, a title and a table; nothing for a table without rows.
    pub fn section(&mut self, title: &str, rows: &Rows) {
        if !rows.rows.is_empty() {
            self.blank();
            self.line(title);
            self.table(rows);
        }
    }

    /// Appends an empty line, a title and a table below it, indented by two blanks; nothing for a table without rows.
    pub fn indented(&mut self, title: &str, rows: &Rows) {
        if !rows.rows.is_empty() {
            self.blank();
            self.line(title);
            self.blocks.push(Block::Table { rows: rows.clone(), widest: WIDEST, indent: 2 });
        }
    }

    /// Whether nothing was appended.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns the text in lines of up to `width` characters; of any length without a width.
    pub fn to_text(&self, width: Option<usize>) -> String {
        let mut text = String::new();
        let width = width.filter(|_| !self.is_exact);
        for block in &self.blocks {
            match block {
                Block::Line(line, indent) => push_line(&mut text, line, *indent, width),
                Block::Table { rows, widest, indent } => {
                    let width = width.map(|width| width.saturating_sub(*indent));
                    let limits = Limits { widest: *widest, width };
                    for line in table(rows, limits).lines() {
                        let blanks = if line.is_empty() { "" } else { &"  "[..*indent] };
                        let _ = writeln!(text, "{blanks}{line}");
                    }
                }
            }
        }
        text
    }
}

/// Appends a line, wrapped at blanks.
fn push_line(text: &mut String, line: &str, indent: usize, width: Option<usize>) {
    let Some(width) = width.filter(|&width| line.chars().count() > width) else {
        text.push_str(line);
        text.push('\n');
        return;
    };
    let body = line.trim_start_matches(' ');
    let blanks = line.len() - body.len();
    let first = wrapped(body, width.saturating_sub(blanks)).swap_remove(0);
    let _ = writeln!(text, "{}{}", &line[..blanks], first.trim_end());
    let rest = body.get(first.len()..).unwrap_or_default().trim_start_matches(' ');
    let indent = indent.min(width / 2);
    for part in wrapped(rest, width - indent) {
        let _ = writeln!(text, "{}{part}", " ".repeat(indent));
    }
}

impl Display for Page {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_with_their_indent() {
        let mut page = Page::default();
        page.line("  one two three");
        page.hanging("a: one two three four", 3);
        assert_eq!(page.to_text(None), "  one two three\na: one two three four\n");
        assert_eq!(page.to_text(Some(10)), "  one two\n    three\na: one two\n   three\n   four\n");
        let mut exact = Page::exact();
        exact.line("one two three");
        assert_eq!(exact.to_text(Some(5)), "one two three\n");
    }
}
