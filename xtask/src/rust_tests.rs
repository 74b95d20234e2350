//! Runs the Rust tests. One cargo command builds them; then several test binaries run at a time, where `cargo test`
//! runs one after the other.

use crate::seed;
use crate::shell::{Failure, cargo, run, target};
use crate::tally::{Tally, is_skip};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// Selects the workspace without xtask. Its tests are built and run separately, because a build of the workspace would
/// replace the running program.
pub(crate) const WORKSPACE: [&str; 3] = ["--workspace", "--exclude", "xtask"];

/// The test binary that takes longest. Its tests run on all threads, before the others.
const ENGINE: &str = "engine";

/// The test binary of the recorder, which takes longest of the others; it starts first.
const RECORDER: &str = "recorder";

/// Tests of the recorder that measure latencies. They run after the others.
const TIMED: [&str; 4] = ["crash::", "files::", "flight::", "order::"];

/// The minimum number of tests; a smaller number means that some were not run.
const LEAST: usize = 250;

/// The variable from which `proptest` takes the seed of its random inputs. The default seed is fixed, so that every run
/// has the same inputs.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Tests of the engine with random inputs.
const RANDOM: [&str; 13] = [
    "breakdown::",
    "diff::identities::",
    "idle::",
    "kernels::",
    "launches::",
    "properties::",
    "records::",
    "redact::",
    "replay::",
    "segments::",
    "sequences::",
    "sums::",
    "timeline::",
];

/// A test binary.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Binary {
    name: String,
    path: PathBuf,
    /// The folder of its package, where cargo runs it.
    folder: PathBuf,
    /// The tests that are run, as arguments of the binary; empty for all.
    filters: Vec<&'static str>,
}

/// Builds every test, example and program of the workspace.
pub(crate) fn build() -> Result<Tally, Failure> {
    run(cargo(&["test", "--no-run", "--quiet"]).args(WORKSPACE))?;
    Ok(Tally::PASSED)
}

/// Runs every test of the workspace.
pub(crate) fn test() -> Result<Tally, Failure> {
    let mut binaries = binaries(&[])?;
    binaries.extend(listed(&mut cargo(&["test", "-p", "xtask", "--no-run", "--quiet"]))?);
    binaries.sort_by_key(|binary| (binary.name != RECORDER, binary.name.clone()));
    let (engine, mut others): (Vec<_>, Vec<_>) =
        binaries.into_iter().partition(|binary| binary.name == ENGINE);
    let recorder =
        others.first_mut().filter(|binary| binary.name == RECORDER).ok_or("no tests of the recorder")?;
    let timed = Binary { filters: TIMED.to_vec(), ..recorder.clone() };
    recorder.filters = TIMED.iter().flat_map(|module| ["--skip", module]).collect();
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let mut sum = run_all(engine, 1, cores)?;
    sum.add(run_all(others, cores, 1)?);
    sum.add(run_all(vec![timed], 1, 1)?);
    if sum.passed + sum.skipped < LEAST { Err(format!("fewer than {LEAST} tests: {sum}")) } else { Ok(sum) }
}

/// Runs the tests of a binary that one of the filters selects, all if there is none, with an environment variable set.
pub(crate) fn test_one(
    name: &str,
    filters: &[&str],
    variable: &str,
    value: impl AsRef<OsStr>,
) -> Result<Tally, Failure> {
    let mut sum = Tally::default();
    for binary in binaries(&["--test", name])? {
        sum.add(report(&binary, command(&binary).args(filters).env(variable, &value).output())?);
    }
    Ok(sum)
}

/// Tries random inputs from a fresh seed. Prints the seed, so that the run can be repeated.
pub(crate) fn fresh() -> Result<Tally, Failure> {
    let seed = seed::fresh()?.to_string();
    println!("{SEED}={seed}");
    test_one(ENGINE, &RANDOM, SEED, &seed)
}

/// Runs 10,000 random programs of the recorder with a fresh seed.
pub(crate) fn programs() -> Result<Tally, Failure> {
    let seed = seed::fresh()?.to_string();
    println!("KINETOSCOPE_SEED={seed}");
    let mut tests =
        cargo(&["test", "-p", "kinetoscope-tests", "--test", RECORDER, "--", "random::", "--nocapture"]);
    count(tests.env("KINETOSCOPE_PROGRAMS", "10000").env("KINETOSCOPE_SEED", seed))
}

/// Runs the documentation tests.
pub(crate) fn doc_tests() -> Result<Tally, Failure> {
    count(cargo(&["test", "--doc", "--quiet"]).args(WORKSPACE))
}

