//! Runs a process to its end, with its time and memory.

use crate::shell::Failure;
use std::io::Write;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

/// Runs a command once. Returns the wall time in seconds and the peak memory that the operating system counted, in MB.
pub(super) fn once(program: &str, arguments: &[&str]) -> Result<(f64, u64), Failure> {
    let ended = ended(program, arguments)?;
    if !ended.status.success() {
        let _ = std::io::stderr().write_all(ended.errors.as_bytes());
        return Err(format!("{program} failed: {}", ended.status));
    }
    Ok((ended.seconds, ended.megabytes))
}

/// A process that has ended. The output for errors is followed by a line with processor time and memory.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) seconds: f64,
    /// The time of all processors, in the program and in the kernel, in seconds.
    pub(super) processor: f64,
    pub(super) megabytes: u64,
    pub(super) errors: String,
}

/// Runs a command once, until it succeeds or fails.
pub(super) fn ended(program: &str, arguments: &[&str]) -> Result<Ended, Failure> {
    let start = Instant::now();
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%U %S %M", program])
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|e| format!("/usr/bin/time (Debian's package `time`): {e}"))?;
    let seconds = start.elapsed().as_secs_f64();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut figures = errors.lines().last().unwrap_or("").split(' ').map(|word| word.parse().unwrap_or(0.0));
    let mut next = || figures.next().unwrap_or(0.0);
    let processor = next() + next();
    let megabytes = (next() * 1024.0 / 1e6) as u64;
    Ok(Ended { status: output.status, seconds, processor, megabytes, errors })
}
