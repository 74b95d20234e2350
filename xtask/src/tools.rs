//! Programs that come from crates.io, at the versions that this project was tested with.

use crate::shell::{Failure, cache, cargo, root, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// wasm-bindgen, at the version of the library.
pub(crate) fn wasm_bindgen() -> Result<PathBuf, Failure> {
    let version = locked_version("wasm-bindgen")?;
    let without_tls = ["--no-default-features", "--bin", "wasm-bindgen"];
    tool("wasm-bindgen", "wasm-bindgen-cli", &version, &without_tls)
}

/// The program of this name: from the PATH where its version fits, else installed into the cache, unoptimised, since it
/// runs for a few seconds and would be compiled for minutes.
fn tool(name: &str, package: &str, version: &str, options: &[&str]) -> Result<PathBuf, Failure> {
    if has_version(Path::new(name), version) {
        return Ok(name.into());
    }
    let folder = cache().join("tools").join(format!("{package}-{version}"));
    let own = folder.join("bin").join(name);
    if !has_version(&own, version) {
        println!("installing {package} {version} in {}", folder.display());
        let build = folder.join("build");
        let mut install =
            cargo(&["install", package, "--version", version, "--force", "--quiet", "--no-track"]);
        install.args(options).arg("--root").arg(&folder).arg("--target-dir").arg(&build);
        for (setting, value) in [("OPT_LEVEL", "0"), ("LTO", "off"), ("DEBUG", "0"), ("CODEGEN_UNITS", "256")]
        {
            install.env(format!("CARGO_PROFILE_RELEASE_{setting}"), value);
        }
        run(install.env_remove("RUSTFLAGS"))?;
        let _ = fs::remove_dir_all(&build);
    }
    Ok(own)
}

fn has_version(program: &Path, version: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).split_whitespace().any(|word| word == version))
}

/// The version of a package in Cargo.lock.
fn locked_version(package: &str) -> Result<String, Failure> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).map_err(|e| format!("Cargo.lock: {e}"))?;
    let mut lines = lock.lines().skip_while(|line| *line != format!("name = \"{package}\""));
    let version = lines.nth(1).and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    version.map(str::to_owned).ok_or_else(|| format!("{package} is not in Cargo.lock"))
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
