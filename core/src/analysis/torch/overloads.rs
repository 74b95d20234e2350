//! Overload names, which traces have after a dot in the names of operators: `aten::add.Tensor`.

use crate::base::names::{NameSet, Names};
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::metadata::Source;

/// How the names of a trace are split.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overloads {
    were_recorded: bool,
}

impl Overloads {
    /// Finds out whether a trace has overload names. It has no flag for them, but without them no `aten::` operator has
    /// a dot.
    pub(crate) fn new(table: &Table) -> Overloads {
        let split = table.names.that(|name| name.starts_with("aten::") && split(name).is_some());
        let is_split = |row| split.has(table.name_id(row)) && table.category(row) == Category::CpuOp;
        let is_trace = table.metadata.source == Source::Chrome;
        Overloads { were_recorded: is_trace && !split.is_empty() && table.rows().any(is_split) }
    }

    /// Whether the names of operators are split.
    pub(crate) fn are_split(self) -> bool {
        self.were_recorded
    }

    /// Returns the name and the overload name of an operator that has one.
    pub(crate) fn split(self, table: &Table, row: Row) -> Option<(&str, &str)> {
        let is_op = self.were_recorded && table.category(row) == Category::CpuOp;
        if is_op { split(table.name(row)) } else { None }
    }

    /// Returns the names that fit as they are, or without the overload name.
    pub(crate) fn names_that(self, names: &Names, fits: impl Fn(&str) -> bool) -> NameSet {
        let fits_without = |name: &str| split(name).is_some_and(|(name, _)| fits(name));
        names.that(|name| fits(name) || self.were_recorded && fits_without(name))
    }

    /// Returns the name without the overload name.
    pub(crate) fn name(self, table: &Table, row: Row) -> &str {
        self.split(table, row).map_or_else(|| table.name(row), |(name, _)| name)
    }
}

fn split(name: &str) -> Option<(&str, &str)> {
    let (name, overload) = name.rsplit_once('.')?;
    let word = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let (space, op) = name.split_once("::")?;
    (word(space) && word(op) && word(overload)).then_some((name, overload))
}
