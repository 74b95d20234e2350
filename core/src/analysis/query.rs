//! Queries, requests and answers. Each query is defined next to its analysis, with its options and columns;
//! [`QUERIES`](crate::queries::QUERIES) lists them.

pub mod group_by;
pub mod options;
pub mod question;
pub mod value;

use self::options::{Opt, Options, ROW_LIMIT, TypedOptions};
use self::question::Question;
use crate::base::error::Error;
use crate::base::join::Join;
use crate::base::page::Page;
use crate::base::rows::{Column, Kinds, Rows};
use crate::base::words::help;
use crate::trace::Trace;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString};

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

    /// Returns the rows up to the row limit.
    pub(crate) fn limited(&self, rows: Rows) -> Answer {
        rows.first(self.options.limit(&ROW_LIMIT, None)).into()
    }

    /// Returns the typed options.
    pub(crate) fn typed<O: TypedOptions>(&self) -> O {
        O::from_options(self.options, self.for_reading)
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
    /// An answer that is a text instead of rows.
    pub(crate) fn page(text: Page) -> Answer {
        Answer { text: Some(text), ..Rows::default().into() }
    }

    /// Returns the text that replaces the table, or the rows as a table; in lines of up to `width` characters, if there is a
    /// width.
    pub fn to_text(&self, width: Option<usize>) -> String {
        self.text.as_ref().map_or_else(|| self.rows.to_text_fitting(width), |page| page.to_text(width))
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
    /// The rules for the names of iterations: [`Trace::step_rules`].
    StepRules,
    /// The execution trace that was joined: [`Trace::join`].
    ExecutionTrace,
    /// The captures of graphs that were joined: [`Trace::join_capture`].
    Captures,
    /// The files that say where kernels come from: [`Trace::join_provenance`].
    Provenance,
}

/// A query.
#[derive(Clone, Copy)]
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
    /// The kinds of rows, if they have different columns.
    pub kinds: Option<&'static Kinds>,
    /// The columns, if all rows have the same ones.
    columns: &'static [Column],
    /// The kinds of question that it answers.
    pub(crate) questions: &'static [Question],
    /// Why an answer can have no rows, and what to record to get some.
    pub(crate) hint: Option<&'static str>,
    run: Run,
}

/// A function that answers a query.
type Run = fn(&Trace, Request<'_>) -> Result<Answer, Error>;

/// The definition of a query.
impl Query {
    /// A query without options, whose answer has any number of rows.
    pub(crate) const fn new(
        name: &'static str,
        about: &'static str,
        columns: &'static [Column],
        run: Run,
    ) -> Query {
        Query {
            name,
            about: help(about),
            examples: &[],
            options: &[],
            inputs: &[],
            is_one_row: false,
            kinds: None,
            columns,
            questions: &[],
            hint: None,
            run,
        }
    }

    /// As [`Query::new`], with rows of several kinds.
    pub(crate) const fn with_kinds(
        name: &'static str,
        about: &'static str,
        kinds: &'static Kinds,
        run: Run,
    ) -> Query {
        Query { kinds: Some(kinds), ..Query::new(name, about, &[], run) }
    }

    pub(crate) const fn examples(self, lines: &'static [&'static str]) -> Query {
        Query { examples: examples(lines), ..self }
    }

    pub(crate) const fn options<O: TypedOptions>(self) -> Query {
        Query { options: O::DECLARED, ..self }
    }

    pub(crate) const fn inputs(self, inputs: &'static [Input]) -> Query {
        Query { inputs, ..self }
    }

    pub(crate) const fn one_row(self) -> Query {
        Query { is_one_row: true, ..self }
    }

    /// The kinds of question that it answers.
    pub(crate) const fn questions(self, questions: &'static [Question]) -> Query {
        Query { questions, ..self }
    }

    /// Why an answer can have no rows, and what to record to get some.
    pub(crate) const fn hint(self, hint: &'static str) -> Query {
        Query { hint: Some(hint), ..self }
    }
}

impl Query {
    /// Returns the columns of all rows.
    pub fn columns(&self) -> Cow<'static, [Column]> {
        self.kinds.map_or(Cow::Borrowed(self.columns), |kinds| Cow::Owned(kinds.columns()))
    }

    /// Runs the query on a trace.
    ///
    /// # Errors
    /// Returns [`Error::BadOption`] if the query does not have an option, or its value does not fit the trace.
    pub fn answer(&self, trace: &Trace, request: Request<'_>) -> Result<Answer, Error> {
        request.options.check(self.options)?;
        let no_rows_wanted = request.options.number(&ROW_LIMIT) == Some(0);
        let answer = (self.run)(trace, request)?;
        let is_empty = answer.rows.rows.is_empty() && answer.text.is_none();
        let hint = answer.hint.or(self.hint).filter(|_| is_empty && !no_rows_wanted);
        Ok(Answer { hint, ..answer })
    }
}

/// Returns the example command lines; none in a build without the feature `help`.
pub(crate) const fn examples(lines: &'static [&'static str]) -> &'static [&'static str] {
    if cfg!(feature = "help") { lines } else { &[] }
}
