//! The one error of the engine: bytes that nobody could read as a trace.

use crate::words::words;
use alloc::string::String;
use core::fmt;

/// Why no trace came out of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input was empty.
    Empty,
    /// The input is readable, but it is no trace; the text says what it seems to be.
    NotATrace {
        /// What the bytes look like, as a noun phrase: `a PNG image`.
        looks_like: &'static str,
        /// What the user can do instead; may be empty.
        hint: &'static str,
        /// Where in the decompressed text that was certain, in bytes.
        offset: u64,
    },
    /// The output could not be written; the cause is the output's own.
    Output,
    /// An option had a value outside its documented range.
    BadOption(String),
}

words! {
    "EngineErrorCode"
    /// What kind of error it is.
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
    }
}

impl Error {
    /// What kind it is, for programs.
    pub fn code(&self) -> ErrorCode {
        match self {
            Error::Empty => ErrorCode::Empty,
            Error::NotATrace { .. } => ErrorCode::NotATrace,
            Error::Output => ErrorCode::Output,
            Error::BadOption(_) => ErrorCode::BadOption,
        }
    }

    /// Where in the decompressed text reading ended, in bytes, where bytes are the cause.
    pub fn offset(&self) -> Option<u64> {
        match self {
            Error::Empty => Some(0),
            Error::NotATrace { offset, .. } => Some(*offset),
            Error::Output | Error::BadOption(_) => None,
        }
    }

    /// The same error at another place.
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
                write!(f, "this is no trace: it looks like {looks_like}")
            }
            Error::NotATrace { looks_like, hint, .. } => {
                write!(f, "this is no trace: it looks like {looks_like}; {hint}")
            }
            Error::Output => f.write_str("the output could not be written"),
            Error::BadOption(text) => f.write_str(text),
        }
    }
}

impl core::error::Error for Error {}
