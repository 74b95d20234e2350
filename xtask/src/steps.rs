//! Steps of one or two commands.

use crate::dependencies;
use crate::rust_tests::{self, WORKSPACE};
use crate::shell::{Failure, cargo, root, run, target};
use crate::tally::{Tally, skip};
use std::process::{Command, Stdio};

/// Crates outside of the workspace whose format and lock file are also checked.
const APART: [&str; 10] = [
    "docs/builder",
    "native/examples/candle",
    "native/examples/opentelemetry",
    "native/examples/wgpu",
    "tests/cudarc",
    "tests/fuzz",
    "tests/overhead",
    "tests/peers",
    "tests/silent",
    "wasm/bindgen",
];

/// The feature sets of the library that are checked separately.
const FEATURES: [&str; 2] = ["", "record"];

pub(crate) fn format() -> Result<Tally, Failure> {
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    for folder in APART {
        run(cargo(&["fmt", "--check"]).current_dir(root().join(folder)))?;
    }
    Ok(Tally::PASSED)
}

/// Checks that every `Cargo.lock` meets its manifest, before a step needs minutes to find it out.
pub(crate) fn locks() -> Result<Tally, Failure> {
    for folder in APART.into_iter().chain(["", "tests/public-api"]) {
        run(cargo(&["update", "--workspace", "--locked", "--quiet"]).current_dir(root().join(folder)))
            .map_err(|failure| format!("{folder}: {failure}"))?;
    }
    Ok(Tally::PASSED)
}

pub(crate) fn lints() -> Result<Tally, Failure> {
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    let mut sum = Tally::PASSED;
    sum.add(dependencies::rules()?);
    Ok(sum)
}

/// Checks the library with none of its features, and with the recorder alone.
pub(crate) fn library() -> Result<Tally, Failure> {
    for features in FEATURES {
        let mut check = cargo(&["check", "-p", "kinetoscope", "--no-default-features", "--quiet"]);
        run(check.args(["--features", features]))?;
    }
    Ok(Tally::PASSED)
}

pub(crate) fn docs() -> Result<Tally, Failure> {
    run(cargo(&["doc", "--no-deps", "--quiet"]).args(WORKSPACE).env("RUSTDOCFLAGS", "-D warnings"))?;
    Ok(Tally::PASSED)
}

/// Runs the GPU checks if there is a driver.
pub(crate) fn gpu() -> Result<Tally, Failure> {
    let driver = Command::new("nvidia-smi").arg("-L").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !driver.is_ok_and(|status| status.success()) {
        return Ok(skip("test-gpu", "`nvidia-smi` finds no GPU"));
    }
    test_gpu(&[])?;
    Ok(Tally::PASSED)
}

/// Runs the GPU checks. Recordings and traces are written to the folder.
pub(crate) fn test_gpu(folder: &[String]) -> Result<(), Failure> {
    run(cargo(&["run", "--release", "--quiet", "-p", "kinetoscope-gpu-checks", "--"]).args(folder))
}

/// Benchmarks the cost of a recorded span, compared with other tracers.
pub(crate) fn overhead() -> Result<(), Failure> {
    let mut bench = cargo(&["bench", "--quiet", "--target-dir"]);
    run(bench.arg(target().join("overhead")).current_dir(root().join("tests/overhead")))
}

/// The test in `recording_memory`.
const MEMORY: &str = "memory_events_have_torchs_form";

/// The sanitizers, with the tests that run under each, and the variable with its options.
const SANITIZERS: [(&str, &[&str], &str); 2] = [
    ("thread", &["spans::", "threads::", MEMORY], "TSAN_OPTIONS"),
    ("address", &["spans::", "threads::", "order::", "open::", "values::", MEMORY], "ASAN_OPTIONS"),
];

/// Runs the recorder's tests under the sanitizers of the stable compiler, which ships their runtimes. The standard library is not
/// instrumented: `ThreadSanitizer`'s reports about it between the tests' own threads are suppressed by name.
pub(crate) fn sanitizer() -> Result<Tally, Failure> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok(skip("sanitizer", "runs on Linux on x86-64 only"));
    }
    let mut sum = Tally::default();
    for (sanitizer, names, options) in SANITIZERS {
        let mut tests =
            cargo(&["test", "--quiet", "-p", "kinetoscope-tests", "--target", "x86_64-unknown-linux-gnu"]);
        tests.args(["--test", "recorder", "--test", "recording_memory"]);
        tests.arg("--target-dir").arg(target().join("sanitizer").join(sanitizer));
        let suppressions = root().join("tests/sanitizer.supp");
        let settings = match sanitizer {
            "thread" => format!("suppressions={}", suppressions.display()),
            // Chunks of threads are kept for the life of the process.
            _ => "detect_leaks=0".to_owned(),
        };
        tests
            .arg("--")
            .args(names)
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", format!("-Zsanitizer={sanitizer} -Cunsafe-allow-abi-mismatch=sanitizer --cfg kinetoscope_sanitizer"))
            .env(options, settings);
        sum.add(rust_tests::count(&mut tests)?);
    }
    Ok(sum)
}
