//! `kinetoscope summary FILE` on one thread, for a fair comparison with an engine that has only one.

use kinetoscope::input::unpacker;
use kinetoscope_core::trace::{TextReader, Trace};
use kinetoscope_core::verbs::options::Options;
use kinetoscope_core::verbs::{Request, in_turn, verb};
use std::error::Error;
use std::fs::File;
use std::io::Read;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: summary-alone FILE")?;
    let mut file = File::open(&path)?;
    let mut unpacker = unpacker();
    let mut text = TextReader::default();
    let mut buffer = vec![0; 256 << 10];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        unpacker.feed(&buffer[..length], &mut |plain: &[u8]| text.feed(plain))?;
    }
    let unpacking = unpacker.finish(&mut |plain: &[u8]| text.feed(plain))?;
    let (table, mut diagnostics) = text.finish()?;
    diagnostics.append(&unpacking);
    let trace = Trace::new(table, diagnostics);
    let options = Options::default();
    let request = Request { name: &path, options: &options, for_reading: true, both: in_turn };
    let answer = (verb("summary")?.answer)(&trace, request)?;
    println!("{}", answer.to_text());
    Ok(())
}
