//! A release without publishing: every crate and the npm package are packaged, installed from their packages into empty
//! projects, and run. What is tested is what a package holds, not the repository.

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
    /// Of the package, compressed.
    bytes: u64,
    dependencies: usize,
    /// Of a debug build or an installation, with nothing built before.
    seconds: f64,
}

/// The command; without `--dry-run` it refuses.
pub(crate) fn run_all(arguments: &[String]) -> Result<(), Failure> {
    if arguments == ["--dry-run"] {
        return dry_run();
    }
    Err("publishing is done by hand, by the checklist in CONTRIBUTING.md; `cargo xtask release --dry-run` rehearses it"
        .to_owned())
}

/// The same as a step of the slow tests.
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

/// An empty folder. A manifest and a setting for all below it: none of the packages is a member of a workspace, and each is
/// found where it was unpacked.
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

/// The length of a file in bytes.
fn length(file: &Path) -> Result<u64, Failure> {
    fs::metadata(file).map(|m| m.len()).map_err(|e| format!("{}: {e}", file.display()))
}

fn print(rows: &[Row]) {
    println!("\nTo be published, in this order; builds are debug builds, from nothing:\n");
    println!("| package | version | files | bytes | dependencies | build, s |");
    println!("|---|---|---:|---:|---:|---:|");
    for Row { name, files, bytes, dependencies, seconds } in rows {
        let version = crates::VERSION;
        println!("| {name} | {version} | {files} | {bytes} | {dependencies} | {seconds:.0} |");
    }
    println!("\nNothing was published.");
}
