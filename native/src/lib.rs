//! A profiler for Rust programs: it records spans, counters, allocations and the work of CUDA devices while the program
//! runs. With the feature `analysis` it also reads traces of PyTorch (Kineto), Chrome traces and its own recordings,
//! and computes PyTorch's tables and exports from them.
//!
//! # Example
//!
//! ```
//! use kinetoscope::{Profiler, RecordError, instant, scope};
//!
//! fn handle(request: u64) -> u64 {
//!     // A span: it ends when the guard is dropped.
//!     let _span = scope!("handle", request = request);
//!     if request % 10 == 0 {
//!         instant!("cache miss");
//!     }
//!     request * 2
//! }
//!
//! fn main() -> Result<(), RecordError> {
//!     let profiler = Profiler::builder().start()?;
//!     for request in 0..100 {
//!         handle(request);
//!     }
//!     profiler.finish()?.save(std::env::temp_dir().join("service.ktrace"))
//! }
//! ```
//!
//! The command `kinetoscope service.ktrace`, the web page and the npm package read the file. With the feature
//! `analysis` the program itself can print tables and write Chrome traces and files for TensorBoard.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `record` (default) | the recorder; without it, spans compile to nothing |
//! | `stacks` (default) | call stacks of spans |
//! | `sampling` | samples of call stacks, on Linux |
//! | `macros` (default) | the attributes `#[instrument]` and `#[main]` |
//! | `analysis` | the engine: reads trace files, computes tables and exports of a recording |
//! | `control` | lets `kinetoscope attach` start and stop recordings, and show them while they run |
//! | `tracing` | a layer that records spans and events of the crate `tracing` |
//! | `criterion` | a profiler for criterion: `cargo bench -- --profile-time 5` writes a recording of each benchmark |
//! | `cuda` | kernels, copies, memsets and API calls of CUDA devices, through CUPTI, which is loaded at run time |
//! | `nvml` | memory, utilization, clocks, power and temperature of CUDA devices as counters |
//! | `nvtx`, `itt` | spans as NVTX ranges (Nsight) or ITT tasks (`VTune`) |
//!
//! A library should depend on this crate with `default-features = false`. Its [`spans`] then compile to nothing unless
//! the program enables `record`.
//!
//! # Costs
//!
//! | | ns per span, one thread | relative to `scope!` |
//! |---|---:|---:|
//! | `scope!` while a profiler records | 19 | 1 |
//! | `scope!` with two arguments, one of them a string | 75 | 4 |
//! | `record_function`, `scope!` with a name that is not a literal | 68 | 4 |
//! | `scope!` with call stacks | 1,100 | 56 |
//! | a span of `tracing` with `TracingLayer` | 306 | 16 |
//! | `scope!` while nothing records: a load and a branch at the begin and at the end | 0.5 | 0.02 |
//! | `scope!` compiled without `record` | the same instructions as without a span | |
//!
//! The figures are medians on an AMD EPYC; `cargo xtask overhead` measures them. Two readings of the time stamp counter
//! alone take 14 ns there. An allocation and its free take 1.05 times as long with the `ProfilingAllocator` while nothing
//! records, 1.1 times on two threads.
//!
//! The feature `record` alone compiles 7 crates in 7 s of processor time and adds less than 300 KB to a program.
//!
//! # Limits
//!
//! - Recorded data waits in buffers until a thread writes it, at least every 20 ms. If all buffers are full, spans and
//!   events are lost and counted: in `Statistics::dropped`, in the trace's diagnostic `dropped_record` and its
//!   `WARNING`, and below its table. The recorder never blocks the program.
//! - Each living thread that records has a buffer: 4 KiB, and 64 KiB once it has filled that. With the default limit of
//!   64 MiB (`buffer_bytes`) about 8,000 threads can record at the same time; more are lost and counted.
//! - A guard that is forgotten (`std::mem::forget`) does not end its span: it is recorded as unfinished, and the later
//!   spans of its thread are inside it.
//! - The arguments of a span take at most 64 KiB. A string is cut there; other arguments beyond it, and lists of shapes
//!   that do not fit, are left out. The event has the number of these as `cut arguments`, the recording has their sum.
//! - On macOS and Windows the recorder was compiled, not run. Elsewhere than on Linux, threads are numbered, their names
//!   are those of Rust or of [`name_thread`], and call stacks are not sampled: the trace has a warning. On Windows, a
//!   flight recorder also has no signals, and there is no `fork`.
//! - One profiler records at a time in a process; `ProfilerBuilder::wait` waits for its turn. A child process after `fork`
//!   does not record until it starts a recording of its own.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "analysis")]
pub mod files;
pub mod spans;

#[cfg(any(feature = "analysis", feature = "record"))]
mod io_error;
mod json;
#[cfg(any(feature = "analysis", feature = "record"))]
#[cfg_attr(
    not(feature = "analysis"),
    expect(dead_code, unreachable_pub, reason = "`files` exports it, with the feature `analysis`")
)]
mod replace;

