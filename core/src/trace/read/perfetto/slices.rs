//! Finds the end of every slice.
//!
//! Perfetto nests the slices of a track: an end belongs to the innermost open slice. PyTorch writes the begins of many
//! slices, whatever their order in time, and then their ends in the same order, so that slices can also overlap. It
//! computes times in floating point, which moves an end by up to 2 ns, so that it can lie behind the end of the slice
//! around it or the begin of the next one. Such an end is moved back.

use crate::base::diagnostics::{Code, Diagnostics};
use crate::base::index::Keyed;
use crate::base::order::{descending, sort_by_key};
use crate::base::time;
use crate::trace::table::append::RowBuilder;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::tracks::TrackId;
use alloc::vec::Vec;

/// The most by which PyTorch's times differ from those that it recorded, in ns.
const ERROR: i64 = 2;

/// A begin, with its row, or an end.
#[derive(Clone, Copy, Debug)]
struct Mark {
    ts: i64,
    row: Option<Row>,
}

/// The begins and ends of each track, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Slices(Keyed<Vec<Mark>>);

impl Slices {
    pub(super) fn begin(&mut self, track: TrackId, ts: i64, row: Row) {
        self.entry(track).push(Mark { ts, row: Some(row) });
    }

    pub(super) fn end(&mut self, track: TrackId, ts: i64) {
        self.entry(track).push(Mark { ts, row: None });
    }

    fn entry(&mut self, track: TrackId) -> &mut Vec<Mark> {
        self.0.entry((i64::from(track.0), 0))
    }

    /// The memory that the marks use, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.0.entries().iter().map(|(_, marks)| marks.capacity() * size_of::<Mark>()).sum()
    }

    /// Sets the duration of every slice. A begin or an end without a partner becomes a row of its own phase, which
    /// pairing counts.
    pub(super) fn close(self, table: &mut Table, diagnostics: &mut Diagnostics) {
        let is_torch =
            self.0.entries().iter().any(|(_, marks)| !is_sorted(marks) && pairs_in_order(marks).is_some());
        for ((track, _), mut marks) in self.0.into_entries() {
            match pairs_in_order(&marks).filter(|_| is_torch) {
                Some(mut slices) => {
                    move_ends(&mut slices, table, diagnostics);
                    for slice in slices {
                        table.set_dur(slice.row, slice.end - slice.begin);
                    }
                }
                None => nest(&mut marks, table, TrackId(track as u32)),
            }
        }
    }
}

/// A slice with its end.
#[derive(Clone, Copy, Debug)]
struct Slice {
    begin: i64,
    end: i64,
    row: Row,
}

fn is_sorted(marks: &[Mark]) -> bool {
    marks.is_sorted_by_key(|mark| mark.ts)
}

/// Returns the slices if the marks are groups of begins that are each followed by as many ends, and no end precedes the
/// begin at its place.
fn pairs_in_order(marks: &[Mark]) -> Option<Vec<Slice>> {
    let mut slices = Vec::with_capacity(marks.len() / 2);
    let mut rest = marks;
    while !rest.is_empty() {
        let count = rest.iter().take_while(|mark| mark.row.is_some()).count();
        let (begins, after) = rest.split_at(count);
        let ends = after.get(..count).filter(|_| count > 0)?;
        for (begin, end) in begins.iter().zip(ends) {
            let row = begin.row.filter(|_| end.row.is_none() && begin.ts <= end.ts)?;
            slices.push(Slice { begin: begin.ts, end: end.ts, row });
        }
        rest = &after[count..];
    }
    Some(slices)
}

/// Moves ends by at most [`ERROR`] where slices then nest or follow each other.
fn move_ends(slices: &mut [Slice], table: &Table, diagnostics: &mut Diagnostics) {
    sort_by_key(slices, |slice| (slice.begin, descending(slice.end)));
    let mut open: Vec<usize> = Vec::new();
    for at in 0..slices.len() {
        let Slice { begin, end, .. } = slices[at];
        while let Some(&enclosing) = open.last() {
            let outer = &mut slices[enclosing];
            if begin >= outer.end {
                open.pop();
            } else if end <= outer.end {
                break;
            } else if end - outer.end <= ERROR {
                let end = outer.end;
                slices[at].end = end;
                diagnostics.record(Code::TimeAdjusted, None, table.name(slices[at].row).as_bytes());
                break;
            } else if outer.end - begin <= ERROR {
                outer.end = begin;
                diagnostics.record(Code::TimeAdjusted, None, table.name(outer.row).as_bytes());
                open.pop();
            } else {
                break;
            }
        }
        open.push(at);
    }
}

/// Gives every end to the innermost open slice.
fn nest(marks: &mut [Mark], table: &mut Table, track: TrackId) {
    sort_by_key(marks, |mark| (mark.ts, 0));
    let mut open: Vec<Mark> = Vec::new();
    for mark in marks {
        if mark.row.is_some() {
            open.push(*mark);
        } else if let Some(Mark { ts, row: Some(row) }) = open.pop() {
            table.set_dur(row, mark.ts - ts);
        } else {
            let name = table.names.intern("");
            RowBuilder::new(table, b'E', "").finish_on(name, (mark.ts, time::NONE), track);
        }
    }
    for row in open.into_iter().filter_map(|begin| begin.row) {
        let category = table.category(row);
        table.set_meaning(row, (b'B', category), &[]);
    }
}
