//! Pairs the begins and ends of the spans of a track (`B`, `E`), in the order of `ts` and then of the file:
//!
//! 1. An end closes the innermost open begin of its name. An end without a name closes the innermost begin.
//! 2. If the innermost begin has another name, an end at the same timestamp with the name of that begin is processed
//!    first. If there is none and no open begin matches, a begin at the same timestamp that matches is processed first.
//! 3. An end that matches an outer open begin closes that one. The begins inside it end there too, marked incomplete.
//! 4. An end that matches no open begin closes the innermost begin and counts as a mismatch.
//! 5. An end without an open begin is kept and marked incomplete.
//! 6. A begin without an end lasts to the last `B` or `E` of its track, marked incomplete.

use super::pairs::Pairs;
use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::index::Index;
use crate::base::names::NameId;
use crate::base::order::sort_by_key;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::merged::recording_of;
use alloc::vec;
use alloc::vec::Vec;

/// Pairs the begins and ends of each track, in a merged trace those of each recording.
pub(super) fn pair_tracks(
    table: &mut Table,
    diagnostics: &mut Diagnostics,
    pairs: &mut Pairs,
    tracks: Vec<Vec<Row>>,
) {
    let open_of = vec![0; table.names.len()];
    let mut pairing = Pairing { table, diagnostics, pairs, open: Vec::new(), open_of };
    for mut rows in tracks {
        let is_same = |a: &Row, b: &Row| recording_of(pairing.table, *a) == recording_of(pairing.table, *b);
        let mut parts: Vec<&mut [Row]> = rows.chunk_by_mut(is_same).collect();
        for rows in &mut parts {
            sort_by_key(rows, |&row| (pairing.table.ts(row), i64::from(row)));
            pairing.track(rows);
        }
    }
}

struct Pairing<'a> {
    table: &'a mut Table,
    diagnostics: &'a mut Diagnostics,
    pairs: &'a mut Pairs,
    open: Vec<Row>,
    /// The number of open begins of each name.
    open_of: Vec<u32>,
}

