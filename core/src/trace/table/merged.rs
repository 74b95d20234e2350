//! What traces of several ranks contain that `merge` wrote: the numbers of their processes and threads, and where each recording
//! begins.

use super::events::{Row, Table};
pub(crate) use super::rank_numbers::{Merged, NUMBERS, RENUMBERED};
use super::tracks::plain;
use crate::base::names::NameId;
use crate::base::order::sort_by_key;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The member with a description of each recording.
pub(crate) const RANKS: &str = "ranks";

/// Its member with the numbers of the rank that do not fit, in the order of their places from [`RENUMBERED`] on.
pub(crate) const OTHERS: &str = "renumbered";

/// The name of the metadata event before the events of each recording.
pub(crate) const RECORDING: &str = "recording";

/// Whether a trace has several ranks, because `merge` wrote it.
pub(crate) fn is_merged(table: &Table) -> bool {
    table.metadata.merged.is_some()
}

/// What a trace states about its ranks; `None` if it was not merged.
pub(crate) fn merged(table: &Table) -> Option<Merged> {
    let text = table.metadata.text(RANKS).filter(|text| text.contains("\"offset_ns\""))?;
    let ranks: Vec<serde_json::Value> = serde_json::from_str(text).ok()?;
    let mut others: Vec<(i64, Vec<i64>)> = Vec::new();
    for entry in &ranks {
        let numbers = entry.get(OTHERS).and_then(|list| list.as_array());
        let numbers = numbers.into_iter().flatten().filter_map(serde_json::Value::as_i64).collect();
        let rank = entry.get("rank").and_then(serde_json::Value::as_i64)?;
        match others.iter_mut().find(|known| known.0 == rank) {
            // A later recording of a rank states the numbers of those before it as well.
            Some(known) => known.1 = numbers,
            None => others.push((rank, numbers)),
        }
    }
    sort_by_key(&mut others, |known| (known.0, 0));
    let name = table.names.find(RECORDING);
    let is_start = |row: &Row| name == Some(table.name_id(*row)) && table.ph(*row) == b'M';
    let starts = table.rows().filter(|_| name.is_some()).filter(is_start).map(Row::index).collect();
    Some(Merged { others, starts })
}

/// The number of the recording that an event is of; 0 of all events if the trace was not merged.
pub(crate) fn recording_of(table: &Table, row: Row) -> usize {
    table
        .metadata
        .merged
        .as_ref()
        .map_or(0, |merged| merged.starts.partition_point(|&start| start <= row.index()))
}

/// The number of recordings, with that of events before the first.
pub(crate) fn recordings(table: &Table) -> usize {
    table.metadata.merged.as_ref().map_or(1, |merged| merged.starts.len() + 1)
}

/// The rank before a text that is no number, and the text as the recording of the rank has it.
pub(crate) fn split_rank(text: &str) -> Option<(i64, &str)> {
    let (rank, name) = text.strip_prefix("rank ")?.split_once(": ")?;
    Some((rank.parse().ok()?, name))
}

/// The rank of a process in a merged trace.
pub(crate) fn rank_of(table: &Table, pid: NameId) -> Option<i64> {
    let merged = table.metadata.merged.as_ref()?;
    let text = plain(&table.names, pid);
    match text.parse() {
        Ok(number) => merged.resolve(number).map(|(rank, _)| rank),
        Err(_) => split_rank(text).map(|(rank, _)| rank),
    }
}

/// A `pid` or `tid` as the recording of its rank has it.
pub(crate) fn own_id(table: &Table, id: NameId) -> String {
    let text = plain(&table.names, id);
    let merged = table.metadata.merged.as_ref();
    let recorded = merged.and_then(|merged| merged.resolve(text.parse().ok()?));
    recorded.map_or_else(|| text.to_string(), |(_, number)| number.to_string())
}

/// The number of a `pid` or `tid` as the recording of its rank has it.
pub(crate) fn own_number(table: &Table, number: i64) -> i64 {
    let merged = table.metadata.merged.as_ref();
    merged.and_then(|merged| merged.resolve(number)).map_or(number, |(_, recorded)| recorded)
}

/// The name of a device: its number, in a merged trace with its rank.
pub(crate) fn device_name(table: &Table, pid: NameId) -> String {
    let id = own_id(table, pid);
    let is_number = id.parse::<i64>().is_ok();
    rank_of(table, pid).filter(|_| is_number).map_or_else(|| id.clone(), |rank| format!("rank {rank}: {id}"))
}
