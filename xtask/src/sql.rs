//! Tests of the features `parquet` and `sql`, and of the same queries in other engines.

use crate::python::environment;
use crate::rust_tests::count;
use crate::shell::{Failure, cargo, root, run, target};
use crate::tally::{Tally, skip};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The packages and features, in one command, so that DataFusion is compiled once.
const WITH_SQL: [&str; 6] = [
    "-p",
    "kinetoscope-tables",
    "-p",
    "kinetoscope-cli",
    "--features",
    "kinetoscope-tables/sql,kinetoscope-cli/sql",
];

/// The same with object stores.
const WITH_ALL: [&str; 6] = [
    "-p",
    "kinetoscope-tables",
    "-p",
    "kinetoscope-cli",
    "--features",
    "kinetoscope-tables/sql,kinetoscope-cli/sql,kinetoscope-cli/cloud",
];

/// Runs the tests about SQL.
pub(crate) fn test() -> Result<Tally, Failure> {
    count(cargo(&["test", "--quiet", "--lib", "--bins", "--test", "sql", "--test", "queries"]).args(WITH_SQL))
}

/// Checks the code about SQL with Clippy.
pub(crate) fn lints() -> Result<Tally, Failure> {
    run(cargo(&["clippy", "--quiet", "--all-targets"]).args(WITH_ALL).args(["--", "-D", "warnings"]))?;
    Ok(Tally::PASSED)
}

/// Compares the queries with the commands on the real traces, and with other engines.
pub(crate) fn engines() -> Result<Tally, Failure> {
    let mut sum = count(
        cargo(&["test", "--profile", "sql", "--test", "queries", "--lib"])
            .args(WITH_ALL)
            .args(["--", "--include-ignored"]),
    )?;
    run(cargo(&["build", "--profile", "sql"]).args(WITH_ALL))?;
    let command = target().join("sql/kinetoscope");
    let folder = root().join("tests/tables");
    let requirements = fs::read_to_string(folder.join("requirements.txt")).map_err(|e| e.to_string())?;
    let python = environment(&requirements.lines().collect::<Vec<_>>())?;
    run(Command::new(&python).arg(folder.join("engines.py")).arg(&command).args(traces()))?;
    let run_of_ranks = root().join("tests/data/runs/slow_forward");
    let trace = root().join("tests/data/torch/cuda/mlp/trace.json.gz");
    run(Command::new(&python).arg(folder.join("recipes.py")).arg(&command).arg(trace))?;
    run(Command::new(&python).arg(folder.join("object_store.py")).arg(&command).arg(run_of_ranks))?;
    sum.add(Tally { passed: 3, ..Tally::default() });
    let java = Command::new("java").arg("-version").stderr(Stdio::null()).status();
    if !java.is_ok_and(|status| status.success()) {
        sum.add(skip("spark", "Spark needs Java"));
        return Ok(sum);
    }
    run(Command::new(&python)
        .arg(folder.join("spark.py"))
        .arg(&command)
        .env("PYTHONPATH", root().join("native/tables/spark")))?;
    sum.add(Tally::PASSED);
    Ok(sum)
}

/// The traces of the tests, and the real ones where they are at hand.
fn traces() -> Vec<PathBuf> {
    let data = root().join("tests/data");
    let folders = ["torch/cuda", "torch/kineto", "healthy", "runs"].map(|folder| data.join(folder));
    let corpus = root().join("../shared/traces");
    folders.into_iter().chain(corpus.is_dir().then_some(corpus)).collect()
}
