//! Runs of several ranks: recorded ones with a known truth, generated ones, and those of others.

mod generated;
mod others;
mod recorded;

use kinetoscope_core::queries::options::Options;
use kinetoscope_core::queries::{Request, query};
use kinetoscope_core::ranks::run::Run;
use kinetoscope_core::ranks::summary::Summary;
use kinetoscope_core::trace::Trace;
use serde_json::Value;

/// Returns the run of these traces, named after their ranks.
fn run_of(traces: impl IntoIterator<Item = (String, Vec<u8>)>) -> Run {
    let one = |(name, bytes): (String, Vec<u8>)| Summary::of(&Trace::read(&bytes).expect("a trace"), &name);
    Run::new(traces.into_iter().map(one).collect(), Vec::new())
}

/// Returns the rows of `ranks`, as JSON.
fn rows(run: &Run) -> Vec<Value> {
    let options = Options::from_texts(query("ranks").expect("the query").options, &[]).expect("options");
    let rows = run.answer(Request::new(&options)).expect("an answer").rows;
    (0..rows.rows.len()).map(|at| serde_json::from_str(&rows.json_row(at)).expect("JSON")).collect()
}

/// Returns the rows of one kind.
fn of_kind<'a>(rows: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    rows.iter().filter(move |row| row["kind"] == kind)
}
