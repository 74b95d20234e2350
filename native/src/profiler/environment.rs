//! Recordings that the environment variable `KINETOSCOPE` requests, without a change of the program.

use crate::error::RecordError;
use crate::profiler::flight::FlightRecorder;
use crate::profiler::{Profiler, ProfilerBuilder};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The environment variable with what is recorded.
const VARIABLE: &str = "KINETOSCOPE";

/// A recording that the environment requested. It ends when this is dropped.
#[must_use = "the recording ends when this is dropped"]
pub struct EnvironmentRecording {
    /// Ends the recording when it is dropped.
    _kept: Kept,
}

#[allow(dead_code)] // Kept until they are dropped.
enum Kept {
    Nothing,
    Profiler(Box<Profiler>),
    Flight(FlightRecorder),
}

/// Starts the recording that the environment variable `KINETOSCOPE` requests. `#[kinetoscope::main]` calls it. Does
/// nothing if the variable is not set or empty. An error is reported on standard error, and the program runs without a
/// recording.
///
/// The value is a path, followed by options that are separated by commas: `KINETOSCOPE=run.ktrace,stacks,overwrite`.
///
/// | option | meaning |
/// |---|---|
/// | `overwrite`, `append` | for a file that is not empty; without them it is refused |
/// | `stacks` | call stacks of spans; needs the feature `stacks` |
/// | `sample`, `sample=FREQUENCY` | samples of call stacks, 99 for each second of CPU time; needs the feature `sampling` |
/// | `shapes`, `memory`, `flops`, `modules` | as the methods of [`ProfilerBuilder`] |
/// | `flight`, `flight=SECONDS` | a flight recorder that keeps the last seconds (10), and writes to the path, a folder, on a panic, on `SIGUSR1`, `SIGTERM` and `abort` |
///
/// `%p` in the path is the id of the process, so that several processes can have the same variable.
pub fn record_from_env() -> EnvironmentRecording {
    let value = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
    let kept = value.map_or(Ok(Kept::Nothing), start).unwrap_or_else(|error| {
        eprintln!("kinetoscope: {VARIABLE}: {error}");
        Kept::Nothing
    });
    EnvironmentRecording { _kept: kept }
}

fn start(value: OsString) -> Result<Kept, RecordError> {
    let value =
        value.into_string().map_err(|_| RecordError::BadEnvironment("the value is not UTF-8".into()))?;
    match Request::parse(&value).map_err(RecordError::BadEnvironment)? {
        Request::File(builder) => Ok(Kept::Profiler(Box::new(builder.start()?))),
        Request::Flight { folder, keep } => {
            let builder = FlightRecorder::builder(folder).keep(keep).on_panic(true);
            #[cfg(unix)]
            let builder = builder.on_signal(true).on_end(true);
            builder.start().map(Kept::Flight)
        }
    }
}

/// What the value of the variable requests.
enum Request {
    File(Box<ProfilerBuilder>),
    Flight { folder: PathBuf, keep: Duration },
}

impl Request {
    fn parse(value: &str) -> Result<Request, String> {
        let mut words = value.split(',');
        let path = words.next().unwrap_or("").replace("%p", &std::process::id().to_string());
        if path.is_empty() {
            return Err("the value begins with a path".into());
        }
        let (mut builder, mut keep) = (Profiler::builder().file(&path), None);
        for word in words.map(str::trim) {
            builder = match word {
                "overwrite" => builder.overwrite(true),
                "append" => builder.append(true),
                #[cfg(feature = "stacks")]
                "stacks" => builder.with_stack(true),
                "shapes" => builder.record_shapes(true),
                "memory" => builder.profile_memory(true),
                "flops" => builder.with_flops(true),
                "modules" => builder.with_modules(true),
                #[cfg(feature = "sampling")]
                word if word == "sample" || word.starts_with("sample=") => {
                    builder.sample_stacks(frequency(word)?)
                }
                other => {
                    keep = Some(seconds(other)?);
                    builder
                }
            };
        }
        match keep {
            Some(keep) => Ok(Request::Flight { folder: path.into(), keep }),
            None => Ok(Request::File(Box::new(builder))),
        }
    }
}

/// Parses `sample` and `sample=FREQUENCY`.
#[cfg(feature = "sampling")]
fn frequency(word: &str) -> Result<u32, String> {
    let number = word.strip_prefix("sample=").map_or(Some(99), |number| number.parse().ok());
    number.filter(|&number| number > 0).ok_or_else(|| format!("`{word}` has no frequency"))
}

/// Parses `flight` and `flight=SECONDS`.
fn seconds(word: &str) -> Result<Duration, String> {
    if word == "flight" {
        return Ok(Duration::from_secs(10));
    }
    let seconds = word.strip_prefix("flight=").and_then(|number| number.parse::<f64>().ok());
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| {
        format!(
            "`{word}` is not an option; these are: overwrite, append, stacks, sample, sample=FREQUENCY, shapes, memory, \
             flops, modules, flight, flight=SECONDS"
        )
    })
}
