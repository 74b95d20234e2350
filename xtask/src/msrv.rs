//! Checks that the published crates build with the oldest supported compiler: `rust-version` of the workspace. Clippy
//! denies newer parts of the standard library (`incompatible_msrv`); this step checks what the dependencies declare,
//! and builds with that compiler if it is installed.

use crate::shell::{Failure, cargo, root, run, target};
use crate::tally::{Tally, skip};
use std::fs;
use std::process::Command;

/// Major and minor version.
type Version = (u32, u32);

/// Checks the dependencies in Cargo.lock, then builds the crates with the compiler itself.
pub(crate) fn check() -> Result<Tally, Failure> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).map_err(|e| format!("Cargo.toml: {e}"))?;
    let line = manifest.lines().find_map(|l| l.strip_prefix("rust-version = "));
    let oldest = line.and_then(version).ok_or("Cargo.toml has no rust-version")?;
    check_dependencies(oldest)?;
    let mut sum = Tally::PASSED;
    sum.add(build(oldest)?);
    Ok(sum)
}

fn check_dependencies(oldest: Version) -> Result<(), Failure> {
    let output = cargo(&["metadata", "--locked", "--format-version", "1"]).output();
    let output = output.map_err(|e| format!("cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let declared = declared(&String::from_utf8_lossy(&output.stdout));
    if declared.len() < 50 {
        return Err(format!("cargo metadata lists only {} packages with a rust-version", declared.len()));
    }
    let newer = declared.iter().filter(|(_, version)| *version > oldest);
    let newer: Vec<String> = newer.map(|(path, v)| format!("{path} needs Rust {}.{}", v.0, v.1)).collect();
    if newer.is_empty() { Ok(()) } else { Err(newer.join("\n")) }
}

/// Returns the manifest and the version of each package that declares a `rust-version`. In cargo's output, it follows
/// the path of the manifest.
fn declared(metadata: &str) -> Vec<(String, Version)> {
    let packages = metadata.split("\"manifest_path\":\"").skip(1);
    let of = |package: &str| {
        let path = package.split('"').next()?.to_owned();
        let (_, rest) = package.split_once("\"rust_version\":")?;
        Some((path, version(rest.split(['}', ',']).next()?)?))
    };
    packages.filter_map(of).collect()
}

/// Parses the first two numbers of a quoted version.
fn version(text: &str) -> Option<Version> {
    let mut numbers = text.trim().strip_prefix('"')?.split(['.', '"']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn build((major, minor): Version) -> Result<Tally, Failure> {
    let list = Command::new("rustup").args(["toolchain", "list"]).output();
    let list = list.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    let prefix = format!("{major}.{minor}");
    let is_it = |name: &&str| name.strip_prefix(&prefix).is_some_and(|rest| rest.starts_with(['.', '-']));
    let Some(toolchain) = list.split_whitespace().find(is_it) else {
        return Ok(skip(&format!("build with Rust {prefix}"), "rustup has not installed this toolchain"));
    };
    let mut check = Command::new("rustup");
    check.args(["run", toolchain, "cargo", "check", "--locked", "--quiet"]).current_dir(root());
    check.args([
        "-p",
        "kinetoscope-stream",
        "-p",
        "kinetoscope-core",
        "-p",
        "kinetoscope",
        "-p",
        "kinetoscope-cli",
    ]);
    check.arg("--target-dir").arg(target().join("msrv")).env_remove("RUSTUP_TOOLCHAIN");
    run(check.env_remove("CARGO").env_remove("RUSTC"))?;
    Ok(Tally::PASSED)
}

#[cfg(test)]
mod tests {
    use super::declared;

    #[test]
    fn a_rust_version_belongs_to_the_manifest_before_it() {
        let metadata = r#"{"packages":[{"name":"a","manifest_path":"/a/Cargo.toml","links":null,"rust_version":"1.91.1"},
            {"name":"b","manifest_path":"/b/Cargo.toml","rust_version":null},
            {"name":"c","manifest_path":"/c/Cargo.toml","rust_version":"1.85"}],"workspace_root":"/"}"#;
        let expected = [("/a/Cargo.toml".to_owned(), (1, 91)), ("/c/Cargo.toml".to_owned(), (1, 85))];
        assert_eq!(declared(metadata), expected);
    }
}
