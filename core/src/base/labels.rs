//! Rows with the words of vocabularies as texts for people.

use super::rows::{Cell, CellType, Rows};
use super::words::label;

impl Rows {
    /// Returns the same rows for a table or Markdown: words have blanks instead of underscores.
    #[must_use]
    pub fn with_labels(&self) -> Rows {
        let mut rows = self.clone();
        let is_word = |column: usize| matches!(self.columns[column].kind, CellType::Word(_));
        for column in (0..self.columns.len()).filter(|&column| is_word(column)) {
            for row in &mut rows.rows {
                if let Cell::Text(word) = &mut row[column] {
                    *word = label(word);
                }
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use crate::base::rows::{Cell, Column, Rows};
    use crate::base::words::words;
    use alloc::vec;

    words! {
        "Place"
        /// A place.
        #[derive(Clone, Copy)]
        enum Place {
            /// Where one lives.
            AtHome = "at_home",
        }
    }

    #[test]
    fn words_become_labels_and_other_texts_stay() {
        let word = || Place::AtHome.as_str().into();
        let mut rows = Rows::new(&[
            Column::word("place", "Place", &Place::VOCABULARY, "").nullable(),
            Column::text("name", "Name", ""),
        ]);
        rows.push(vec![word(), word()]);
        rows.push(vec![Cell::Null, word()]);
        let shown = rows.with_labels();
        assert_eq!(shown.rows[0], ["at home".into(), word()]);
        assert_eq!(shown.rows[1], rows.rows[1]);
    }
}
