//! Fuzzes everything besides queries and exports: comparisons, budgets, histories, summaries, merging, outlines, repair, and their files.
#![no_main]

#[path = "../../src/operations.rs"]
mod operations;

use kinetoscope_core::trace::Trace;
use libfuzzer_sys::fuzz_target;
use operations::{OPERATIONS, parse};

fuzz_target!(|data: &[u8]| {
    parse(data).expect("what was written should be readable");
    let Ok(trace) = Trace::read(data) else { return };
    for (name, operation) in OPERATIONS {
        operation(&trace).unwrap_or_else(|what| panic!("{name}: {what}"));
    }
});
