//! The columns of an answer: the type and the meaning of their cells, and their values. The types of the npm package are
//! generated from them.

use super::cell::{Cell, text};
use crate::base::words::{Vocabulary, help};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

/// The type of a column's cells.
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
    /// [`Cell::Text`] with one of these words.
    Word(&'static Vocabulary),
    /// [`Cell::Json`] with this shape.
    Json(Shape),
    /// Any cell, in tables for display only.
    Any,
}

/// The shape of JSON in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A list of strings.
    Texts,
    /// A list of integers.
    Numbers,
    /// A list of any values, or `null`.
    Values,
    /// Any value.
    Any,
    /// An object with any members, or `null`.
    Object,
    /// An object with these members.
    Record(&'static Record),
    /// A list of objects.
    Records(&'static Record),
}

/// The members of an object in a cell.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    /// The name of its type in the npm package.
    pub name: &'static str,
    /// The members. Their titles are not used.
    pub members: &'static [Column],
}

impl Record {
    fn fits(&self, value: &Value) -> bool {
        let Value::Object(object) = value else { return false };
        let has = |member: &Column| object.get(member.key).is_some_and(|value| member.fits_json(value));
        object.len() == self.members.len() && self.members.iter().all(has)
    }
}

impl Shape {
    fn fits(self, value: &Value) -> bool {
        let all = |fits: &dyn Fn(&Value) -> bool| value.as_array().is_some_and(|list| list.iter().all(fits));
        match self {
            Shape::Texts => all(&Value::is_string),
            Shape::Any => true,
            Shape::Object => value.is_null() || value.is_object(),
            Shape::Numbers => all(&Value::is_i64),
            Shape::Values => value.is_null() || value.is_array(),
            Shape::Record(record) => record.fits(value),
            Shape::Records(record) => all(&|value| record.fits(value)),
        }
    }
}

impl CellType {
    /// The cell of a value: a number has the unit of the column.
    fn cell(self, value: Cell) -> Cell {
        match (self, value) {
            (CellType::Ns, Cell::Int(n)) => Cell::Ns(n),
            (CellType::UnixNs, Cell::Int(n)) => Cell::UnixNs(n),
            (CellType::Bytes, Cell::Int(n)) => Cell::Bytes(n),
            (CellType::Amount, Cell::Int(n)) => Cell::Amount(n),
            (CellType::Rate, Cell::Float(number)) => Cell::Rate(number),
            (CellType::Share, Cell::Float(number)) => Cell::Share(number),
            (_, value) => value,
        }
    }

    fn fits(self, cell: &Cell) -> bool {
        match (self, cell) {
            (CellType::Word(vocabulary), Cell::Text(text)) => vocabulary.words.contains(&text.as_str()),
            (CellType::Json(shape), Cell::Json(value)) => shape.fits(value),
            _ => matches!(
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
            ),
        }
    }
}

/// How a column is laid out in a table that is wider than the line of its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Its texts are shortened.
    Plain,
    /// Its texts are sentences, which are wrapped.
    Sentence,
    /// It is left out before others.
    Minor,
}

/// A column: its key in JSON and CSV, its title in a table, and the type and meaning of its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The key, such as `self_cpu_time_total_ns`.
    pub key: &'static str,
    /// The title, such as `Self CPU`; empty for a column that only JSON and CSV have.
    pub title: &'static str,
    /// The type of its cells.
    pub kind: CellType,
    /// Whether a cell can be [`Cell::Null`].
    pub optional: bool,
    /// How it is laid out in a narrow table.
    pub layout: Layout,
    /// One sentence that explains the value; empty without the feature `help`.
    pub about: &'static str,
}

impl Column {
    const fn new(kind: CellType, key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column { key, title, kind, optional: false, layout: Layout::Plain, about: help(about) }
    }

    /// A column of [`CellType::Ns`].
    pub const fn ns(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::new(CellType::Ns, key, title, about)
    }

    /// A column of [`CellType::UnixNs`].
    pub const fn unix_ns(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::new(CellType::UnixNs, key, title, about)
    }

