//! Programs that the steps run.

use crate::shell::{Failure, cache, cargo, root, run};
use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program that makes the glue of the engine. It is compiled in the cache, so that every checkout finds it.
pub(crate) fn bindgen() -> Result<PathBuf, Failure> {
    let built = cache().join("bindgen");
    let mut build = cargo(&["build", "--locked", "--quiet", "--target-dir"]);
    run(build.arg(&built).current_dir(root().join("wasm/bindgen")))?;
    Ok(built.join("debug").join(format!("kinetoscope-bindgen{EXE_SUFFIX}")))
}

/// How many bytes gzip makes of a file.
pub(crate) fn gzip_length(path: &Path) -> Result<u64, Failure> {
    let output =
        Command::new("gzip").args(["-9", "-c"]).arg(path).output().map_err(|e| format!("gzip: {e}"))?;
    if output.status.success() {
        Ok(output.stdout.len() as u64)
    } else {
        Err(format!("gzip: {}", output.status))
    }
}