impl Pairing<'_> {
    fn track(&mut self, rows: &[Row]) {
        let mut rest = rows;
        while let Some(&first) = rest.first() {
            let ties = rest.iter().take_while(|&&row| self.table.ts(row) == self.table.ts(first)).count();
            self.instant(&rest[..ties]);
            rest = &rest[ties..];
        }
        let last = rows.last().map_or(0, |&row| self.table.ts(row));
        for begin in core::mem::take(&mut self.open) {
            *self.count(begin) = 0;
            self.close_incomplete(begin, last);
        }
    }

    /// Processes the events at one time.
    fn instant(&mut self, rows: &[Row]) {
        let mut ties = Ties { rows, ..Ties::default() };
        for (at, &row) in rows.iter().enumerate() {
            if ties.is_done(at) {
                continue;
            }
            while let Some(next) = self.goes_first(&mut ties, at) {
                ties.finish(next);
                self.process(rows[next]);
            }
            self.process(row);
        }
    }

    fn process(&mut self, row: Row) {
        if self.table.ph(row) == b'E' {
            return self.end(row);
        }
        self.open.push(row);
        *self.count(row) += 1;
    }

    /// The number of open begins with the name of an event.
    fn count(&mut self, row: Row) -> &mut u32 {
        &mut self.open_of[self.table.name_id(row).0 as usize]
    }

    fn matches(&self, begin: Row, end: Row) -> bool {
        let name = self.table.name_id(end);
        self.table.name(end).is_empty() || name == self.table.name_id(begin)
    }

    /// Rule 2: the index of the event that is processed before the one at `at`.
    fn goes_first(&mut self, ties: &mut Ties<'_>, at: usize) -> Option<usize> {
        let end = ties.rows[at];
        if ties.rows.len() == at + 1 || self.table.ph(end) == b'B' {
            return None;
        }
        let innermost = self.open.last();
        if innermost.is_some_and(|&begin| self.matches(begin, end)) {
            return None;
        }
        let ahead = innermost.and_then(|&begin| ties.next(self.table, at, (b'E', self.table.name_id(begin))));
        if ahead.is_some() || *self.count(end) > 0 {
            return ahead;
        }
        if self.table.name(end).is_empty() {
            return ties.next_begin(self.table, at);
        }
        ties.next(self.table, at, (b'B', self.table.name_id(end)))
    }

    fn end(&mut self, end: Row) {
        let instant = self.table.ts(end);
        let Some(&innermost) = self.open.last() else {
            self.pairs.incomplete.push(end);
            self.note(Code::UnmatchedEnd, end);
            return;
        };
        let is_open = self.table.name(end).is_empty() || *self.count(end) > 0;
        let matching = || self.open.iter().rposition(|&begin| self.matches(begin, end));
        let depth = if is_open { matching() } else { None };
        if let Some(depth) = depth {
            for begin in self.open.split_off(depth + 1) {
                *self.count(begin) -= 1;
                self.close_incomplete(begin, instant);
            }
        } else {
            self.note(Code::MismatchedEnd, end);
        }
        let begin = self.open.pop().unwrap_or(innermost);
        *self.count(begin) -= 1;
        self.set_duration(begin, instant);
        self.pairs.spans.push((begin, end));
    }

    fn close_incomplete(&mut self, begin: Row, end: i64) {
        self.set_duration(begin, end);
        self.pairs.incomplete.push(begin);
        self.note(Code::UnmatchedBegin, begin);
    }

    fn set_duration(&mut self, begin: Row, end: i64) {
        self.table.set_dur(begin, end.saturating_sub(self.table.ts(begin)).max(0));
    }

    fn note(&mut self, code: Code, row: Row) {
        self.diagnostics.record(code, None, self.table.name(row).as_bytes());
    }
}

/// The events at one time. Some are processed before their turn.
#[derive(Default)]
struct Ties<'a> {
    rows: &'a [Row],
    /// Which events were processed before their turn; empty if none were.
    done: Vec<bool>,
    /// The first event of each name and phase that may be left, and for each event the next one.
    first: Index,
    following: Vec<u32>,
    /// Before this index, no begin is left.
    first_begin: usize,
}

const NONE: u32 = u32::MAX;

impl Ties<'_> {
    fn is_done(&self, at: usize) -> bool {
        self.done.get(at).is_some_and(|&done| done)
    }

    fn finish(&mut self, at: usize) {
        self.done.resize(self.rows.len(), false);
        self.done[at] = true;
    }

    /// The first event with a phase and name that is left after `at`.
    fn next(&mut self, table: &Table, at: usize, (ph, name): (u8, NameId)) -> Option<usize> {
        if self.following.is_empty() {
            self.following = vec![NONE; self.rows.len()];
            for (at, &row) in self.rows.iter().enumerate().rev() {
                let key = (i64::from(table.name_id(row).0), i64::from(table.ph(row)));
                self.following[at] = self.first.get(key).unwrap_or(NONE);
                self.first.set(key, at as u32);
            }
        }
        let key = (i64::from(name.0), i64::from(ph));
        let mut next = self.first.get(key).unwrap_or(NONE);
        while next != NONE && (next as usize <= at || self.is_done(next as usize)) {
            next = self.following[next as usize];
        }
        self.first.set(key, next);
        (next != NONE).then_some(next as usize)
    }

    /// The first begin that is left after `at`.
    fn next_begin(&mut self, table: &Table, at: usize) -> Option<usize> {
        let mut rest = self.first_begin.max(at + 1)..self.rows.len();
        let next = rest.find(|&at| !self.is_done(at) && table.ph(self.rows[at]) == b'B');
        self.first_begin = next.unwrap_or(self.rows.len());
        next
    }
}
