//! The error type of the engine.

use crate::base::words::words;
use alloc::string::String;
use core::fmt;

/// An error of reading, querying or writing a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input was empty.
    Empty,
    /// The input is not a trace.
    NotATrace {
        /// The detected format, as a noun phrase: `a PNG image`.
        looks_like: &'static str,
        /// What to do instead; may be empty.
        hint: &'static str,
        /// The byte offset in the decompressed text at which reading stopped.
        offset: u64,
    },
    /// The output could not be written. The output itself has the cause.
    Output,
    /// An option has an invalid value, or names something that the trace does not have.
    BadOption(String),
    /// The trace does not have what an answer needs.
    Unfit(String),
}

words! {
    "EngineErrorCode"
    /// The kind of an error.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ErrorCode {
        /// [`Error::Empty`].
        Empty = "empty",
        /// [`Error::NotATrace`].
        NotATrace = "not_a_trace",
        /// [`Error::Output`].
        Output = "output",
        /// [`Error::BadOption`].
        BadOption = "bad_option",
        /// [`Error::Unfit`].
        Unfit = "unfit",
    }
}

impl Error {
    /// The kind of the error, for programs.
    pub fn code(&self) -> ErrorCode {
        match self {
            Error::Empty => ErrorCode::Empty,
            Error::NotATrace { .. } => ErrorCode::NotATrace,
            Error::Output => ErrorCode::Output,
            Error::BadOption(_) => ErrorCode::BadOption,
            Error::Unfit(_) => ErrorCode::Unfit,
        }
    }

    /// The byte offset in the decompressed text at which reading stopped, if the input is the cause.
    pub fn offset(&self) -> Option<u64> {
        match self {
            Error::Empty => Some(0),
            Error::NotATrace { offset, .. } => Some(*offset),
            Error::Output | Error::BadOption(_) | Error::Unfit(_) => None,
        }
    }

    /// The same error at another byte offset.
    pub(crate) fn at(self, place: u64) -> Error {
        match self {
            Error::NotATrace { looks_like, hint, .. } => Error::NotATrace { looks_like, hint, offset: place },
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Empty => f.write_str("the input is empty"),
            Error::NotATrace { looks_like, hint: "", .. } => {
                write!(f, "this is not a trace: it looks like {looks_like}")
            }
            Error::NotATrace { looks_like, hint, .. } => {
                write!(f, "this is not a trace: it looks like {looks_like}; {hint}")
            }
            Error::Output => f.write_str("the output could not be written"),
            Error::BadOption(text) | Error::Unfit(text) => f.write_str(text),
        }
    }
}

impl core::error::Error for Error {}
