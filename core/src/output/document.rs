//! The JSON form of an answer: `{"schema", "trace", "diagnostics", "rows"}`.

use crate::analysis::overview::info;
use crate::base::diagnostics::Diagnostics;
use crate::base::rows::{Rows, json, quote};
use crate::outline::Outline;
use crate::runs::budget::{self, Checked};
use crate::runs::compare::Comparison;
use crate::runs::history::trend::Trend;
use crate::runs::ranks::run::Run;
use crate::trace::Trace;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The version of every JSON form. It increases when the meaning of a field changes.
pub const VERSION: u32 = 1;

/// A builder of a JSON document: the answer to one query about one or more traces.
///
/// For one trace, `trace` is an object. For several, it is an array of such objects, and every diagnostic and row has
/// the name of its trace in a member `trace`.
#[derive(Clone, Debug)]
pub struct Document {
    query: String,
    parts: Vec<DocumentPart>,
}

#[derive(Clone, Debug)]
struct DocumentPart {
    name: String,
    trace: String,
    diagnostics: Vec<String>,
    rows: Vec<String>,
}

impl Document {
    /// Returns a document without answers.
    pub fn new(query: &str) -> Self {
        Document { query: query.into(), parts: Vec::new() }
    }

    /// Returns whether the document has no answers.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Adds the answer about one trace.
    pub fn add(&mut self, name: &str, trace: &Trace, rows: &Rows) {
        self.add_part(name, trace_object(name, trace), &trace.diagnostics, rows);
    }

    /// Adds the outline of one trace.
    pub fn add_outline(&mut self, name: &str, outline: &Outline, diagnostics: &Diagnostics, rows: &Rows) {
        let trace = format!("{{\"name\":{},\"events\":{}}}", quote(name), outline.events());
        self.add_part(name, trace, diagnostics, rows);
    }

    fn add_part(&mut self, name: &str, trace: String, diagnostics: &Diagnostics, rows: &Rows) {
        self.parts.push(DocumentPart {
            name: quote(name),
            trace,
            diagnostics: findings(diagnostics),
            rows: (0..rows.rows.len()).map(|at| rows.json_row(at)).collect(),
        });
    }

    /// Returns the text of the document.
    pub fn finish(self) -> String {
        let several = self.parts.len() > 1;
        let traces: Vec<&str> = self.parts.iter().map(|p| p.trace.as_str()).collect();
        let traces = if several { format!("[{}]", traces.join(",\n")) } else { traces.concat() };
        let lines = |of: fn(&DocumentPart) -> &[String]| -> String {
            let named = |part: &DocumentPart, line: &String| {
                if several { format!("{{\"trace\":{},{}", part.name, &line[1..]) } else { line.clone() }
            };
            let lines: Vec<String> = self
                .parts
                .iter()
                .flat_map(|part| of(part).iter().map(|line| named(part, line)).collect::<Vec<_>>())
                .collect();
            lines.join(",\n")
        };
        format!(
            "{{\"schema\":\"kinetoscope.{}/{VERSION}\",\n\"trace\":{traces},\n\"diagnostics\":[{}],\n\"rows\":[\n{}\n]}}\n",
            self.query,
            lines(|p| &p.diagnostics),
            lines(|p| &p.rows)
        )
    }
}

/// Returns the document of an answer about a run. `trace` has an object for each recording of a rank.
pub fn run(query: &str, run: &Run, rows: &Rows) -> String {
    let trace = |(rank, name, events): (i64, &str, u64)| {
        format!("{{\"name\":{},\"rank\":{rank},\"events\":{events}}}", quote(name))
    };
    let traces: Vec<String> = run.recordings().map(trace).collect();
    document(query, &traces, rows)
}

/// Returns the document of an answer about two traces or runs. `trace` has an object for each of them.
pub fn comparison(query: &str, comparison: &Comparison, rows: &Rows) -> String {
    let traces =
        comparison.sources().map(|(side, name)| format!("{{\"name\":{},\"side\":\"{side}\"}}", quote(name)));
    let traces: Vec<String> = traces.collect();
    document(query, &traces, rows)
}

/// Returns the document of budgets that were checked. `trace` has an object for each trace.
pub fn budgets(checked: &[Checked]) -> String {
    let traces: Vec<String> =
        checked.iter().map(|result| format!("{{\"name\":{}}}", quote(result.source()))).collect();
    document("budgets", &traces, &budget::rows(checked))
}

/// Returns the document of a trend.
pub fn trend(trend: &Trend) -> String {
    document("trend", &[], &trend.rows())
}

/// Returns the document of an answer about several traces without diagnostics.
fn document(query: &str, traces: &[String], rows: &Rows) -> String {
    let rows: Vec<String> = (0..rows.rows.len()).map(|at| rows.json_row(at)).collect();
    format!(
        "{{\"schema\":\"kinetoscope.{query}/{VERSION}\",\n\"trace\":[{}],\n\"diagnostics\":[],\n\"rows\":[\n{}\n]}}\n",
        traces.join(",\n"),
        rows.join(",\n")
    )
}

/// Returns the object that describes a trace.
fn trace_object(name: &str, trace: &Trace) -> String {
    let facts = info::info(trace);
    let members: Vec<String> = facts
        .columns
        .iter()
        .zip(&facts.rows[0])
        .map(|(c, cell)| format!("{}:{}", quote(c.key), json(cell)))
        .collect();
    format!("{{\"name\":{},{}}}", quote(name), members.join(","))
}

/// Returns one object for each diagnostic.
fn findings(diagnostics: &Diagnostics) -> Vec<String> {
    let findings = diagnostics.findings().iter();
    findings
        .map(|f| {
            let offset = f.first_offset.map_or("null".into(), |o| format!("{o}"));
            format!(
                "{{\"code\":{},\"severity\":{},\"count\":{},\"first_offset\":{offset},\"example\":{}}}",
                quote(f.code.as_str()),
                quote(f.code.severity().as_str()),
                f.count,
                quote(&f.example)
            )
        })
        .collect()
}
