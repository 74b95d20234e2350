//! A trace that was read, and the questions to it.

use crate::convert::{arrays, columns, failure, options, rows, text, to_js};
use crate::writing::EngineWriting;
use js_sys::{Array, Float64Array, Object, Uint32Array};
use kinetoscope_core::analysis::tiles::{Tile, Window, tiles};
use kinetoscope_core::error::Error;
use kinetoscope_core::report::document::Document;
use kinetoscope_core::table::tracks::TrackId;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::verbs::{Answer, Begun, Request, export, in_turn, verb};
use kinetoscope_core::write::chrome::ChromeWriter;
use serde::Serialize;
use std::rc::Rc;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// A trace.
#[wasm_bindgen]
pub struct EngineTrace {
    trace: Rc<Trace>,
}

/// One line of the ledger.
#[derive(Serialize)]
struct Diagnostic<'a> {
    code: &'static str,
    severity: &'static str,
    count: u64,
    first_offset: Option<u64>,
    example: &'a str,
    description: &'static str,
}

impl EngineTrace {
    pub(crate) fn new(trace: Trace) -> EngineTrace {
        EngineTrace { trace: Rc::new(trace) }
    }

    fn ask(&self, name: &str, asked: &str, given: JsValue, for_reading: bool) -> Result<Answer, JsValue> {
        let verb = verb(asked).map_err(|e| failure(&e))?;
        let options = options(verb.options, given)?;
        let request = Request { name, options: &options, for_reading, both: in_turn };
        (verb.answer)(&self.trace, request).map_err(|e| failure(&e))
    }
}

#[wasm_bindgen]
impl EngineTrace {
    /// The Unix time of the start of the recording, in ns; of a trace without absolute times, its own time.
    pub fn start(&self) -> i64 {
        self.trace.table.base_ns().saturating_add(self.trace.start_ns)
    }

    /// How many events there are.
    pub fn events(&self) -> usize {
        self.trace.table.len()
    }

    /// An answer's rows as plain objects.
    ///
    /// # Errors
    /// When there is no such verb, or an option is wrong.
    pub fn rows(&self, verb: &str, options: JsValue) -> Result<Array, JsValue> {
        rows(&self.ask("", verb, options, false)?.rows)
    }

    /// An answer's rows as columns.
    ///
    /// # Errors
    /// As [`EngineTrace::rows`].
    pub fn columns(&self, verb: &str, options: JsValue) -> Result<Object, JsValue> {
        columns(&self.ask("", verb, options, false)?.rows)
    }

    /// The document that `kinetoscope VERB --format json` prints.
    ///
    /// # Errors
    /// As [`EngineTrace::rows`].
    pub fn json(&self, name: &str, verb: &str, options: JsValue) -> Result<String, JsValue> {
        let answer = self.ask(name, verb, options, false)?;
        let mut document = Document::new(verb);
        document.add(name, &self.trace, &answer.rows);
        text(document.finish())
    }

    /// The text that `kinetoscope VERB` prints.
    ///
    /// # Errors
    /// As [`EngineTrace::rows`].
    pub fn table(&self, name: &str, verb: &str, options: JsValue) -> Result<String, JsValue> {
        text(self.ask(name, verb, options, true)?.to_text())
    }

    /// The text that `kinetoscope VERB --format csv` prints.
    ///
    /// # Errors
    /// As [`EngineTrace::rows`].
    pub fn csv(&self, verb: &str, options: JsValue) -> Result<String, JsValue> {
        text(self.ask("", verb, options, false)?.rows.to_csv())
    }

    /// The text that `kinetoscope VERB --format md` prints.
    ///
    /// # Errors
    /// As [`EngineTrace::rows`].
    pub fn markdown(&self, verb: &str, options: JsValue) -> Result<String, JsValue> {
        text(self.ask("", verb, options, false)?.rows.to_markdown())
    }

    /// What was odd about the file.
    pub fn diagnostics(&self) -> JsValue {
        let findings = self.trace.diagnostics.findings().iter();
        let lines: Vec<Diagnostic<'_>> = findings
            .map(|f| Diagnostic {
                code: f.code.as_str(),
                severity: f.code.severity().as_str(),
                count: f.count,
                first_offset: f.first_offset,
                example: &f.example,
                description: f.code.description(),
            })
            .collect();
        to_js(&lines)
    }

    /// What a timeline draws of a track between two times, in ns after the start of the recording.
    pub fn tiles(&self, track: u32, start: f64, end: f64, pixels: u32) -> Object {
        let window = Window { track: TrackId(track), start_ns: start as i64, end_ns: end as i64, pixels };
        let tiles = tiles(&self.trace, window);
        let times = |of: fn(&Tile) -> i64| {
            JsValue::from(Float64Array::from(&*tiles.iter().map(|t| of(t) as f64).collect::<Vec<f64>>()))
        };
        let ints = |of: &dyn Fn(&Tile) -> u32| {
            JsValue::from(Uint32Array::from(&*tiles.iter().map(of).collect::<Vec<u32>>()))
        };
        let mut ids: Vec<_> = tiles.iter().map(|t| t.name).collect();
        ids.sort_unstable();
        ids.dedup();
        let names: Array = ids.iter().map(|&id| JsValue::from_str(self.trace.table.names.get(id))).collect();
        arrays(&[
            ("length", JsValue::from(tiles.len() as u32)),
            ("depth", ints(&|t| t.depth)),
            ("start", times(|t| t.start_ns)),
            ("end", times(|t| t.end_ns)),
            ("count", ints(&|t| t.count)),
            ("event", ints(&|t| t.row)),
            ("name", ints(&|t| ids.binary_search(&t.name).unwrap_or(0) as u32)),
            ("names", names.into()),
        ])
    }

    /// One event as the JSON object that a Chrome trace has.
    ///
    /// # Errors
    /// When there is no such event.
    pub fn event(&self, row: u32) -> Result<String, JsValue> {
        let table = &self.trace.table;
        if row as usize >= table.len() {
            let message = format!("event {row}: the trace has {} events", table.len());
            return Err(failure(&Error::BadOption(message)));
        }
        ChromeWriter::one(table, row).map_err(|_| failure(&Error::Output))
    }

    /// Begins to write the trace in a form; `salt` are random bytes.
    ///
    /// # Errors
    /// When there is no such form, an option is wrong, or the options leave this trace out.
    pub fn export(&self, name: &str, given: JsValue, salt: &[u8]) -> Result<EngineWriting, JsValue> {
        let export = export(name).map_err(|e| failure(&e))?;
        let options = options(export.options, given)?;
        match (export.begin)(&self.trace, &options, salt).map_err(|e| failure(&e))? {
            Begun::Writing(writing) => Ok(EngineWriting::new(Rc::clone(&self.trace), writing)),
            Begun::LeftOut => Err(failure(&Error::BadOption("the options leave this trace out".to_owned()))),
        }
    }
}
