//! The native programs as users have them.

use crate::shell::{Failure, cargo, root, run};
use crate::tally::Tally;
use std::fs;
use std::path::PathBuf;

/// Builds the command line and the programs of the tests as users have them.
pub(crate) fn release_binaries() -> Result<(), Failure> {
    run(&mut cargo(&["build", "--release", "--quiet", "-p", "kinetoscope-cli"]))?;
    run(&mut cargo(&["build", "--release", "--quiet", "--bins", "-p", "kinetoscope-tests"]))
}

/// Runs the README's command for the main job and looks for its answer.
pub(crate) fn first_command() -> Result<Tally, Failure> {
    let readme = fs::read_to_string(root().join("README.md")).map_err(|e| e.to_string())?;
    let line =
        readme.lines().find(|l| l.starts_with("cargo run ")).ok_or("README has no `cargo run` line")?;
    let arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
    let output = cargo(&arguments).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && text.contains("Data quality") {
        return Ok(Tally::PASSED);
    }
    Err(format!("`{line}` gave {}:\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

/// Where the page lies that the command line serves: its build puts it into the binary.
pub(crate) fn page_in_command_line() -> PathBuf {
    root().join("native/cli/page/kinetoscope.html")
}
