//! Records what a Rust program does on CPU and GPU: spans, allocations, kernels.
//!
//! ```
//! use kinetoscope::{Profiler, scope};
//!
//! let mut profiler = Profiler::builder().record_shapes(true).start()?;
//! {
//!     let _span = scope!("matmul", shapes: [[2, 3], [3, 4]], dtype: "float");
//!     // …
//! }
//! let recording = profiler.stop()?.expect("it was enabled");
//! recording.save("run.ktrace")?;
//! # std::fs::remove_file("run.ktrace")?;
//! # Ok::<(), kinetoscope::RecordError>(())
//! ```
//!
//! The command line (`kinetoscope run.ktrace`), the page and the npm package read `run.ktrace`. With the feature `analysis`
//! the program itself does: tables, Chrome traces, files for TensorBoard.
//!
//! | feature | what it adds |
//! |---|---|
//! | `record` (default) | the recorder; without it, spans are compiled to nothing |
//! | `analysis` | the engine: traces from files, tables and exports of a recording |
//! | `tracing` | a layer for the `tracing` crate |
//! | `cuda` | what CUDA devices do, by CUPTI, which is looked for while the program runs |
//! | `nvml` | memory, load, clocks, power and temperature of CUDA devices |
//! | `nvtx`, `itt` | spans as NVTX ranges or ITT tasks |
//!
//! A library depends on this crate without its default features: its [`spans`] cost nothing until a program turns `record` on.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "analysis")]
pub mod files;
pub mod spans;

#[cfg(any(feature = "analysis", feature = "record"))]
mod io_error;

#[cfg(feature = "record")]
pub mod device;
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
#[cfg(feature = "record")]
pub mod schedule;
#[cfg(feature = "record")]
pub mod steps;
#[cfg(feature = "tracing")]
pub mod tracing_layer;

pub use spans::{AsyncScope, Module, Scope, Sequence, is_recording, operator, record_function};

#[cfg(feature = "analysis")]
pub use {
    files::{InputError, open},
    kinetoscope_core::analysis::torch::averages::{Average, GroupBy},
    kinetoscope_core::analysis::torch::stacks::Metric,
    kinetoscope_core::report::table_options::{SortBy, TableOptions},
    kinetoscope_core::trace::Trace,
};

#[cfg(feature = "record")]
pub use {
    error::RecordError,
    memory::ProfilingAllocator,
    mirror::Mirror,
    options::Activity,
    output::statistics::Statistics,
    profiler::flight::{FlightBuilder, FlightRecorder},
    profiler::measure::ProfileIt,
    profiler::recording::Recording,
    profiler::{Profiler, ProfilerBuilder, handlers, supported_activities},
    schedule::{ProfilerAction, Schedule, ScheduleArgs},
};

// The code of the README compiles and runs.
#[cfg(all(doctest, feature = "record"))]
#[doc = include_str!("../README.md")]
struct Readme;
