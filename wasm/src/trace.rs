//! A trace that was read, and its queries and exports.

#[cfg(feature = "full")]
mod buffers;
#[cfg(feature = "full")]
mod full;

use crate::convert::{arrays, columns, diagnostics, failure, floats, ints, options, rows, text};
use crate::expression::compile;
use crate::queries::query;
use js_sys::{Array, Object};
#[cfg(feature = "full")]
use kinetoscope_core::analysis::timeline::counters::Counter;
use kinetoscope_core::analysis::timeline::tiles::{Tile, Window, tiles};
use kinetoscope_core::base::error::Error;
use kinetoscope_core::base::names::NameId;
use kinetoscope_core::output::document::Document;
use kinetoscope_core::queries::{Answer, Request};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::tracks::TrackId;
#[cfg(feature = "full")]
use std::cell::OnceCell;
use std::rc::Rc;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// What of an answer is wanted.
#[derive(Clone, Copy)]
enum AnswerForm {
    /// Text for a person.
    ForReading,
    /// The rows after this number of rows.
    After(usize),
}

/// A trace.
#[wasm_bindgen]
pub struct EngineTrace {
    trace: Rc<Trace>,
    /// The counters, computed on first use.
    #[cfg(feature = "full")]
    counters: OnceCell<Vec<Counter>>,
}

impl EngineTrace {
    pub(crate) fn new(trace: Trace) -> EngineTrace {
        EngineTrace {
            trace: Rc::new(trace),
            #[cfg(feature = "full")]
            counters: OnceCell::new(),
        }
    }

    #[cfg(feature = "full")]
    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }

    fn answer(
        &self,
        name: &str,
        query_name: &str,
        object: JsValue,
        part: AnswerForm,
    ) -> Result<Answer, JsValue> {
        let query = query(query_name).map_err(|e| failure(&e))?;
        let (for_reading, offset) = match part {
            AnswerForm::ForReading => (true, 0),
            AnswerForm::After(offset) => (false, offset),
        };
        if offset > 0 && query.options.iter().all(|option| option.name != "row-limit") {
            return Err(failure(&Error::BadOption(format!("offset: {query_name} has no row limit"))));
        }
        let options = options(query.options, object)?;
        let request = Request::new(&options).about(name).for_reading(for_reading).compile_by(compile);
        let mut answer = query.answer(&self.trace, request).map_err(|e| failure(&e))?;
        answer.rows.rows.drain(..offset.min(answer.rows.rows.len()));
        Ok(answer)
    }

    /// Returns the distinct names of `ids`, in the order of first appearance, and for each id the index of its name.
    fn dictionary(&self, ids: impl Iterator<Item = NameId>) -> (Array, JsValue) {
        let names = &self.trace.table.names;
        let texts = Array::new();
        let mut index_of = vec![u32::MAX; names.len()];
        let indexes = ids.map(|id| {
            let index = &mut index_of[id.0 as usize];
            if *index == u32::MAX {
                *index = texts.push(&JsValue::from_str(names.get(id))) - 1;
            }
            *index
        });
        let indexes = ints(indexes);
        (texts, indexes)
    }
}

#[wasm_bindgen]
impl EngineTrace {
    /// The Unix time of the start of the recording, in ns; without absolute times, the time in the trace's own clock.
    pub fn start(&self) -> i64 {
        self.trace.table.base_ns().saturating_add(self.trace.start_ns)
    }

    /// The number of events.
    pub fn events(&self) -> usize {
        self.trace.table.len()
    }

    /// Runs a query and returns its rows as plain objects, without the first `offset` ones.
    ///
    /// # Errors
    /// Returns an error if there is no such query, or an option is invalid.
    pub fn rows(&self, name: &str, query: &str, options: JsValue, offset: usize) -> Result<Array, JsValue> {
        rows(&self.answer(name, query, options, AnswerForm::After(offset))?.rows)
    }

    /// Runs a query and returns its rows as columns.
    ///
    /// # Errors
    /// As [`EngineTrace::rows`].
    pub fn columns(
        &self,
        name: &str,
        query: &str,
        options: JsValue,
        offset: usize,
    ) -> Result<Object, JsValue> {
        columns(&self.answer(name, query, options, AnswerForm::After(offset))?.rows)
    }

    /// Runs a query and returns the document that `kinetoscope QUERY --format json` prints.
    ///
    /// # Errors
    /// As [`EngineTrace::rows`].
    pub fn json(&self, name: &str, query: &str, options: JsValue, offset: usize) -> Result<String, JsValue> {
        let answer = self.answer(name, query, options, AnswerForm::After(offset))?;
        let mut document = Document::new(query);
        document.add(name, &self.trace, &answer.rows);
        text(document.finish())
    }

    /// Runs a query and returns the text that `kinetoscope QUERY` prints.
    ///
    /// # Errors
    /// As [`EngineTrace::rows`].
    pub fn table(&self, name: &str, query: &str, options: JsValue) -> Result<String, JsValue> {
        text(self.answer(name, query, options, AnswerForm::ForReading)?.to_text(None))
    }

    /// Runs a query and returns the text that `kinetoscope QUERY --format csv` prints.
    ///
    /// # Errors
    /// As [`EngineTrace::rows`].
    pub fn csv(&self, name: &str, query: &str, options: JsValue, offset: usize) -> Result<String, JsValue> {
        text(self.answer(name, query, options, AnswerForm::After(offset))?.rows.to_csv())
    }

    /// Runs a query and returns the text that `kinetoscope QUERY --format md` prints.
    ///
    /// # Errors
    /// As [`EngineTrace::rows`].
    pub fn markdown(
        &self,
        name: &str,
        query: &str,
        options: JsValue,
        offset: usize,
    ) -> Result<String, JsValue> {
        text(self.answer(name, query, options, AnswerForm::After(offset))?.rows.to_markdown())
    }

    /// The diagnostics of the file.
    pub fn diagnostics(&self) -> JsValue {
        diagnostics(&self.trace.diagnostics)
    }

    /// The tiles that a timeline draws for a track between two times, in ns after the start of the recording.
    ///
    /// # Errors
    /// Returns an error if there is no such track.
    pub fn tiles(&self, track: u32, start: f64, end: f64, pixels: u32) -> Result<Object, JsValue> {
        let tracks = self.trace.table.tracks.all().len();
        if track as usize >= tracks {
            return Err(failure(&Error::BadOption(format!("track {track}: the trace has {tracks} tracks"))));
        }
        let window = Window { track: TrackId(track), start_ns: start as i64, end_ns: end as i64, pixels };
        let tiles = tiles(&self.trace, window);
        let times = |of: fn(&Tile) -> i64| floats(tiles.iter().map(|t| of(t) as f64));
        let (names, name_of) = self.dictionary(tiles.iter().map(|t| t.name));
        Ok(arrays(&[
            ("length", JsValue::from(tiles.len() as u32)),
            ("depth", ints(tiles.iter().map(|t| t.depth))),
            ("start_ns", times(|t| t.start_ns)),
            ("end_ns", times(|t| t.end_ns)),
            ("count", ints(tiles.iter().map(|t| t.count))),
            ("event", ints(tiles.iter().map(|t| t.row.index() as u32))),
            ("name", name_of),
            ("names", names.into()),
        ]))
    }
}
