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
//! ```
//! use kinetoscope_core::analysis::torch::averages::{GroupBy, key_averages};
//! use kinetoscope_core::analysis::torch::function_events::FunctionEvents;
//! use kinetoscope_core::trace::TraceReader;
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
//! # Ok::<(), kinetoscope_core::error::Error>(())
//! ```
//!
//! Times are `i64` nanoseconds; sums are exact. A strange trace is a result: what was repaired, guessed or dropped is
//! counted in [`diagnostics`] with its place and an example, and an error means that nothing could be read.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;

pub mod analysis;
pub mod demangle;
pub mod diagnostics;
pub mod dialect;
pub mod error;
pub mod index;
pub mod link;
pub mod names;
pub mod order;
pub mod pair;
pub mod read;
pub mod records;
pub mod report;
pub mod rows;
pub mod table;
pub mod time;
pub mod trace;
pub mod tree;
pub mod units;
pub mod verbs;
pub mod words;
pub mod write;

// The code of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
