//! Builds the native programs in the release profile.

use crate::shell::{Failure, cargo, root, run};
use crate::tally::Tally;
use std::fs;
use std::path::PathBuf;

/// Builds the command line and the programs of the tests in the release profile.
pub(crate) fn release_binaries() -> Result<(), Failure> {
    run(&mut cargo(&["build", "--release", "--quiet", "-p", "kinetoscope-cli"]))?;
    run(&mut cargo(&["build", "--release", "--quiet", "--bins", "-p", "kinetoscope-tests"]))
}

/// Runs the first command of the README and checks its output.
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

/// Returns the path of the page that the command line serves; its build script includes the file in the binary.
pub(crate) fn page_in_command_line() -> PathBuf {
    root().join("native/cli/page/kinetoscope.html")
}
