//! The fuzz targets, built by the stable compiler: libFuzzer's coverage needs no nightly, only LLVM's flags. The crates
//! hold no unsafe code, so no sanitizer is needed to see a fault.

use crate::shell::{self, Failure, cargo, root};
use std::fs;
use std::path::Path;
use std::process::Command;

const TARGETS: [&str; 2] = ["reader", "whole_path"];

const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions";

/// How many inputs the test command tries with each target, at most: with the seed, the same ones everywhere.
pub(crate) const TEST_RUNS: u64 = 50_000;

/// Builds every target and runs them for `seconds` in all, or until each has tried `runs` inputs.
pub(crate) fn run(seconds: u64, runs: Option<u64>) -> Result<(), Failure> {
    let folder = root().join("tests/fuzz");
    let mut build = cargo(&["build", "--release", "--quiet", "--target", host()?.as_str()]);
    shell::run(build.current_dir(&folder).env("RUSTFLAGS", FLAGS))?;
    let each = (seconds / TARGETS.len() as u64).max(1);
    for target in TARGETS {
        let corpus = folder.join("corpus").join(target);
        let artifacts = folder.join("artifacts").join(target);
        // The same start and seed every time: what a run finds, the next one finds too.
        let _ = fs::remove_dir_all(&corpus);
        seed(&corpus)?;
        fs::create_dir_all(&artifacts).map_err(|e| e.to_string())?;
        let program = folder.join("target").join(host()?).join("release").join(target);
        let mut fuzzer = Command::new(program);
        fuzzer
            .arg(&corpus)
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(format!("-max_total_time={each}"))
            .arg(format!("-runs={}", runs.map_or(-1, |n| n as i64)))
            .args([
                "-max_len=4096",
                "-timeout=10",
                "-rss_limit_mb=2048",
                "-verbosity=0",
                "-seed=1",
                "-print_funcs=0",
            ]);
        shell::run(&mut fuzzer)?;
    }
    Ok(())
}

fn host() -> Result<String, Failure> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|l| l.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| "rustc does not tell its host".to_owned())
}

/// Starts a corpus from the small fixtures.
fn seed(corpus: &Path) -> Result<(), Failure> {
    fs::create_dir_all(corpus).map_err(|e| e.to_string())?;
    let records = ["legacy_pairs", "interval_memory", "negative_correlation"];
    let records = records.map(|case| format!("tests/data/torch/synthetic/{case}"));
    let fixtures = ["sick", "healthy", "fuzz", "snapshots"].map(|folder| format!("tests/data/{folder}"));
    for folder in fixtures.iter().chain(&records) {
        for entry in fs::read_dir(root().join(folder)).map_err(|e| format!("{folder}: {e}"))? {
            let path = entry.map_err(|e| e.to_string())?.path();
            if path.is_file() && fs::metadata(&path).is_ok_and(|m| m.len() < 4096) {
                let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string().replace('/', "_");
                fs::copy(&path, corpus.join(name)).map_err(|e| e.to_string())?;
            }
        }
    }
    Ok(())
}
