//! `reading-phases FILE`: how long each phase of reading a trace takes on one thread, and so which part of it does not become
//! faster with more threads. Prints seconds, separated by spaces: decompressing, parsing all segments, the longest segment, joining
//! them, and what follows until the trace is linked: on one thread, and computed from the times of its tasks for 2, 4 and 8.

use kinetoscope::files::unpacker;
use kinetoscope_core::queries::{Join, Task};
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::read::segment::Segment;
use kinetoscope_core::trace::{TextReader, Trace};
use std::convert::Infallible;
use std::error::Error;
use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The size of a piece, as in the file reader.
const PIECE_BYTES: usize = 2 << 20;

/// The times of the tasks that could run at the same time.
static TASKS: Mutex<Vec<Vec<Duration>>> = Mutex::new(Vec::new());

/// Runs tasks one after the other and keeps how long each takes.
fn timed(tasks: &mut [Task<'_>]) {
    let time = |task: &mut Task<'_>| {
        let begun = Instant::now();
        task();
        begun.elapsed()
    };
    let times = tasks.iter_mut().map(time).collect();
    TASKS.lock().expect("no task panics").push(times);
}

/// What tasks take less on this many threads than on one, if a thread that is free takes the next one.
fn saved(tasks: &[Duration], threads: usize) -> Duration {
    let mut busy = vec![Duration::ZERO; threads];
    for &task in tasks {
        if let Some(least) = busy.iter_mut().min() {
            *least += task;
        }
    }
    tasks.iter().sum::<Duration>().saturating_sub(busy.into_iter().max().unwrap_or_default())
}

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
    let trace = Trace::new_by(table, diagnostics, Join::parallel(timed));
    let linking = begun.elapsed();
    let tasks = TASKS.lock().expect("no task panics");
    let on = |threads| linking.saturating_sub(tasks.iter().map(|tasks| saved(tasks, threads)).sum());
    for phase in [decompressing, parsing, longest, joining, linking, on(2), on(4), on(8)] {
        print!("{:.4} ", phase.as_secs_f64());
    }
    println!("{}", trace.table.len());
    Ok(())
}
