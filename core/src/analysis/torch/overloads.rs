//! Overload names, which traces have after a dot in the names of operators: `aten::add.Tensor`.

use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::metadata::Source;

/// How the names of a trace are split.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overloads {
    were_recorded: bool,
}

impl Overloads {
    /// Finds out whether a trace has overload names. It has no flag for them, but without them no `aten::` operator has
    /// a dot.
    pub fn of(table: &Table) -> Overloads {
        let has_dot = |row: Row| {
            table.category(row) == Category::CpuOp
                && table.name(row).starts_with("aten::")
                && split(table.name(row)).is_some()
        };
        let is_trace = table.metadata.source == Source::Chrome;
        Overloads { were_recorded: is_trace && table.rows().any(has_dot) }
    }

    /// Whether the names of operators are split.
    pub fn are_split(self) -> bool {
        self.were_recorded
    }

    /// Returns the name and the overload name of an operator that has one.
    pub fn split(self, table: &Table, row: Row) -> Option<(&str, &str)> {
        let is_op = self.were_recorded && table.category(row) == Category::CpuOp;
        if is_op { split(table.name(row)) } else { None }
    }

    /// Returns the name without the overload name.
    pub fn name(self, table: &Table, row: Row) -> &str {
        self.split(table, row).map_or_else(|| table.name(row), |(name, _)| name)
    }
}

fn split(name: &str) -> Option<(&str, &str)> {
    let (name, overload) = name.rsplit_once('.')?;
    let word = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let (space, op) = name.split_once("::")?;
    (word(space) && word(op) && word(overload)).then_some((name, overload))
}
