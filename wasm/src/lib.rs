//! The engine for JavaScript: checks, converts, calls, converts back.
//!
//! This is the inner face. What users import is the TypeScript in `js/`, which feeds [`reading::Reading`] and wraps
//! [`trace::EngineTrace`].
//!
//! - Options come as plain objects, with names in camel case.
//! - Rows go out as plain objects; columns and tiles as typed arrays, copied out of this memory.
//! - Times are numbers of ns after the start of the recording; that start is a `BigInt` of Unix ns.
//! - Errors are objects of `code`, `message` and `byteOffset`.
#![forbid(unsafe_code)]

pub mod convert;
pub mod reading;
pub mod repairing;
pub mod trace;
pub mod writing;
