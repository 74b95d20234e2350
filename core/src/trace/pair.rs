//! Pairs begin and end events into spans, and flow starts with flow ends. `B` and `E` pair on their track, see `tracks`.
//! Asynchronous events (`b`/`e`, `S`/`F`) and flows pair by their ids; see `ids`, `asyncs` and `flows`.

mod asyncs;
mod flows;
mod ids;
mod open;
mod pairs;
mod records;
mod tracks;

pub(crate) use ids::whole_number;
pub(crate) use pairs::Pairs;

use self::asyncs::pair_asyncs;
use self::flows::pair_flows;
use self::ids::{Directions, Ids};
use self::tracks::pair_tracks;

use crate::base::diagnostics::Diagnostics;
use crate::base::index::Index;
use crate::base::order::sort_by_key;
use crate::base::time;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::metadata::Source;
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
        .map(|layout| (layout.ph, Directions::new(table, layout) != Directions::default()))
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
    pair_tracks(table, diagnostics, &mut pairs, marks);
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
            let id = ids.id(begin).unwrap_or((-1, i64::from(begin)));
            (begin, index.get_or_insert(id, next))
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
