//! Reads traces as callers with several threads do, on one thread.

use kinetoscope_core::base::diagnostics::Diagnostics;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::trace::TextReader;
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::read::segment::Segment;
use kinetoscope_core::trace::read::unpack::Unpacker;
use kinetoscope_core::trace::table::events::Table;
use std::convert::Infallible;

/// What reading a text gives.
pub type Read = Result<(Table, Diagnostics), Error>;

/// Decompresses an input.
pub fn text(bytes: &[u8]) -> Vec<u8> {
    let (mut unpacker, mut text) = (Unpacker::default(), Vec::new());
    let mut append = |part: &[u8]| {
        text.extend_from_slice(part);
        Ok::<(), Infallible>(())
    };
    let Ok(()) = unpacker.feed(bytes, &mut append);
    let Ok(_) = unpacker.finish(&mut append);
    text
}

/// Reads a text at once.
///
/// # Errors
/// As `TextReader::feed` and `TextReader::finish`.
pub fn read_at_once(text: &[u8], limits: Limits) -> Read {
    let mut reader = TextReader::new(limits);
    reader.feed(text)?;
    reader.finish()
}

/// Reads a text in pieces of these lengths, each parsed as a segment, which every other time is encoded and decoded. Also returns how
/// many segments were used.
pub fn segmented(text: &[u8], limits: Limits, lengths: impl IntoIterator<Item = usize>) -> (Read, usize) {
    let (mut reader, mut used) = (TextReader::new(limits), 0);
    let mut rest = text;
    for length in lengths {
        let (piece, after) = rest.split_at(length.clamp(1, rest.len().max(1)).min(rest.len()));
        let parsed = Segment::parse(piece, limits);
        let fed = match if piece.len().is_multiple_of(2) { parsed } else { parsed.map(|s| recoded(&s)) } {
            Some(segment) => reader.feed_parsed(piece, &segment).map(|is_used| used += usize::from(is_used)),
            None => reader.feed(piece),
        };
        if let Err(error) = fed {
            return (Err(error), used);
        }
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    (reader.feed(rest).and_then(|()| reader.finish()), used)
}

/// Encodes and decodes a segment.
fn recoded(segment: &Segment) -> Segment {
    let bytes = segment.encode();
    let decoded = Segment::decode(bytes.clone()).expect("an encoded segment");
    assert!(decoded.encode() == bytes, "the decoded segment has other bytes");
    assert_eq!((decoded.len(), decoded.range()), (segment.len(), segment.range()));
    decoded
}

/// Returns the first difference between two results, down to the ids of names and the allocated memory.
pub fn difference(a: &Read, b: &Read) -> Option<String> {
    let ((a, mine), (b, theirs)) = match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(a), Err(b)) if a == b => return None,
        (a, b) => return Some(format!("{:?} and {:?}", a.as_ref().err(), b.as_ref().err())),
    };
    if mine != theirs {
        return Some(format!("{mine:?} and {theirs:?}"));
    }
    if a.metadata != b.metadata {
        return Some("the metadata differ".to_owned());
    }
    if !a.names.iter().eq(b.names.iter()) {
        let pair = a.names.iter().zip(b.names.iter()).find(|(a, b)| a != b);
        return Some(format!("{} and {} names; {pair:?}", a.names.len(), b.names.len()));
    }
    if a.tracks.all() != b.tracks.all() || a.len() != b.len() {
        return Some(format!("{} and {} events, or other tracks", a.len(), b.len()));
    }
    let row = a.rows().find(|&row| {
        let fixed = |table: &Table| (table.ts(row), table.dur(row), table.name_id(row), table.track_id(row));
        let layout = |table: &Table| (table.ph(row), table.layout(row).cat, table.category(row));
        fixed(a) != fixed(b) || layout(a) != layout(b) || !a.all_fields(row).eq(b.all_fields(row))
    });
    if let Some(row) = row {
        return Some(format!("row {}", row.index()));
    }
    let memory = (a.heap_bytes(), b.heap_bytes());
    (memory.0 != memory.1).then(|| format!("{} and {} bytes of memory", memory.0, memory.1))
}
