//! Every question that can be asked of a trace, and every form that it can be written in: the one list from which the
//! command line, the npm package and its TypeScript types are made.
//!
//! Whoever adds an analysis adds a [`Verb`] to [`VERBS`]; every face then has it.

pub mod analyses;
pub mod answer_options;
pub mod answers;
mod entry;
pub mod export_options;
pub mod exports;
pub mod options;
pub mod setting;
mod takes;
pub mod writing;

pub use entry::{Answer, Begun, Both, Export, Kind, Request, Verb, in_turn};

use crate::error::Error;
use crate::rows::Rows;
use crate::trace::Trace;
use options::Options;

/// Every question.
pub const VERBS: &[Verb] = answers::VERBS;

/// Every form.
pub const EXPORTS: &[Export] = exports::EXPORTS;

/// The verb of this name.
///
/// # Errors
/// [`Error::BadOption`] when there is none.
pub fn verb(name: &str) -> Result<&'static Verb, Error> {
    VERBS.iter().find(|v| v.name == name).ok_or_else(|| unknown("analysis", name))
}

/// The export of this name.
///
/// # Errors
/// [`Error::BadOption`] when there is none.
pub fn export(name: &str) -> Result<&'static Export, Error> {
    EXPORTS.iter().find(|e| e.name == name).ok_or_else(|| unknown("export", name))
}

fn unknown(what: &str, name: &str) -> Error {
    Error::BadOption(alloc::format!("there is no {what} {name}"))
}

impl Trace {
    /// The rows of a verb by its name; [`analyses`] has the same as functions with typed options.
    ///
    /// ```
    /// use kinetoscope_core::trace::Trace;
    /// use kinetoscope_core::verbs::options::Options;
    /// use kinetoscope_core::verbs::verb;
    ///
    /// let trace = Trace::read(br#"[{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1, "dur": 5}]"#)?;
    /// let options = Options::from_texts(verb("kernels")?.options, &[("row-limit", "10")])?;
    /// assert_eq!(trace.ask("kernels", &options)?.rows.len(), 1);
    /// # Ok::<(), kinetoscope_core::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadOption`] when there is no such verb, or as [`Verb::answer`].
    pub fn ask(&self, name: &str, options: &Options) -> Result<Rows, Error> {
        Ok(verb(name)?.answer(self, Request::new(options))?.rows)
    }
}
