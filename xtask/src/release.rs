//! Rehearses a release without publishing: packages every crate and the npm package, installs them from their packages
//! into empty projects, and runs them. The contents of the packages are tested, not the repository.

mod command;
mod crates;
mod npm;
mod projects;

use crate::shell::{Failure, target};
use crate::tally::Tally;
use crate::{package, page};
use std::fs;
use std::path::{Path, PathBuf};

/// A line of the table that is printed at the end.
struct Row {
    name: String,
    files: usize,
    /// The size of the compressed package.
    bytes: u64,
    dependencies: usize,
    /// The time of a debug build or an installation without earlier build output.
    seconds: f64,
}

/// Runs the command. Without `--dry-run` it returns an error.
pub(crate) fn run_all(arguments: &[String]) -> Result<(), Failure> {
    if arguments == ["--dry-run"] {
        return dry_run();
    }
    Err("publishing is manual: follow the checklist in CONTRIBUTING.md; `cargo xtask release --dry-run` rehearses it"
        .to_owned())
}

/// Runs the same as a step of the slow tests.
pub(crate) fn rehearse() -> Result<Tally, Failure> {
    dry_run()?;
    Ok(Tally::PASSED)
}

/// Packages, installs and runs everything, and prints what would be published.
pub(crate) fn dry_run() -> Result<(), Failure> {
    package::build_if_stale()?;
    page::run_all()?;
    let place = place()?;
    let crates = crates::package_all(&place)?;
    let mut rows = projects::build_all(&place, &crates)?;
    rows.push(command::install(&place, &crates)?);
    rows.push(npm::install(&place)?);
    print(&rows);
    fs::remove_dir_all(place.join("build")).map_err(|e| e.to_string())
}

/// Creates an empty folder. Its manifest and configuration apply to everything below it: no package is a member of a
/// workspace, and each dependency is taken from where its package was unpacked.
fn place() -> Result<PathBuf, Failure> {
    let place = target().join("release-dry-run");
    let make = || {
        if place.exists() {
            fs::remove_dir_all(&place)?;
        }
        fs::create_dir_all(place.join(".cargo"))?;
        fs::write(place.join("Cargo.toml"), "[workspace]\nexclude = [\"packages\", \"projects\"]\n")?;
        fs::write(place.join(".cargo/config.toml"), crates::patches())
    };
    make().map_err(|e| format!("{}: {e}", place.display()))?;
    Ok(place)
}

/// Returns the length of a file in bytes.
fn length(file: &Path) -> Result<u64, Failure> {
    fs::metadata(file).map(|m| m.len()).map_err(|e| format!("{}: {e}", file.display()))
}

fn print(rows: &[Row]) {
    println!("\nTo be published, in this order; build times are of clean debug builds:\n");
    println!("| package | version | files | bytes | dependencies | build, s |");
    println!("|---|---|---:|---:|---:|---:|");
    for Row { name, files, bytes, dependencies, seconds } in rows {
        let version = crates::VERSION;
        println!("| {name} | {version} | {files} | {bytes} | {dependencies} | {seconds:.0} |");
    }
    println!("\nNothing was published.");
}
