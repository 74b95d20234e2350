//! What can go wrong with a recording.

#[cfg(feature = "analysis")]
use kinetoscope_core::error::Error;
use std::{fmt, io};

/// Why something could not be recorded.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// Another profiler is recording: there is one at a time in a process.
    AlreadyRecording,
    /// The profiler was not started, or was stopped.
    NotStarted,
    /// The profiler was started already.
    AlreadyStarted,
    /// Metadata that is no JSON.
    BadMetadata {
        /// The key it was given for.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The recording is that of the process that forked this one.
    Forked,
    /// The operating system refused.
    Io(io::Error),
    /// The arguments of a schedule are out of range.
    BadSchedule(String),
    /// What was recorded could not be read back, or an option of the engine is wrong.
    #[cfg(feature = "analysis")]
    Trace(Error),
    /// The thread that writes ended before the recording did.
    WriterLost,
    /// A handler of the user's own failed.
    Handler(String),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::AlreadyRecording => f.write_str("another profiler is recording in this process"),
            RecordError::NotStarted => f.write_str("the profiler is not recording: call start() first"),
            RecordError::AlreadyStarted => f.write_str("the profiler was started already"),
            RecordError::BadMetadata { key, reason } => {
                write!(f, "the metadata of {key} is no JSON: {reason}")
            }
            RecordError::Forked => f.write_str("the recording belongs to the process that forked this one"),
            RecordError::Io(error) => error.fmt(f),
            RecordError::BadSchedule(reason) => f.write_str(reason),
            #[cfg(feature = "analysis")]
            RecordError::Trace(error) => error.fmt(f),
            RecordError::WriterLost => f.write_str("the thread that writes the recording is gone"),
            RecordError::Handler(reason) => write!(f, "the handler of the trace failed: {reason}"),
        }
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RecordError::Io(error) => Some(error),
            #[cfg(feature = "analysis")]
            RecordError::Trace(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for RecordError {
    fn from(error: io::Error) -> Self {
        RecordError::Io(error)
    }
}

#[cfg(feature = "analysis")]
impl From<Error> for RecordError {
    fn from(error: Error) -> Self {
        RecordError::Trace(error)
    }
}
