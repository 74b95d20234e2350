//! Segments: pieces of a trace's text that are parsed apart, for callers with several threads.
//!
//! A caller cuts the text anywhere, parses each piece as a [`Segment`], and passes both in order to
//! [`TextReader::feed_parsed`](crate::trace::TextReader::feed_parsed). The result is that of
//! [`TextReader::feed`](crate::trace::TextReader::feed) for every text and every cut:
//!
//! - A segment is a guess that an event begins at its start. The reader uses it only if it arrives there in the array of events,
//!   where it would read the same bytes with the same result. Otherwise it reads the text itself.
//! - A segment ends before the first event that is not well-formed and before anything but one comma between events. What
//!   remains is read by the reader.
//! - Names, tracks and layouts get the ids of the order in which they first appear, segment after segment.

use super::event::EventReader;
use super::limits::Limits;
use super::scan::{Found, find_event, skip_separators};
use crate::base::diagnostics::Diagnostics;
use crate::base::varints::{Reader, Writer};
use crate::trace::table::events::Table;
use crate::trace::table::packed::PackedTable;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

/// The events of a piece of text, with names, tracks and layouts of their own.
#[derive(Clone, Debug)]
pub struct Segment {
    events: Events,
    diagnostics: Diagnostics,
    start: usize,
    end: usize,
}

#[derive(Clone, Debug)]
enum Events {
    Parsed(Box<Table>),
    /// The bytes of a [`PackedTable`] with this many events from this position on.
    Packed {
        bytes: Vec<u8>,
        at: usize,
        count: usize,
    },
}

/// The number of positions that are tried as the start of an event.
const MOST_STARTS: usize = 64;

impl Segment {
    /// Parses the well-formed events in a piece of text that may be cut anywhere. Returns `None` if none is found.
    pub fn parse(text: &[u8], limits: Limits) -> Option<Segment> {
        let (mut best, mut from): (Option<Segment>, usize) = (None, 0);
        for _ in 0..MOST_STARTS {
            let Found::Event(start) = find_event(text, from) else { break };
            let segment = Segment::parse_at(text, start, limits);
            from = segment.as_ref().map_or(start + 1, |segment| segment.end);
            if length(segment.as_ref()) > length(best.as_ref()) {
                best = segment;
            }
            // Shorter ones may be lists of objects inside of an event.
            if length(best.as_ref()) > text.len() / 2 {
                break;
            }
        }
        best
    }

    /// The events as bytes, for [`Segment::decode`] in another thread. Their form may change with every release.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.unsigned(self.start as u64);
        out.unsigned(self.end as u64);
        self.diagnostics.encode(&mut out);
        match &self.events {
            Events::Parsed(table) => table.pack(&mut out),
            Events::Packed { bytes, at, .. } => out.raw(&bytes[*at..]),
        }
        out.finish()
    }

    /// Returns the segment of which [`Segment::encode`] returned the bytes; `None` if they do not have its form. Damage inside of the
    /// form is not found: the events then have other values.
    pub fn decode(bytes: Vec<u8>) -> Option<Segment> {
        let mut reader = Reader::new(&bytes);
        let (start, end) = (reader.unsigned()?, reader.unsigned()?);
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
        let diagnostics = Diagnostics::decode(&mut reader)?;
        let at = bytes.len() - reader.len();
        let count = PackedTable::parse(&bytes[at..])?.len();
        (start < end).then_some(Segment {
            events: Events::Packed { bytes, at, count },
            diagnostics,
            start,
            end,
        })
    }

    /// The part of the text that has the events.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        match &self.events {
            Events::Parsed(table) => table.len(),
            Events::Packed { count, .. } => *count,
        }
    }

    /// Always false: a segment has events.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The allocated memory, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        match &self.events {
            Events::Parsed(table) => table.heap_bytes(),
            Events::Packed { bytes, .. } => bytes.len(),
        }
    }

    /// The diagnostics of the events. Offsets count from the first one.
    pub(crate) fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// The events as a table of their own.
    pub(crate) fn into_table(self) -> Table {
        match self.events {
            Events::Parsed(table) => *table,
            Events::Packed { .. } => {
                let mut table = Table::default();
                self.append_to(&mut table);
                table
            }
        }
    }

    /// Appends the events to the table of a reader.
    pub(super) fn append_to(&self, table: &mut Table) {
        match &self.events {
            Events::Parsed(parsed) => table.append(parsed),
            Events::Packed { bytes, at, .. } => {
                if let Some(packed) = PackedTable::parse(&bytes[*at..]) {
                    packed.append_to(table);
                }
            }
        }
    }

    /// Parses the events from `start` on. Returns `None` if no event begins there, or no other one follows it: then it
    /// may be an object inside of an event.
    fn parse_at(text: &[u8], start: usize, limits: Limits) -> Option<Segment> {
        let mut table = Table::default();
        let mut events = EventReader::new(limits, &mut table);
        let (mut diagnostics, mut at, mut end) = (Diagnostics::default(), start, start);
        while let Ok(after) = events.read(&mut table, text, at) {
            events.commit(&mut table, &mut diagnostics, (at - start) as u64, &text[at..after]);
            end = after;
            let (next, commas) = skip_separators(text, end);
            if commas != 1 || text.get(next) != Some(&b'{') {
                break;
            }
            at = next;
        }
        (at > start).then_some(Segment { events: Events::Parsed(Box::new(table)), diagnostics, start, end })
    }
}

/// The length of the text of a segment; 0 if there is none.
fn length(segment: Option<&Segment>) -> usize {
    segment.map_or(0, |segment| segment.range().len())
}
