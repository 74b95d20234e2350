//! Errors that end a command, and exit codes.

use kinetoscope_core::base::escape;
use std::fmt::Display;
use std::io::{self, Write};

/// An error that ends a command: a message and an exit code.
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) code: u8,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: UNREADABLE }
    }
}

impl From<kinetoscope_core::base::error::Error> for Failure {
    fn from(error: kinetoscope_core::base::error::Error) -> Failure {
        Failure::usage(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::usage(error.to_string())
    }
}

/// Prints a message to standard error, in one line, also if names of files or answers of other programs in it have line feeds. A
/// closed standard error is ignored.
pub(crate) fn report(message: impl Display) {
    let _ = writeln!(io::stderr(), "kinetoscope: {}", escape::line(&message.to_string()));
}

/// An identity does not hold.
pub(crate) const CHECK_FAILED: u8 = 1;
/// Wrong usage, or a file that cannot be read or written.
pub(crate) const UNREADABLE: u8 = 2;
/// A trace cannot answer `what-if`. With `--strict`: a part of it could not be read, or it lacks what the answer needs.
pub(crate) const UNFIT: u8 = 3;
