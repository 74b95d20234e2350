//! Pairs begin and end events into spans, and flow starts with flow ends.
//!
//! Rules for `B` and `E`, per track, in the order of `ts` and then of the file:
//! 1. An end closes the innermost open begin of its name. An end without a name closes the innermost begin.
//! 2. If the innermost begin has another name, an end at the same timestamp with the name of that begin is processed
//!    first. If there is none and no open begin matches, a begin at the same timestamp that matches is processed first.
//! 3. An end that matches an outer open begin closes that one. The begins inside it end there too, marked incomplete.
//! 4. An end that matches no open begin closes the innermost begin and counts as a mismatch.
//! 5. An end without an open begin is kept and marked incomplete.
//! 6. A begin without an end lasts to the last `B` or `E` of its track, marked incomplete.
//!
//! Asynchronous events (`b`/`e`, `S`/`F`) pair by category and id, and by name if the end has one, innermost first.
//! Flow ends (`f`, `t`) pair with the last start (`s`) of their category and id; one start may have many ends.

mod pairs;
mod records;

pub use pairs::Pairs;

use crate::diagnostics::{Code, Diagnostics};
use crate::index::Index;
use crate::order::sort_by_key;
use crate::table::events::{Row, Table};
use crate::table::layout::Key;
use crate::table::metadata::Source;
use crate::time;
use alloc::vec::Vec;

/// The pairs that determine durations, and the events that pair by an id.
#[derive(Default)]
pub(crate) struct SpanPairs {
    pairs: Pairs,
    keyed: Vec<Row>,
}

/// Pairs the begin and end events of spans, and sets their durations.
pub(crate) fn pair_spans(table: &mut Table, diagnostics: &mut Diagnostics) -> SpanPairs {
    let mut pairs = Pairs::default();
    if table.metadata.source == Source::LegacyRecords {
        records::pair_records(table, diagnostics, &mut pairs);
        return SpanPairs { pairs, keyed: Vec::new() };
    }
    let mut marks: Vec<Vec<Row>> = Vec::new();
    let mut keyed: Vec<Row> = Vec::new();
    let kinds: Vec<u8> = table.layouts.all().iter().map(|l| l.ph).collect();
    for row in table.rows() {
        match kinds[table.layout_id(row).0 as usize] {
            b'B' | b'E' if table.ts(row) != time::NONE => {
                let track = table.track_id(row).0 as usize;
                if marks.len() <= track {
                    marks.resize_with(track + 1, Vec::new);
                }
                marks[track].push(row);
            }
            b'B' | b'E' => pairs.incomplete.push(row),
            b'b' | b'e' | b'S' | b'F' | b's' | b't' | b'f' => keyed.push(row),
            _ => {}
        }
    }
    for rows in &mut marks {
        if !rows.is_empty() {
            TrackPairing { table, diagnostics, pairs: &mut pairs, open: Vec::new() }.run(rows);
        }
    }
    SpanPairs { pairs, keyed }
}

impl SpanPairs {
    /// Pairs asynchronous events and flows, which changes no event.
    pub(crate) fn pair_rest(self, table: &Table, diagnostics: &mut Diagnostics) -> Pairs {
        let SpanPairs { mut pairs, keyed } = self;
        if !keyed.is_empty() {
            pair_keyed(table, diagnostics, &mut pairs, &keyed);
        }
        pairs.sort();
        pairs
    }
}

struct TrackPairing<'a> {
    table: &'a mut Table,
    diagnostics: &'a mut Diagnostics,
    pairs: &'a mut Pairs,
    open: Vec<Row>,
}

