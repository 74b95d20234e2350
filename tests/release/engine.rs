//! Reads the trace in the file that the argument names.

use kinetoscope_core::TraceReader;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("no trace")?;
    let mut reader = TraceReader::default();
    reader.feed(&std::fs::read(path)?)?;
    println!("{} events", reader.finish()?.table.len());
    Ok(())
}
