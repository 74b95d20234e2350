//! `generate-trace EVENTS SEED` writes a Kineto-like trace to standard output.

use std::io::{BufWriter, Write, stdout};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|n| n.parse::<u64>());
    let events = numbers.next().ok_or("usage: generate-trace EVENTS SEED")??;
    let seed = numbers.next().unwrap_or(Ok(1))?;
    let mut out = BufWriter::with_capacity(1 << 20, stdout().lock());
    kinetoscope_tests::generator::generate(&mut out, events, seed)?;
    Ok(out.flush()?)
}
