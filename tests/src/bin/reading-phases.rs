//! `reading-phases FILE`: how long each phase of reading a trace takes on one thread, and so which part of it does not become
//! faster with more threads. Prints seconds, separated by spaces: decompressing, parsing all segments, the longest segment, joining
//! them, and what follows until the trace is linked.

use kinetoscope::files::unpacker;
use kinetoscope_core::read::limits::Limits;
use kinetoscope_core::read::segment::Segment;
use kinetoscope_core::trace::{TextReader, Trace};
use std::convert::Infallible;
use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

/// The size of a piece, as in the file reader.
const PIECE_BYTES: usize = 2 << 20;

fn unpack(bytes: &[u8], sink: &mut dyn FnMut(&[u8])) {
    let mut pass = |part: &[u8]| {
        sink(part);
        Ok::<(), Infallible>(())
    };
    let mut unpacker = unpacker();
    let Ok(()) = unpacker.feed(bytes, &mut pass);
    let Ok(_) = unpacker.finish(&mut pass);
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: reading-phases FILE")?;
    let bytes = fs::read(path)?;
    let begun = Instant::now();
    unpack(&bytes, &mut |_| {});
    let decompressing = begun.elapsed();
    let mut text = Vec::new();
    unpack(&bytes, &mut |part| text.extend_from_slice(part));
    let (mut reader, mut piece) = (TextReader::default(), Vec::with_capacity(PIECE_BYTES));
    let (mut parsing, mut longest, mut joining) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    for part in text.chunks(PIECE_BYTES) {
        // The file reader finds a piece in the cache of the processor.
        piece.clear();
        piece.extend_from_slice(part);
        let begun = Instant::now();
        let segment = Segment::parse(&piece, Limits::default());
        let parsed = begun.elapsed();
        let begun = Instant::now();
        match segment {
            Some(segment) => drop(reader.feed_parsed(&piece, &segment)?),
            None => reader.feed(&piece)?,
        }
        joining += begun.elapsed();
        parsing += parsed;
        longest = longest.max(parsed);
    }
    let begun = Instant::now();
    let (table, diagnostics) = reader.finish()?;
    let trace = Trace::new(table, diagnostics);
    let linking = begun.elapsed();
    let [decompressing, parsing, longest, joining, linking] =
        [decompressing, parsing, longest, joining, linking].map(|phase| phase.as_secs_f64());
    println!("{decompressing:.4} {parsing:.4} {longest:.4} {joining:.4} {linking:.4} {}", trace.table.len());
    Ok(())
}
