//! The types of the registry: queries, exports, requests and answers.

use super::options::{Opt, Options, Typed};
use super::writing::Writing;
use crate::analysis::device::steps::steps;
use crate::analysis::overview::fitness::{Fitness, Question, fitness};
use crate::base::error::Error;
use crate::base::join::Join;
use crate::base::page::Page;
use crate::base::rows::{Column, Rows, Variant};
use crate::trace::Trace;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Returns whether a text has a match of a regular expression.
pub type Matches = Box<dyn Fn(&str) -> bool>;

/// A function that compiles a regular expression, or says what is wrong with it.
pub type Compile = fn(&str) -> Result<Matches, String>;

/// Matches every text that contains the expression itself. The engine has no regular expressions of its own; a frontend
/// passes those of its platform to [`Request::compile_by`].
///
/// # Errors
/// Never.
pub fn literal(expression: &str) -> Result<Matches, String> {
    let expression = expression.to_string();
    Ok(Box::new(move |text| text.contains(&expression)))
}

/// A request to a query about one trace.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The name of the trace in the answer.
    pub name: &'a str,
    /// The options of the query.
    pub options: &'a Options,
    /// Whether the answer is text for a person instead of rows for a program; the defaults of some options differ.
    pub for_reading: bool,
    /// The function that runs the two halves of an answer.
    pub join: Join,
    /// The function that compiles regular expressions.
    pub compile: Compile,
}

impl<'a> Request<'a> {
    /// Returns a request for rows about an unnamed trace, whose halves run in sequence.
    pub fn new(options: &'a Options) -> Request<'a> {
        Request { name: "", options, for_reading: false, join: Join::SEQUENTIAL, compile: literal }
    }

    /// Returns the same request with `name` as the name of the trace.
    #[must_use]
    pub fn about(self, name: &'a str) -> Request<'a> {
        Request { name, ..self }
    }

    /// Returns the same request, for text or for rows.
    #[must_use]
    pub fn for_reading(self, for_reading: bool) -> Request<'a> {
        Request { for_reading, ..self }
    }

    /// Returns the same request with its halves run by `join`.
    #[must_use]
    pub fn run_by(self, join: Join) -> Request<'a> {
        Request { join, ..self }
    }

    /// Returns the same request with its regular expressions compiled by `compile`.
    #[must_use]
    pub fn compile_by(self, compile: Compile) -> Request<'a> {
        Request { compile, ..self }
    }

    /// Returns the typed options.
    pub(super) fn typed<O: Typed>(&self) -> O {
        O::of(self.options, self.for_reading)
    }
}

/// The answer to a query about one trace.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The rows; empty if a text replaces them.
    pub rows: Rows,
    /// The text that replaces the table, if the answer is more than its rows.
    pub text: Option<Page>,
    /// Whether a check failed.
    pub failed: bool,
    /// Why there are no rows, and what to record to get some.
    pub hint: Option<&'static str>,
}

impl From<Rows> for Answer {
    fn from(rows: Rows) -> Answer {
        Answer { rows, text: None, failed: false, hint: None }
    }
}

impl Answer {
    /// Returns the text that replaces the table, or the rows as a table.
    pub fn to_text(&self) -> String {
        self.text.as_ref().map_or_else(|| self.rows.to_text(), |page| page.clone().into_string())
    }
}

/// What an answer depends on besides the events of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// The rules of a version of PyTorch: [`Trace::rules`].
    TorchRules,
    /// The rules for categories of kernels: [`Trace::kernel_rules`].
    KernelRules,
    /// The execution trace that was joined: [`Trace::join`].
    ExecutionTrace,
}

