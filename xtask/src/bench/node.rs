//! The npm package in Node against the same work done natively on one thread.

use super::{Figures, RUNS, generated, median, once, path, program};
use crate::shell::{Failure, root};
use std::path::Path;
use std::process::{Command, Stdio};

/// The limits of the package: its time and its memory relative to native, and its memory for a trace of 4 GB, in bytes.
const SLOWEST: f64 = 3.0;
const LARGEST: f64 = 1.3;
const HUGE_EVENTS: u64 = 14_000_000;
const HUGE_LIMIT: u64 = 2_700_000_000;

/// Measures the npm package in Node against the same work done natively on one thread.
pub(super) fn measure(trace: &Path) -> Result<(), Failure> {
    let trace = path(trace)?;
    let (mut native, mut node, mut ratios, mut memory) = (Vec::new(), Vec::new(), Vec::new(), (0, 0));
    for _ in 0..RUNS {
        let alone = once(&program("summary-alone"), &[&trace])?;
        let ours = in_node(&trace, &[])?;
        ratios.push(ours.seconds / alone.0);
        native.push(alone.0);
        node.push(ours.seconds);
        memory = (memory.0.max(alone.1), memory.1.max(ours.megabytes));
    }
    let ratio = median(&mut ratios);
    let share = memory.1 as f64 / memory.0 as f64;
    println!("| the same | natively on one thread | {:.2} s | {} MB |", median(&mut native), memory.0);
    println!("| the same | npm package in Node | {:.2} s | {} MB |", median(&mut node), memory.1);
    println!("| | ratio, median of {RUNS} pairs | {ratio:.2} | {share:.2} |");
    if ratio > SLOWEST || share > LARGEST {
        return Err(format!(
            "the package exceeds {SLOWEST} times the native time or {LARGEST} times the native memory"
        ));
    }
    let huge = generated(HUGE_EVENTS, 1)?;
    let figures = in_node(&path(&huge)?, &[&HUGE_LIMIT.to_string()])?;
    println!(
        "| {HUGE_EVENTS} events, 4.1 GB of text | npm package in Node, memoryLimit 2.7 GB | {:.1} s | {} MB |",
        figures.seconds, figures.megabytes
    );
    if figures.megabytes > HUGE_LIMIT / 1_000_000 {
        return Err(format!("{} MB exceed the memory limit", figures.megabytes));
    }
    Ok(())
}

/// Runs `tests/js/bench.js` once; the memory is that of the engine. Returns an error if the trace is not read
/// completely.
fn in_node(trace: &str, arguments: &[&str]) -> Result<Figures, Failure> {
    let mut node = Command::new("node");
    node.args(["tests/js/bench.js", trace]).args(arguments).current_dir(root()).stderr(Stdio::inherit());
    let output = node.output().map_err(|e| format!("node: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = |key: &str| -> Option<f64> {
        let rest = text.split_once(&format!("\"{key}\":"))?.1;
        rest.split([',', '}']).next()?.parse().ok()
    };
    match (number("seconds"), number("memory_bytes")) {
        (Some(seconds), Some(bytes)) if output.status.success() && text.contains("\"lost\":[]") => {
            Ok(Figures { seconds, megabytes: bytes as u64 / 1_000_000 })
        }
        _ => Err(format!("bench.js: {}: {text}", output.status)),
    }
}
