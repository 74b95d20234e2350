//! The result of pairing.

use crate::order::sort_by_key;
use crate::table::events::Row;
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
}
