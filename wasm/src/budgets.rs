//! Budgets of traces.

use crate::convert::{failure, rows, text};
use crate::trace::EngineTrace;
use js_sys::Array;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::output::document;
use kinetoscope_core::runs::budget::formats::{junit, markdown};
use kinetoscope_core::runs::budget::subject::Subject;
use kinetoscope_core::runs::budget::{self, Budgets, Checked, Wrong};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// Budgets, the traces of the base, and what was checked.
#[wasm_bindgen]
pub struct EngineBudgets {
    budgets: Budgets,
    base: Vec<Subject>,
    checked: Vec<Checked>,
}

fn bad_option(wrong: &Wrong) -> JsValue {
    failure(&Error::BadOption(wrong.to_string()))
}

#[wasm_bindgen]
impl EngineBudgets {
    /// Reads budgets from a plain object.
    ///
    /// # Errors
    /// Returns an error that names the key if one is invalid, or if there are no budgets.
    #[wasm_bindgen(constructor)]
    pub fn new(budgets: JsValue) -> Result<EngineBudgets, JsValue> {
        let value = serde_wasm_bindgen::from_value(budgets)
            .map_err(|error| failure(&Error::BadOption(format!("budgets: {error}"))))?;
        let budgets = Budgets::from_json(&value).map_err(|wrong| bad_option(&wrong))?;
        if budgets.is_empty() {
            return Err(failure(&Error::BadOption("budgets: there are none to check".into())));
        }
        Ok(EngineBudgets { budgets, base: Vec::new(), checked: Vec::new() })
    }

    /// Adds a trace of the base.
    #[wasm_bindgen(js_name = addBase)]
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes strings by value")]
    pub fn add_base(&mut self, trace: &EngineTrace, name: String) {
        self.base.push(Subject::from_trace(trace.trace(), &name));
    }

    /// Checks a trace.
    ///
    /// # Errors
    /// Returns an error if a budget is about a name that nothing has, or needs a base.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes strings by value")]
    pub fn check(&mut self, trace: &EngineTrace, name: String) -> Result<(), JsValue> {
        let subject = Subject::from_trace(trace.trace(), &name);
        self.checked.push(self.budgets.check(&subject, &self.base).map_err(|wrong| bad_option(&wrong))?);
        Ok(())
    }

    /// `breach`, `unfit` or `pass`.
    pub fn outcome(&self) -> String {
        Checked::outcome(&self.checked).as_str().into()
    }

    /// A row for each limit.
    ///
    /// # Errors
    /// As `rows`.
    pub fn rows(&self) -> Result<Array, JsValue> {
        rows(&budget::rows(&self.checked))
    }

    /// The text that `kinetoscope check` prints in a format: `json`, `table`, `md` or `junit`.
    ///
    /// # Errors
    /// Returns an error if the text is too long.
    #[expect(clippy::needless_pass_by_value, reason = "wasm-bindgen passes strings by value")]
    pub fn text(&self, format: String) -> Result<String, JsValue> {
        text(match format.as_str() {
            "json" => document::budgets(&self.checked),
            "md" => markdown(&self.checked),
            "junit" => junit(&self.checked),
            _ => budget::rows(&self.checked).to_text(),
        })
    }
}
