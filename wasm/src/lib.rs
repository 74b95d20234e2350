//! The JavaScript interface of the engine: it checks and converts arguments, calls the engine, and converts the
//! results.
//!
//! This is the internal interface. Users import the TypeScript in `js/`, which feeds [`reading::Reading`] and wraps
//! [`trace::EngineTrace`].
//!
//! - Options are plain objects, with names in camel case.
//! - Rows are returned as plain objects, columns and tiles as typed arrays that are copied out of the WebAssembly
//!   memory.
//! - Times are numbers of ns after the start of the recording. That start is a `BigInt` of Unix ns.
//! - Errors are objects with `code`, `message` and `byteOffset`.
#![deny(unsafe_code)]

#[cfg(feature = "full")]
pub mod budgets;
#[cfg(feature = "full")]
pub mod comparing;
pub mod convert;
mod expression;
mod feeding;
#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "an allocator is unsafe to implement")]
mod growth;
#[cfg(feature = "full")]
pub mod outlines;
#[cfg(feature = "full")]
pub mod outlining;
mod queries;
#[cfg(feature = "full")]
pub mod ranks;
pub mod reading;
#[cfg(feature = "full")]
pub mod repairing;
#[cfg(feature = "full")]
pub mod segments;
#[cfg(feature = "full")]
pub mod streaming;
pub mod trace;
#[cfg(feature = "full")]
pub mod trending;
#[cfg(feature = "full")]
pub mod writing;

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: growth::Growing = growth::Growing::new();
