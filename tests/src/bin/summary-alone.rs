//! `kinetoscope summary FILE` on one thread, for a fair comparison with a single-threaded engine.

use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::queries::{Request, query};
use kinetoscope_tests::files::read_alone;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: summary-alone FILE")?;
    let trace = read_alone(&path)?;
    let options = Options::default();
    let request = Request::new(&options).about(&path).for_reading(true);
    let answer = query("summary")?.answer(&trace, request)?;
    println!("{}", answer.to_text(None));
    Ok(())
}
