//! Tools that the steps run.

use crate::shell::{Failure, cache, cargo, root, run};
use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the program `kinetoscope-NAME` of a folder that is not part of the workspace, in the cache that all
/// checkouts share, and returns its path.
fn compiled(name: &str, folder: &str) -> Result<PathBuf, Failure> {
    let built = cache().join(name);
    let mut build = cargo(&["build", "--locked", "--quiet", "--target-dir"]);
    run(build.arg(&built).current_dir(root().join(folder)))?;
    Ok(built.join("debug").join(format!("kinetoscope-{name}{EXE_SUFFIX}")))
}

/// Returns the program that generates the glue of the engine.
pub(crate) fn bindgen() -> Result<PathBuf, Failure> {
    compiled("bindgen", "wasm/bindgen")
}

/// Returns the program that builds the book.
pub(crate) fn book_builder() -> Result<PathBuf, Failure> {
    compiled("book", "docs/builder")
}

/// Returns the length of a file after gzip, in bytes.
pub(crate) fn gzip_length(path: &Path) -> Result<u64, Failure> {
    let output =
        Command::new("gzip").args(["-9", "-c"]).arg(path).output().map_err(|e| format!("gzip: {e}"))?;
    if output.status.success() {
        Ok(output.stdout.len() as u64)
    } else {
        Err(format!("gzip: {}", output.status))
    }
}
