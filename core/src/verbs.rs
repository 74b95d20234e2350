//! Every question that can be asked of a trace, and every form that it can be written in: the one list from which the
//! command line, the npm package and its TypeScript types are made.
//!
//! Whoever adds an analysis adds a [`Verb`] to [`VERBS`]; every face then has it.

pub mod answers;
mod entry;
pub mod exports;
pub mod options;
pub mod writing;

pub use entry::{Answer, Begun, Both, Export, Kind, Request, Verb, in_turn};

use crate::error::Error;

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
