//! The result of pairing.

use crate::base::order::sort_by_key;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::is_async_begin;
use crate::trace::table::merged::{recording_of, recordings};
use alloc::vec;
use alloc::vec::Vec;

/// Paired events, and events without a partner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pairs {
    /// Each `B` with its `E`.
    pub spans: Vec<(Row, Row)>,
    /// Each asynchronous begin with its end.
    pub asyncs: Vec<(Row, Row)>,
    /// Each flow start with one of its ends.
    pub flows: Vec<(Row, Row)>,
    /// Each push whose handle was pushed again while it was open, with the push that replaced it.
    pub replaced: Vec<(Row, Row)>,
    /// Begins and ends without a partner, ascending.
    pub incomplete: Vec<Row>,
}

impl Pairs {
    pub(super) fn sort(&mut self) {
        for pairs in [&mut self.spans, &mut self.asyncs, &mut self.flows] {
            sort_by_key(pairs, |&(begin, end)| (i64::from(begin), i64::from(end)));
        }
        sort_by_key(&mut self.incomplete, |&row| (i64::from(row), 0));
    }

    fn open(&self, table: &Table) -> impl Iterator<Item = Row> {
        self.incomplete.iter().copied().filter(|&row| is_async_begin(table.ph(row)))
    }

    /// The number of asynchronous spans, with those without an end.
    pub(crate) fn asyncs_count(&self, table: &Table) -> usize {
        self.asyncs.len() + self.open(table).count()
    }

    /// The asynchronous begins without an end, each with the end of its recording.
    pub(crate) fn open_asyncs(&self, table: &Table) -> impl Iterator<Item = (Row, i64)> {
        let mut open = self.open(table).peekable();
        let mut ends = vec![i64::MIN; recordings(table)];
        if open.peek().is_some() {
            for row in table.rows() {
                let end = &mut ends[recording_of(table, row)];
                *end = table.end(row).max(*end);
            }
        }
        open.map(move |begin| (begin, ends[recording_of(table, begin)]))
    }
}
