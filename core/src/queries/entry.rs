//! What the entries of the lists are: questions and forms.

use super::options::{Opt, Options, Typed};
use super::writing::Writing;
use crate::error::Error;
use crate::rows::{Column, Rows, Variant};
use crate::trace::Trace;
use alloc::string::String;

/// What runs two halves of an answer: one after the other, or at once where there are threads.
pub type Join = fn(&mut (dyn FnMut() + Send), &mut (dyn FnMut() + Send));

/// One half after the other.
pub fn sequential(one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
    one();
    other();
}

/// A question about one trace.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Request<'a> {
    /// What the trace is called in the answer.
    pub name: &'a str,
    /// The options of the query.
    pub options: &'a Options,
    /// A text for a person is wanted rather than rows for a program; the defaults of some options differ.
    pub for_reading: bool,
    /// How two halves are run.
    pub join: Join,
}

impl<'a> Request<'a> {
    /// A request for rows, about a trace without a name; one half of the answer is run after the other.
    pub fn new(options: &'a Options) -> Request<'a> {
        Request { name: "", options, for_reading: false, join: sequential }
    }

    /// The same about a trace that is called `name` in the answer.
    #[must_use]
    pub fn about(self, name: &'a str) -> Request<'a> {
        Request { name, ..self }
    }

    /// The same with a text for a person, or with rows.
    #[must_use]
    pub fn for_reading(self, for_reading: bool) -> Request<'a> {
        Request { for_reading, ..self }
    }

    /// The same with two halves run by `join`.
    #[must_use]
    pub fn run_by(self, join: Join) -> Request<'a> {
        Request { join, ..self }
    }

    /// The options, typed.
    pub(super) fn typed<O: Typed>(&self) -> O {
        O::of(self.options, self.for_reading)
    }
}

/// An answer about one trace.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The answer's rows; none where a text for a person stands in their place and does not need them.
    pub rows: Rows,
    /// What stands in a table's place, where it is more than the rows.
    pub text: Option<String>,
    /// A check failed.
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
    /// The table: the text that stands in its place, or the rows.
    pub fn to_text(&self) -> String {
        self.text.clone().unwrap_or_else(|| self.rows.to_text())
    }
}

/// A question.
#[non_exhaustive]
pub struct Query {
    /// Its name on the command line, in JSON and in JavaScript.
    pub name: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// Command lines that show it.
    pub examples: &'static [&'static str],
    /// Its options.
    pub options: &'static [Opt],
    /// Its answer is always one row.
    pub is_one_row: bool,
    /// The columns of its rows.
    pub columns: &'static [Column],
    /// What its kinds of rows have, where they differ.
    pub variants: &'static [Variant],
    /// Why there can be no rows, and what to record to get some.
    pub(super) hint: Option<&'static str>,
    pub(super) run: fn(&Trace, Request<'_>) -> Result<Answer, Error>,
}

impl Query {
    /// Answers it.
    ///
    /// # Errors
    /// [`Error::BadOption`] when an option is none of the query's, or its value does not fit the trace.
    pub fn answer(&self, trace: &Trace, request: Request<'_>) -> Result<Answer, Error> {
        request.options.check(self.options)?;
        let answer = (self.run)(trace, request)?;
        let hint = self.hint.filter(|_| answer.rows.rows.is_empty());
        Ok(Answer { hint, ..answer })
    }
}

/// What an [`Export`] writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All of the trace in another form: `kinetoscope export NAME`.
    Form,
    /// Another trace, made from this one: `kinetoscope NAME`.
    Edit,
}

/// A form that a trace can be written in.
#[non_exhaustive]
pub struct Export {
    /// Its name on the command line, in JSON and in JavaScript.
    pub name: &'static str,
    /// What is written.
    pub kind: Kind,
    /// One sentence.
    pub about: &'static str,
    /// Command lines that show it.
    pub examples: &'static [&'static str],
    /// Its options.
    pub options: &'static [Opt],
    /// The extension of the file in place of the trace's own, where the form is no trace.
    pub extension: Option<&'static str>,
    /// The media type of what is written.
    pub media_type: &'static str,
    pub(super) start: fn(&Trace, options: &Options, salt: &[u8]) -> Result<Started, Error>,
}

impl Export {
    /// Begins to write; `salt` are random bytes for those that need some.
    ///
    /// # Errors
    /// [`Error::BadOption`] when an option is none of the export's, or its value does not fit the trace.
    pub fn begin(&self, trace: &Trace, options: &Options, salt: &[u8]) -> Result<Started, Error> {
        options.check(self.options)?;
        (self.start)(trace, options, salt)
    }
}

/// What [`Export::begin`] gives.
pub enum Started {
    /// The writing has begun.
    Writing(Writing),
    /// The options leave this trace out.
    Skipped,
}

/// Command lines that explain; none in a build without the feature `help`.
pub(super) const fn examples(lines: &'static [&'static str]) -> &'static [&'static str] {
    if cfg!(feature = "help") { lines } else { &[] }
}
