//! Builds and runs the fuzz targets with the stable compiler: LLVM's flags request the coverage that libFuzzer needs,
//! so no nightly compiler is required. The crates contain no unsafe code, so a fault shows without a sanitizer.

use crate::seed;
use crate::shell::{self, Failure, cargo, root, target};
use crate::tally::Tally;
use std::fs;
use std::process::Command;

/// The targets, with the number of inputs that each run tries. The seed is fixed, so the inputs are always the same.
const TARGETS: [(&str, u64); 3] = [("reader", 10_000), ("operations", 3_000), ("whole_path", 3_000)];

const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions";

/// How long the slow tests try inputs from a fresh seed, in seconds.
const SECONDS: u64 = 120;

/// The condition that ends the run of a target.
enum End {
    /// Its number of inputs.
    Inputs,
    Seconds(u64),
}

/// Tries the same inputs in every run, so that a fault is reproducible.
pub(crate) fn regress() -> Result<Tally, Failure> {
    run(&End::Inputs, 1)
}

/// Tries inputs from a fresh seed.
pub(crate) fn explore() -> Result<Tally, Failure> {
    fresh(SECONDS)
}

/// Tries inputs from a fresh seed for this many seconds in all. Prints the seed, so that the run can be repeated.
pub(crate) fn fresh(seconds: u64) -> Result<Tally, Failure> {
    let seed = seed::fresh()?;
    println!("seed {seed}");
    run(&End::Seconds((seconds / TARGETS.len() as u64).max(1)), seed)
}

/// Builds and runs every target.
fn run(end: &End, seed: u64) -> Result<Tally, Failure> {
    let folder = root().join("tests/fuzz");
    let (host, target_folder) = (host()?, target().join("fuzz"));
    let mut build = cargo(&["build", "--release", "--quiet", "--target", &host, "--target-dir"]);
    shell::run(build.arg(&target_folder).current_dir(&folder).env("RUSTFLAGS", FLAGS))?;
    let list = target_folder.join("first_inputs");
    fs::write(&list, first_inputs()?.join(",")).map_err(|e| e.to_string())?;
    let mut sum = Tally::default();
    for (target, inputs) in TARGETS {
        let end = match end {
            End::Inputs => format!("-runs={inputs}"),
            End::Seconds(seconds) => format!("-max_total_time={seconds}"),
        };
        let artifacts = folder.join("artifacts").join(target);
        fs::create_dir_all(&artifacts).map_err(|e| e.to_string())?;
        let mut fuzzer = Command::new(target_folder.join(&host).join("release").join(target));
        fuzzer
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg(format!("-seed_inputs=@{}", list.display()))
            .arg(&end)
            .arg(format!("-seed={seed}"))
            .args(["-max_len=4096", "-timeout=10", "-rss_limit_mb=2048", "-verbosity=0", "-print_funcs=0"]);
        shell::run(&mut fuzzer)?;
        sum.add(Tally::PASSED);
    }
    Ok(sum)
}

fn host() -> Result<String, Failure> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|l| l.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| "`rustc -vV` prints no host".to_owned())
}

/// The small fixtures, from which the fuzzer begins, in an order that does not depend on the machine.
fn first_inputs() -> Result<Vec<String>, Failure> {
    let records = ["legacy_pairs", "interval_memory", "negative_correlation"];
    let records = records.map(|case| format!("tests/data/torch/synthetic/{case}"));
    let perfetto =
        ["cpu_metadata", "gpu_graph_no_lanes"].map(|case| format!("tests/data/torch/2.15/cuspy/{case}"));
    let fixtures =
        ["malformed", "healthy", "fuzz", "snapshots", "hostile", "execution_traces", "runs/summaries"]
            .map(|folder| format!("tests/data/{folder}"));
    let mut found = Vec::new();
    for folder in fixtures.iter().chain(&records).chain(&perfetto) {
        for entry in fs::read_dir(root().join(folder)).map_err(|e| format!("{folder}: {e}"))? {
            let path = entry.map_err(|e| e.to_string())?.path();
            if path.is_file() && fs::metadata(&path).is_ok_and(|m| m.len() < 4096) {
                found.push(path.display().to_string());
            }
        }
    }
    found.sort();
    Ok(found)
}
