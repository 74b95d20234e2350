//! Traces from JSON, and answers as JSON.

use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::queries::{Request, query};
use kinetoscope_core::trace::Trace;
use serde_json::{Value, json};

/// Returns the trace with these events.
pub fn made(events: &Value) -> Trace {
    Trace::read(events.to_string().as_bytes()).expect("a trace")
}

/// Returns the rows of a query.
pub fn rows(trace: &Trace, name: &str) -> Vec<Value> {
    rows_with(trace, name, &json!({}))
}

/// Returns the rows of a query with options.
pub fn rows_with(trace: &Trace, name: &str, options: &Value) -> Vec<Value> {
    let query = query(name).expect("a query");
    let options = Options::from_json(query.options, options).expect("options");
    let answer = query.answer(trace, Request::new(&options)).expect("an answer");
    let row = |at| serde_json::from_str(&answer.rows.json_row(at)).expect("JSON");
    (0..answer.rows.rows.len()).map(row).collect()
}

/// Returns the text of a query, as a person reads it.
pub fn text(trace: &Trace, name: &str) -> String {
    let query = query(name).expect("a query");
    let options = Options::from_json(query.options, &json!({})).expect("options");
    query.answer(trace, Request::new(&options).for_reading(true)).expect("an answer").to_text(None)
}
