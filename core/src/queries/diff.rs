//! The query about two traces or runs. Its subject is a [`Comparison`] instead of a trace.

use super::answer_options::ROW_LIMIT;
use super::entry::{Answer, Query, Request, examples};
use super::options::{Opt, Options, Typed};
use crate::compare::columns;
use crate::compare::{Comparison, DiffOptions};
use crate::error::Error;
use crate::rows::Rows;
use crate::words::help;

impl Typed for DiffOptions {
    const DECLARED: &'static [Opt] = &[ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        DiffOptions { row_limit: given.limit(&ROW_LIMIT, None) }
    }
}

/// The query `diff`.
pub(super) const DIFF: Query = Query {
    name: "diff",
    about: help("Two traces or runs: what changed, whether it is noise, why"),
    examples: examples(&["before.json after.json", "before/ after/ --format json -o diff.json"]),
    options: DiffOptions::DECLARED,
    is_one_row: false,
    columns: columns::COLUMNS,
    variants: columns::VARIANTS,
    questions: &[],
    hint: None,
    run: |_, _| Err(Error::BadOption("diff: two traces are necessary".into())),
};

impl Comparison {
    /// Answers the query `diff`.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if an option is unknown.
    pub fn answer(&self, request: Request<'_>) -> Result<Answer, Error> {
        request.options.check(DiffOptions::DECLARED)?;
        let options: DiffOptions = request.typed();
        if request.for_reading {
            let text = Some(self.page(&options));
            return Ok(Answer { text, ..Rows::default().into() });
        }
        Ok(self.rows(&options).into())
    }
}
