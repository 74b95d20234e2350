//! The comparison of two traces, or of two runs of several ranks.

use crate::convert::{columns, failure, options, rows, text};
use crate::trace::EngineTrace;
use js_sys::{Array, Object};
use kinetoscope_core::base::error::Error;
use kinetoscope_core::output::document;
use kinetoscope_core::queries::{Answer, Request, query as find};
use kinetoscope_core::runs::compare::Comparison;
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_core::runs::ranks::file::{Summaries, is_summary};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// Two sides that are compared.
#[wasm_bindgen]
#[derive(Default)]
pub struct EngineComparison {
    base: Vec<Profile>,
    new: Vec<Profile>,
    comparison: Option<Comparison>,
}

impl EngineComparison {
    fn side(&mut self, is_base: bool) -> &mut Vec<Profile> {
        if is_base { &mut self.base } else { &mut self.new }
    }

    fn comparison(&self) -> Result<&Comparison, JsValue> {
        self.comparison.as_ref().ok_or_else(|| failure(&Error::Empty))
    }

    fn answer(&self, query: &str, object: JsValue, for_reading: bool) -> Result<Answer, JsValue> {
        let query = find(query).map_err(|e| failure(&e))?;
        let options = options(query.options, object)?;
        let request = Request::new(&options).for_reading(for_reading);
        self.comparison()?.answer(query, request).map_err(|e| failure(&e))
    }
}

#[wasm_bindgen]
impl EngineComparison {
    /// Creates a comparison without traces.
    #[wasm_bindgen(constructor)]
    pub fn new() -> EngineComparison {
        EngineComparison::default()
    }

    /// Adds a trace to the base, or to the other side. The waits of ranks are compared if it `is_rank`.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes strings by value")]
    pub fn add(&mut self, is_base: bool, trace: &EngineTrace, name: String, is_rank: bool) {
        let profile = if is_rank { Profile::from_rank } else { Profile::from_trace };
        self.side(is_base).push(profile(trace.trace(), &name));
    }

    /// Adds a profile as bytes, or a file of summaries.
    ///
    /// # Errors
    /// Returns an error if it is damaged or of another version.
    #[wasm_bindgen(js_name = addReduced)]
    pub fn add_reduced(&mut self, is_base: bool, bytes: &[u8]) -> Result<(), JsValue> {
        if is_summary(bytes) {
            let mut summaries = Summaries::default();
            summaries.read(bytes).map_err(|e| failure(&e))?;
            self.side(is_base).extend(summaries.into_iter().map(Profile::from_summary));
        } else {
            self.side(is_base).push(Profile::from_bytes(bytes).map_err(|e| failure(&e))?);
        }
        Ok(())
    }

    /// Compares what was added.
    ///
    /// # Errors
    /// Returns an error if no rank is on both sides.
    pub fn finish(&mut self) -> Result<(), JsValue> {
        let comparison = Comparison::between_runs(&self.base, &self.new).map_err(|e| failure(&e))?;
        self.comparison = Some(comparison);
        (self.base, self.new) = (Vec::new(), Vec::new());
        Ok(())
    }

    /// The rows of a query: `diff` or `diff-tree`.
    ///
    /// # Errors
    /// Returns an error if an option is invalid.
    pub fn rows(&self, query: &str, options: JsValue) -> Result<Array, JsValue> {
        rows(&self.answer(query, options, false)?.rows)
    }

    /// The same as columns.
    ///
    /// # Errors
    /// As [`EngineComparison::rows`].
    pub fn columns(&self, query: &str, options: JsValue) -> Result<Object, JsValue> {
        columns(&self.answer(query, options, false)?.rows)
    }

    /// The text that the command prints.
    ///
    /// # Errors
    /// As [`EngineComparison::rows`].
    pub fn table(&self, query: &str, options: JsValue) -> Result<String, JsValue> {
        text(self.answer(query, options, true)?.to_text(None))
    }

    /// The document that the command prints with `--format json`.
    ///
    /// # Errors
    /// As [`EngineComparison::rows`].
    pub fn json(&self, query: &str, options: JsValue) -> Result<String, JsValue> {
        let rows = self.answer(query, options, false)?.rows;
        text(document::comparison(query, self.comparison()?, &rows))
    }
}
