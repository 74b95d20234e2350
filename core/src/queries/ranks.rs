//! The query about a run of several ranks. Its subject is a [`Run`] instead of a trace; a trace alone is a run of one
//! rank.

use super::answer_options::ROW_LIMIT;
use super::entry::{Answer, Request};
use super::options::{Opt, Options, Takes, Typed};
use super::replay_options::STEP;
use crate::base::error::Error;
use crate::base::rows::Rows;
use crate::runs::ranks::report::RanksOptions;
use crate::runs::ranks::run::Run;
use crate::runs::ranks::summary::Summary;
use crate::trace::Trace;
use alloc::vec;
use alloc::vec::Vec;

const RANK: Opt = Opt::new("rank", "N", Takes::Count, "Only what is about this rank");

impl Typed for RanksOptions {
    const DECLARED: &'static [Opt] = &[RANK, STEP, ROW_LIMIT];

    fn of(given: &Options, _: bool) -> Self {
        RanksOptions {
            rank: given.number(&RANK),
            step: given.number(&STEP),
            row_limit: given.limit(&ROW_LIMIT, None),
        }
    }
}

/// Answers about the run of which the trace is the only one.
pub(super) fn of_one(trace: &Trace, request: Request<'_>) -> Result<Answer, Error> {
    let run = Run::new(vec![Summary::of(trace, request.name)], Vec::new());
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
            let text = Some(self.page(&options));
            return Ok(Answer { text, ..Rows::default().into() });
        }
        Ok(self.rows(&options).into())
    }
}