    /// A column of [`CellType::Bytes`].
    pub const fn bytes(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::new(CellType::Bytes, key, title, about)
    }

    /// A column of [`CellType::Int`].
    pub const fn int(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::new(CellType::Int, key, title, about)
    }

    /// A column of [`CellType::Amount`].
    pub const fn amount(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::new(CellType::Amount, key, title, about)
    }

    /// A column of [`CellType::Rate`].
    pub const fn rate(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::new(CellType::Rate, key, title, about)
    }

    /// A column of [`CellType::Float`].
    pub const fn float(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::new(CellType::Float, key, title, about)
    }

    /// A column of [`CellType::Share`].
    pub const fn share(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::new(CellType::Share, key, title, about)
    }

    /// A column of [`CellType::Bool`].
    pub const fn bool(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::new(CellType::Bool, key, title, about)
    }

    /// A column of [`CellType::Text`].
    pub const fn text(key: &'static str, title: &'static str, about: &'static str) -> Column {
        Column::new(CellType::Text, key, title, about)
    }

    /// A column of [`CellType::Word`].
    pub const fn word(
        key: &'static str,
        title: &'static str,
        words: &'static Vocabulary,
        about: &'static str,
    ) -> Column {
        Column::new(CellType::Word(words), key, title, about)
    }

    /// A column of [`CellType::Json`] of this shape.
    pub const fn json(key: &'static str, title: &'static str, shape: Shape, about: &'static str) -> Column {
        Column::new(CellType::Json(shape), key, title, about)
    }

    /// The same column, with cells that can be [`Cell::Null`].
    pub const fn nullable(self) -> Column {
        Column { optional: true, ..self }
    }

    /// The same column, with texts that are sentences.
    pub(crate) const fn sentence(self) -> Column {
        Column { layout: Layout::Sentence, ..self }
    }

    /// The same column, which narrow tables leave out first.
    pub(crate) const fn minor(self) -> Column {
        Column { layout: Layout::Minor, ..self }
    }

    /// Formats a cell for a person: words as labels.
    pub(super) fn shown(&self, cell: &Cell) -> String {
        match (self.kind, cell) {
            (CellType::Word(vocabulary), Cell::Text(word)) => vocabulary.label(word),
            _ => text(cell),
        }
    }

    /// Whether a cell has the type of the column.
    pub fn fits(&self, cell: &Cell) -> bool {
        self.kind.fits(cell) || (self.optional && matches!(cell, Cell::Absent | Cell::Null))
    }

    /// Whether a member of an object has the type of the column.
    fn fits_json(&self, value: &Value) -> bool {
        match (self.kind, value) {
            (_, Value::Null) if self.optional => true,
            (CellType::Json(shape), value) => shape.fits(value),
            (CellType::Word(vocabulary), value) => {
                value.as_str().is_some_and(|word| vocabulary.words.contains(&word))
            }
            (CellType::Text, value) => value.is_string(),
            (CellType::Bool, value) => value.is_boolean(),
            (CellType::Rate | CellType::Float | CellType::Share, value) => value.is_number(),
            (CellType::Any, _) => true,
            (_, value) => value.is_i64(),
        }
    }
}

/// The cells of a row, and their columns.
pub(crate) struct Cells {
    pub(crate) columns: &'static [Column],
    pub(crate) cells: Vec<Cell>,
}

impl Cells {
    /// The cells of these values. It is one function for all tables, which makes the engine of the npm package smaller.
    #[inline(never)]
    pub(crate) fn new(columns: &'static [Column], mut cells: Vec<Cell>) -> Cells {
        for (column, cell) in columns.iter().zip(&mut cells) {
            *cell = column.kind.cell(core::mem::replace(cell, Cell::Null));
        }
        Cells { columns, cells }
    }
}

impl From<Cells> for Vec<Cell> {
    fn from(row: Cells) -> Vec<Cell> {
        row.cells
    }
}

impl From<Cells> for Value {
    #[inline(never)]
    fn from(row: Cells) -> Value {
        // Collecting into a map would sort the members first.
        let mut members = serde_json::Map::new();
        for (member, cell) in row.columns.iter().zip(row.cells) {
            members.insert(member.key.to_owned(), value(cell));
        }
        Value::Object(members)
    }
}

