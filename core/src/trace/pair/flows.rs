//! Pairs the starts and ends of flows.
//!
//! An end (`f`, `t`) belongs to the last start (`s`) with its id before it: in its own process if that has one. Otherwise
//! it belongs to the earliest of the last starts of all processes that has no end yet, else to the latest of all. One start
//! may have many ends. Events at the same time are taken in the order of the file.
//!
//! A flow of version 2 leaves each event with `flow_out` and arrives at each with `flow_in`. An event with both is an end first.

use super::Pairs;
use super::ids::{Directions, Id, Ids};
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::index::Index;
use crate::base::names::NameId;
use crate::base::order::sort_by_key;
use crate::trace::table::events::{Row, Table};
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
        table.layouts.all().iter().map(|layout| Directions::new(table, layout)).collect();
    for &row in rows {
        let side = match table.ph(row) {
            b's' => Side::Start,
            b't' | b'f' => Side::End,
            _ => {
                let Directions { is_in, is_out } = directions[table.layout_id(row).0 as usize];
                let id = ids.bind_id(row);
                events.extend(id.filter(|_| is_in).map(|id| (id, row, Side::End)));
                events.extend(id.filter(|_| is_out).map(|id| (id, row, Side::Start)));
                continue;
            }
        };
        match ids.id(row) {
            Some(id) => events.push((id, row, side)),
            None => unmatched += 1,
        }
    }
    sort_by_key(&mut events, |&(_, row, _)| (table.ts(row), i64::from(row)));
    sort_by_key(&mut events, |event| event.0);
    let mut starts = Starts::new(table);
    for group in events.chunk_by(|a, b| a.0 == b.0) {
        unmatched += starts.pair_group(pairs, group);
    }
    diagnostics.record_many(Code::UnmatchedFlow, unmatched, None, b"");
}

/// A start, until another one of its process follows.
struct Start {
    pid: NameId,
    row: Row,
    is_used: bool,
}

/// The starts with one id, by time. Buffers are kept from id to id.
struct Starts<'a> {
    table: &'a Table,
    all: Vec<Start>,
    /// The last start of each process, once there are many starts.
    last: Option<Index>,
    /// Before this one, every start is used or replaced.
    first_unused: usize,
    /// How many had no end when another one of the process replaced them.
    replaced: u64,
    /// Ends without a start before them in the file.
    early: Vec<Row>,
}

/// The number of starts up to which a search is faster than an index.
const FEW: usize = 4;

impl<'a> Starts<'a> {
    fn new(table: &'a Table) -> Self {
        Starts { table, all: Vec::new(), last: None, first_unused: 0, replaced: 0, early: Vec::new() }
    }

    /// Pairs the flow events with one id, by time. Returns how many have no partner.
    fn pair_group(&mut self, pairs: &mut Pairs, group: &[(Id, Row, Side)]) -> u64 {
        let table = self.table;
        self.all.clear();
        (self.last, self.first_unused, self.replaced) = (None, 0, 0);
        let mut unmatched = 0;
        for instant in group.chunk_by(|a, b| table.ts(a.1) == table.ts(b.1)) {
            for &(_, row, side) in instant {
                match side {
                    Side::Start => self.add(row),
                    Side::End => match self.take(row) {
                        Some(start) => pairs.flows.push((start, row)),
                        None => self.early.push(row),
                    },
                }
            }
            // An end may precede its start in the file if both are at the same time.
            for at in 0..self.early.len() {
                let row = self.early[at];
                match self.take(row) {
                    Some(start) => pairs.flows.push((start, row)),
                    None => unmatched += 1,
                }
            }
            self.early.clear();
        }
        unmatched + self.replaced + self.all.iter().filter(|start| !start.is_used).count() as u64
    }

    fn last_in_process(&self, pid: NameId) -> Option<usize> {
        match &self.last {
            Some(last) => last.get((i64::from(pid.0), 0)).map(|at| at as usize),
            None => self.all.iter().rposition(|start| start.pid == pid),
        }
    }

    fn add(&mut self, row: Row) {
        let pid = self.table.track(row).pid;
        if let Some(at) = self.last_in_process(pid) {
            self.replaced += u64::from(!core::mem::replace(&mut self.all[at].is_used, true));
        }
        if let Some(last) = &mut self.last {
            last.set((i64::from(pid.0), 0), self.all.len() as u32);
        }
        self.all.push(Start { pid, row, is_used: false });
        if self.last.is_none() && self.all.len() > FEW {
            let mut last = Index::default();
            for (at, start) in (0..).zip(&self.all) {
                last.set((i64::from(start.pid.0), 0), at);
            }
            self.last = Some(last);
        }
    }

    /// The start of an end.
    fn take(&mut self, end: Row) -> Option<Row> {
        while self.all.get(self.first_unused).is_some_and(|start| start.is_used) {
            self.first_unused += 1;
        }
        let first = Some(self.first_unused).filter(|&at| at < self.all.len());
        let of_process = self.last_in_process(self.table.track(end).pid);
        let at = of_process.or(first).or(self.all.len().checked_sub(1))?;
        self.all[at].is_used = true;
        Some(self.all[at].row)
    }
}
