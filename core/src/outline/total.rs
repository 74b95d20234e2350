//! Sums over events.

use super::joined;
use crate::base::index::Index;
use crate::base::names::NameId;
use crate::base::time;
use crate::trace::samples::is_profile;
use crate::trace::table::events::{Row, Table};
use alloc::vec::Vec;

/// Whether an event has no place in time: metadata, and events without a time.
fn is_timeless(table: &Table, row: Row) -> bool {
    table.ph(row) == b'M' || table.ts(row) == time::NONE
}

/// Whether every window has an event: one without a place in time, or a part of a V8 profile, whose samples have times of their own.
pub(super) fn is_common(table: &Table, row: Row) -> bool {
    is_timeless(table, row) || is_profile(table, row)
}

/// Sums over some events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Total {
    /// The number of events.
    pub events: u64,
    /// The number of complete events.
    pub spans: u64,
    /// The sum of the durations of complete events, in ns; at most `i64::MAX`.
    pub sum_ns: i64,
    /// The longest of them, in ns.
    pub longest_ns: i64,
    /// The earliest start and the latest end in ns after the base, without metadata events.
    pub time: Option<(i64, i64)>,
}

impl Total {
    /// The total of one event.
    pub(super) fn from_event(table: &Table, row: Row) -> Total {
        let (ph, ts, dur) = (table.ph(row), table.ts(row), table.dur(row));
        let is_span = ph == b'X' && dur != time::NONE;
        let duration = if is_span { dur.max(0) } else { 0 };
        Total {
            events: 1,
            spans: u64::from(is_span),
            sum_ns: duration,
            longest_ns: duration,
            time: (!is_timeless(table, row)).then(|| (ts, table.end(row))),
        }
    }

    /// Adds other events.
    pub(super) fn add(&mut self, other: &Total) {
        self.events = self.events.saturating_add(other.events);
        self.spans = self.spans.saturating_add(other.spans);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.time = joined(self.time, other.time);
    }
}

/// Sums by category and name.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    index: Index,
    groups: Vec<(NameId, NameId, Total)>,
    /// The number of events whose names are not distinguished.
    pub(super) merged: u64,
}

impl Totals {
    /// Adds events of a category and a name; `None` if the name is not distinguished.
    pub(super) fn add(&mut self, (category, name): (NameId, Option<NameId>), total: &Total) {
        if name.is_none() {
            self.merged += total.events;
        }
        let name = name.unwrap_or(NameId::EMPTY);
        let next = self.groups.len() as u32;
        let at = self.index.get_or_insert((i64::from(category.0), i64::from(name.0)), next);
        if at == next {
            self.groups.push((category, name, Total::default()));
        }
        self.groups[at as usize].2.add(total);
    }

    /// Every category and name with its sums.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(NameId, NameId, Total)> {
        self.groups.iter()
    }
}
