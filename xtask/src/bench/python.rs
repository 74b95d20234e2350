//! Python packages at exact versions, in environments in the cache.

use super::path;
use crate::python::environment;
use crate::shell::{Failure, root};
use std::path::Path;
use std::process::Command;

pub(super) const HTA_VERSION: &str = "0.6.1";
pub(super) const DUCKDB_VERSION: &str = "2.0.1";

/// Returns the command that loads traces with HTA. Names of analyses and the traces follow.
pub(super) fn hta() -> Result<Vec<String>, Failure> {
    // The package of HTA. It does not load some traces with pandas 3.
    let package = format!("traceinsight=={HTA_VERSION}");
    script(&environment(&[&package, "pandas==2.3.3", "numpy==2.2.6"])?, "load_hta.py")
}

/// Returns the command that queries a trace with `DuckDB`.
pub(super) fn duckdb() -> Result<Vec<String>, Failure> {
    let package = format!("duckdb=={DUCKDB_VERSION}");
    script(&environment(&[&package])?, "duckdb_categories.py")
}

/// Returns the command that parses a trace with Python's own parser.
pub(super) fn json() -> Result<Vec<String>, Failure> {
    script(Path::new("python3"), "json_load.py")
}

/// Returns the version of `python3`.
pub(super) fn version() -> String {
    let output = Command::new("python3").arg("--version").output();
    output.map_or_else(|_| "Python".to_owned(), |o| String::from_utf8_lossy(&o.stdout).trim().to_owned())
}

fn script(python: &Path, name: &str) -> Result<Vec<String>, Failure> {
    Ok(vec![path(python)?, path(&root().join("tests/peers").join(name))?])
}
