//! The trend of a history.

use crate::convert::{failure, rows, text};
use js_sys::Array;
use kinetoscope_core::output::document;
use kinetoscope_core::runs::history::trend::Trend;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// A history that was read.
#[wasm_bindgen]
pub struct EngineTrend {
    trend: Trend,
}

#[wasm_bindgen]
impl EngineTrend {
    /// Reads the lines of a history.
    ///
    /// # Errors
    /// Returns an error with the number of the first line that is none of a history.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes strings by value")]
    pub fn new(lines: String) -> Result<EngineTrend, JsValue> {
        let trend = Trend::read(&lines).map_err(|e| failure(&e))?;
        Ok(EngineTrend { trend })
    }

    /// A row for each change, and then one for each metric.
    ///
    /// # Errors
    /// As `rows`.
    pub fn rows(&self) -> Result<Array, JsValue> {
        rows(&self.trend.rows())
    }

    /// A row for each run.
    ///
    /// # Errors
    /// As `rows`.
    pub fn runs(&self) -> Result<Array, JsValue> {
        rows(&self.trend.runs())
    }

    /// The text that `kinetoscope trend` prints.
    ///
    /// # Errors
    /// Returns an error if the text is too long.
    pub fn table(&self) -> Result<String, JsValue> {
        text(self.trend.page().to_string())
    }

    /// The document that `kinetoscope trend --format json` prints.
    ///
    /// # Errors
    /// As [`EngineTrend::table`].
    pub fn json(&self) -> Result<String, JsValue> {
        text(document::trend(&self.trend))
    }
}
