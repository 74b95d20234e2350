//! The registry of queries and exports. The command line, the npm package and its TypeScript types are generated from
//! it.
//!
//! To add an analysis, add a [`Query`] to [`QUERIES`]. Every frontend is generated from this list.

pub mod analyses;
pub mod answer_options;
pub mod answers;
pub mod diff;
mod entry;
pub mod export_options;
pub mod exports;
pub mod options;
mod ranks;
pub mod replay_options;
pub mod schema;
pub mod setting;
mod takes;
pub mod writing;

pub use crate::base::join::{Join, Task};
pub use entry::{Answer, Compile, Export, Input, Kind, Matches, Query, Request, Started, literal};

use crate::base::error::Error;
use crate::base::rows::Rows;
use crate::trace::Trace;
use options::Options;

/// Every query.
pub const QUERIES: &[Query] = answers::QUERIES;

/// Every query about two traces or runs.
pub const COMPARISONS: &[Query] = &[diff::DIFF, diff::DIFF_TREE];

/// Every export.
pub const EXPORTS: &[Export] = exports::EXPORTS;

/// Returns the query with this name.
///
/// # Errors
/// Returns [`Error::BadOption`] if there is none.
pub fn query(name: &str) -> Result<&'static Query, Error> {
    QUERIES.iter().chain(COMPARISONS).find(|v| v.name == name).ok_or_else(|| unknown("analysis", name))
}

/// Returns the export with this name.
///
/// # Errors
/// Returns [`Error::BadOption`] if there is none.
pub fn export(name: &str) -> Result<&'static Export, Error> {
    EXPORTS.iter().find(|e| e.name == name).ok_or_else(|| unknown("export", name))
}

fn unknown(what: &str, name: &str) -> Error {
    Error::BadOption(alloc::format!("unknown {what}: {name}"))
}

impl Trace {
    /// Runs a query by its name and returns its rows. [`analyses`] has the same queries as functions with typed
    /// options.
    ///
    /// ```
    /// use kinetoscope_core::trace::Trace;
    /// use kinetoscope_core::queries::options::Options;
    /// use kinetoscope_core::queries::query;
    ///
    /// let trace = Trace::read(br#"[{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1, "dur": 5}]"#)?;
    /// let options = Options::from_texts(query("kernels")?.options, &[("row-limit", "10")])?;
    /// assert_eq!(trace.ask("kernels", &options)?.rows.len(), 1);
    /// # Ok::<(), kinetoscope_core::base::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if there is no such query, and the errors of [`Query::answer`].
    pub fn ask(&self, name: &str, options: &Options) -> Result<Rows, Error> {
        Ok(query(name)?.answer(self, Request::new(options))?.rows)
    }
}
