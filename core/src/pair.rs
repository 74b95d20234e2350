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
//! Asynchronous events (`b`/`e`, `S`/`F`) and flows pair by their ids; see `ids`, `asyncs` and `flows`.

mod asyncs;
mod flows;
mod ids;
mod pairs;
mod records;

pub(crate) use ids::whole;
pub use pairs::Pairs;

use self::asyncs::pair_asyncs;
use self::flows::pair_flows;
use self::ids::{Directions, Ids};

use crate::diagnostics::{Code, Diagnostics};
use crate::index::Index;
use crate::order::sort_by_key;
use crate::table::events::{Row, Table};
use crate::table::metadata::Source;
use crate::time;
use alloc::vec::Vec;

/// The pairs that determine durations, and the events that pair by an id.
#[derive(Default)]
pub(crate) struct SpanPairs {
    pairs: Pairs,
    asyncs: Vec<Row>,
    flows: Vec<Row>,
}

/// Pairs the begin and end events of spans, and sets their durations.
pub(crate) fn pair_spans(table: &mut Table, diagnostics: &mut Diagnostics) -> SpanPairs {
    let mut pairs = Pairs::default();
    if table.metadata.source == Source::LegacyRecords {
        records::pair_records(table, diagnostics, &mut pairs);
        return SpanPairs { pairs, asyncs: Vec::new(), flows: Vec::new() };
    }
    let mut marks: Vec<Vec<Row>> = Vec::new();
    let (mut asyncs, mut flows): (Vec<Row>, Vec<Row>) = Default::default();
    let kinds: Vec<(u8, bool)> = (table.layouts.all().iter())
        .map(|layout| (layout.ph, Directions::of(table, layout) != Directions::default()))
        .collect();
    for row in table.rows() {
        let (ph, is_flow) = kinds[table.layout_id(row).0 as usize];
        if is_flow && !matches!(ph, b's' | b't' | b'f') && table.ts(row) != time::NONE {
            flows.push(row);
        }
        match ph {
            b'B' | b'E' if table.ts(row) != time::NONE => {
                let track = table.track_id(row).0 as usize;
                if marks.len() <= track {
                    marks.resize_with(track + 1, Vec::new);
                }
                marks[track].push(row);
            }
            b'B' | b'E' => pairs.incomplete.push(row),
            b'b' | b'e' | b'S' | b'F' => {
                table.set_dur(row, time::NONE);
                asyncs.push(row);
            }
            b's' | b't' | b'f' => flows.push(row),
            _ => {}
        }
    }
    for rows in &mut marks {
        if !rows.is_empty() {
            TrackPairing { table, diagnostics, pairs: &mut pairs, open: Vec::new() }.run(rows);
        }
    }
    SpanPairs { pairs, asyncs, flows }
}

/// Gives the begins of asynchronous spans durations, if the trace has no other spans. Returns the begins, each with the number of its id.
pub(crate) fn durations_of_asyncs(table: &mut Table, pairs: &Pairs) -> Vec<(Row, u32)> {
    let paired = pairs.asyncs.iter().map(|&(begin, end)| (begin, table.ts(end)));
    let has_time = |span: &(Row, i64)| table.ts(span.0) != time::NONE;
    let timed: Vec<(Row, i64)> = paired.chain(pairs.open_asyncs(table)).filter(has_time).collect();
    let numbers = {
        let (mut ids, mut index) = (Ids::new(table), Index::default());
        let mut number = |begin| {
            let next = index.len() as u32;
            // A begin without an id is alone.
            let id = ids.of(begin).unwrap_or((-1, i64::from(begin)));
            (begin, index.of(id, next))
        };
        timed.iter().map(|&(begin, _)| number(begin)).collect()
    };
    for (begin, end) in timed {
        table.set_dur(begin, end.saturating_sub(table.ts(begin)).max(0));
    }
    numbers
}

impl SpanPairs {
    /// Pairs asynchronous events and flows, which changes no event.
    pub(crate) fn pair_rest(self, table: &Table, diagnostics: &mut Diagnostics) -> Pairs {
        let SpanPairs { mut pairs, mut asyncs, flows } = self;
        if !asyncs.is_empty() || !flows.is_empty() {
            let mut ids = Ids::new(table);
            sort_by_key(&mut asyncs, |&row| (table.ts(row), i64::from(row)));
            pair_asyncs(table, &mut ids, diagnostics, &mut pairs, &asyncs);
            pair_flows(table, &mut ids, diagnostics, &mut pairs, &flows);
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
