//! The trace engine of Kinetoscope.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;

pub mod analysis;
pub mod diagnostics;
pub mod error;
pub mod link;
pub mod names;
pub mod pair;
pub mod read;
pub mod report;
pub mod rows;
pub mod table;
pub mod time;
pub mod trace;
pub mod tree;
pub mod units;
pub mod write;
