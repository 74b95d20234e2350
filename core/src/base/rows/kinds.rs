//! Answers with several kinds of rows: each kind has columns of its own.

use super::{Cell, Cells, Column, Rows};
use alloc::vec;
use alloc::vec::Vec;

/// The kinds of rows of an answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Kinds {
    /// The first column of every row: the word of its kind.
    pub column: Column,
    /// What rows of the same columns are.
    pub variants: &'static [Variant],
}

/// Rows of the same columns.
#[derive(Debug, PartialEq, Eq)]
pub struct Variant {
    /// A part of the name of their type in the npm package.
    pub name: &'static str,
    /// The words of their kinds.
    pub kinds: &'static [&'static str],
    /// Their columns after that of the kind.
    pub columns: &'static [Column],
}

impl Kinds {
    /// The columns of all kinds: each after those that are before it in its kind. A column that some kinds do not have can
    /// be without a value.
    pub fn columns(&self) -> Vec<Column> {
        let mut columns = vec![self.column];
        for variant in self.variants {
            let mut next = 1;
            for column in variant.columns {
                let known = columns.iter().position(|known| known.key == column.key);
                match known {
                    Some(at) => columns[at].optional |= column.optional,
                    None => columns.insert(next, *column),
                }
                next = known.unwrap_or(next) + 1;
            }
        }
        for column in columns.iter_mut().skip(1) {
            column.optional |= self.variants.iter().any(|variant| !variant.has(column.key));
        }
        columns
    }
}

impl Variant {
    fn has(&self, key: &str) -> bool {
        self.columns.iter().any(|column| column.key == key)
    }
}

/// Rows of several kinds, one after the other.
pub(crate) struct RowsOfKinds {
    kinds: &'static Kinds,
    rows: Rows,
}

impl RowsOfKinds {
    pub(crate) fn new(kinds: &'static Kinds) -> RowsOfKinds {
        RowsOfKinds { kinds, rows: Rows { columns: kinds.columns(), rows: Vec::new() } }
    }

    /// Appends a row of a kind.
    pub(crate) fn push(&mut self, kind: &'static str, row: Cells) {
        let is_of_kind = |variant: &Variant| variant.kinds.contains(&kind) && variant.columns == row.columns;
        debug_assert!(self.kinds.variants.iter().any(is_of_kind), "{kind} has other columns");
        let mut cells = vec![Cell::Absent; self.rows.columns.len()];
        cells[0] = kind.into();
        for (column, cell) in row.columns.iter().zip(row.cells) {
            if let Some(at) = self.rows.columns.iter().position(|known| known.key == column.key) {
                cells[at] = cell;
            }
        }
        self.rows.push(cells);
    }

    pub(crate) fn finish(self) -> Rows {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows::columns;
    use crate::base::words::words;

    words! {
        "AnimalKind"
        /// A kind of animal.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Animal {
            /// It flies.
            Bird = "bird",
            /// It swims.
            Fish = "fish",
        }
    }

    columns! {
        const BIRD: fn bird(wings_ns: i64, name: Option<&str>) [
            Column::text("name", "Name", "").nullable() => name,
            Column::ns("beat_ns", "Beat", "") => wings_ns,
        ]
    }

    columns! {
        const FISH: fn fish(name: &str) {
            let depth = name.len();
        } [
            Column::text("name", "Name", "") => name,
            Column::int("depth", "Depth", "") => depth,
        ]
    }

    const ANIMALS: Kinds = Kinds {
        column: Column::word("kind", "Kind", &Animal::VOCABULARY, ""),
        variants: &[
            Variant { name: "Bird", kinds: &["bird"], columns: BIRD },
            Variant { name: "Fish", kinds: &["fish"], columns: FISH },
        ],
    };

    #[test]
    fn json_has_the_keys_of_the_kind() {
        let mut rows = RowsOfKinds::new(&ANIMALS);
        rows.push(Animal::Bird.as_str(), bird(5, None));
        rows.push(Animal::Fish.as_str(), fish("carp"));
        let rows = rows.finish();
        assert_eq!(rows.json_row(0), r#"{"kind":"bird","name":null,"beat_ns":5}"#);
        assert_eq!(rows.json_row(1), r#"{"kind":"fish","name":"carp","depth":4}"#);
        assert_eq!(rows.to_csv(), "kind,name,depth,beat_ns\r\nbird,,,5\r\nfish,carp,4,\r\n");
        assert_eq!(rows.rows[0][3], Cell::Ns(5), "a number has the unit of its column");
        let text = rows.to_text();
        let fish = text.lines().last().expect("a row");
        assert_eq!(
            fish.split_whitespace().collect::<Vec<_>>(),
            ["fish", "carp", "4"],
            "an absent cell is empty"
        );
    }

    #[test]
    fn a_column_that_a_kind_lacks_can_be_without_a_value() {
        let optional: Vec<bool> = ANIMALS.columns().iter().map(|column| column.optional).collect();
        assert_eq!(optional, [false, true, true, true]);
    }
}
