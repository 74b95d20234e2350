//! What ends a command early, and exit codes.

use std::fmt::Display;
use std::io::{self, Write};

/// What ends a command early: a message and its exit code.
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) code: u8,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: UNREADABLE }
    }
}

impl From<kinetoscope_core::error::Error> for Failure {
    fn from(error: kinetoscope_core::error::Error) -> Failure {
        Failure::usage(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::usage(error.to_string())
    }
}

/// Prints a message to standard error. A closed standard error is ignored.
pub(crate) fn report(message: impl Display) {
    let _ = writeln!(io::stderr(), "kinetoscope: {message}");
}

/// The exit code of a failed check.
pub(crate) const CHECK_FAILED: u8 = 1;
/// The exit code of wrong usage and of unreadable input.
pub(crate) const UNREADABLE: u8 = 2;
/// The exit code of an answer from a partly readable trace, where `--strict` was given.
pub(crate) const PARTLY_READ: u8 = 3;
