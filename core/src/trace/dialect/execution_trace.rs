//! Nodes of PyTorch's execution traces. They have no times, and become metadata events.

use crate::trace::table::category::Category;
use crate::trace::table::events::Table;

pub(super) fn apply(table: &mut Table) {
    for row in table.rows() {
        table.set_meaning(row, (b'M', Category::Other), &[]);
    }
}
