//! The test command: one step after the other, the first failure ends it.

use crate::shell::{Failure, cargo, root, run};
use crate::{cudarc, cupti, fuzz, imports, package, page, silent, toolchain};
use std::env::consts::EXE_SUFFIX;
use std::process::{Command, Stdio};
use std::time::Instant;

const FUZZ_SECONDS: u64 = 60;

/// Everything that must hold.
pub(crate) fn test() -> Result<(), Failure> {
    let mut docs = cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    step("imports", imports::check)?;
    step("format", || run(&mut cargo(&["fmt", "--all", "--check"])))?;
    step("lints", || {
        run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))
    })?;
    step("library without the command line", || {
        run(&mut cargo(&["check", "-p", "kinetoscope", "--no-default-features", "--quiet"]))
    })?;
    step("library with the recorder alone", || {
        run(&mut cargo(&[
            "check",
            "-p",
            "kinetoscope",
            "--no-default-features",
            "--features",
            "record",
            "--quiet",
        ]))
    })?;
    step("programs that choose the version of CUDA", cudarc::check)?;
    step("spans without the recorder", silent::check)?;
    step("documentation", || run(&mut docs))?;
    step("core on x86_64-unknown-none", toolchain::check_no_std)?;
    step("fuzz targets", || fuzz::run(FUZZ_SECONDS, Some(fuzz::TEST_RUNS)))?;
    step("README's first command", first_command)?;
    step("tests", || run(&mut cargo(&["test", "--workspace"])))?;
    step("CUPTI's own libraries", cupti::test)?;
    step("lessons", lessons)?;
    step("npm package", package::run_all)?;
    step("tests of the npm package", package::test)?;
    step("page", page::run_all)?;
    step("tests of the page", || page::test(&[]))
}

/// Runs every example of the recorder, as the tests have built them: with every feature that a member of the workspace asks for.
fn lessons() -> Result<(), Failure> {
    run(&mut cargo(&["test", "--workspace", "--no-run", "--quiet"]))?;
    let folder = root().join("native/examples");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .map_err(|e| format!("{}: {e}", folder.display()))?
        .filter_map(|entry| entry.ok()?.path().file_stem()?.to_str().map(str::to_owned))
        .collect();
    names.sort();
    for name in &names {
        run(Command::new(root().join("target/debug/examples").join(format!("{name}{EXE_SUFFIX}")))
            .stdout(Stdio::null()))?;
    }
    if names.len() < 8 { Err(format!("only {} lessons", names.len())) } else { Ok(()) }
}

/// What needs a GPU; recordings and traces stay in a folder.
pub(crate) fn test_gpu(folder: &[String]) -> Result<(), Failure> {
    run(cargo(&["run", "--release", "--quiet", "-p", "kinetoscope-gpu-checks", "--"]).args(folder))
}

/// What a recorded span costs, beside other tracers.
pub(crate) fn overhead() -> Result<(), Failure> {
    run(cargo(&["bench", "--quiet"]).current_dir(root().join("tests/overhead")))
}

fn step(name: &str, action: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    eprintln!("── {name}");
    let start = Instant::now();
    action()?;
    eprintln!("── {name}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Runs the README's command for the main job and looks for its answer.
fn first_command() -> Result<(), Failure> {
    let readme = std::fs::read_to_string(root().join("README.md")).map_err(|e| e.to_string())?;
    let line =
        readme.lines().find(|l| l.starts_with("cargo run ")).ok_or("README has no `cargo run` line")?;
    let arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
    let output = cargo(&arguments).output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && text.contains("How far to trust it") {
        return Ok(());
    }
    Err(format!("`{line}` gave {}:\n{text}{}", output.status, String::from_utf8_lossy(&output.stderr)))
}
