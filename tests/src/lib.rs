//! Shared by the tests: fixtures, the goldens of the real `PyTorch`, a generator of large traces.

pub mod answers;
pub mod clock;
pub mod cupti_records;
pub mod dump;
pub mod exports;
pub mod files;
pub mod generator;
pub mod ktrace;
pub mod operations;
pub mod pairs;
pub mod peers;
pub mod programs;
pub mod runs;
pub mod segments;
pub mod tables_ts;
pub mod torch;
pub mod typescript;
pub mod words_ts;

// Compiles and runs the code of the README and of the book.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../docs/src/guides/rust-service.md")]
#[doc = include_str!("../../docs/src/guides/embed.md")]
struct Readme;