impl TrackPairing<'_> {
    fn run(&mut self, rows: &mut [Row]) {
        sort_by_key(rows, |&row| (self.table.ts(row), i64::from(row)));
        let mut at = 0;
        while at < rows.len() {
            let row = rows[at];
            if self.table.ph(row) == b'B' {
                self.open.push(row);
                at += 1;
                continue;
            }
            let instant = self.table.ts(row);
            let ties = rows[at..].iter().take_while(|&&r| self.table.ts(r) == instant).count();
            if let Some(ahead) = self.goes_first(&rows[at..at + ties]) {
                rows[at..=at + ahead].rotate_right(1);
                continue;
            }
            self.end(row);
            at += 1;
        }
        let last = rows.last().map_or(0, |&row| self.table.ts(row));
        for row in core::mem::take(&mut self.open) {
            self.close_incomplete(row, last);
        }
    }

    fn matches(&self, begin: Row, end: Row) -> bool {
        let name = self.table.name_id(end);
        self.table.name(end).is_empty() || name == self.table.name_id(begin)
    }

    /// Rule 2: the index of the event of `ties` that is processed before the first one, which is an end.
    fn goes_first(&self, ties: &[Row]) -> Option<usize> {
        let end = ties[0];
        let top = self.open.last();
        if top.is_some_and(|&begin| self.matches(begin, end)) {
            return None;
        }
        let is_end = |&&row: &&Row| self.table.ph(row) == b'E';
        if let Some(&begin) = top
            && let Some(at) = ties
                .iter()
                .position(|row| is_end(&row) && self.table.name_id(*row) == self.table.name_id(begin))
        {
            return (at > 0).then_some(at);
        }
        if self.open.iter().any(|&begin| self.matches(begin, end)) {
            return None;
        }
        ties.iter().position(|row| !is_end(&row) && self.matches(*row, end)).filter(|&at| at > 0)
    }

    fn end(&mut self, end: Row) {
        let instant = self.table.ts(end);
        let Some(&innermost) = self.open.last() else {
            self.pairs.incomplete.push(end);
            self.note(Code::UnmatchedEnd, end);
            return;
        };
        let depth = self.open.iter().rposition(|&begin| self.matches(begin, end));
        if let Some(depth) = depth {
            for row in self.open.split_off(depth + 1) {
                self.close_incomplete(row, instant);
            }
        } else {
            self.note(Code::MismatchedEnd, end);
        }
        let begin = self.open.pop().unwrap_or(innermost);
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

/// The key by which asynchronous events and flows pair: category and type of the id, then the id.
type PairKey = (i64, i64);

fn pair_key(table: &Table, row: Row) -> Option<PairKey> {
    let layout = table.layout(row);
    let field = layout.find(Key::Id).or_else(|| layout.find(Key::Id2))?;
    let cat = layout.cat.map_or(u32::MAX, |cat| cat.0);
    let kind = i64::from(cat) << 8 | i64::from(field.field_type as u8);
    Some((kind, table.fields.raw(row.index(), field) as i64))
}

fn pair_keyed(table: &Table, diagnostics: &mut Diagnostics, pairs: &mut Pairs, rows: &[Row]) {
    let (mut flows, mut asyncs): (Vec<Row>, Vec<Row>) =
        rows.iter().partition(|&&row| matches!(table.ph(row), b's' | b't' | b'f'));
    let begins = |row: Row| matches!(table.ph(row), b's' | b'b' | b'S');
    // At the same timestamp, a start precedes its end.
    let order = |&row: &Row| (table.ts(row), i64::from(!begins(row)));
    sort_by_key(&mut asyncs, order);
    pair_asyncs(table, diagnostics, pairs, &asyncs);
    sort_by_key(&mut flows, order);
    pair_flows(table, diagnostics, pairs, flows);
}

/// Pairs flow events, which are sorted by time: each end belongs to the last start of its key before it.
fn pair_flows(table: &Table, diagnostics: &mut Diagnostics, pairs: &mut Pairs, flows: Vec<Row>) {
    let mut unmatched = 0;
    let mut keyed: Vec<(PairKey, Row)> = Vec::with_capacity(flows.len());
    for row in flows {
        match pair_key(table, row) {
            Some(key) => keyed.push((key, row)),
            None => unmatched += 1,
        }
    }
    sort_by_key(&mut keyed, |k| k.0);
    for group in keyed.chunk_by(|a, b| a.0 == b.0) {
        let mut start: Option<(Row, bool)> = None;
        for &(_, row) in group {
            if table.ph(row) == b's' {
                unmatched += u64::from(start.is_some_and(|s| !s.1));
                start = Some((row, false));
            } else if let Some((begin, used)) = &mut start {
                *used = true;
                pairs.flows.push((*begin, row));
            } else {
                unmatched += 1;
            }
        }
        unmatched += u64::from(start.is_some_and(|s| !s.1));
    }
    diagnostics.record_many(Code::UnmatchedFlow, unmatched, None, b"");
}

fn pair_asyncs(table: &Table, diagnostics: &mut Diagnostics, pairs: &mut Pairs, rows: &[Row]) {
    let mut index = Index::default();
    let mut open: Vec<Vec<Row>> = Vec::new();
    for &row in rows {
        let key = pair_key(table, row);
        if let (b'b' | b'S', Some(key)) = (table.ph(row), key) {
            let at = index.of(key, open.len() as u32) as usize;
            if at == open.len() {
                open.push(Vec::new());
            }
            open[at].push(row);
            continue;
        }
        let stack = key.and_then(|key| index.get(key)).map(|at| &mut open[at as usize]);
        if let Some(begin) = stack.and_then(|stack| close_async(table, stack, row)) {
            pairs.asyncs.push((begin, row));
        } else {
            diagnostics.record(Code::UnmatchedAsync, None, table.name(row).as_bytes());
            pairs.incomplete.push(row);
        }
    }
    let mut left: Vec<Row> = open.into_iter().flatten().collect();
    sort_by_key(&mut left, |&row| (i64::from(row), 0));
    for row in left {
        diagnostics.record(Code::UnmatchedAsync, None, table.name(row).as_bytes());
        pairs.incomplete.push(row);
    }
}

fn close_async(table: &Table, stack: &mut Vec<Row>, end: Row) -> Option<Row> {
    let name = table.name_id(end);
    let at = stack.iter().rposition(|&begin| table.name_id(begin) == name || table.name(end).is_empty())?;
    Some(stack.remove(at))
}
