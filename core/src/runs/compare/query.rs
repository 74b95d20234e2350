//! The queries about two traces or runs. Their subject is a [`Comparison`] instead of a trace.

use super::{Comparison, rows, tree};
use crate::analysis::query::options::{Fallback, Opt, Options, ROW_LIMIT, TypedOptions, options};
use crate::analysis::query::value::ValueKind;
use crate::analysis::query::{Answer, Input, Query, Request};
use crate::base::error::Error;
use crate::trace::Trace;

options! {
    /// Options of `diff`.
    pub struct DiffOptions {
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
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

const MIN_SHARE: Opt = Opt::new(
    "min-share",
    "PERCENT",
    ValueKind::Percent,
    "Leave out places with less than this percentage of the time of the step on both sides",
)
.or(Fallback::InTable(1, "0"));

impl TypedOptions for DiffTreeOptions {
    const DECLARED: &'static [Opt] = &[MIN_SHARE, ROW_LIMIT];

    fn from_options(options: &Options, for_reading: bool) -> Self {
        DiffTreeOptions {
            min_share: options.share(&MIN_SHARE, for_reading),
            row_limit: options.limit(&ROW_LIMIT, None),
        }
    }
}

fn needs_two(_: &Trace, _: Request<'_>) -> Result<Answer, Error> {
    Err(Error::BadOption("two traces are necessary".into()))
}

/// The query `diff`.
pub const DIFF: Query = Query::with_kinds(
    "diff",
    "Two traces or runs: what changed, whether it is noise, why",
    &rows::KINDS,
    needs_two,
)
.examples(&["before.json after.json", "before/ after/ --format json -o diff.json"])
.options::<DiffOptions>()
.inputs(&[Input::KernelRules, Input::StepRules]);

/// The query `diff-tree`.
pub const DIFF_TREE: Query = Query::new(
    "diff-tree",
    "Two traces or runs: the call tree of a step with the times of both",
    tree::COLUMNS,
    needs_two,
)
.examples(&["before.json after.json", "before.json after.json --min-share 5"])
.options::<DiffTreeOptions>()
.inputs(&[Input::KernelRules, Input::StepRules]);

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
                    return Ok(Answer::page(self.page(&options)));
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
