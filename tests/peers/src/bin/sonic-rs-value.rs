//! Reads a file and parses it into the `Value` of sonic-rs.

use sonic_rs::Value;
use std::error::Error;
use std::hint::black_box;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: sonic-rs-value FILE")?;
    let text = std::fs::read(path)?;
    black_box(sonic_rs::from_slice::<Value>(&text)?);
    Ok(())
}
