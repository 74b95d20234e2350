//! Tables as text for people.

use super::{Cell, Layout, Rows, WIDEST};
use crate::base::escape::{self, whole_line};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

/// How wide a table may be, in characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The longest text of a cell, except for sentences.
    pub(crate) widest: usize,
    /// The longest line; `None` if any is readable.
    pub(crate) width: Option<usize>,
}

/// The blanks between two columns.
const GAP: usize = 2;

/// The narrowest column of sentences, and of other texts.
const NARROWEST_SENTENCE: usize = 24;
const NARROWEST_TEXT: usize = 16;

/// A column while its width is found.
struct Shown {
    title: String,
    cells: Vec<String>,
    is_text: bool,
    layout: Layout,
    /// Whether no cell has a value.
    is_empty: bool,
    width: usize,
}

impl Shown {
    fn new(rows: &Rows, at: usize) -> Shown {
        let column = &rows.columns[at];
        let title = escape::line(column.title).into_owned();
        let cells: Vec<String> =
            rows.rows.iter().map(|row| escape::line(&column.shown(&row[at])).into_owned()).collect();
        let longest = cells.iter().chain([&title]).map(|cell| length(cell)).max().unwrap_or(0);
        let is_text = rows.rows.iter().any(|row| matches!(row[at], Cell::Text(_) | Cell::Json(_)));
        let is_empty = rows.rows.iter().all(|row| matches!(row[at], Cell::Null | Cell::Absent));
        Shown { title, cells, is_text, layout: column.layout, is_empty, width: longest }
    }

    fn is_sentence(&self) -> bool {
        self.layout == Layout::Sentence
    }

    /// The narrowest that the column can be.
    fn narrowest(&self) -> usize {
        let least = if self.is_sentence() { NARROWEST_SENTENCE } else { NARROWEST_TEXT };
        if self.is_text { self.width.min(least.max(length(&self.title))) } else { self.width }
    }

    /// The lines of each cell.
    fn lines(&self) -> Vec<Vec<String>> {
        if self.is_sentence() {
            return self.cells.iter().map(|cell| wrapped(cell, self.width)).collect();
        }
        let mut short: Vec<String> = self.cells.iter().map(|cell| shorten(cell, self.width)).collect();
        self.set_apart(&mut short);
        short.into_iter().map(|cell| [cell].into()).collect()
    }