#[cfg(feature = "record")]
mod activity;
#[cfg(feature = "criterion")]
pub mod benchmark;
#[cfg(feature = "control")]
pub mod control;
#[cfg(feature = "record")]
pub mod device;
#[cfg(feature = "record")]
mod environment;
#[cfg(feature = "record")]
mod error;
#[cfg(feature = "record")]
mod hot;
#[cfg(feature = "record")]
pub mod memory;
#[cfg(feature = "nvml")]
pub mod metrics;
#[cfg(feature = "record")]
pub mod mirror;
#[cfg(feature = "record")]
mod options;
#[cfg(feature = "record")]
mod output;
#[cfg(feature = "record")]
pub mod profiler;
#[cfg(feature = "sampling")]
#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    path = "sampling/unavailable.rs"
)]
mod sampling;
#[cfg(feature = "record")]
pub mod schedule;
#[cfg(feature = "record")]
pub mod steps;
#[cfg(feature = "tracing")]
pub mod tracing_layer;
#[cfg(feature = "record")]
mod worker;

pub use spans::{
    AsyncScope, DeviceClock, Module, Scope, Sequence, SpanArguments, Track, is_recording, name_thread,
    now_ns, operator, record_function,
};

/// Records the calls of a function as spans, with its parameters as arguments.
///
/// ```
/// use kinetoscope::instrument;
///
/// #[instrument(skip(body), fields(length = body.len()), err)]
/// fn send(host: &str, body: &[u8]) -> Result<usize, std::io::Error> {
///     Ok(body.len())
/// }
///
/// #[instrument(name = "fetch", ret)]
/// async fn fetch(id: u64) -> u64 {
///     id * 2
/// }
/// # send("a", b"").unwrap();
/// ```
///
/// | option | meaning |
/// |---|---|
/// | `"name"`, `name = expression` | the name, as in [`scope!`]; otherwise the path of the module and the function |
/// | `skip(a, b)`, `skip_all` | parameters that are not recorded |
/// | `fields(key = value, …)` | more arguments, as in [`scope!`] |
/// | `err`, `err(Debug)` | an `Err` is recorded as the argument `error`, with `Display` or `Debug` |
/// | `ret`, `ret(Display)` | the result, with `err` an `Ok`, is recorded as the argument `return`, with `Debug` or `Display` |
/// | `annotation` | a user annotation, as of [`user_scope!`], in place of an operator |
///
/// Numbers, `bool`, `char` and strings are recorded as values, other parameters with `Debug`. `self`, parameters that are
/// patterns, and those whose names begin with `_` are not recorded.
///
/// A call of an `async fn` is an asynchronous span from its first poll to its end, with the arguments. Each poll is a span
/// on its thread; flows connect the polls, and the last one has `error` or `return`.
#[cfg(feature = "macros")]
pub use kinetoscope_macros::instrument;

/// Records the program if the environment variable `KINETOSCOPE` is set, as [`record_from_env`] says; without the feature
/// `record` it does nothing. For `fn main`, also below the attribute of an asynchronous runtime:
///
/// ```no_run
/// #[kinetoscope::main]
/// fn main() {
///     let _span = kinetoscope::scope!("work");
/// }
/// ```
///
/// `KINETOSCOPE=run.ktrace PROGRAM` then writes the recording.
#[cfg(feature = "macros")]
pub use kinetoscope_macros::main;

/// Does nothing without the feature `record`.
#[cfg(not(feature = "record"))]
#[doc(hidden)]
pub fn record_from_env() {}

#[cfg(feature = "analysis")]
pub use {
    files::{InputError, open},
    kinetoscope_core::analysis::query::group_by::GroupBy,
    kinetoscope_core::analysis::torch::averages::Average,
    kinetoscope_core::analysis::torch::sort_by::SortBy,
    kinetoscope_core::analysis::torch::stacks::Metric,
    kinetoscope_core::analysis::torch::table_options::TableOptions,
    kinetoscope_core::trace::Trace,
};

#[cfg(all(feature = "analysis", feature = "record"))]
pub use {activity::types::ActivityType, profiler::observer::ExecutionTraceObserver};

#[cfg(feature = "record")]
pub use {
    activity::{Activity, UnknownActivity},
    environment::{EnvironmentRecording, record_from_env},
    error::RecordError,
    hot::registry::CallSite,
    memory::ProfilingAllocator,
    mirror::Mirror,
    output::statistics::Statistics,
    profiler::flight::{FlightBuilder, FlightRecorder},
    profiler::measure::{ProfileIt, TimeIt},
    profiler::recording::Recording,
    profiler::{Profiler, ProfilerBuilder, handlers, supported_activities},
    schedule::{ProfilerAction, Schedule, ScheduleArgs},
};

// Compiles and runs the code of the README.
#[cfg(all(doctest, feature = "record"))]
#[doc = include_str!("../README.md")]
struct Readme;