/// A query.
#[non_exhaustive]
pub struct Query {
    /// The name on the command line, in JSON and in JavaScript.
    pub name: &'static str,
    /// A description in one sentence.
    pub about: &'static str,
    /// Example command lines, without the command's name.
    pub examples: &'static [&'static str],
    /// The options.
    pub options: &'static [Opt],
    /// What the answer depends on besides the events.
    pub inputs: &'static [Input],
    /// Whether the answer is always exactly one row.
    pub is_one_row: bool,
    /// The columns of the rows.
    pub columns: &'static [Column],
    /// The columns that each kind of row fills, if the kinds differ.
    pub variants: &'static [Variant],
    /// The kinds of question that it answers.
    pub(super) questions: &'static [Question],
    /// Why an answer can have no rows, and what to record to get some.
    pub(super) hint: Option<&'static str>,
    pub(super) run: fn(&Trace, Request<'_>) -> Result<Answer, Error>,
}

impl Query {
    /// Runs the query on a trace.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if the query does not have an option, or its value does not fit the trace.
    pub fn answer(&self, trace: &Trace, request: Request<'_>) -> Result<Answer, Error> {
        request.options.check(self.options)?;
        let limit = self.options.iter().find(|option| option.name == "row-limit");
        let no_rows_wanted = limit.is_some_and(|limit| request.options.number(limit) == Some(0));
        let answer = (self.run)(trace, request)?;
        let hint = answer.hint.or(self.hint).filter(|_| answer.rows.rows.is_empty() && !no_rows_wanted);
        Ok(Answer { hint, ..answer })
    }

    /// Returns the verdicts on a trace that make this answer unfit: the trace should have what it needs, and does not. If
    /// the answer has a hint because it has no rows, it is also unfit if the trace has nothing that it is about.
    pub fn unfit(&self, trace: &Trace, answer: &Answer) -> Vec<Fitness> {
        if self.questions.is_empty() {
            return Vec::new();
        }
        let verdicts = fitness(trace, &steps(trace, &[]));
        let required = if answer.hint.is_some() { self.questions } else { &[] };
        let is_unfit = |one: &Fitness| self.questions.contains(&one.question) && one.fails(required);
        verdicts.into_iter().filter(is_unfit).collect()
    }
}

/// The kind of an [`Export`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The complete trace in another format: `kinetoscope export NAME`.
    Form,
    /// Another trace, derived from this one: `kinetoscope NAME`.
    Edit,
}

/// A format that a trace can be written in, or an edit of it.
#[non_exhaustive]
pub struct Export {
    /// The name on the command line, in JSON and in JavaScript.
    pub name: &'static str,
    /// Whether it writes another format or an edited trace.
    pub kind: Kind,
    /// A description in one sentence.
    pub about: &'static str,
    /// Example command lines, without the command's name.
    pub examples: &'static [&'static str],
    /// The options.
    pub options: &'static [Opt],
    /// What the output depends on besides the events.
    pub inputs: &'static [Input],
    /// The file extension, if the output is not a trace; `None` keeps the trace's own extension.
    pub extension: Option<&'static str>,
    /// The media type of the output.
    pub media_type: &'static str,
    pub(super) start: fn(&Trace, options: &Options, salt: &[u8]) -> Result<Started, Error>,
}

impl Export {
    /// Whether the output is not text.
    pub fn is_binary(&self) -> bool {
        self.media_type == "application/octet-stream"
    }

    /// Starts the export. `salt` is random bytes for the exports that need them.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if the export does not have an option, or its value does not fit the trace.
    pub fn begin(&self, trace: &Trace, options: &Options, salt: &[u8]) -> Result<Started, Error> {
        options.check(self.options)?;
        (self.start)(trace, options, salt)
    }
}

/// The result of [`Export::begin`].
pub enum Started {
    /// The export has started.
    Writing(Writing),
    /// The options exclude this trace.
    Skipped,
}

/// Returns the example command lines; none in a build without the feature `help`.
pub(super) const fn examples(lines: &'static [&'static str]) -> &'static [&'static str] {
    if cfg!(feature = "help") { lines } else { &[] }
}
