//! Tools that the steps run.

use crate::shell::{Failure, cache, cargo, root, run};
use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the program that generates the glue of the engine, in the cache that all checkouts share, and returns its
/// path.
pub(crate) fn bindgen() -> Result<PathBuf, Failure> {
    let built = cache().join("bindgen");
    let mut build = cargo(&["build", "--locked", "--quiet", "--target-dir"]);
    run(build.arg(&built).current_dir(root().join("wasm/bindgen")))?;
    Ok(built.join("debug").join(format!("kinetoscope-bindgen{EXE_SUFFIX}")))
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
