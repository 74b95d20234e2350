//! Which arguments of events have a column, and the others.

use super::column::{Entries, device, stream};
use crate::base::names::NameId;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::FieldPlace;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// The column of an argument, and for which values it is exact.
#[derive(Clone, Copy)]
enum Column {
    /// A column of `events` with integers.
    Int,
    /// A column of `events` with JSON.
    Json,
    /// The device of the track.
    Device,
    /// The stream of the track.
    Stream,
    /// A column of `kernels` with integers.
    KernelInt,
    /// A column of `kernels` with numbers.
    KernelNumber,
    /// Three columns of `kernels`.
    KernelDimensions,
}

const COLUMNS: [(&str, Column); 20] = [
    ("correlation", Column::Int),
    ("External id", Column::Int),
    ("external id", Column::Int),
    ("Sequence number", Column::Int),
    ("Fwd thread id", Column::Int),
    ("Ev Idx", Column::Int),
    ("Record function id", Column::Int),
    ("Python id", Column::Int),
    (PYTHON_PARENT, Column::Int),
    ("Input Dims", Column::Json),
    ("Input type", Column::Json),
    ("device", Column::Device),
    ("stream", Column::Stream),
    (REGISTERS, Column::KernelInt),
    (SHARED, Column::KernelInt),
    (WARPS, Column::KernelNumber),
    ("blocks per SM", Column::KernelNumber),
    ("est. achieved occupancy %", Column::KernelNumber),
    ("grid", Column::KernelDimensions),
    ("block", Column::KernelDimensions),
];

pub(super) const PYTHON_PARENT: &str = "Python parent id";
pub(super) const REGISTERS: &str = "registers per thread";
pub(super) const SHARED: &str = "shared memory";
pub(super) const WARPS: &str = "warps per SM";

/// The columns of arguments, by the ids of their names.
pub(super) struct Arguments(Vec<Option<Column>>);

impl Arguments {
    pub(super) fn new(table: &Table) -> Arguments {
        let mut columns = alloc::vec![None; table.names.len()];
        for (key, column) in COLUMNS {
            if let Some(id) = table.names.find(key) {
                columns[id.0 as usize] = Some(column);
            }
        }
        Arguments(columns)
    }

    /// Returns the arguments of an event that no column has; `None` if there are none. Of a key that is repeated, the last value counts, as
    /// in JSON.
    pub(super) fn others(&self, table: &Table, row: Row) -> Option<Entries> {
        let is_work = table.category(row).is_device_work() && table.is_span(row);
        let has_column = |key: NameId, value: Value<'_>| {
            self.0[key.0 as usize].is_some_and(|column| column.has(table, row, value, is_work))
        };
        let arguments = table.all_fields(row).filter(|field| field.0.place == FieldPlace::Args);
        let others = arguments.filter(|(field, value)| !has_column(field.key, *value));
        let mut entries = Entries::new();
        for (field, value) in others {
            match entries.iter_mut().find(|entry| entry.0 == field.key) {
                Some(entry) => entry.1 = text(value),
                None => entries.push((field.key, text(value))),
            }
        }
        (!entries.is_empty()).then_some(entries)
    }
}

impl Column {
    /// Whether the column has exactly this value.
    fn has(self, table: &Table, row: Row, value: Value<'_>, is_work: bool) -> bool {
        let int = if let Value::Int(number) = value { Some(number) } else { None };
        match self {
            Column::Int => int.is_some(),
            Column::Json => matches!(value, Value::Json(_)),
            Column::Device => int.is_some() && device(table, table.track(row)) == int,
            Column::Stream => int.is_some() && stream(table, table.track(row)) == int,
            Column::KernelInt => is_work && int.is_some(),
            Column::KernelNumber => is_work && matches!(value, Value::Int(_) | Value::Decimal { .. }),
            Column::KernelDimensions => is_work && dimensions(value).is_some(),
        }
    }
}

/// Returns the three numbers of a grid or a block, such as `[4, 1, 1]`.
pub(super) fn dimensions(value: Value<'_>) -> Option<[i64; 3]> {
    let mut numbers = value.as_json()?.strip_prefix('[')?.strip_suffix(']')?.split(',');
    let mut next = || numbers.next()?.trim().parse().ok();
    let all = [next()?, next()?, next()?];
    numbers.next().is_none().then_some(all)
}

/// A text as it is, another value as JSON.
fn text(value: Value<'_>) -> String {
    if let Value::Text(text) = value { text.to_owned() } else { value.to_json() }
}
