//! Kinetoscope on this machine: a recorder for Rust programs, files into traces, and the `kinetoscope` command line.
//!
//! The engine is [`kinetoscope_core`]; this crate brings the operating system to it: files, threads, a fast inflater, a
//! terminal.
//!
//! ```no_run
//! let trace = kinetoscope::input::open("run.pt.trace.json.gz".as_ref())?;
//! println!("{} events", trace.table.len());
//! # Ok::<(), kinetoscope::input::InputError>(())
//! ```
//!
//! [`record::profiler`] records a program, [`spans`] is what the program says about itself.

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "files")]
pub mod inflate;
#[cfg(feature = "files")]
pub mod input;
#[cfg(feature = "files")]
pub mod output;
#[cfg(feature = "record")]
pub mod record;
pub mod spans;
