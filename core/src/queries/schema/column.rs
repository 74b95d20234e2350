//! The columns of a table, and how their values are computed.

use super::Source;
use crate::base::names::NameId;
use crate::base::time;
use crate::base::words::help;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::Track;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    /// An `i64`.
    Int,
    /// An `f64`.
    Float,
    /// A boolean.
    Bool,
    /// A text. Few texts are distinct, so that a dictionary is small.
    Name,
    /// Another text.
    Text,
    /// Texts by key.
    Map,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The name; its end is the unit: `_ns`, `_bytes`.
    pub name: &'static str,
    /// The type.
    pub kind: FieldType,
    /// Whether rows can be without a value.
    pub optional: bool,
    /// The meaning, in one sentence; empty without the feature `help`.
    pub about: &'static str,
}

/// Values of a column. A value is `None` only in a column that is optional.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Data<'t> {
    /// Integers.
    Ints(Vec<Option<i64>>),
    /// Numbers.
    Floats(Vec<Option<f64>>),
    /// Booleans.
    Bools(Vec<Option<bool>>),
    /// Ids of texts among the names of the trace.
    Names(Vec<Option<NameId>>),
    /// Other texts. Texts that are borrowed are often the same ones.
    Texts(Vec<Option<Cow<'t, str>>>),
    /// Texts by the id of their key among the names of the trace.
    Maps(Vec<Option<Entries>>),
}

/// The entries of a map, with the ids of their keys among the names of the trace.
pub type Entries = Vec<(NameId, String)>;

impl Data<'_> {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Data::Ints(values) => values.len(),
            Data::Floats(values) => values.len(),
            Data::Bools(values) => values.len(),
            Data::Names(values) => values.len(),
            Data::Texts(values) => values.len(),
            Data::Maps(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns the value of a row of the table `S`.
type Value<S, T> = fn(&S, usize) -> Option<T>;
/// Returns the text of a row of the table `S`.
type Text<S> = fn(&S, usize) -> Option<Cow<'_, str>>;

/// How the values of a column are computed.
pub(super) enum Values<S> {
    Int(Value<S, i64>),
    Float(Value<S, f64>),
    Bool(Value<S, bool>),
    Name(Value<S, NameId>),
    Text(Text<S>),
    Map(Value<S, Entries>),
}

/// A column of the table `S` with its values.
pub(super) struct Column<S> {
    field: Field,
    values: Values<S>,
}

impl<S> Column<S> {
    const fn new(name: &'static str, kind: FieldType, about: &'static str, values: Values<S>) -> Column<S> {
        Column { field: Field { name, kind, optional: false, about: help(about) }, values }
    }

    pub(super) const fn int(name: &'static str, about: &'static str, value: Value<S, i64>) -> Column<S> {
        Column::new(name, FieldType::Int, about, Values::Int(value))
    }

    pub(super) const fn float(name: &'static str, about: &'static str, value: Value<S, f64>) -> Column<S> {
        Column::new(name, FieldType::Float, about, Values::Float(value))
    }

    pub(super) const fn bool(name: &'static str, about: &'static str, value: Value<S, bool>) -> Column<S> {
        Column::new(name, FieldType::Bool, about, Values::Bool(value))
    }

    /// A column of names of the trace.
    pub(super) const fn name(name: &'static str, about: &'static str, value: Value<S, NameId>) -> Column<S> {
        Column::new(name, FieldType::Name, about, Values::Name(value))
    }

    /// A column of texts, few of which are distinct, that are not names of the trace.
    pub(super) const fn label(name: &'static str, about: &'static str, value: Text<S>) -> Column<S> {
        Column::new(name, FieldType::Name, about, Values::Text(value))
    }

    pub(super) const fn map(name: &'static str, about: &'static str, value: Value<S, Entries>) -> Column<S> {
        Column::new(name, FieldType::Map, about, Values::Map(value))
    }

    /// The same column, with rows that can be without a value.
    pub(super) const fn optional(mut self) -> Column<S> {
        self.field.optional = true;
        self
    }

    fn read<'t>(&self, rows: &'t S, range: Range<usize>) -> Data<'t> {
        match self.values {
            Values::Int(value) => Data::Ints(range.map(|at| value(rows, at)).collect()),
            Values::Float(value) => Data::Floats(range.map(|at| value(rows, at)).collect()),
            Values::Bool(value) => Data::Bools(range.map(|at| value(rows, at)).collect()),
            Values::Name(value) => Data::Names(range.map(|at| value(rows, at)).collect()),
            Values::Text(value) => Data::Texts(range.map(|at| value(rows, at)).collect()),
            Values::Map(value) => Data::Maps(range.map(|at| value(rows, at)).collect()),
        }
    }
}

/// The fields of columns.
pub(super) fn fields<S>(columns: &[Column<S>]) -> Vec<Field> {
    list(columns.len(), &|at| columns[at].field)
}

/// It is compiled once and not once per table, which makes the engine of the npm package smaller.
#[inline(never)]
fn list(len: usize, field: &dyn Fn(usize) -> Field) -> Vec<Field> {
    (0..len).map(field).collect()
}

/// The names of the columns that are requested. What only other columns need is not computed.
pub(super) struct Wanted(pub(super) Vec<&'static str>);

impl Wanted {
    pub(super) fn any(&self, names: &[&str]) -> bool {
        self.0.iter().any(|name| names.contains(name))
    }
}

/// A table of a trace: its rows and its columns.
struct Opened<'t, S> {
    rows: S,
    len: usize,
    columns: &'t [Column<S>],
}

/// Returns the table with these rows and their number.
pub(super) fn opened<'t, S>(rows: S, len: fn(&S) -> usize, columns: &'t [Column<S>]) -> Box<dyn Source + 't>
where
    S: Send + Sync + 't,
{
    Box::new(Opened { len: len(&rows), rows, columns })
}

impl<S: Send + Sync> Source for Opened<'_, S> {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&self, column: usize, rows: Range<usize>) -> Data<'_> {
        self.columns[column].read(&self.rows, rows)
    }
}

/// The number of an event.
pub(super) fn number(row: Row) -> i64 {
    i64::from(row)
}

/// A time of the table, in ns after the start of the recording; `None` if there is none.
pub(super) fn since(origin: i64, ns: i64) -> Option<i64> {
    (ns != time::NONE).then(|| ns.saturating_sub(origin))
}

/// The device of a device track.
pub(super) fn device(table: &Table, track: Track) -> Option<i64> {
    place(table, track).map(|place| place.0)
}

/// The stream of a device track.
pub(super) fn stream(table: &Table, track: Track) -> Option<i64> {
    place(table, track).map(|place| place.1)
}

fn place(table: &Table, track: Track) -> Option<(i64, i64)> {
    let id = |id: NameId| table.names.get(id).parse().ok();
    track.on_device.then(|| Some((id(track.pid)?, id(track.tid)?))).flatten()
}
