//! Runs the examples and reads the files that they write.

use crate::rust_tests::program;
use crate::shell::{Failure, cargo, root, run, sources_of, target};
use crate::tally::{Tally, skip};
use crate::toolchain::debian;
use std::env::consts::{ARCH, EXE_SUFFIX};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The minimum number of examples.
const LEAST: usize = 8;

/// Runs every example, as built by the tests, and reads the files that it wrote.
pub(crate) fn run_all() -> Result<Tally, Failure> {
    let mut sum = Tally::default();
    for entry in fs::read_dir(root().join("native/examples")).map_err(|e| e.to_string())? {
        let path = entry.map_err(|e| e.to_string())?.path();
        if let Some(name) = path.file_stem().and_then(|name| name.to_str()).filter(|_| path.is_file()) {
            sum.add(example(name)?);
        }
    }
    if sum.passed + sum.skipped < LEAST {
        Err(format!("fewer than {LEAST} examples: {sum}"))
    } else {
        Ok(sum)
    }
}

/// Runs the example that trains a candle model.
pub(crate) fn candle() -> Result<Tally, Failure> {
    run_crate("candle")
}

/// Runs the example that exports spans with OpenTelemetry.
pub(crate) fn opentelemetry() -> Result<Tally, Failure> {
    run_crate("opentelemetry")
}

/// Runs the example that records the timers of a GPU through wgpu, on Debian with a driver that computes on the CPU.
pub(crate) fn wgpu() -> Result<Tally, Failure> {
    let driver = format!("/usr/share/vulkan/icd.d/lvp_icd.{ARCH}.json");
    if let Err(reason) = debian::provide(&[&driver], &["mesa-vulkan-drivers"], "install a driver for Vulkan")
    {
        println!("{reason}");
    }
    run_crate("wgpu")
}

/// Runs an example that is a separate crate.
fn run_crate(name: &str) -> Result<Tally, Failure> {
    let mut example = cargo(&["run", "--quiet", "--locked", "--target-dir"]);
    example.arg(target().join(name)).current_dir(root().join("native/examples").join(name));
    run_and_check(name, &mut example)
}

/// Runs an example with an empty folder as `TMPDIR` for its files.
fn run_and_check(name: &str, command: &mut Command) -> Result<Tally, Failure> {
    let folder = target().join("xtask/examples").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let output = command.env("TMPDIR", &folder).output();
    check(name, &folder, &output.map_err(|e| format!("{command:?}: {e}"))?)
}

fn example(name: &str) -> Result<Tally, Failure> {
    run_and_check(
        name,
        &mut Command::new(target().join("debug/examples").join(format!("{name}{EXE_SUFFIX}"))),
    )
}

/// Checks the output of an example. It is skipped if it reports that its device is missing; otherwise it must have
/// written a file, and every trace must be read without loss.
fn check(name: &str, folder: &Path, output: &Output) -> Result<Tally, Failure> {
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{name}: {}\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(format!("{name} ended with {}", output.status));
    }
    let cannot =
        |line: &&str| line.starts_with("No device can be recorded") || line.contains("cannot be compiled");
    if let Some(reason) = text.lines().find(cannot) {
        return Ok(skip(name, reason.trim_end_matches('.')));
    }
    let written = sources_of(folder, &["gz", "json", "html", "ktrace"])?;
    for trace in written.iter().filter(|path| path.extension().is_some_and(|e| e != "html")) {
        let mut read = Command::new(program("kinetoscope"));
        run(read.args(["check", "--strict"]).arg(trace))?;
    }
    if written.is_empty() { Err(format!("{name} wrote no file")) } else { Ok(Tally::PASSED) }
}
