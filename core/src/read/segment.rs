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
use crate::diagnostics::Diagnostics;
use crate::table::events::Table;

/// The events of a piece of text, with names, tracks and layouts of their own.
#[derive(Clone, Debug)]
pub struct Segment {
    pub(super) table: Table,
    pub(super) diagnostics: Diagnostics,
    /// The position of the first event in the text.
    pub(super) start: usize,
    /// The position after the last event.
    pub(super) end: usize,
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
            if segment.as_ref().map(Segment::length) > best.as_ref().map(Segment::length) {
                best = segment;
            }
            // Shorter ones may be lists of objects inside of an event.
            if best.as_ref().is_some_and(|best| best.length() > text.len() / 2) {
                break;
            }
        }
        best
    }

    fn length(&self) -> usize {
        self.end - self.start
    }

    /// Parses the events from `start` on. Returns `None` if no event begins there, or no other one follows it: then it
    /// may be an object inside of an event.
    fn parse_at(text: &[u8], start: usize, limits: Limits) -> Option<Segment> {
        let mut table = Table::default();
        let mut events = EventReader::new(limits, &mut table);
        let (mut diagnostics, mut at, mut end) = (Diagnostics::default(), start, start);
        while let Ok(after) = events.read(&mut table, text, at) {
            events.commit(&mut table, &mut diagnostics, at as u64, &text[at..after]);
            end = after;
            let (next, commas) = skip_separators(text, end);
            if commas != 1 || text.get(next) != Some(&b'{') {
                break;
            }
            at = next;
        }
        (at > start).then_some(Segment { table, diagnostics, start, end })
    }
}
