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
pub fn whole(text: &[u8], limits: Limits) -> Read {
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
pub fn difference(one: &Read, other: &Read) -> Option<String> {
    let ((one, mine), (other, theirs)) = match (one, other) {
        (Ok(one), Ok(other)) => (one, other),
        (Err(one), Err(other)) if one == other => return None,
        (one, other) => return Some(format!("{:?} and {:?}", one.as_ref().err(), other.as_ref().err())),
    };
    if mine != theirs {
        return Some(format!("{mine:?} and {theirs:?}"));
    }
    if one.metadata != other.metadata {
        return Some("the metadata differ".to_owned());
    }
    if !one.names.iter().eq(other.names.iter()) {
        let pair = one.names.iter().zip(other.names.iter()).find(|(a, b)| a != b);
        return Some(format!("{} and {} names; {pair:?}", one.names.len(), other.names.len()));
    }
    if one.tracks.all() != other.tracks.all() || one.len() != other.len() {
        return Some(format!("{} and {} events, or other tracks", one.len(), other.len()));
    }
    let row = one.rows().find(|&row| {
        let fixed = |table: &Table| (table.ts(row), table.dur(row), table.name_id(row), table.track_id(row));
        let layout = |table: &Table| (table.ph(row), table.layout(row).cat, table.category(row));
        fixed(one) != fixed(other)
            || layout(one) != layout(other)
            || !one.all_fields(row).eq(other.all_fields(row))
    });
    if let Some(row) = row {
        return Some(format!("row {}", row.index()));
    }
    let memory = (one.heap_bytes(), other.heap_bytes());
    (memory.0 != memory.1).then(|| format!("{} and {} bytes of memory", memory.0, memory.1))
}
