//! Asynchronous spans: those of one name share tracks on which no two touch.

use super::tracks::Tracks;
use crate::base::index::Index;
use crate::base::order::sort_by_key;
use crate::base::time;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// An asynchronous span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) begin: Row,
    pub(super) end: Row,
    lane: usize,
}

/// All asynchronous spans.
#[derive(Debug, Default)]
pub(super) struct Asynchronous {
    /// In the order of their begins in the file.
    spans: Vec<Span>,
    /// The track of each lane; 0 until its first span is written.
    tracks: Vec<u64>,
}

impl Asynchronous {
    /// Gives every span a lane.
    pub(super) fn new(trace: &Trace) -> Asynchronous {
        let table = &trace.table;
        let mut spans: Vec<Span> = (trace.pairs.asyncs.iter())
            .map(|&(begin, end)| Span { begin, end, lane: 0 })
            .filter(|span| (time::NONE + 1..=table.ts(span.end)).contains(&table.ts(span.begin)))
            .collect();
        sort_by_key(&mut spans, |span| (table.ts(span.begin), i64::from(span.begin)));
        let mut groups = Index::default();
        // The ends of the last spans of the lanes of each group.
        let mut busy: Vec<BinaryHeap<Reverse<(i64, usize)>>> = Vec::new();
        let mut lanes = 0;
        for span in &mut spans {
            let key = (i64::from(table.track(span.begin).pid.0), i64::from(table.name_id(span.begin).0));
            let group = groups.get_or_insert(key, busy.len() as u32) as usize;
            if group == busy.len() {
                busy.push(BinaryHeap::new());
            }
            let first =
                busy[group].peek().filter(|lane| lane.0.0 < table.ts(span.begin)).map(|lane| lane.0.1);
            span.lane = first.unwrap_or(lanes);
            if first.is_some() {
                busy[group].pop();
            } else {
                lanes += 1;
            }
            busy[group].push(Reverse((table.ts(span.end), span.lane)));
        }
        sort_by_key(&mut spans, |span| (i64::from(span.begin), i64::from(span.end)));
        spans.dedup_by_key(|span| span.begin);
        Asynchronous { spans, tracks: alloc::vec![0; lanes] }
    }

    /// The span that begins with this event.
    pub(super) fn at(&self, begin: Row) -> Option<Span> {
        let found = self.spans.binary_search_by_key(&begin, |span| span.begin);
        found.ok().map(|at| self.spans[at])
    }

    /// The track of a span, described.
    pub(super) fn track(&mut self, trace: &Trace, span: Span, tracks: &mut Tracks, out: &mut Vec<u8>) -> u64 {
        let track = &mut self.tracks[span.lane];
        if *track == 0 {
            let (id, name) = (trace.table.track_id(span.begin), trace.table.name(span.begin));
            *track = tracks.asynchronous(id, name, out);
        }
        *track
    }
}
