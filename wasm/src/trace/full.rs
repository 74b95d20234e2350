//! What only the complete engine does with a trace: joining, reducing, spans by name or relation, curves, exports.

use super::{AnswerForm, EngineTrace};
use crate::convert::{arrays, failure, floats, ints, options, set};
use crate::queries::query;
use crate::streaming::EngineAnswer;
use crate::writing::EngineWriting;
use js_sys::{Array, Object, Uint8Array};
use kinetoscope_core::analysis::query::options::TypedOptions;
use kinetoscope_core::analysis::timeline::counters::counters;
use kinetoscope_core::analysis::timeline::spans::{self, Relation, Span};
use kinetoscope_core::analysis::torch::ops::OpsOptions;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::output::document::Document;
use kinetoscope_core::output::write::chrome::ChromeWriter;
use kinetoscope_core::queries::{Started, export};
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_core::runs::ranks::file::{Summaries, limit};
use kinetoscope_core::runs::ranks::summary::Summary;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::provenance::ProvenanceFile;
use kinetoscope_core::trace::table::events::Row;
use std::rc::Rc;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

impl EngineTrace {
    fn row(&self, number: u32) -> Result<Row, JsValue> {
        let table = &self.trace.table;
        table.row(number as usize).ok_or_else(|| {
            failure(&Error::BadOption(format!("event {number}: the trace has {} events", table.len())))
        })
    }

    /// Converts spans to an object of arrays.
    fn spans(&self, spans: &[Span]) -> Object {
        let times = |of: fn(&Span) -> i64| floats(spans.iter().map(|s| of(s) as f64));
        let (names, name_of) = self.dictionary(spans.iter().map(|s| self.trace.table.name_id(s.row)));
        arrays(&[
            ("length", JsValue::from(spans.len() as u32)),
            ("event", ints(spans.iter().map(|s| s.row.index() as u32))),
            ("track", ints(spans.iter().map(|s| s.track.0))),
            ("depth", ints(spans.iter().map(|s| s.depth))),
            ("start_ns", times(|s| s.start_ns)),
            ("end_ns", times(|s| s.end_ns)),
            ("name", name_of),
            ("names", names.into()),
        ])
    }
}

fn in_use() -> Error {
    Error::BadOption("a trace cannot be joined during an export".into())
}

#[wasm_bindgen]
impl EngineTrace {
    /// Joins an execution trace. Returns the number of events that have a node in it.
    ///
    /// # Errors
    /// Returns an error if `other` is no execution trace, or of another recording.
    pub fn join(&mut self, other: EngineTrace) -> Result<usize, JsValue> {
        self.joined(other, Trace::join)
    }

    /// Joins a capture of graphs that the trace replays. Returns the number of launches that it explains.
    ///
    /// # Errors
    /// Returns an error if `other` has no capture, or agrees with no launch.
    #[wasm_bindgen(js_name = joinCapture)]
    pub fn join_capture(&mut self, other: EngineTrace) -> Result<usize, JsValue> {
        self.joined(other, |trace, other| Ok(trace.join_capture(other)?.explained))
    }

    /// Joins files that say where kernels come from, each with its name. Returns the number of operators and activities that they explain.
    ///
    /// # Errors
    /// Returns an error if a file is of no known kind, or nothing in the trace is what the files describe.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes arrays by value")]
    #[wasm_bindgen(js_name = joinProvenance)]
    pub fn join_provenance(&mut self, names: Vec<String>, files: Vec<Uint8Array>) -> Result<usize, JsValue> {
        let files: Vec<Vec<u8>> = files.iter().map(Uint8Array::to_vec).collect();
        let named = names.iter().zip(&files);
        let files: Vec<ProvenanceFile<'_>> =
            named.map(|(path, bytes)| ProvenanceFile { path, bytes }).collect();
        let trace = Rc::get_mut(&mut self.trace).ok_or_else(|| failure(&in_use()))?;
        let explained = trace.join_provenance(&files).map_err(|e| failure(&e))?;
        Ok(explained.operators + explained.activities)
    }

    fn joined(
        &mut self,
        other: EngineTrace,
        join: fn(&mut Trace, Trace) -> Result<usize, Error>,
    ) -> Result<usize, JsValue> {
        let (trace, other) = (Rc::get_mut(&mut self.trace), Rc::into_inner(other.trace));
        let joined = trace.zip(other).ok_or_else(in_use).and_then(|(trace, other)| join(trace, other));
        joined.map_err(|e| failure(&e))
    }

