//! The work below each call of some operators.

use super::{Search, Sequence};
use crate::analysis::device::kernel_keys::{KernelsBy, Keys};
use crate::base::index::Index;
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
use alloc::vec;
use alloc::vec::Vec;

/// Returns a sequence for each name of an outermost call and each list of names of the work below it.
pub(super) fn sequences(trace: &Trace, search: &Search, name: &str) -> Vec<Sequence> {
    let (table, outermost) = (&trace.table, outermost(trace, name));
    let mut work: Vec<(Row, Row)> = Vec::new();
    for row in table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row)) {
        let call_of = |row: Row| outermost[row.index()];
        let call = trace.links.launch(row).and_then(call_of);
        let call = call.or_else(|| trace.links.op(row).and_then(call_of));
        work.extend(call.map(|call| (call, row)));
    }
    sort_by_key(&mut work, |&(call, row)| (i64::from(call), table.ts(row)));
    let (min, max) = (search.min_length, search.max_length.unwrap_or(usize::MAX));
    let mut groups = Groups::new(trace);
    for rows in work.chunk_by(|a, b| a.0 == b.0).filter(|rows| (min..=max).contains(&rows.len())) {
        groups.add(rows);
    }
    let groups = groups.found.into_iter().filter(|(_, length, rows)| rows.len() / length >= search.min_count);
    groups.map(|(operator, length, rows)| Sequence::new(trace, Some(operator), length, rows)).collect()
}

/// Returns the outermost call around each row whose name contains `name`.
fn outermost(trace: &Trace, name: &str) -> Vec<Option<Row>> {
    let (table, tree) = (&trace.table, &trace.tree);
    let has_name: Vec<bool> = table.names.iter().map(|(_, text)| text.contains(name)).collect();
    let mut outermost = vec![None; table.len()];
    for at in tree.positions() {
        let row = tree.row(at);
        let above = tree.parent(at).and_then(|parent| outermost[tree.row(parent).index()]);
        let is_call = matches!(
            table.category(row),
            Category::CpuOp | Category::UserAnnotation | Category::PythonFunction
        );
        let call = (is_call && has_name[table.name_id(row).0 as usize]).then_some(row);
        outermost[row.index()] = above.or(call);
    }
    outermost
}

/// The sequences, by the names of the call and of the activities.
struct Groups<'a> {
    trace: &'a Trace,
    keys: Keys<'a>,
    /// The numbers of lists of names: a list is given by that of all names but the last, and the last.
    lists: Index,
    index: Index,
    /// The first call, the number of activities, and the activities of all occurrences.
    found: Vec<(Row, usize, Vec<Row>)>,
}

impl<'a> Groups<'a> {
    fn new(trace: &'a Trace) -> Self {
        let keys = Keys::new(trace, KernelsBy::Name);
        Groups { trace, keys, lists: Index::default(), index: Index::default(), found: Vec::new() }
    }

    /// Adds the work below one call.
    fn add(&mut self, rows: &[(Row, Row)]) {
        let call = rows[0].0;
        let mut list = -1;
        for &(_, row) in rows {
            let next = self.lists.len() as u32;
            list = i64::from(self.lists.get_or_insert((list, i64::from(self.keys.name_key(row))), next));
        }
        let name = i64::from(self.trace.table.name_id(call).0);
        let at = self.index.get_or_insert((name, list), self.found.len() as u32) as usize;
        if at == self.found.len() {
            self.found.push((call, rows.len(), Vec::new()));
        }
        self.found[at].2.extend(rows.iter().map(|&(_, row)| row));
    }
}
