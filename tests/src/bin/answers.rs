//! Prints the answers to every query for each trace whose path is a line of standard input. Standard output gets a line
//! of JSON for each: `{"answers":{QUERY:TEXT,…}}`, or `{"error":MESSAGE}` if the trace cannot be read. The texts equal
//! those of `kinetoscope QUERY PATH --format json`, but each trace is read once.

use kinetoscope::files::{Source, read};
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::output::document::Document;
use kinetoscope_core::queries::{QUERIES, Request};
use kinetoscope_core::trace::Trace;
use serde_json::{Map, Value, json};
use std::error::Error;
use std::io::{Write, stdin, stdout};

fn main() -> Result<(), Box<dyn Error>> {
    for path in stdin().lines() {
        let source = Source::File(path?.into());
        let line = match read(&source, |_| {}) {
            Ok(trace) => json!({ "answers": answers(&source.name(), &trace) }),
            Err(error) => json!({ "error": error.to_string() }),
        };
        writeln!(stdout(), "{line}")?;
    }
    Ok(())
}

fn answers(name: &str, trace: &Trace) -> Map<String, Value> {
    let options = Options::default();
    let mut answers = Map::new();
    for query in QUERIES {
        let request = Request::new(&options).about(name);
        let text = match query.answer(trace, request) {
            Ok(answer) => {
                let mut document = Document::new(query.name);
                document.add(name, trace, &answer.rows);
                document.finish()
            }
            Err(error) => format!("error: {error}"),
        };
        answers.insert(query.name.to_owned(), text.into());
    }
    answers
}