    /// The summary of the trace as a file of summaries. `file_bytes` is the size of the trace's file. Without it, the size
    /// of the summary is not limited.
    pub fn summarize(&self, name: &str, file_bytes: Option<f64>) -> Uint8Array {
        let summary = Summary::from_trace(&self.trace, name);
        let most = file_bytes.map_or(usize::MAX, |bytes| limit(name, bytes as u64));
        Uint8Array::from(Summaries::within(summary, most).to_file().as_slice())
    }

    /// What a comparison uses of the trace, as bytes.
    pub fn profile(&self, name: &str) -> Uint8Array {
        Uint8Array::from(Profile::to_keep(&self.trace, name).to_bytes().as_slice())
    }

    /// All spans with these names, in the order of time; only those of device work if `device_work_only`.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes strings by value")]
    pub fn find(&self, names: Vec<String>, device_work_only: bool) -> Object {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.spans(&spans::find(&self.trace, &names, device_work_only))
    }

    /// The events of a row of `ops`, by its index in the unsorted rows.
    ///
    /// # Errors
    /// Returns an error if an option is invalid, or there is no such row.
    pub fn instances(&self, row: u32, object: JsValue) -> Result<Object, JsValue> {
        let options = options(query("ops").map_err(|e| failure(&e))?.options, object)?;
        let found = spans::instances(&self.trace, OpsOptions::from_options(&options, false).group_by, row);
        if found.is_empty() {
            return Err(failure(&Error::BadOption(format!(
                "row {row}: `ops` has no such row with this grouping"
            ))));
        }
        Ok(self.spans(&found))
    }

    /// The span of an event and all spans that it is linked to.
    ///
    /// # Errors
    /// Returns an error if there is no such event.
    pub fn related(&self, row: u32) -> Result<Object, JsValue> {
        let (span, related) = spans::related(&self.trace, self.row(row)?);
        let all: Vec<Span> = span.into_iter().chain(related.iter().map(|r| r.1)).collect();
        let relation = related.iter().map(|r| r.0.as_str());
        let own_relation = span.iter().map(|_| Relation::Own.as_str());
        let relation: Array = own_relation.chain(relation).map(JsValue::from_str).collect();
        let out = self.spans(&all);
        set(&out, "relation", &relation);
        Ok(out)
    }

    /// The curve of a counter between two times, in ns after the start of the recording.
    ///
    /// # Errors
    /// Returns an error if there is no such counter.
    pub fn curve(&self, counter: u32, start: f64, end: f64, pixels: u32) -> Result<Object, JsValue> {
        let counters = self.counters.get_or_init(|| counters(&self.trace));
        let Some(found) = counters.get(counter as usize) else {
            let message = format!("counter {counter}: the trace has {} counters", counters.len());
            return Err(failure(&Error::BadOption(message)));
        };
        let curve = found.curve(start as i64, end as i64, pixels);
        let floats = |values: Vec<f64>| floats(values.into_iter());
        Ok(arrays(&[
            ("length", JsValue::from(curve.mean.len() as u32)),
            ("low", floats(curve.low)),
            ("high", floats(curve.high)),
            ("mean", floats(curve.mean)),
        ]))
    }

    /// One event as the JSON object of a Chrome trace.
    ///
    /// # Errors
    /// Returns an error if there is no such event.
    pub fn event(&self, row: u32) -> Result<String, JsValue> {
        ChromeWriter::one(&self.trace.table, self.row(row)?).map_err(|_| failure(&Error::Output))
    }

    /// Runs a query and begins to write its rows in a format, without the first `offset` ones.
    ///
    /// # Errors
    /// As [`EngineTrace::rows`], and if the format is neither `json` nor `csv`.
    pub fn stream(
        &self,
        name: &str,
        query: &str,
        options: JsValue,
        offset: usize,
        format: &str,
    ) -> Result<EngineAnswer, JsValue> {
        let answer = self.answer(name, query, options, AnswerForm::After(offset))?;
        EngineAnswer::new(answer.rows, format, |rows| {
            let mut document = Document::new(query);
            document.add(name, &self.trace, rows);
            document.finish()
        })
    }

    /// Begins an export. `salt` is random bytes.
    ///
    /// # Errors
    /// Returns an error if there is no such export, an option is invalid, or the options exclude this trace.
    pub fn export(&self, name: &str, object: JsValue, salt: &[u8]) -> Result<EngineWriting, JsValue> {
        let export = export(name).map_err(|e| failure(&e))?;
        let options = options(export.options, object)?;
        match export.begin(&self.trace, &options, salt).map_err(|e| failure(&e))? {
            Started::Writing(writing) => Ok(EngineWriting::new(Rc::clone(&self.trace), writing)),
            Started::Skipped => Err(failure(&Error::BadOption("the options exclude this trace".to_owned()))),
        }
    }
}
