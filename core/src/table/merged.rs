//! The numbers of processes in traces of several ranks that `merge` wrote.

use super::events::Table;
use super::tracks::plain;
use crate::names::NameId;
use alloc::format;
use alloc::string::String;

/// The number of `pid`s and `tid`s of each rank.
pub(crate) const NUMBERS: i64 = 10_000_000;

/// The first number of those that do not fit. Numbers of processes on Linux are smaller.
pub(crate) const RENUMBERED: i64 = 5_000_000;

/// The rank and the own number of a number in a merged trace; `None` if it was renumbered.
fn own_number(number: i64) -> Option<(i64, i64)> {
    Some((number.div_euclid(NUMBERS), number.rem_euclid(NUMBERS))).filter(|own| own.1 < RENUMBERED)
}

/// Whether a trace has several ranks, because `merge` wrote it.
pub(crate) fn is_merged(table: &Table) -> bool {
    table.metadata.text("ranks").is_some_and(|ranks| ranks.contains("\"offset_ns\""))
}

/// The name of a device: its number, in a merged trace with its rank.
pub(crate) fn device_name(table: &Table, pid: NameId) -> String {
    let text = plain(&table.names, pid);
    let own = text.parse().ok().filter(|_| is_merged(table)).and_then(own_number);
    own.map_or_else(|| text.into(), |(rank, own)| format!("rank {rank}: {own}"))
}
