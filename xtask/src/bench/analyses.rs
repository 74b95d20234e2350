//! The time of each analysis of a trace that was read. `time-analyses` has the limits.

use super::{generated, path, program};
use crate::native;
use crate::shell::Failure;
use std::path::Path;
use std::process::{Command, Stdio};

/// Prints the table of the analyses only.
pub(crate) fn measure_analyses(events: u64) -> Result<(), Failure> {
    native::release_binaries()?;
    measure(&generated(events, 1)?)
}

/// Prints the median time of each analysis. Returns an error if one takes longer than its limit.
pub(super) fn measure(trace: &Path) -> Result<(), Failure> {
    let mut command = Command::new(program("time-analyses"));
    let output = command.arg(path(trace)?).stderr(Stdio::inherit()).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("time-analyses failed: {}", output.status));
    }
    println!("\n| analysis | median |\n|---|---:|");
    let mut slow = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let (name, seconds, limit) = figures(line).ok_or_else(|| format!("unexpected line: {line}"))?;
        println!("| `{}` | {seconds:.2} s |", name.replace(',', " "));
        if seconds > limit {
            slow.push(format!("{name}: {seconds:.2} s of {limit} s"));
        }
    }
    if slow.is_empty() { Ok(()) } else { Err(format!("slower than allowed: {}", slow.join("; "))) }
}

/// Returns the name, the seconds and the limit that a line of `time-analyses` has.
fn figures(line: &str) -> Option<(&str, f64, f64)> {
    let mut words = line.split(' ');
    Some((words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}
