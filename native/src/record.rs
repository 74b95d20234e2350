//! The recorder: spans of a running program into a trace.
//!
//! A thread writes fixed-size records into a `chunk` of its own; nothing is locked or allocated on the way. A
//! `writer` takes them every few milliseconds and appends them to memory or a file, in the byte format of
//! `kinetoscope_stream`, which is what the engine reads. [`profiler`] is where to start.
//!
//! | module | what it has |
//! |---|---|
//! | [`profiler`], [`builder`], `options`, [`steps`] | torch.profiler's surface: what and when |
//! | `session`, `writer`, `sink` | one recording from its start to its bytes |
//! | `local`, `chunk`, `pool`, `clock` | the hot path; all unsafe code of recording is in these |
//! | `registry`, [`args`], `stack` | call sites, names, threads; arguments; call stacks |
//! | [`memory`] | allocations |
//! | [`cuda`] | what devices do (features `cuda` and `nvml`) |
//! | [`tracing_layer`] | what is instrumented with `tracing` (feature `tracing`) |
//! | [`flight`], `ring`, `fork` | the last seconds, written when something goes wrong; processes that fork |
//! | [`recording`], [`handlers`], [`execution_trace`] | what came out, and what is done with it |
//! | [`measure`] | time and memory of several runs |
//! | [`mirror`], [`nvtx`], [`itt`] | other profilers that are told of spans |

pub mod args;
pub mod builder;
mod chunk;
mod clock;
pub mod cuda;
pub mod error;
pub mod execution_trace;
pub mod flight;
mod fork;
pub mod handlers;
pub mod itt;
pub(crate) mod local;
pub mod measure;
pub mod memory;
pub mod mirror;
pub mod nvtx;
mod options;
mod pool;
pub mod profiler;
pub mod recording;
pub(crate) mod registry;
mod ring;
pub mod session;
mod sink;
mod stack;
pub mod steps;
mod sync;
mod thread;
#[cfg(feature = "tracing")]
pub mod tracing_layer;
mod writer;