    /// Shortens texts again that differ and look alike, so that the place where they differ is shown.
    fn set_apart(&self, short: &mut [String]) {
        let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, text) in short.iter().enumerate().filter(|(at, text)| **text != self.cells[*at]) {
            alike.entry(text.clone()).or_default().push(at);
        }
        for places in alike.into_values().filter(|places| places.len() > 1) {
            let common = places.windows(2).map(|pair| {
                let [a, b] = [0, 1].map(|side: usize| self.cells[pair[side]].chars());
                a.zip(b).take_while(|(x, y)| x == y).count()
            });
            let texts = || places.iter().map(|&at| &self.cells[at]);
            if texts().all(|text| *text == self.cells[places[0]]) {
                continue;
            }
            let from = common.min().unwrap_or(0);
            for at in places {
                short[at] = around(&self.cells[at], from, self.width);
            }
        }
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Returns a table as text.
pub(crate) fn table(rows: &Rows, limits: Limits) -> String {
    let titled = (0..rows.columns.len()).filter(|&at| !rows.columns[at].title.is_empty());
    let mut shown: Vec<Shown> = titled.map(|at| Shown::new(rows, at)).collect();
    for column in shown.iter_mut().filter(|column| !column.is_sentence()) {
        column.width = column.width.min(limits.widest.max(length(&column.title)));
    }
    let left_out = limits.width.map_or_else(Vec::new, |width| fit(&mut shown, width));
    let mut out = String::new();
    let titles: Vec<&str> = shown.iter().map(|column| column.title.as_str()).collect();
    line(&mut out, &titles, &shown);
    let rules: Vec<String> = shown.iter().map(|column| "─".repeat(column.width.min(rule(limits)))).collect();
    line(&mut out, &rules.iter().map(String::as_str).collect::<Vec<_>>(), &shown);
    let columns: Vec<Vec<Vec<String>>> = shown.iter().map(Shown::lines).collect();
    for row in 0..rows.rows.len() {
        let cells: Vec<&[String]> = columns.iter().map(|column| column[row].as_slice()).collect();
        lines(&mut out, &cells, &shown);
    }
    if !left_out.is_empty() {
        let text = format!("Not shown in this width: {}.", left_out.join(", "));
        for line in wrapped(&text, limits.width.unwrap_or(usize::MAX)) {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// The longest rule below a title: without a width, sentences can be very long.
fn rule(limits: Limits) -> usize {
    limits.width.unwrap_or(WIDEST)
}

/// Makes the columns narrower until they fit. Returns the titles of those that are left out.
fn fit(shown: &mut Vec<Shown>, width: usize) -> Vec<String> {
    let mut left_out = Vec::new();
    while excess(shown, Shown::narrowest, width) > 0
        && let Some(at) = least(shown)
    {
        let column = shown.remove(at);
        if !column.is_empty {
            left_out.push(column.title);
        }
    }
    for is_sentence in [true, false] {
        loop {
            let excess = excess(shown, |column| column.width, width);
            let can_shrink = |column: &&mut Shown| {
                column.is_sentence() == is_sentence && column.is_text && column.width > column.narrowest()
            };
            let widest = shown.iter_mut().filter(can_shrink).max_by_key(|column| column.width);
            let Some(widest) = widest.filter(|_| excess > 0) else { break };
            widest.width = widest.width.saturating_sub(excess).max(widest.narrowest());
        }
    }
    left_out
}

/// By how much the columns are too wide.
fn excess(shown: &[Shown], width_of: impl Fn(&Shown) -> usize, width: usize) -> usize {
    let sum: usize = shown.iter().map(width_of).sum();
    (sum + GAP * shown.len().saturating_sub(1)).saturating_sub(width)
}

/// The column to leave out next: an empty one, else a minor one, else the last one without sentences. The first column stays.
fn least(shown: &[Shown]) -> Option<usize> {
    let last = |fits: &dyn Fn(&Shown) -> bool| (1..shown.len()).rev().find(|&at| fits(&shown[at]));
    let is_minor = |column: &Shown| column.layout == Layout::Minor;
    last(&|column| column.is_empty)
        .or_else(|| last(&is_minor))
        .or_else(|| last(&|column| !column.is_sentence()))
}

/// Appends a row of cells with one line or more each.
fn lines(out: &mut String, cells: &[&[String]], shown: &[Shown]) {
    let height = cells.iter().map(|cell| cell.len()).max().unwrap_or(0);
    for at in 0..height {
        let parts: Vec<&str> = cells.iter().map(|cell| cell.get(at).map_or("", String::as_str)).collect();
        line(out, &parts, shown);
    }
}

fn line(out: &mut String, cells: &[&str], shown: &[Shown]) {
    let start = out.len();
    for (cell, column) in cells.iter().zip(shown) {
        let padding = column.width - length(cell).min(column.width);
        if !column.is_text {
            out.extend(core::iter::repeat_n(' ', padding));
        }
        out.push_str(cell);
        if column.is_text {
            out.extend(core::iter::repeat_n(' ', padding));
        }
        out.extend(core::iter::repeat_n(' ', GAP));
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
    let length = length(text);
    if length <= widest {
        return text.into();
    }
    let tail = (widest / 3).min(19);
    let head: String = text.chars().take(widest.saturating_sub(tail + 1)).collect();
    let tail: String = text.chars().skip(length - tail).collect();
    format!("{head}…{tail}")
}

/// The begin of a text, and what it has around a place.
fn around(text: &str, place: usize, widest: usize) -> String {
    /// The characters before the place that are shown.
    const BEFORE: usize = 4;
    let head = widest / 3;
    let from = place.saturating_sub(BEFORE).max(head);
    let rest = widest.saturating_sub(head + 2);
    let begin: String = text.chars().take(head).collect();
    let shown: String = text.chars().skip(from).take(rest).collect();
    let end = if from + rest < length(text) { "…" } else { "" };
    format!("{begin}…{shown}{end}")
}

/// A text in lines of up to `width` characters, broken at blanks where there are any.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines: Vec<String> = Vec::new();
    let mut current = String::new();
    for word in text.split(' ') {
        let mut word = word;
        if !current.is_empty() && length(&current) + 1 + length(word) <= width {
            current.push(' ');
        } else if !current.is_empty() {
            lines.push(core::mem::take(&mut current));
        }
        while length(word) > width {
            let end = word.char_indices().nth(width).map_or(word.len(), |(end, _)| end);
            lines.push(word[..end].into());
            word = &word[end..];
        }
        current.push_str(word);
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows::Column;
    use alloc::vec;

    fn widest(text: &str) -> usize {
        text.lines().map(length).max().unwrap_or(0)
    }

    #[test]
    fn columns_fit_and_those_that_do_not_are_named() {
        let mut rows = Rows::new(&[
            Column::text("name", "Name", ""),
            Column::ns("sum_ns", "Total", ""),
            Column::int("calls", "Calls", ""),
            Column::text("why", "Why", "").sentence(),
        ]);
        let why = "a sentence that is much longer than the line of a terminal, and has to be read to its end";
        rows.push(vec!["n".repeat(70).into(), Cell::Ns(1_000), Cell::Int(3), why.into()]);
        for width in [200, 120, 80, 60, 55] {
            let text = rows.to_text_fitting(Some(width));
            assert!(widest(&text) <= width, "{width}\n{text}");
            let words: Vec<&str> = why.split(' ').collect();
            assert!(words.iter().all(|word| text.contains(word)), "{width}\n{text}");
            assert_eq!(text.contains("Not shown in this width: Calls."), width == 55, "{width}\n{text}");
        }
        assert!(rows.to_text().contains(why));
    }

    #[test]
    fn texts_that_differ_look_different() {
        let mut rows = Rows::new(&[Column::text("name", "Name", "")]);
        for middle in ["16x4", "16x8", "16x8"] {
            rows.push(vec![format!("{}{middle}{}", "a".repeat(40), "b".repeat(40)).into()]);
        }
        let text = rows.to_text();
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert!(lines[0].contains("16x4") && lines[1].contains("16x8"), "{text}");
        assert_eq!(lines[1], lines[2]);
        assert!(widest(&text) <= WIDEST);
    }

    #[test]
    fn words_longer_than_a_line_are_broken() {
        assert_eq!(wrapped("ab abcdefg x", 3), ["ab", "abc", "def", "g x"]);
        assert_eq!(wrapped("", 3), [""]);
        assert_eq!(wrapped("a b", 3), ["a b"]);
    }
}
