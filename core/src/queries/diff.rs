//! The queries about two traces or runs. Their subject is a [`Comparison`] instead of a trace.

use super::answer_options::ROW_LIMIT;
use super::entry::Input::KernelRules;
use super::entry::{Answer, Query, Request, examples};
use super::options::{Fallback, Opt, Options, Takes, Typed};
use crate::base::error::Error;
use crate::base::rows::Rows;
use crate::base::words::help;
use crate::runs::compare::{Comparison, DiffOptions, columns, tree};
use crate::trace::Trace;

impl Typed for DiffOptions {
    const DECLARED: &'static [Opt] = &[ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        DiffOptions { row_limit: given.limit(&ROW_LIMIT, None) }
    }
}

/// What the tree of a comparison shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiffTreeOptions {
    /// Leave out places with less than this share of the time of the step on both sides; 1 is all of it.
    pub min_share: f64,
    /// The maximum number of rows; `None` for all.
    pub row_limit: Option<usize>,
}

impl DiffTreeOptions {
    /// The default minimum share in a table, in percent.
    const TABLE_PERCENT: usize = 1;
}

const MIN_SHARE: Opt = Opt::new(
    "min-share",
    "PERCENT",
    Takes::Percent,
    "Leave out places with less than this percentage of the time of the step on both sides",
)
.or(Fallback::InTable(DiffTreeOptions::TABLE_PERCENT, "0"));

impl Typed for DiffTreeOptions {
    const DECLARED: &'static [Opt] = &[MIN_SHARE, ROW_LIMIT];

    fn of(given: &Options, for_reading: bool) -> Self {
        let default = if for_reading { DiffTreeOptions::TABLE_PERCENT as f64 / 100.0 } else { 0.0 };
        DiffTreeOptions {
            min_share: given.share(&MIN_SHARE).unwrap_or(default),
            row_limit: given.limit(&ROW_LIMIT, None),
        }
    }
}

fn needs_two(_: &Trace, _: Request<'_>) -> Result<Answer, Error> {
    Err(Error::BadOption("two traces are necessary".into()))
}

/// The query `diff`.
pub(super) const DIFF: Query = Query {
    name: "diff",
    about: help("Two traces or runs: what changed, whether it is noise, why"),
    examples: examples(&["before.json after.json", "before/ after/ --format json -o diff.json"]),
    options: DiffOptions::DECLARED,
    inputs: &[KernelRules],
    is_one_row: false,
    columns: columns::COLUMNS,
    variants: columns::VARIANTS,
    questions: &[],
    hint: None,
    run: needs_two,
};

/// The query `diff-tree`.
pub(super) const DIFF_TREE: Query = Query {
    name: "diff-tree",
    about: help("Two traces or runs: the call tree of a step with the times of both"),
    examples: examples(&["before.json after.json", "before.json after.json --min-share 5"]),
    options: DiffTreeOptions::DECLARED,
    columns: tree::COLUMNS,
    variants: &[],
    ..DIFF
};

impl Comparison {
    /// Answers one of the queries about two traces.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if the query is about one trace, or an option is unknown.
    pub fn answer(&self, query: &Query, request: Request<'_>) -> Result<Answer, Error> {
        request.options.check(query.options)?;
        match query.name {
            "diff" => {
                let options: DiffOptions = request.typed();
                if request.for_reading {
                    let text = Some(self.page(&options));
                    return Ok(Answer { text, ..Rows::default().into() });
                }
                Ok(self.rows(&options).into())
            }
            "diff-tree" => {
                let DiffTreeOptions { min_share, row_limit } = request.typed();
                if request.for_reading {
                    return Ok(self.tree_table(min_share, row_limit).into());
                }
                Ok(self.tree(min_share).first(row_limit).into())
            }
            name => Err(Error::BadOption(alloc::format!("{name}: this is about one trace"))),
        }
    }
}
