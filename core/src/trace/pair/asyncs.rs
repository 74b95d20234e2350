//! Pairs the begins and ends of asynchronous spans.
//!
//! An end belongs to the latest open begin with its id, and with its name if it has one: in its own process if that has one,
//! else in any. Events at the same time are taken in the order of the file. The pair is ambiguous in these cases:
//!
//! - Begins of several other processes are open, and none of the own process.
//! - The begin is of another thread, and one of the own thread is open.
//! - Several begins of the process are open, and the events (`S`, `F`) do not nest.

use super::Pairs;
use super::ids::{Id, Ids};
use super::open::Stack;
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::index::Index;
use crate::base::order::sort_by_key;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::is_async_begin;
use alloc::vec::Vec;

/// Pairs asynchronous events, which are sorted by time and then by the file.
pub(super) fn pair_asyncs(
    table: &Table,
    ids: &mut Ids<'_>,
    diagnostics: &mut Diagnostics,
    pairs: &mut Pairs,
    rows: &[Row],
) {
    let mut open = Open::default();
    let mut left: Vec<Row> = Vec::new();
    for instant in rows.chunk_by(|&a, &b| table.ts(a) == table.ts(b)) {
        let mut pair = |row: Row| {
            let key = ids.id(row);
            if let Some(key) = key.filter(|_| is_async_begin(table.ph(row))) {
                open.stack(key).push(table, row);
                return true;
            }
            let Some((begin, is_ambiguous)) = key.and_then(|key| open.stack(key).close(table, row)) else {
                return false;
            };
            if is_ambiguous {
                diagnostics.record(Code::AmbiguousAsync, None, table.name(begin).as_bytes());
            }
            pairs.asyncs.push((begin, row));
            true
        };
        // An end may precede its begin in the file if both are at the same time.
        let early: Vec<Row> = instant.iter().copied().filter(|&row| !pair(row)).collect();
        left.extend(early.into_iter().filter(|&row| !pair(row)));
    }
    left.extend(open.stacks.iter().flat_map(Stack::rows));
    sort_by_key(&mut left, |&row| (i64::from(row), 0));
    for row in left {
        diagnostics.record(Code::UnmatchedAsync, None, table.name(row).as_bytes());
        pairs.incomplete.push(row);
    }
}

/// The open begins of each id.
#[derive(Default)]
struct Open {
    index: Index,
    stacks: Vec<Stack>,
}

impl Open {
    fn stack(&mut self, id: Id) -> &mut Stack {
        let at = self.index.get_or_insert(id, self.stacks.len() as u32) as usize;
        if at == self.stacks.len() {
            self.stacks.push(Stack::default());
        }
        &mut self.stacks[at]
    }
}
