//! Pairs the starts and ends of flows.
//!
//! An end (`f`, `t`) belongs to the last start (`s`) with its id before it: in its own process if that has one. Otherwise
//! it belongs to the earliest of the last starts of all processes that has no end yet, else to the latest of all. One start
//! may have many ends. Events at the same time are taken in the order of the file.
//!
//! A flow of version 2 leaves each event with `flow_out` and arrives at each with `flow_in`. An event with both is an end first.

use super::Pairs;
use super::ids::{Directions, Id, Ids};
use crate::diagnostics::{Code, Diagnostics};
use crate::names::NameId;
use crate::order::sort_by_key;
use crate::table::events::{Row, Table};
use alloc::vec::Vec;

/// What a flow event is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    End,
    Start,
}

/// Pairs the flow events among `rows`.
pub(super) fn pair_flows(
    table: &Table,
    ids: &mut Ids<'_>,
    diagnostics: &mut Diagnostics,
    pairs: &mut Pairs,
    rows: &[Row],
) {
    let mut unmatched = 0;
    let mut events: Vec<(Id, Row, Side)> = Vec::with_capacity(rows.len());
    let directions: Vec<Directions> =
        table.layouts.all().iter().map(|layout| Directions::of(table, layout)).collect();
    for &row in rows {
        let side = match table.ph(row) {
            b's' => Side::Start,
            b't' | b'f' => Side::End,
            _ => {
                let Directions { is_in, is_out } = directions[table.layout_id(row).0 as usize];
                let id = ids.of_bind(row);
                events.extend(id.filter(|_| is_in).map(|id| (id, row, Side::End)));
                events.extend(id.filter(|_| is_out).map(|id| (id, row, Side::Start)));
                continue;
            }
        };
        match ids.of(row) {
            Some(id) => events.push((id, row, side)),
            None => unmatched += 1,
        }
    }
    sort_by_key(&mut events, |&(_, row, _)| (table.ts(row), i64::from(row)));
    sort_by_key(&mut events, |event| event.0);
    for group in events.chunk_by(|a, b| a.0 == b.0) {
        unmatched += pair_group(table, pairs, group);
    }
    diagnostics.record_many(Code::UnmatchedFlow, unmatched, None, b"");
}

/// The last start of a process.
struct Start {
    pid: NameId,
    row: Row,
    is_used: bool,
}

/// Pairs the flow events with one id, by time. Returns how many have no partner.
fn pair_group(table: &Table, pairs: &mut Pairs, group: &[(Id, Row, Side)]) -> u64 {
    let mut starts = Starts { table, all: Vec::new(), replaced: 0 };
    let mut unmatched = 0;
    for instant in group.chunk_by(|a, b| table.ts(a.1) == table.ts(b.1)) {
        let mut early: Vec<Row> = Vec::new();
        for &(_, row, side) in instant {
            match side {
                Side::Start => starts.add(row),
                Side::End => match starts.take(row) {
                    Some(start) => pairs.flows.push((start, row)),
                    None => early.push(row),
                },
            }
        }
        // An end may precede its start in the file if both are at the same time.
        for row in early {
            match starts.take(row) {
                Some(start) => pairs.flows.push((start, row)),
                None => unmatched += 1,
            }
        }
    }
    unmatched + starts.replaced + starts.all.iter().filter(|start| !start.is_used).count() as u64
}

/// The last starts of all processes with one id, the latest last.
struct Starts<'a> {
    table: &'a Table,
    all: Vec<Start>,
    /// How many had no end when another one of the process replaced them.
    replaced: u64,
}

impl Starts<'_> {
    fn of_process(&self, pid: NameId) -> Option<usize> {
        self.all.iter().rposition(|start| start.pid == pid)
    }

    fn add(&mut self, row: Row) {
        let pid = self.table.track(row).pid;
        if let Some(at) = self.of_process(pid) {
            self.replaced += u64::from(!self.all.remove(at).is_used);
        }
        self.all.push(Start { pid, row, is_used: false });
    }

    /// The start of an end.
    fn take(&mut self, end: Row) -> Option<Row> {
        let own = self.of_process(self.table.track(end).pid);
        let first = || self.all.iter().position(|start| !start.is_used);
        let at = own.or_else(first).or(self.all.len().checked_sub(1))?;
        self.all[at].is_used = true;
        Some(self.all[at].row)
    }
}
