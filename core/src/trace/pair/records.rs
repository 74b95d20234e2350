//! Pairs pushes and pops of PyTorch's legacy profiler by PyTorch's rules, list by list in the order of the records:
//!
//! 1. A pop closes the open push of its handle and node. A second push of an open handle replaces the first one.
//! 2. A push with the name and node of a push right before it opens nothing, and its pop closes nothing. It does not
//!    count as the previous record for the next one, so that of three equal pushes two are left out.
//! 3. Records are left out if a record of their handle was left out before, or if torch hides their name.
//! 4. A push without a pop stays open to the end of its list, to include the memory that is allocated in it.

use super::pairs::Pairs;
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::handle::run;
use crate::base::index::Index;
use crate::base::names::NameId;
use crate::base::order::sort_by_key;
use crate::trace::dialect::hidden::hidden_names;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// The key by which records pair: handle and node.
type RecordKey = (i64, i64);

/// Stored instead of the row of an open push if all records of the key are left out.
const LEFT_OUT: u32 = u32::MAX;

/// The open push of a key; `None` if its records are left out.
fn open_push(known: u32) -> Option<Row> {
    (known != LEFT_OUT).then_some(Row::new(known as usize))
}

/// Pairs the records of every list and sets the durations of pushes. A push that torch shows is an operator or an
/// annotation, and an allocation that torch counts is a `CpuInstant`. Records that torch leaves out are neither.
pub(super) fn pair_records(table: &mut Table, diagnostics: &mut Diagnostics, pairs: &mut Pairs) {
    let hidden = hidden_names(&table.names);
    let mut lists = table.metadata.lists.clone();
    lists.push(table.len());
    for list in lists.windows(2) {
        let (first, end) = (list[0], list[1]);
        let mut pairing = ListPairing {
            table,
            diagnostics,
            pairs,
            hidden: &hidden,
            ranges: Index::default(),
            stuck: Vec::new(),
            last: None,
            first,
            ends: vec![None; end - first],
        };
        pairing.run(first..end);
        for (push, pop) in (first..).zip(pairing.ends) {
            pairs.spans.extend(pop.map(|pop| (Row::new(push), pop)));
        }
    }
}

struct ListPairing<'a> {
    table: &'a mut Table,
    diagnostics: &'a mut Diagnostics,
    pairs: &'a mut Pairs,
    hidden: &'a [NameId],
    ranges: Index,
    /// Open pushes whose handle was left out later.
    stuck: Vec<Row>,
    /// The previous record that was not left out.
    last: Option<Row>,
    /// The index of the first record of the list.
    first: usize,
    /// The pop of every push of the list.
    ends: Vec<Option<Row>>,
}

impl ListPairing<'_> {
    fn run(&mut self, list: Range<usize>) {
        let rows = || run(list.clone());
        let end = rows().map(|row| self.table.ts(row)).max().unwrap_or(0);
        for row in rows() {
            self.record(row);
        }
        let mut open: Vec<Row> = self.ranges.positions().filter_map(open_push).collect();
        open.append(&mut self.stuck);
        sort_by_key(&mut open, |&row| (i64::from(row), 0));
        for row in open {
            self.table.set_dur(row, end.saturating_sub(self.table.ts(row)).max(0));
            self.unmatched(Code::UnmatchedPush, row);
        }
    }

    fn record(&mut self, row: Row) {
        let key = self.key(row);
        let known = self.ranges.get(key);
        let open = known.and_then(open_push);
        // Allocations were named `[memory]` by the dialect; for torch they have no name.
        let is_memory = self.table.category(row) == Category::CpuInstant;
        let is_hidden = !is_memory && self.hidden.contains(&self.table.name_id(row));
        if known == Some(LEFT_OUT) || is_hidden {
            return self.leave_out(key, row, Code::HiddenRecord);
        }
        match self.table.ph(row) {
            b'B' if self.repeats(row) => return self.leave_out(key, row, Code::RepeatedPush),
            b'B' => {
                if let Some(replaced) = open {
                    self.unmatched(Code::UnmatchedPush, replaced);
                    self.clear_meaning(replaced);
                    self.pairs.replaced.push((replaced, row));
                }
                self.ranges.set(key, row.index() as u32);
            }
            b'E' => match open {
                Some(push) => {
                    self.ranges.remove(key);
                    self.close(push, row);
                }
                None => self.unmatched(Code::UnmatchedPop, row),
            },
            _ => {}
        }
        self.last = Some(row);
    }

    fn key(&self, row: Row) -> RecordKey {
        let int = |key| self.table.int(row, key).unwrap_or(0);
        (int(Key::ExternalId), int(Key::NodeId))
    }

    fn repeats(&self, row: Row) -> bool {
        let node = |row| self.table.int(row, Key::NodeId);
        self.last.is_some_and(|last| {
            self.table.ph(last) == b'B'
                && self.table.name_id(last) == self.table.name_id(row)
                && node(last) == node(row)
        })
    }

    fn close(&mut self, push: Row, pop: Row) {
        self.table.set_dur(push, self.table.ts(pop).saturating_sub(self.table.ts(push)).max(0));
        self.ends[push.index() - self.first] = Some(pop);
    }

    fn leave_out(&mut self, key: RecordKey, row: Row, code: Code) {
        // An open range with this key stays open to the end of the list.
        let open = self.ranges.get(key).and_then(open_push);
        self.stuck.extend(open);
        self.ranges.set(key, LEFT_OUT);
        self.diagnostics.record(code, None, self.table.name(row).as_bytes());
        self.clear_meaning(row);
    }

    /// Turns a record into an instant event that no analysis counts.
    fn clear_meaning(&mut self, row: Row) {
        self.table.set_meaning(row, (b'I', Category::Other), &[]);
    }

    fn unmatched(&mut self, code: Code, row: Row) {
        self.diagnostics.record(code, None, self.table.name(row).as_bytes());
        self.pairs.incomplete.push(row);
    }
}
