//! The open begins with one id of asynchronous spans.

use crate::base::index::Index;
use crate::trace::table::events::{Row, Table};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The number of open begins up to which a search is faster than an index.
const FEW: usize = 4;

/// The open begins, the latest last.
#[derive(Default)]
pub(super) struct Stack {
    rows: Vec<Row>,
    /// Once there were many; `rows` then keeps closed begins as well.
    indexed: Option<Box<Indexed>>,
}

impl Stack {
    pub(super) fn push(&mut self, table: &Table, begin: Row) {
        self.rows.push(begin);
        if let Some(indexed) = &mut self.indexed {
            indexed.push(table, begin);
        } else if self.rows.len() > FEW {
            let mut indexed = Box::new(Indexed::default());
            self.rows.iter().for_each(|&row| indexed.push(table, row));
            self.indexed = Some(indexed);
        }
    }

    /// Removes the begin of an end. Returns it, and whether the pair is ambiguous.
    pub(super) fn close(&mut self, table: &Table, end: Row) -> Option<(Row, bool)> {
        if let Some(indexed) = &mut self.indexed {
            return indexed.close(table, end);
        }
        let name = table.name_id(end);
        let pid = |row: Row| table.track(row).pid;
        let fits = |begin: Row| table.name_id(begin) == name || table.name(end).is_empty();
        let of_process = self.rows.iter().rposition(|&begin| fits(begin) && pid(begin) == pid(end));
        let at = of_process.or_else(|| self.rows.iter().rposition(|&begin| fits(begin)))?;
        let begin = self.rows.remove(at);
        let mut others = self.rows[..at].iter().filter(|&&other| fits(other));
        let is_ambiguous = if of_process.is_none() {
            others.any(|&other| pid(other) != pid(begin))
        } else if table.ph(end) == b'F' {
            others.any(|&other| pid(other) == pid(begin))
        } else {
            table.track_id(begin) != table.track_id(end)
                && others.any(|&other| table.track_id(other) == table.track_id(end))
        };
        Some((begin, is_ambiguous))
    }

    /// The begins that are still open.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row> {
        let is_open = |row: &Row| self.indexed.as_ref().is_none_or(|indexed| !indexed.is_closed(*row));
        self.rows.iter().copied().filter(is_open)
    }
}

/// What open begins have in common besides their id.
#[derive(Clone, Copy)]
enum Of {
    All,
    Process(u32),
    Track(u32),
}

/// The open begins with an id by name, and by process and thread.
#[derive(Default)]
struct Indexed {
    /// Name, or any, and what the begins have in common.
    index: Index,
    groups: Vec<Group>,
    closed: Index,
}

/// Open begins, the latest last. Closed ones are removed when they are found.
#[derive(Default)]
struct Group {
    rows: Vec<Row>,
    count: usize,
}

/// Instead of the number of a name.
const ANY: i64 = -1;

impl Indexed {
    fn group(&mut self, name: i64, of: Of) -> &mut Group {
        let of = match of {
            Of::All => 0,
            Of::Process(pid) => 1 << 32 | i64::from(pid),
            Of::Track(track) => 2 << 32 | i64::from(track),
        };
        let at = self.index.get_or_insert((name, of), self.groups.len() as u32) as usize;
        if at == self.groups.len() {
            self.groups.push(Group::default());
        }
        &mut self.groups[at]
    }

    /// The groups of a begin or an end.
    fn scopes(table: &Table, row: Row) -> [Of; 3] {
        [Of::All, Of::Process(table.track(row).pid.0), Of::Track(table.track_id(row).0)]
    }

    fn each(&mut self, table: &Table, begin: Row, change: impl Fn(&mut Group)) {
        for name in [ANY, i64::from(table.name_id(begin).0)] {
            for of in Indexed::scopes(table, begin) {
                change(self.group(name, of));
            }
        }
    }

    fn push(&mut self, table: &Table, begin: Row) {
        self.each(table, begin, |group| {
            group.rows.push(begin);
            group.count += 1;
        });
    }

    fn is_closed(&self, row: Row) -> bool {
        self.closed.get((i64::from(row), 0)).is_some()
    }

    /// The latest open begin of a group.
    fn last(&mut self, name: i64, of: Of) -> Option<Row> {
        loop {
            let row = *self.group(name, of).rows.last()?;
            if !self.is_closed(row) {
                return Some(row);
            }
            self.group(name, of).rows.pop();
        }
    }

    /// As [`Stack::close`]. The begins that are left of the same process are earlier, because the latest one was removed.
    fn close(&mut self, table: &Table, end: Row) -> Option<(Row, bool)> {
        let name = if table.name(end).is_empty() { ANY } else { i64::from(table.name_id(end).0) };
        let [all, process, track] = Indexed::scopes(table, end);
        let of_process = self.last(name, process);
        let begin = of_process.or_else(|| self.last(name, all))?;
        self.closed.insert((i64::from(begin), 0));
        self.each(table, begin, |group| group.count -= 1);
        let [_, process_of_begin, _] = Indexed::scopes(table, begin);
        let mut count = |of| self.group(name, of).count;
        let is_ambiguous = if of_process.is_none() {
            count(all) > count(process_of_begin)
        } else if table.ph(end) == b'F' {
            count(process) > 0
        } else {
            table.track_id(begin) != table.track_id(end) && count(track) > 0
        };
        Some((begin, is_ambiguous))
    }
}
