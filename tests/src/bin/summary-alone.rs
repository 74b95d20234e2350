//! `kinetoscope summary FILE` on one thread, for a fair comparison with a single-threaded engine.

use kinetoscope::files::unpacker;
use kinetoscope_core::queries::options::Options;
use kinetoscope_core::queries::{Request, query};
use kinetoscope_core::trace::TraceReader;
use std::error::Error;
use std::fs::File;
use std::io::Read;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: summary-alone FILE")?;
    let mut file = File::open(&path)?;
    let mut reader = TraceReader::new(unpacker());
    let mut buffer = vec![0; 256 << 10];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        reader.feed(&buffer[..length])?;
    }
    let trace = reader.finish()?;
    let options = Options::default();
    let request = Request::new(&options).about(&path).for_reading(true);
    let answer = query("summary")?.answer(&trace, request)?;
    println!("{}", answer.to_text());
    Ok(())
}
