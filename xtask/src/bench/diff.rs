//! Measures the comparison of two traces against the summary of one, which runs alternately with it.

use super::{RUNS, generated, median, once, path, program};
use crate::native;
use crate::shell::Failure;

/// The most time that a comparison may take, as a multiple of one summary.
const MOST_TIME: f64 = 3.0;

/// The most memory, as a multiple of one summary.
const MOST_MEMORY: f64 = 2.0;

/// Measures traces of this many events.
pub(crate) fn measure_diff(events: u64) -> Result<(), Failure> {
    native::release_binaries()?;
    let (base, new) = (path(&generated(events, 1)?)?, path(&generated(events, 2)?)?);
    let (mut times, mut memories, mut seconds, mut megabytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..RUNS {
        let summary = once(&program("kinetoscope"), &["summary", &base])?;
        let diff = once(&program("kinetoscope"), &["diff", &base, &new])?;
        times.push(diff.0 / summary.0);
        memories.push(diff.1 as f64 / summary.1 as f64);
        seconds.push(diff.0);
        megabytes = megabytes.max(diff.1);
    }
    let (time, memory) = (median(&mut times), median(&mut memories));
    println!("| traces | command | median | peak memory |");
    println!("|---|---|---:|---:|");
    println!("| 2 × {events} events | `diff` | {:.2} s | {megabytes} MB |", median(&mut seconds));
    println!("| | ratio to `summary` of one, median of {RUNS} pairs | {time:.2} | {memory:.2} |");
    if time > MOST_TIME || memory > MOST_MEMORY {
        return Err(format!("the limits are {MOST_TIME} times the time and {MOST_MEMORY} times the memory"));
    }
    Ok(())
}
