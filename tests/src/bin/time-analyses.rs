//! Reads a trace and prints the median time of each analysis of it: `NAME SECONDS LIMIT` in each line. Reading is not part of it.

use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::queries::{Request, query};
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::files::read_alone;
use serde_json::{Value, json};
use std::error::Error;
use std::time::Instant;

const RUNS: usize = 5;

/// The limits, in s.
const ANALYSIS: f64 = 0.5;
const REPLAY: f64 = 2.0;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: time-analyses FILE")?;
    let trace = read_alone(&path)?;
    for (name, options, limit) in [
        ("fitness", json!({}), ANALYSIS),
        ("idle", json!({}), ANALYSIS),
        ("idle", json!({"by": "stream"}), ANALYSIS),
        ("idle", json!({"by": "step"}), ANALYSIS),
        ("breakdown", json!({}), ANALYSIS),
        ("breakdown", json!({"by": "step"}), ANALYSIS),
        ("launches", json!({}), ANALYSIS),
        ("launches", json!({"by": "kernel"}), ANALYSIS),
        ("kernels", json!({}), ANALYSIS),
        ("kernels", json!({"by": "operator"}), ANALYSIS),
        ("kernels", json!({"by": "module"}), ANALYSIS),
        ("sequences", json!({}), ANALYSIS),
        ("critical-path", json!({}), REPLAY),
        ("what-if", json!({"overlapCommunication": true}), REPLAY),
        ("what-if", json!({"cudaGraph": true}), REPLAY),
    ] {
        let seconds = median(&trace, name, &options)?;
        println!("{} {seconds:.3} {limit}", words(name, &options));
    }
    Ok(())
}

/// Returns the name with the options, without spaces.
fn words(name: &str, options: &Value) -> String {
    let options = options.as_object().into_iter().flatten();
    let value = |value: &Value| value.as_str().map(|text| format!("={text}")).unwrap_or_default();
    options.fold(name.to_owned(), |all, (key, option)| format!("{all},{key}{}", value(option)))
}

fn median(trace: &Trace, name: &str, options: &Value) -> Result<f64, Box<dyn Error>> {
    let query = query(name)?;
    let options = Options::from_json(query.options, options)?;
    let mut seconds = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        let answer = query.answer(trace, Request::new(&options));
        seconds.push(start.elapsed().as_secs_f64());
        answer?;
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[RUNS / 2])
}
