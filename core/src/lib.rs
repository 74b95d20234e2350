//! The trace engine of Kinetoscope: bytes of a profiler trace in, answers out.
//!
//! It reads PyTorch/Kineto traces and plain Chrome traces, whole or damaged, and does no I/O: the caller feeds chunks of
//! bytes and gets rows of plain numbers. It uses no std, by no feature, so that the same code runs natively and as
//! WebAssembly and gives the same answer.
//!
//! ```text
//! chunks → read::unpack → read::encoding → read::chrome → table → dialect → pair → tree → link → Trace
//!                                                                                                ↓
//!                                    JSON, CSV, text ← report, rows ←──────────────────────── analysis
//!                                    Chrome, CSV     ← write  ←─────────────────────────────────┘
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`TraceReader`], [`Trace`] | a trace while it is read, and read |
//! | [`Diagnostics`], [`Error`] | what was odd about it; why it could not be read |
//! | [`FunctionEvents`], [`key_averages`], [`Average`], [`GroupBy`] | torch's events and their sums |
//! | [`Query`] of [`QUERIES`], [`Options`], [`Rows`] | any question about a trace, its options, its answer |
//! | [`Export`] of [`EXPORTS`] | any form that a trace can be written in |
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
//! // The comma before the bracket was forgiven, and counted.
//! assert_eq!(trace.diagnostics.findings()[0].code.as_str(), "trailing_comma");
//! # Ok::<(), kinetoscope_core::Error>(())
//! ```
//!
//! Times are `i64` nanoseconds; sums are exact. A strange trace is a result: what was repaired, guessed or dropped is
//! counted in [`diagnostics`] with its place and an example, and an error means that nothing could be read.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;

pub mod analysis;
mod demangle;
pub mod diagnostics;
mod dialect;
pub mod error;
mod handle;
mod index;
#[doc(hidden)]
pub mod internals;
pub mod link;
pub mod names;
mod order;
pub mod pair;
pub mod queries;
#[cfg(test)]
mod random;
pub mod read;
pub mod records;
pub mod report;
pub mod rows;
pub mod table;
pub mod time;
pub mod trace;
pub mod tree;
pub mod units;
pub mod words;
pub mod write;

pub use analysis::torch::averages::{Average, GroupBy, key_averages};
pub use analysis::torch::function_events::FunctionEvents;
pub use diagnostics::Diagnostics;
pub use error::Error;
pub use queries::options::Options;
pub use queries::{EXPORTS, Export, QUERIES, Query};
pub use rows::Rows;
pub use trace::{Trace, TraceReader};

// The code of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
