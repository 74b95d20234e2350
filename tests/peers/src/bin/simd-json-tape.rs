//! Reads a file and parses it into the tape of simd-json.

use std::error::Error;
use std::hint::black_box;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: simd-json-tape FILE")?;
    let mut text = std::fs::read(path)?;
    black_box(simd_json::to_tape(&mut text)?);
    Ok(())
}
