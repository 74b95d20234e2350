//! Recordings that the environment variable `KINETOSCOPE` requests, without a change of the program.

#[cfg(feature = "control")]
use crate::control::Control;
use crate::error::RecordError;
use crate::profiler::flight::FlightRecorder;
use crate::profiler::{Profiler, ProfilerBuilder};
use std::ffi::OsString;
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
    #[cfg(feature = "control")]
    Control(Control),
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
/// | `attach`, `attach=PORT` | records nothing until `kinetoscope attach` starts it; the path is the folder of the recordings and of the socket `PID.sock`; with a port, also on Windows, the path of the file with the port is written to standard error; needs the feature `control` |
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
    let request = Request::parse(&value).map_err(RecordError::BadEnvironment)?;
    match request.mode {
        Mode::File => Ok(Kept::Profiler(Box::new(request.builder.file(&request.path).start()?))),
        Mode::Flight { keep } => {
            let builder =
                FlightRecorder::builder(request.path).options_of(request.builder).keep(keep).on_panic(true);
            #[cfg(unix)]
            let builder = builder.on_signal(true).on_end(true);
            builder.start().map(Kept::Flight)
        }
        #[cfg(feature = "control")]
        Mode::Attach { port } => {
            // The value was valid before.
            let make = move || Request::parse(&value).map_or_else(|_| Profiler::builder(), |of| of.builder);
            let builder = Control::builder().folder(request.path).profiler(make);
            let builder = if let Some(port) = port { builder.port(port) } else { builder };
            let control = builder.start()?;
            if port.is_some() || cfg!(not(unix)) {
                eprintln!("kinetoscope attach {}", control.address());
            }
            Ok(Kept::Control(control))
        }
    }
}

/// What the value of the variable requests.
struct Request {
    path: String,
    mode: Mode,
    builder: ProfilerBuilder,
}

/// What is done with the path.
enum Mode {
    File,
    Flight {
        keep: Duration,
    },
    #[cfg(feature = "control")]
    Attach {
        port: Option<u16>,
    },
}

impl Request {
    fn parse(value: &str) -> Result<Request, String> {
        let mut words = value.split(',');
        let path = words.next().unwrap_or("").replace("%p", &std::process::id().to_string());
        if path.is_empty() {
            return Err("the value begins with a path".into());
        }
        let (mut builder, mut mode) = (Profiler::builder(), Mode::File);
        for word in words.map(str::trim) {
            let key = word.split_once('=').map_or(word, |(key, _)| key);
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
                _ if key == "sample" => builder.sample_stacks(frequency(word)?),
                _ if key == "flight" => {
                    mode = Mode::Flight { keep: seconds(word)? };
                    builder
                }
                #[cfg(feature = "control")]
                _ if key == "attach" => {
                    mode = Mode::Attach { port: port(word)? };
                    builder
                }
                _ => return Err(unknown(word)),
            };
        }
        Ok(Request { path, mode, builder })
    }
}

fn unknown(word: &str) -> String {
    let needed = match word.split('=').next() {
        Some("attach") => "; it needs the feature `control`",
        Some("sample") => "; it needs the feature `sampling`",
        Some("stacks") => "; it needs the feature `stacks`",
        _ => "",
    };
    format!(
        "`{word}` is not an option{needed}; these are: overwrite, append, stacks, sample, sample=FREQUENCY, shapes, memory, \
         flops, modules, flight, flight=SECONDS, attach, attach=PORT"
    )
}

/// Parses `attach` and `attach=PORT`.
#[cfg(feature = "control")]
fn port(word: &str) -> Result<Option<u16>, String> {
    let port = word.strip_prefix("attach=").map(str::parse::<u16>);
    port.transpose().map_err(|_| format!("`{word}` has no port"))
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
    let keep = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    keep.ok_or_else(|| format!("`{word}` has no number of seconds"))
}
