//! Errors of a recording.

use crate::activity::Activity;
use crate::activity::unavailable::Unavailable;
#[cfg(feature = "analysis")]
use kinetoscope_core::base::error::Error;
use std::{fmt, io};

/// An error of the recorder.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// Another profiler is recording. Only one can record at a time in a process.
    AlreadyRecording,
    /// The profiler was not started, or was stopped.
    NotStarted,
    /// No recording was made: the profiler is not enabled, or its schedule selected no step.
    NothingRecorded,
    /// The profiler is already started.
    AlreadyStarted,
    /// The list of activities to record is empty.
    NoActivities,
    /// None of the requested activities can be recorded; the reason for each.
    CannotRecord(Vec<(Activity, Unavailable)>),
    /// The activity is not part of the recording.
    NotRecorded(Activity),
    /// A metadata value is not valid JSON.
    #[cfg(feature = "analysis")]
    BadMetadata {
        /// The key of the value.
        key: String,
        /// The JSON parser's message.
        reason: String,
    },
    /// The stacks of a recording without `with_stack` were requested.
    #[cfg(feature = "analysis")]
    NoStacks,
    /// The recording belongs to the parent process, which forked this one.
    Forked,
    /// An I/O error.
    Io(io::Error),
    /// The arguments of a schedule are out of range.
    BadSchedule(String),
    /// The engine could not read the recording, or an option of the engine is invalid.
    #[cfg(feature = "analysis")]
    Trace(Error),
    /// The writer thread ended before the recording did.
    WriterLost,
    /// The value of the environment variable `KINETOSCOPE` is invalid.
    BadEnvironment(String),
    /// A handler that the program registered failed.
    Handler(String),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::AlreadyRecording => f.write_str("another profiler is recording in this process"),
            RecordError::NotStarted => f.write_str("the profiler is not recording: call start() first"),
            RecordError::NothingRecorded => {
                f.write_str("nothing was recorded: the profiler is not enabled, or no step was selected")
            }
            RecordError::AlreadyStarted => f.write_str("the profiler is already started"),
            RecordError::NoActivities => f.write_str("no activity was requested"),
            RecordError::CannotRecord(reasons) => {
                f.write_str("none of the requested activities can be recorded")?;
                reasons.iter().try_for_each(|(activity, reason)| write!(f, "; {activity}: {reason}"))
            }
            RecordError::NotRecorded(activity) => {
                write!(f, "{activity} activities are not part of the recording")
            }
            #[cfg(feature = "analysis")]
            RecordError::BadMetadata { key, reason } => {
                write!(f, "the metadata of {key} is not valid JSON: {reason}")
            }
            #[cfg(feature = "analysis")]
            RecordError::NoStacks => f.write_str(
                "the recording has no stacks: export_stacks needs a profiler that was built with with_stack(true)",
            ),
            RecordError::Forked => {
                f.write_str("the recording belongs to the parent process, which forked this one")
            }
            RecordError::Io(error) => error.fmt(f),
            RecordError::BadSchedule(reason) | RecordError::BadEnvironment(reason) => f.write_str(reason),
            #[cfg(feature = "analysis")]
            RecordError::Trace(error) => error.fmt(f),
            RecordError::WriterLost => f.write_str("the thread that writes the recording has ended"),
            RecordError::Handler(reason) => write!(f, "the trace handler failed: {reason}"),
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
