//! What the tests share: where fixtures are, the goldens of the real `PyTorch`, a generator of large traces.

pub mod cupti_records;
pub mod dump;
pub mod files;
pub mod generator;
pub mod torch;
pub mod typescript;

// The code of the README and of the book compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../docs/src/guides/rust-service.md")]
#[doc = include_str!("../../docs/src/guides/embed.md")]
struct Readme;
