//! The trace engine of Kinetoscope. It reads traces of PyTorch's profiler (Kineto), other Chrome traces, memory
//! snapshots and Kinetoscope's own recordings, complete or damaged, and computes tables and exports from them.
//!
//! The crate does no I/O: the caller passes chunks of bytes and receives rows of plain values. The same code runs
//! natively and as WebAssembly, with the same results.
//!
//! ```
//! use kinetoscope_core::{FunctionEvents, GroupBy, TraceReader, key_averages};
//!
//! let chunks: [&[u8]; 2] = [
//!     br#"{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
//!         {"ph": "X", "cat": "cpu_op", "name": "aten::ad"#,
//!     br#"dmm", "pid": 1, "tid": 1, "ts": 2.5, "dur": 4.125},]}"#,
//! ];
//! let mut reader = TraceReader::default();
//! for chunk in chunks {
//!     reader.feed(chunk)?;
//! }
//! let trace = reader.finish()?;
//!
//! let events = FunctionEvents::new(&trace);
//! let rows = key_averages(&events, &trace.table, GroupBy::default());
//! assert_eq!(rows[0].key, "aten::linear");
//! assert_eq!(rows[0].cpu_time_total_ns, 10_000);
//! assert_eq!(rows[0].self_cpu_time_total_ns, 5_875);
//!
//! // The comma before the closing bracket was ignored and counted.
//! assert_eq!(trace.diagnostics.findings()[0].code.as_str(), "trailing_comma");
//! # Ok::<(), kinetoscope_core::Error>(())
//! ```
//!
//! # Pipeline
//!
//! The modules of [`trace`] read, those of [`analysis`] compute, those of [`output`] write.
//!
//! ```text
//! chunks → read::unpack → read::encoding → read::chrome → table → dialect → pair → tree → link → Trace
//!                                                                                                ↓
//!                                    JSON, CSV, text ← report, rows ←──────────────────────── analysis
//!                                    Chrome, CSV     ← write  ←─────────────────────────────────┘
//! ```
//!
//! Times are `i64` nanoseconds. A malformed trace is not an error: what was repaired, guessed or dropped is counted in
//! [`diagnostics`](base::diagnostics), with its position and an example. Reading returns an [`Error`] only if the input is not a trace.
//!
//! # Main types
//!
//! | type | what it is |
//! |---|---|
//! | [`TraceReader`], [`Trace`] | reads a trace; the trace that was read |
//! | [`Diagnostics`], [`Error`] | what was wrong with the input; why it could not be read |
//! | [`Analysis`](analysis::context::Analysis) | a trace with what several analyses need, each computed once |
//! | [`FunctionEvents`], [`key_averages`], [`Average`], [`GroupBy`] | PyTorch's function events and their averages |
//! | [`Query`] in [`QUERIES`], [`Options`], [`Rows`] | a query about a trace, its options, its answer |
//! | [`Export`] in [`EXPORTS`] | a format in which a trace can be written |
//!
//! # Features
//!
//! The crate is `no_std` and needs `alloc`. No feature needs `std`.
//!
//! | feature | what it adds |
//! |---|---|
//! | `help` (default) | descriptions of queries, options and columns; without it these texts are empty |
//!
//! # Limits and costs
//!
//! - Chunks can have any size. The reader holds the bytes of an unfinished event or metadata value, and a table of all
//!   events. A memory snapshot (a Python pickle) is held completely.
//! - By default a value may be nested 100 levels deep. A string or nested value may have 4 MiB, an event 16 MiB, and a
//!   metadata value 256 MiB. What exceeds a limit is skipped and counted. [`TextReader`](trace::TextReader) takes other
//!   [`Limits`](trace::read::limits::Limits), among them a limit on memory, which is off by default.
//! - A trace of 2,000,000 events, which is 583 MB of text, takes about 300 MB of memory to read and summarize.
//! - Timestamps are limited to 73 years before and 146 years after the table's base, durations to 104 days each, and
//!   sizes to 1 PiB each in sums; see [`trace::table::bounds`]. A table has fewer than 2<sup>32</sup> events.
//! - Everything runs on the thread of the caller. [`trace::read::segment`] lets callers parse on several threads, [`queries::Join`] lets them
//!   run parts of an answer on several.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;

pub mod analysis;
pub mod base;
#[doc(hidden)]
pub mod internals;
pub mod outline;
pub mod output;
pub mod queries;
pub mod runs;
pub mod trace;

pub use analysis::query::group_by::GroupBy;
pub use analysis::query::options::Options;
pub use analysis::torch::averages::{Average, key_averages};
pub use analysis::torch::function_events::FunctionEvents;
pub use base::diagnostics::Diagnostics;
pub use base::error::Error;
pub use base::rows::Rows;
pub use queries::{EXPORTS, Export, QUERIES, Query};
pub use trace::{Trace, TraceReader};

// The code of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
