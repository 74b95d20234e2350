//! The trace engine of Kinetoscope.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod diagnostics;
pub mod error;
pub mod names;
pub mod read;
pub mod table;
pub mod time;
