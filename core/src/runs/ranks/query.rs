//! The query about a run of several ranks. Its subject is a [`Run`] instead of a trace; a trace alone is a run of one
//! rank.

use super::rows::KINDS;
use super::run::Run;
use super::summary::Summary;
use crate::analysis::query::options::{Opt, ROW_LIMIT, STEP, TypedOptions, options};
use crate::analysis::query::{Answer, Input, Query, Request};
use crate::base::error::Error;
use crate::trace::Trace;
use alloc::vec;
use alloc::vec::Vec;

options! {
    /// Options of `ranks`.
    pub struct RanksOptions {
        /// Only what is about this rank.
        pub rank: Option<i64> = Opt::count("rank", "N", "Only what is about this rank"),
        /// Only what is about this step.
        pub step: Option<i64> = STEP,
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The query `ranks`.
pub const RANKS: Query = Query::with_kinds(
    "ranks",
    "Several ranks: who was late and why, collectives, clocks",
    &KINDS,
    single_trace,
)
.examples(&["traces/", "rank*.json.gz --rank 7 --step 12", "traces.tar.gz --format json"])
.options::<RanksOptions>()
.inputs(&[Input::KernelRules, Input::StepRules]);

/// Answers for a trace alone: a run of one rank.
fn single_trace(trace: &Trace, request: Request<'_>) -> Result<Answer, Error> {
    let run = Run::new(vec![Summary::from_trace(trace, request.name)], Vec::new());
    match run.notes().first() {
        Some(note) if run.is_empty() => Err(Error::Unfit(note.message.clone())),
        _ => run.answer(request),
    }
}

impl Run {
    /// Answers the query `ranks`.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if an option is unknown, or the run does not have the rank or the step.
    pub fn answer(&self, request: Request<'_>) -> Result<Answer, Error> {
        request.options.check(RanksOptions::DECLARED)?;
        let options: RanksOptions = request.typed();
        self.check(&options)?;
        if request.for_reading {
            return Ok(Answer::page(self.page(&options)));
        }
        Ok(self.rows(&options).into())
    }
}
