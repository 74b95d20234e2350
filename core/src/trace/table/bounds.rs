//! The bounds of times and sizes, and why sums of them cannot overflow.
//!
//! `bound_times` runs once on every table, after pairing and before anything is summed. From then on:
//!
//! 1. A start is [`time::NONE`] or within [`time::EARLIEST`]..=[`time::LATEST`], that is −2^61..=2^62.
//! 2. A duration is [`time::NONE`] or within 0..=[`time::LONGEST`], that is 2^53.
//! 3. All durations together are at most [`MOST_NS`], that is 2^62.
//!
//! Therefore the following stays within `i64` without a check:
//!
//! - An end is at most 2^62 + 2^53, so an end less a start is below 2^62 + 2^61 + 2^54 < 2^63. So are the window of a
//!   device, the length of a union, and the time of an event after the start of the recording.
//! - A sum in which each event counts at most once is at most 2^62, whatever it is grouped by.
//! - A sum of self times adds each duration at most once and subtracts it at most once: it is within ±2^62.
//!
//! A sum in which an event may count several times (a kernel for every operator around it, device time measured around
//! operators, sizes) has no such bound and is added with `saturating_add`. Where no term is negative, the result is the
//! exact sum or `i64::MAX`, in whatever order it is added.
//!
//! Sizes are limited individually: [`Table::bytes`](super::events::Table::bytes) returns at most
//! [`LARGEST`].

use super::events::{LARGEST, Row, Table};
use super::layout::{Key, SIZES};
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::time;

/// The maximum sum of all durations of a table, in ns: 146 years.
pub const MOST_NS: i64 = 1 << 62;

/// The field that keeps the text of a start that is out of range.
pub(crate) const START: &str = "ts";
/// The field that keeps the text of a duration that is out of range.
pub(crate) const DURATION: &str = "dur";

/// Whether a start is within its range, or there is none.
#[inline]
pub(crate) fn is_start(ns: i64) -> bool {
    ns == time::NONE || (time::EARLIEST..=time::LATEST).contains(&ns)
}

/// Leaves out every start that is out of range, and shortens durations that are. If all durations together still exceed [`MOST_NS`], those that are longer than an
/// equal share of it are shortened to that share.
pub(crate) fn bound_times(table: &mut Table, diagnostics: &mut Diagnostics) {
    let (mut sum, mut spans) = (0i64, 0);
    for row in table.rows() {
        let (ts, dur) = (table.ts(row), table.dur(row));
        if !is_start(ts) || (dur != time::NONE && !(0..=time::LONGEST).contains(&dur)) {
            diagnostics.record(Code::TimeOutOfRange, None, table.name(row).as_bytes());
            bound(table, row);
        }
        let length = table.dur(row).max(0);
        sum = sum.saturating_add(length);
        spans += i64::from(length > 0);
    }
    if sum <= MOST_NS {
        return;
    }
    let share = MOST_NS / spans;
    for row in table.rows().filter(|&row| table.dur(row) > share).collect::<alloc::vec::Vec<Row>>() {
        diagnostics.record(Code::DurationShortened, None, table.name(row).as_bytes());
        table.set_dur(row, share);
    }
}

fn bound(table: &mut Table, row: Row) {
    let dur = table.dur(row);
    if !is_start(table.ts(row)) {
        table.place(row, time::NONE, table.track_id(row));
    }
    if dur != time::NONE {
        table.set_dur(row, dur.clamp(0, time::LONGEST));
    }
}

/// Counts an event in the diagnostics if [`Table::bytes`](super::events::Table::bytes) limits one of its sizes.
pub(crate) fn count_size(
    table: &Table,
    row: Row,
    (offset, example): (Option<u64>, &[u8]),
    diagnostics: &mut Diagnostics,
) {
    let is_over = |&key: &Key| table.int(row, key).is_some_and(|n| n.unsigned_abs() > LARGEST as u64);
    if table.layout(row).has_size() && SIZES.iter().any(is_over) {
        diagnostics.record(Code::SizeClamped, offset, example);
    }
}

/// Checks the sizes of all events with [`count_size`], for tables that were not read from JSON text.
pub(crate) fn count_sizes(table: &Table, diagnostics: &mut Diagnostics) {
    for row in table.rows() {
        count_size(table, row, (None, table.name(row).as_bytes()), diagnostics);
    }
}
