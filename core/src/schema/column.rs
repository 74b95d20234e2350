//! The columns of a table and their values.

use crate::names::NameId;
use crate::table::events::{Row, Table};
use crate::table::tracks::Track;
use crate::time;
use crate::words::help;
use alloc::string::String;
use alloc::vec::Vec;

/// The type of a column. A column of every type can have rows without a value, if it is optional.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    /// An `i64`.
    Int,
    /// A text. Few texts are distinct, so that a dictionary is small.
    Name,
    /// The text of a JSON object.
    Json,
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

impl Field {
    pub(super) const fn int(name: &'static str, about: &'static str) -> Field {
        Field { name, kind: FieldType::Int, optional: false, about: help(about) }
    }

    pub(super) const fn name(name: &'static str, about: &'static str) -> Field {
        Field { kind: FieldType::Name, ..Field::int(name, about) }
    }

    pub(super) const fn json(name: &'static str, about: &'static str) -> Field {
        Field { kind: FieldType::Json, ..Field::int(name, about) }
    }

    /// The same column, with rows that can be without a value.
    pub(super) const fn optional(self) -> Field {
        Field { optional: true, ..self }
    }
}

/// Values of a column. A value is `None` only in a column that is optional.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Data {
    /// Integers.
    Ints(Vec<Option<i64>>),
    /// Ids of texts among the names of the trace.
    Names(Vec<Option<NameId>>),
    /// Words of a closed vocabulary.
    Words(Vec<&'static str>),
    /// Other texts.
    Texts(Vec<Option<String>>),
}

impl Data {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Data::Ints(values) => values.len(),
            Data::Names(values) => values.len(),
            Data::Words(values) => values.len(),
            Data::Texts(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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

/// The device and the stream of a device track.
pub(super) fn place(table: &Table, track: Track) -> Option<(i64, i64)> {
    let id = |id: NameId| table.names.get(id).parse().ok();
    track.on_device.then(|| Some((id(track.pid)?, id(track.tid)?))).flatten()
}
