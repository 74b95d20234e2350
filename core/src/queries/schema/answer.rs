//! Tables that are the answers of queries: their columns are those of the answer.

use super::Source;
use super::column::{Data, Field, FieldType};
use crate::base::rows::{Cell, CellType, Column, Rows, json};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

/// Returns the fields of the columns of an answer, some with another name.
pub(super) fn fields(columns: &[Column], renamed: &[(&str, &'static str)]) -> Vec<Field> {
    let name = |column: &Column| {
        renamed.iter().find(|(key, _)| *key == column.key).map_or(column.key, |pair| pair.1)
    };
    columns.iter().map(|column| Field { name: name(column), ..field(column) }).collect()
}

fn field(column: &Column) -> Field {
    let kind = match column.kind {
        CellType::Ns | CellType::UnixNs | CellType::Bytes | CellType::Int | CellType::Amount => {
            FieldType::Int
        }
        CellType::Rate | CellType::Float | CellType::Share => FieldType::Float,
        CellType::Bool => FieldType::Bool,
        CellType::Text | CellType::Word(_) => FieldType::Name,
        CellType::Json(_) | CellType::Any => FieldType::Text,
    };
    // JSON can be `null`.
    let optional = column.optional || kind == FieldType::Text;
    Field { name: column.key, kind, optional, about: column.about }
}

/// Returns the answer of a query as a table: its columns, and its rows.
pub fn table(answer: Rows) -> (Vec<Field>, Box<dyn Source>) {
    let fields = fields(&answer.columns, &[]);
    (fields.clone(), opened(fields, answer.rows))
}

struct Answer {
    fields: Vec<Field>,
    rows: Vec<Vec<Cell>>,
}

/// Returns the table with these rows.
pub(super) fn opened(fields: Vec<Field>, rows: Vec<Vec<Cell>>) -> Box<dyn Source> {
    Box::new(Answer { fields, rows })
}

impl Source for Answer {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn read(&self, column: usize, rows: Range<usize>) -> Data<'_> {
        let cells = self.rows[rows].iter().map(|row| &row[column]);
        match self.fields[column].kind {
            FieldType::Int => Data::Ints(cells.map(int).collect()),
            FieldType::Float => Data::Floats(cells.map(float).collect()),
            FieldType::Bool => Data::Bools(cells.map(bool).collect()),
            _ => Data::Texts(cells.map(text).collect()),
        }
    }
}

fn int(cell: &Cell) -> Option<i64> {
    match *cell {
        Cell::Ns(n) | Cell::UnixNs(n) | Cell::Bytes(n) | Cell::Int(n) | Cell::Amount(n) => Some(n),
        _ => None,
    }
}

fn float(cell: &Cell) -> Option<f64> {
    match *cell {
        Cell::Rate(number) | Cell::Float(number) | Cell::Share(number) => Some(number),
        _ => None,
    }
}

fn bool(cell: &Cell) -> Option<bool> {
    if let Cell::Bool(flag) = cell { Some(*flag) } else { None }
}

fn text(cell: &Cell) -> Option<Cow<'_, str>> {
    match cell {
        Cell::Null => None,
        Cell::Json(value) if value.is_null() => None,
        Cell::Text(text) => Some(text.into()),
        other => Some(json(other).into()),
    }
}