/// Converts a cell to a JSON value.
fn value(cell: Cell) -> Value {
    match cell {
        Cell::Absent | Cell::Null => Value::Null,
        Cell::Ns(n) | Cell::UnixNs(n) | Cell::Bytes(n) | Cell::Amount(n) | Cell::Int(n) => n.into(),
        Cell::Rate(f) | Cell::Float(f) | Cell::Share(f) => f.into(),
        Cell::Bool(b) => b.into(),
        Cell::Text(text) => text.into(),
        Cell::Json(value) => value,
    }
}

/// Defines columns together with their values: a list of columns, and a function that returns the cells of a row. The
/// values can use the parameters of the function, and names that a block before the columns defines.
macro_rules! columns {
    (
        $(#[$about:meta])*
        $vis:vis const $columns:ident: $fn_vis:vis fn $cells:ident $(<$life:lifetime>)? ($($parameter:ident: $type:ty),* $(,)?)
        $({ $(let $local:pat = $init:expr;)* })?
        [ $($column:expr => $value:expr,)+ ]
    ) => {
        $(#[$about])*
        $vis const $columns: &[crate::base::rows::Column] = &[$($column),+];

        $fn_vis fn $cells $(<$life>)? ($($parameter: $type),*) -> crate::base::rows::Cells {
            $($(let $local = $init;)*)?
            crate::base::rows::Cells::new($columns, alloc::vec![$(crate::base::rows::Cell::from($value)),+])
        }
    };
}

pub(crate) use columns;

/// Defines the members of an object in a cell together with their values, as `columns!` does for a row.
macro_rules! record {
    (
        $(#[$about:meta])*
        $vis:vis static $RECORD:ident = $name:literal: $fn_vis:vis fn $object:ident $(<$life:lifetime>)?
        ($($parameter:ident: $type:ty),* $(,)?)
        $({ $(let $local:pat = $init:expr;)* })?
        [ $($member:expr => $value:expr,)+ ]
    ) => {
        $(#[$about])*
        $vis static $RECORD: crate::base::rows::Record =
            crate::base::rows::Record { name: $name, members: &[$($member),+] };

        $fn_vis fn $object $(<$life>)? ($($parameter: $type),*) -> serde_json::Value {
            $($(let $local = $init;)*)?
            let values = alloc::vec![$(crate::base::rows::Cell::from($value)),+];
            crate::base::rows::Cells::new($RECORD.members, values).into()
        }
    };
}

pub(crate) use record;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::TimeUnit;
    use serde_json::json;

    record! {
        static RECORD = "Pair": fn pair(unit: &str, count: Option<i64>, frames: Value) [
            Column::word("unit", "", &TimeUnit::VOCABULARY, "") => unit,
            Column::int("count", "", "").nullable() => count,
            Column::json("frames", "", Shape::Texts, "") => frames,
        ]
    }

    #[test]
    fn words_belong_to_the_vocabulary() {
        let column = RECORD.members[0];
        assert!(column.fits(&"ms".into()));
        assert!(!column.fits(&"hours".into()));
        assert!(!column.fits(&Cell::Null));
    }

    #[test]
    fn objects_have_the_declared_members() {
        let column = Column::json("pairs", "", Shape::Records(&RECORD), "");
        let made = pair("ms", None, json!(["f"]));
        assert_eq!(made, json!({"unit": "ms", "count": null, "frames": ["f"]}));
        assert!(column.fits(&Cell::Json(json!([made]))));
        for wrong in [
            json!({"unit": "ms", "count": 1}),
            json!({"unit": "ms", "count": 1, "frames": [], "more": 1}),
            json!({"unit": "hours", "count": 1, "frames": []}),
            json!({"unit": "ms", "count": "1", "frames": []}),
            json!({"unit": "ms", "count": 1, "frames": [1]}),
            json!([]),
        ] {
            assert!(!column.fits(&Cell::Json(json!([wrong]))), "{wrong}");
        }
        assert!(!column.fits(&Cell::Json(made)));
    }
}
