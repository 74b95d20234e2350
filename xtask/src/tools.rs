//! Programs that come from crates.io, at the versions that this project was tested with.

use crate::shell::{Failure, cargo, root, run};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

const WASM_PACK: &str = "0.15.1";

/// wasm-pack, with wasm-bindgen and a toolchain for WebAssembly on its PATH; `programs` is the toolchain's folder, where
/// it is not the active one.
pub(crate) fn wasm_pack(programs: Option<PathBuf>) -> Result<Command, Failure> {
    let pack = tool("wasm-pack", "wasm-pack", WASM_PACK, &["--locked"])?;
    let bindgen = tool("wasm-bindgen", "wasm-bindgen-cli", &locked_version("wasm-bindgen")?, &[])?;
    let mut path: Vec<PathBuf> = programs.into_iter().collect();
    path.extend(bindgen.parent().filter(|p| p.is_absolute()).map(Path::to_path_buf));
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let path: OsString = env::join_paths(path).map_err(|e| e.to_string())?;
    let mut command = Command::new(pack);
    command.env("PATH", path).env_remove("CARGO").env_remove("RUSTC");
    Ok(command)
}

/// The program of this name: from the PATH where its version fits, else installed below `target/tools`.
fn tool(name: &str, package: &str, version: &str, options: &[&str]) -> Result<PathBuf, Failure> {
    if has_version(Path::new(name), version) {
        return Ok(name.into());
    }
    let tools = root().join("target/tools");
    let own = tools.join("bin").join(name);
    if !has_version(&own, version) {
        eprintln!("installing {package} {version} below target/tools");
        let mut install = cargo(&["install", package, "--version", version, "--force", "--quiet", "--root"]);
        install
            .arg(&tools)
            .args(options)
            .arg("--target-dir")
            .arg(tools.join("build"))
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env_remove("RUSTFLAGS");
        run(&mut install)?;
    }
    Ok(own)
}

fn has_version(program: &Path, version: &str) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).split_whitespace().any(|word| word == version))
}

/// The version of a package in Cargo.lock.
fn locked_version(package: &str) -> Result<String, Failure> {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).map_err(|e| format!("Cargo.lock: {e}"))?;
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
