//! Programs that come from crates.io, at the versions that this project was tested with.

use crate::shell::{Failure, cache, cargo, root, run};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const WASM_PACK: &str = "0.15.1";

/// wasm-pack, with wasm-bindgen and a toolchain for WebAssembly on its PATH; `programs` is the toolchain's folder, where
/// it is not the active one.
pub(crate) fn wasm_pack(programs: Option<PathBuf>) -> Result<Command, Failure> {
    let pack = tool("wasm-pack", "wasm-pack", WASM_PACK, &["--locked"])?;
    let without_tls = ["--no-default-features", "--bin", "wasm-bindgen"];
    let bindgen = tool("wasm-bindgen", "wasm-bindgen-cli", &locked_version("wasm-bindgen")?, &without_tls)?;
    let mut path: Vec<PathBuf> = programs.into_iter().collect();
    path.extend(bindgen.parent().filter(|p| p.is_absolute()).map(Path::to_path_buf));
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let path: OsString = env::join_paths(path).map_err(|e| e.to_string())?;
    let mut command = Command::new(pack);
    command.env("PATH", path).env_remove("CARGO").env_remove("RUSTC");
    Ok(command)
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
