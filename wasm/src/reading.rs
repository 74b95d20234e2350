//! Reading a trace in chunks.

use crate::convert::{failure, rows};
use crate::feeding::{Feeding, ReadsText, feeding_methods};
use crate::trace::EngineTrace;
use js_sys::Array;
use kinetoscope_core::analysis::overview::preview::Preview;
use kinetoscope_core::base::diagnostics::Diagnostics;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::outline::check_window;
use kinetoscope_core::trace::kernel_rules::KernelRules;
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::table::events::Table;
use kinetoscope_core::trace::versions::Rules;
use kinetoscope_core::trace::{TextReader, Trace};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// A trace that is being read.
///
/// Pass the bytes of the file to [`Reading::feed`], or the text to [`Reading::feed_text`] if the platform decompresses.
/// If the platform fails on damaged compressed bytes, call [`Reading::start_over`] and pass the complete file to
/// [`Reading::feed`]. This reads the text that the platform did not return, and counts the damage.
#[wasm_bindgen]
pub struct Reading {
    pub(crate) feeding: Feeding<TextReader>,
    preview: Preview,
}

feeding_methods!(Reading);

#[wasm_bindgen]
impl Reading {
    /// Creates a reader. Reading stops before the trace would hold more than `memory_limit` bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(memory_limit: f64) -> Reading {
        Reading { feeding: Feeding::new(TextReader::new(limits(memory_limit))), preview: Preview::default() }
    }

    /// The number of events read so far.
    pub fn events(&self) -> usize {
        self.feeding.reader.table().len()
    }

    /// Whether the memory limit was reached. Further input is ignored.
    pub fn is_full(&self) -> bool {
        self.feeding.reader.is_full()
    }

    /// The preview of the events so far, as one row.
    ///
    /// # Errors
    /// As [`rows`].
    pub fn preview(&mut self) -> Result<Array, JsValue> {
        let table = self.feeding.reader.table();
        self.preview.update(table);
        rows(&self.preview.rows(table))
    }

    /// Ends the input, then pairs, nests and links the events. `torch_version` replaces the version of PyTorch that
    /// the trace shows. `kernel_rules` are lines of rules for the categories of kernels, before the built-in ones.
    ///
    /// # Errors
    /// Returns an error if the input has no trace, the version is none, or a rule is malformed.
    pub fn finish(
        self,
        torch_version: Option<String>,
        kernel_rules: Option<String>,
    ) -> Result<EngineTrace, JsValue> {
        finish(torch_version, kernel_rules, self.feeding, &Diagnostics::default()).map_err(|e| failure(&e))
    }
}

/// The most memory for a trace and its analyses, in bytes. The rest of the 4 GiB is for answers and what the allocator leaves free.
const MOST_MEMORY: f64 = 3.0 * (1 << 30) as f64;

/// The limits with a memory limit in bytes.
pub(crate) fn limits(memory_limit: f64) -> Limits {
    Limits::default().with_memory_bytes(memory_limit.min(MOST_MEMORY) as usize)
}

/// Makes a trace of what was fed, with the options of [`Reading::finish`], which are checked first. `of_text` are diagnostics of the complete
/// text, if only a part was fed.
pub(crate) fn finish(
    torch_version: Option<String>,
    kernel_rules: Option<String>,
    feeding: Feeding<impl ReadsText<Read = Table>>,
    of_text: &Diagnostics,
) -> Result<EngineTrace, Error> {
    let rules = torch_version.map(|version| Rules::for_version(&version)).transpose()?;
    let kernel_rules = KernelRules::parse(&kernel_rules.unwrap_or_default())?;
    let (table, mut diagnostics) = feeding.finish()?;
    diagnostics.complete(of_text);
    let mut trace = Trace::new(table, diagnostics);
    if let Some(rules) = rules {
        trace.choose_rules(rules);
    }
    trace.kernel_rules = kernel_rules;
    check_window(&trace)?;
    Ok(EngineTrace::new(trace))
}
