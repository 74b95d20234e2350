//! Tables that fit on the terminal.

use kinetoscope_core::base::rows::{Rows, WIDEST};
use std::io::stdout;
use terminal_size::{Width, terminal_size_of};

/// The longest text of a cell after a table was made to fit, in characters.
const SHORTEST: usize = 24;

/// The width of the terminal in characters, if standard output is one.
pub(crate) fn width() -> Option<usize> {
    let (Width(width), _) = terminal_size_of(stdout())?;
    Some(usize::from(width))
}

/// The table of some rows, with texts shortened until it fits into `width` characters or they are short.
pub(crate) fn fitted(rows: &Rows, width: usize) -> String {
    // The second line has the width of every column.
    let fits = |text: &String| text.lines().nth(1).is_none_or(|rule| rule.chars().count() <= width);
    let mut candidates = (SHORTEST..=WIDEST).rev().step_by(6).map(|longest| rows.to_text_within(longest));
    candidates.find(fits).unwrap_or_else(|| rows.to_text_within(SHORTEST))
}

#[cfg(test)]
mod tests {
    use super::fitted;
    use kinetoscope_core::base::rows::{Column, Rows};

    #[test]
    fn texts_are_shortened_until_the_table_fits() {
        let mut rows = Rows::new(&[Column::text("a", "A", ""), Column::text("b", "B", "")]);
        rows.push(vec!["x".repeat(100).into(), "y".repeat(40).into()]);
        let longest = |width| fitted(&rows, width).lines().map(|line| line.chars().count()).max();
        assert_eq!(longest(200), Some(102));
        assert!(longest(80) <= Some(80));
        assert_eq!(longest(10), Some(50));
    }
}