/// Runs a `cargo test` command and counts its results.
pub(crate) fn count(tests: &mut Command) -> Result<Tally, Failure> {
    let output = tests.stderr(Stdio::inherit()).output().map_err(|e| format!("{tests:?}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    let sum = tally(&text);
    if output.status.success() == (sum.failed == 0) { Ok(sum) } else { Err(output.status.to_string()) }
}

/// Builds the test binaries of the workspace that `which` selects, and returns them.
fn binaries(which: &[&str]) -> Result<Vec<Binary>, Failure> {
    listed(cargo(&["test", "--no-run", "--quiet"]).args(WORKSPACE).args(which))
}

/// Returns the test binaries in the messages of a cargo command.
fn listed(build: &mut Command) -> Result<Vec<Binary>, Failure> {
    let output = build.arg("--message-format=json").stderr(Stdio::inherit()).output();
    let output = output.map_err(|e| format!("{build:?}: {e}"))?;
    if !output.status.success() {
        print_errors(&output.stdout);
        return Err(format!("{build:?} failed: {}", output.status));
    }
    Ok(messages(&output.stdout).iter().filter_map(binary).collect())
}

fn messages(output: &[u8]) -> Vec<Value> {
    output.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Returns the test binary in a message of cargo, or `None` for other programs.
fn binary(message: &Value) -> Option<Binary> {
    let is_test = message["profile"]["test"] == true;
    let path = message["executable"].as_str().filter(|_| is_test)?;
    let name = message["target"]["name"].as_str()?.to_owned();
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_path_buf();
    Some(Binary { name, path: path.into(), folder, filters: Vec::new() })
}

fn print_errors(output: &[u8]) {
    for message in messages(output) {
        if let Some(text) = message["message"]["rendered"].as_str() {
            eprint!("{text}");
        }
    }
}

/// Runs the binaries, `at_once` at a time, with `threads` test threads each.
fn run_all(binaries: Vec<Binary>, at_once: usize, threads: usize) -> Result<Tally, Failure> {
    let left = Mutex::new(binaries.into_iter());
    let sum = Mutex::new(Ok(Tally::default()));
    let next = || left.lock().ok()?.next();
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(binary) = next() {
                    let start = Instant::now();
                    let output = command(&binary).env("RUST_TEST_THREADS", threads.to_string()).output();
                    let Ok(mut sum) = sum.lock() else { return };
                    let tally = report(&binary, output);
                    note(&binary, start.elapsed());
                    match (&mut *sum, tally) {
                        (Ok(sum), Ok(tally)) => sum.add(tally),
                        (Err(all), Err(error)) => *all = format!("{all}\n{error}"),
                        (sum, Err(error)) => *sum = Err(error),
                        (Err(_), Ok(_)) => {}
                    }
                }
            });
        }
    });
    sum.into_inner().map_err(|e| e.to_string())?
}

fn note(binary: &Binary, took: Duration) {
    println!("{} took {:.1} s\n", binary.name, took.as_secs_f64());
}

fn command(binary: &Binary) -> Command {
    let mut command = Command::new(&binary.path);
    command.current_dir(&binary.folder).args(&binary.filters);
    if std::env::var_os(SEED).is_none() {
        command.env(SEED, "1");
    }
    command
}

/// Prints the output of a binary and counts its results: a test that prints a `SKIPPED` line counts as skipped, not
/// passed.
fn report(binary: &Binary, output: std::io::Result<Output>) -> Result<Tally, Failure> {
    let output = output.map_err(|e| format!("{}: {e}", binary.path.display()))?;
    let texts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    println!("{} ({})\n{}{}", binary.name, binary.path.display(), texts[0], texts[1]);
    let mut sum = tally(&texts[0]);
    let skips = texts.iter().flat_map(|text| text.lines()).filter(|line| is_skip(line));
    let skipped = skips.collect::<BTreeSet<_>>().len();
    sum.skipped += skipped;
    sum.passed = sum.passed.saturating_sub(skipped);
    if output.status.success() == (sum.failed == 0) {
        Ok(sum)
    } else {
        Err(format!("{} ended with {}; {sum}", binary.name, output.status))
    }
}

fn tally(text: &str) -> Tally {
    let mut sum = Tally::default();
    text.lines().filter_map(Tally::parse_libtest).for_each(|tally| sum.add(tally));
    sum
}

/// Returns the path of a program that is built with the tests.
pub(crate) fn program(name: &str) -> PathBuf {
    target().join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

#[cfg(test)]
mod tests {
    use super::{Binary, binary};
    use serde_json::json;

    #[test]
    fn test_binaries_are_found_in_cargo_messages() {
        let message = |test: bool, executable: serde_json::Value| {
            json!({ "reason": "compiler-artifact", "manifest_path": "/a/tests/Cargo.toml", "target": { "name": "cli" },
                "profile": { "test": test }, "executable": executable })
        };
        let found = Binary {
            name: "cli".into(),
            path: "/t/cli-1".into(),
            folder: "/a/tests".into(),
            filters: vec![],
        };
        assert_eq!(binary(&message(true, json!("/t/cli-1"))), Some(found));
        assert_eq!(binary(&message(false, json!("/t/cli"))), None);
        assert_eq!(binary(&message(true, json!(null))), None);
    }
}
