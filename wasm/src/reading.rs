//! Reading a trace in chunks.

use crate::convert::{failure, rows};
use crate::feeding::{Feeding, ReadsText, feeding_methods};
use crate::trace::EngineTrace;
use js_sys::{Array, Function};
use kinetoscope_core::analysis::overview::preview::Preview;
use kinetoscope_core::base::diagnostics::Diagnostics;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::outline::check_window;
use kinetoscope_core::trace::kernel_rules::KernelRules;
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_core::trace::step_rules::{StepName, StepRules};
use kinetoscope_core::trace::table::events::Table;
use kinetoscope_core::trace::versions::Rules;
use kinetoscope_core::trace::{TextReader, Trace};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

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
    /// the trace shows. `kernel_rules` are lines of rules for the categories of kernels, before the built-in ones, and `step_rules`
    /// those for the names of iterations. `steps_from` is a function that returns what the name of a step states.
    ///
    /// # Errors
    /// Returns an error if the input has no trace, the version is none, a rule is malformed, or no range is a step by the function.
    pub fn finish(
        self,
        torch_version: Option<String>,
        kernel_rules: Option<String>,
        step_rules: Option<String>,
        steps_from: Option<Function>,
    ) -> Result<EngineTrace, JsValue> {
        let rules = ChosenRules { torch_version, kernel_rules, step_rules, steps_from };
        finish(rules, self.feeding, &Diagnostics::default()).map_err(|e| failure(&e))
    }
}

/// The most memory for a trace and its analyses, in bytes. The rest of the 4 GiB is for answers and what the allocator leaves free.
const MOST_MEMORY: f64 = 3.0 * (1 << 30) as f64;

/// The limits with a memory limit in bytes.
pub(crate) fn limits(memory_limit: f64) -> Limits {
    Limits::default().with_memory_bytes(memory_limit.min(MOST_MEMORY) as usize)
}

/// The rules that the caller chose.
pub(crate) struct ChosenRules {
    pub(crate) torch_version: Option<String>,
    pub(crate) kernel_rules: Option<String>,
    pub(crate) step_rules: Option<String>,
    pub(crate) steps_from: Option<Function>,
}

/// Makes a trace of what was fed, with the rules of [`Reading::finish`], which are checked first. `of_text` are diagnostics of the complete
/// text, if only a part was fed.
pub(crate) fn finish(
    chosen: ChosenRules,
    feeding: Feeding<impl ReadsText<Read = Table>>,
    of_text: &Diagnostics,
) -> Result<EngineTrace, Error> {
    let rules = chosen.torch_version.map(|version| Rules::for_version(&version)).transpose()?;
    let kernel_rules = KernelRules::parse(&chosen.kernel_rules.unwrap_or_default())?;
    let step_rules = StepRules::parse(&chosen.step_rules.unwrap_or_default())?;
    let (table, mut diagnostics) = feeding.finish()?;
    diagnostics.complete(of_text);
    let mut trace = Trace::new(table, diagnostics);
    if let Some(rules) = rules {
        trace.choose_rules(rules);
    }
    (trace.kernel_rules, trace.step_rules) = (kernel_rules, step_rules);
    if let Some(step_of) = chosen.steps_from
        && trace.choose_steps(|name| step_name(&step_of, name)) == 0
    {
        return Err(Error::BadOption("stepsFrom: no range of the trace has a name that matches".into()));
    }
    check_window(&trace)?;
    Ok(EngineTrace::new(trace))
}

/// What a function of the caller says that a name states: an array of phase, requests, tokens and number.
fn step_name(step_of: &Function, name: &str) -> Option<StepName> {
    let stated: Array = step_of.call1(&JsValue::NULL, &name.into()).ok()?.dyn_into().ok()?;
    let text = |at: u32| stated.get(at).as_string();
    let number = |at: u32| text(at)?.trim().parse().ok();
    Some(StepName::new(text(0).as_deref(), number(1), number(2), number(3)))
}
