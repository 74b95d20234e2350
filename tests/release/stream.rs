//! Checks whether the file that the argument names is a recording.

use kinetoscope_stream::block::MAGIC;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("no recording")?;
    println!("recording: {}", std::fs::read(path)?.starts_with(&MAGIC));
    Ok(())
}
