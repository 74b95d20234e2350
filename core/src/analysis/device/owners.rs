//! Owners of allocations: the operator around an allocation, else a function of its stack.

use crate::analysis::torch::event_tree::EventTree;
use crate::base::names::{NameId, Names};
use crate::base::order::{descending, sort_by_key};
use crate::trace::Trace;
use crate::trace::provenance::traceback::is_torch_frame;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::vec;
use alloc::vec::Vec;

/// The owner of allocations without an enclosing operator or a stack.
pub(crate) const OUTSIDE: &str = "(outside of every operator)";

/// The owner of what was allocated before the recording.
pub(crate) const BEFORE: &str = "(before the recording)";

/// Finds the owners of allocations.
pub(crate) struct Owners<'a> {
    pub(crate) trace: &'a Trace,
    /// The operator of each row; [`NameId::EMPTY`] for none.
    operators: Vec<NameId>,
}

impl<'a> Owners<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let table = &trace.table;
        let mut operators = vec![NameId::EMPTY; table.len()];
        let tree = EventTree::from_program(trace);
        for node in tree.nodes().filter(|&node| is_record(table, tree.row(node))) {
            let is_operator =
                |row: &Row| matches!(table.category(*row), Category::CpuOp | Category::UserAnnotation);
            let owner = tree.and_above(node).map(|node| tree.row(node)).find(is_operator);
            operators[tree.row(node).index()] = owner.map_or(NameId::EMPTY, |row| table.name_id(row));
        }
        Owners { trace, operators }
    }

    /// The owners in a trace without operators, such as a snapshot: functions of stacks.
    pub(crate) fn from_stacks(trace: &'a Trace) -> Self {
        Owners { trace, operators: Vec::new() }
    }

    /// Returns the name of the owner: the operator, else the innermost Python function outside of PyTorch, else the
    /// innermost Python function, else a native frame.
    pub(crate) fn name(&self, row: Row) -> Option<&'a str> {
        let operator = self.operators.get(row.index()).copied().unwrap_or(NameId::EMPTY);
        if operator != NameId::EMPTY {
            return Some(self.trace.table.names.get(operator));
        }
        let is_python = |frame: &&str| frame.contains(".py(");
        let frames = || self.frames(row);
        let user_frame = frames().filter(is_python).find(|frame| !is_torch_frame(frame));
        // A stack with only C++ frames begins with the allocator. The backward function or the operator is more useful.
        let is_backward = |frame: &&str| frame.contains("): torch::autograd::") && frame.contains("::apply(");
        let is_operator = |frame: &&str| frame.contains("): at::_ops::");
        let native = || frames().find(is_backward).or_else(|| frames().find(is_operator));
        user_frame.or_else(|| frames().find(is_python)).or_else(native).or_else(|| frames().next())
    }

    /// Adds up allocations by owner, the largest sum first: bytes, their number, and the first one.
    pub(crate) fn sums(&self, allocations: &[Row]) -> Vec<(i64, usize, Row)> {
        let table = &self.trace.table;
        let mut names = Names::default();
        let mut sums: Vec<(i64, usize, Row)> = Vec::new();
        for &row in allocations {
            // The first name is the empty one, which no owner has.
            let at = names.intern(self.name(row).unwrap_or(OUTSIDE)).0 as usize - 1;
            if at == sums.len() {
                sums.push((0, 0, row));
            }
            let bytes = table.bytes(row, Key::Bytes);
            sums[at] = (sums[at].0.saturating_add(bytes), sums[at].1 + 1, sums[at].2);
        }
        sort_by_key(&mut sums, |s| (descending(s.0), 0));
        sums
    }

    /// Returns the stack of an allocation, innermost frame first.
    pub(crate) fn frames(&self, row: Row) -> impl Iterator<Item = &'a str> + use<'a> {
        let stack = self.trace.table.field(row, Key::CallStack).and_then(|v| v.as_str()).unwrap_or("");
        stack.split(';').filter(|frame| !frame.is_empty())
    }
}

fn is_record(table: &Table, row: Row) -> bool {
    table.category(row) == Category::CpuInstant && table.name(row) == "[memory]"
}
