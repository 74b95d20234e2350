//! The comparison of two traces, or of two runs of several ranks.

use crate::convert::{columns, failure, options, rows, text};
use crate::trace::EngineTrace;
use js_sys::{Array, Object};
use kinetoscope_core::compare::Comparison;
use kinetoscope_core::compare::profile::Profile;
use kinetoscope_core::error::Error;
use kinetoscope_core::queries::{Answer, Request, query};
use kinetoscope_core::report::document;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The query about two traces.
const QUERY: &str = "diff";

/// Two sides that are compared.
#[wasm_bindgen]
#[derive(Default)]
pub struct EngineComparison {
    base: Vec<Profile>,
    new: Vec<Profile>,
    comparison: Option<Comparison>,
}

impl EngineComparison {
    fn comparison(&self) -> Result<&Comparison, JsValue> {
        self.comparison.as_ref().ok_or_else(|| failure(&Error::Empty))
    }

    fn answer(&self, given: JsValue, for_reading: bool) -> Result<Answer, JsValue> {
        let query = query(QUERY).map_err(|e| failure(&e))?;
        let options = options(query.options, given)?;
        let request = Request::new(&options).for_reading(for_reading);
        self.comparison()?.answer(request).map_err(|e| failure(&e))
    }
}

#[wasm_bindgen]
impl EngineComparison {
    /// Creates a comparison without traces.
    #[wasm_bindgen(constructor)]
    pub fn new() -> EngineComparison {
        EngineComparison::default()
    }

    /// Adds a trace to the base, or to the other side.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes strings by value")]
    pub fn add(&mut self, is_base: bool, trace: &EngineTrace, name: String) {
        let profile = Profile::of(trace.trace(), &name);
        let side = if is_base { &mut self.base } else { &mut self.new };
        side.push(profile);
    }

    /// Adds a profile as bytes.
    ///
    /// # Errors
    /// Returns an error if it is damaged or of another version.
    #[wasm_bindgen(js_name = addProfile)]
    pub fn add_profile(&mut self, is_base: bool, bytes: &[u8]) -> Result<(), JsValue> {
        let profile = Profile::from_bytes(bytes).map_err(|e| failure(&e))?;
        let side = if is_base { &mut self.base } else { &mut self.new };
        side.push(profile);
        Ok(())
    }

    /// Compares what was added.
    ///
    /// # Errors
    /// Returns an error if no rank is on both sides.
    pub fn finish(&mut self) -> Result<(), JsValue> {
        let comparison = Comparison::of_runs(&self.base, &self.new).map_err(|e| failure(&e))?;
        self.comparison = Some(comparison);
        (self.base, self.new) = (Vec::new(), Vec::new());
        Ok(())
    }

    /// The rows of the query `diff`.
    ///
    /// # Errors
    /// Returns an error if an option is invalid.
    pub fn rows(&self, options: JsValue) -> Result<Array, JsValue> {
        rows(&self.answer(options, false)?.rows)
    }

    /// The same as columns.
    ///
    /// # Errors
    /// As [`EngineComparison::rows`].
    pub fn columns(&self, options: JsValue) -> Result<Object, JsValue> {
        columns(&self.answer(options, false)?.rows)
    }

    /// The text that `kinetoscope diff` prints.
    ///
    /// # Errors
    /// As [`EngineComparison::rows`].
    pub fn table(&self, options: JsValue) -> Result<String, JsValue> {
        text(self.answer(options, true)?.to_text())
    }

    /// The document that `kinetoscope diff --format json` prints.
    ///
    /// # Errors
    /// As [`EngineComparison::rows`].
    pub fn json(&self, options: JsValue) -> Result<String, JsValue> {
        let rows = self.answer(options, false)?.rows;
        text(document::of_comparison(QUERY, self.comparison()?, &rows))
    }
}
