//! The operator of a launch call, by the external id of the call.

use super::ById;
use crate::base::maxima::Maxima;
use crate::base::names::NameId;
use crate::base::order::sort_by_key;
use crate::trace::table::events::{Row, Table};
use alloc::vec::Vec;

/// Operators by their external ids.
pub(super) struct Operators {
    by_id: ById,
    repeated: Option<Repeated>,
}

impl Operators {
    pub(super) fn new(table: &Table, by_id: ById) -> Operators {
        let repeated = by_id.has_repeats().then(|| Repeated::new(table, &by_id));
        Operators { by_id, repeated }
    }

    pub(super) fn by_id(&self) -> &ById {
        &self.by_id
    }

    /// The innermost operator with an external id that contains a call on its track.
    pub(super) fn containing(&self, table: &Table, id: i64, call: Row) -> Option<Row> {
        if let Some(repeated) = &self.repeated {
            return repeated.containing(table, id, call);
        }
        let track = |row: Row| table.track_id(row);
        let contains = |&op: &Row| table.ts(op) <= table.ts(call) && table.end(call) <= table.end(op);
        self.by_id.first(id).filter(|&op| track(op) == track(call)).filter(contains)
    }

    /// The operator of a call if none with its external id contains it: the latest of its process that began before it, else the first
    /// of its process, else the first. Also whether there are several: in its process if that has any.
    pub(super) fn nearest(&self, table: &Table, id: i64, call: Row) -> Option<(Row, bool)> {
        let of_process = self.repeated.as_ref().and_then(|repeated| repeated.in_process(table, id, call));
        let any = || Some((self.by_id.first(id)?, self.by_id.range(id).len() > 1));
        of_process.or_else(any)
    }
}

/// An operator of an external id that several have.
#[derive(Clone, Copy)]
struct Op {
    id: i64,
    /// The track or the process.
    place: u32,
    begin: i64,
    row: Row,
}

impl Op {
    fn key(&self) -> (i64, u32, i64) {
        (self.id, self.place, self.begin)
    }
}

/// All operators, if ids repeat.
struct Repeated {
    /// Sorted by id, track, begin and row, with their ends.
    by_track: Vec<Op>,
    ends: Maxima,
    /// Sorted by id, process, begin and row.
    by_process: Vec<Op>,
    /// Sorted by id, process and row.
    in_file: Vec<(i64, NameId, Row)>,
}

impl Repeated {
    fn new(table: &Table, by_id: &ById) -> Repeated {
        let sorted = |place: &dyn Fn(Row) -> u32| {
            let op = |&(id, row): &(i64, Row)| Op { id, place: place(row), begin: table.ts(row), row };
            let mut ops: Vec<Op> = by_id.0.iter().map(op).collect();
            // The sort is stable, and the operators are sorted by row.
            sort_by_key(&mut ops, |op| (i64::from(op.place), op.begin));
            sort_by_key(&mut ops, |op| (op.id, 0));
            ops
        };
        let by_track = sorted(&|row| table.track_id(row).0);
        let ends = Maxima::new(by_track.iter().map(|op| table.end(op.row)));
        let mut in_file: Vec<(i64, NameId, Row)> =
            by_id.0.iter().map(|&(id, row)| (id, table.track(row).pid, row)).collect();
        sort_by_key(&mut in_file, |&(id, pid, _)| (id, i64::from(pid.0)));
        Repeated { by_track, ends, by_process: sorted(&|row| table.track(row).pid.0), in_file }
    }

    fn containing(&self, table: &Table, id: i64, call: Row) -> Option<Row> {
        let (track, begin) = (table.track_id(call).0, table.ts(call));
        let before = self.by_track.partition_point(|op| op.key() <= (id, track, begin));
        let op = self.by_track[self.ends.last_before(before, table.end(call))?];
        ((op.id, op.place) == (id, track)).then_some(op.row)
    }

    /// The latest operator of the call's process that began before the call, else the first one in the file; and whether the process
    /// has several.
    fn in_process(&self, table: &Table, id: i64, call: Row) -> Option<(Row, bool)> {
        let (pid, begin) = (table.track(call).pid, table.ts(call));
        let first = self.in_file.partition_point(|&(other, process, _)| (other, process) < (id, pid));
        let is_own = |at: usize| self.in_file.get(at).is_some_and(|op| (op.0, op.1) == (id, pid));
        if !is_own(first) {
            return None;
        }
        let before = self.by_process.partition_point(|op| op.key() <= (id, pid.0, begin));
        let latest = self.by_process[..before].last().filter(|op| (op.id, op.place) == (id, pid.0));
        let row = latest.map_or(self.in_file[first].2, |latest| {
            // Of those that began at the same time, the first one in the file.
            let at = self.by_process.partition_point(|op| op.key() < latest.key());
            self.by_process[at].row
        });
        Some((row, is_own(first + 1)))
    }
}
