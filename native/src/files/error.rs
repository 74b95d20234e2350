//! The errors of reading a trace.

use kinetoscope_core::base::error::Error;
use std::{fmt, io};

/// The error of reading a trace, with the name of its source.
#[derive(Debug)]
pub struct InputError {
    /// The name of the source.
    pub source_name: String,
    /// The error.
    pub reason: Reason,
}

/// The reason why a trace could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reason {
    /// An I/O error.
    Io(io::Error),
    /// The input is not a trace.
    Trace(Error),
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source_name, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Io(error) => error.fmt(f),
            Reason::Trace(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for InputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            Reason::Io(error) => Some(error),
            Reason::Trace(error) => Some(error),
        }
    }
}

impl From<io::Error> for Reason {
    fn from(error: io::Error) -> Self {
        Reason::Io(error)
    }
}

impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        Reason::Trace(error)
    }
}
