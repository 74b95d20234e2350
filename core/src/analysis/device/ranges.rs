//! Which ranges of the host are steps, operators, or those of a data loader.

use super::names::is_data_loading;
use crate::names::{NameSet, Names};
use crate::order::sort_by_key;
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use alloc::vec::Vec;

/// Which ranges of the host are operators, and which are about loading data.
pub(crate) struct Ranges {
    steps: NameSet,
    loading: NameSet,
}

impl Ranges {
    pub(crate) fn of(names: &Names) -> Ranges {
        Ranges {
            steps: names.that(|name| name.starts_with("ProfilerStep#")),
            loading: names.that(is_data_loading),
        }
    }

    /// Whether a range is an operator. PyTorch's first traces have steps among them.
    pub(crate) fn is_operator(&self, table: &Table, row: Row) -> bool {
        table.category(row) == Category::CpuOp && !self.steps.has(table.name_id(row))
    }

    /// Whether a range is that of a data loader.
    pub(crate) fn is_loading(&self, table: &Table, row: Row) -> bool {
        self.loading.has(table.name_id(row))
            && matches!(table.category(row), Category::CpuOp | Category::UserAnnotation)
    }
}

/// Returns the annotations that are steps, ordered by time.
pub(crate) fn step_ranges(table: &Table) -> Vec<(Row, i64)> {
    let number = |name: &str| name.strip_prefix("ProfilerStep#")?.trim().parse().ok();
    let names = table.names.that(|name| number(name).is_some());
    let is_step = |row: &Row| {
        names.has(table.name_id(*row))
            && matches!(table.category(*row), Category::UserAnnotation | Category::CpuOp)
            && table.is_span(*row)
    };
    let rows = table.rows().filter(is_step);
    let mut steps: Vec<(Row, i64)> = rows.filter_map(|row| Some((row, number(table.name(row))?))).collect();
    sort_by_key(&mut steps, |&(row, _)| (table.ts(row), i64::from(row)));
    steps
}
