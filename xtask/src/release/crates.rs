//! Packages the crates, checks the contents of the packages, and unpacks them.

use super::length;
use crate::shell::{Failure, cargo, run};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All packages have the version of the workspace.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The crates in the order of publication: each after the crates that it depends on.
const CRATES: [&str; 6] = [
    "kinetoscope-stream",
    "kinetoscope-core",
    "kinetoscope-macros",
    "kinetoscope",
    "kinetoscope-tables",
    "kinetoscope-cli",
];

/// Files that each package must contain.
const NEEDED: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Files and folders that it may also contain.
const ALLOWED: [&str; 6] =
    ["src/", "examples/", "queries/", "Cargo.lock", "Cargo.toml.orig", ".cargo_vcs_info.json"];

/// Files that the package of the command line must contain, and no other package.
const COMMAND: [&str; 2] = ["build.rs", "page/kinetoscope.html"];

/// A crate's package.
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) files: usize,
    pub(super) bytes: u64,
    /// The folder where it was unpacked.
    pub(super) folder: PathBuf,
}

/// Returns the cargo configuration that takes each crate from its unpacked package.
pub(super) fn patches() -> String {
    let mut text = "[patch.crates-io]\n".to_owned();
    for name in CRATES {
        let _ = writeln!(text, "{name} = {{ path = \"packages/{name}-{VERSION}\" }}");
    }
    text
}

/// Packages every crate, checks the contents of its package, and unpacks it.
pub(super) fn package_all(place: &Path) -> Result<Vec<Package>, Failure> {
    let mut package = cargo(&["package", "--quiet", "--allow-dirty", "--no-verify", "--target-dir"]);
    package.arg(place.join("cargo")).args(CRATES.iter().flat_map(|name| ["-p", name]));
    run(&mut package)?;
    let packages = place.join("packages");
    fs::create_dir_all(&packages).map_err(|e| format!("{}: {e}", packages.display()))?;
    CRATES.iter().map(|name| unpack(place, name)).collect()
}

fn unpack(place: &Path, name: &'static str) -> Result<Package, Failure> {
    let folder = format!("{name}-{VERSION}");
    let archive = place.join("cargo/package").join(format!("{folder}.crate"));
    let files = files(&archive, &format!("{folder}/"))?;
    check(name, &files)?;
    let packages = place.join("packages");
    run(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&packages))?;
    Ok(Package { name, files: files.len(), bytes: length(&archive)?, folder: packages.join(folder) })
}

/// Returns the files of an archive, relative to the folder that contains all of them.
pub(super) fn files(archive: &Path, folder: &str) -> Result<Vec<String>, Failure> {
    let list = Command::new("tar").arg("-tzf").arg(archive).output().map_err(|e| format!("tar: {e}"))?;
    let text = String::from_utf8_lossy(&list.stdout).into_owned();
    let files: Option<Vec<String>> =
        text.lines().map(|l| l.strip_prefix(folder).map(str::to_owned)).collect();
    match files {
        Some(files) if list.status.success() && !files.is_empty() => Ok(files),
        _ => Err(format!("{}: {}\n{text}", archive.display(), list.status)),
    }
}

fn check(name: &str, files: &[String]) -> Result<(), Failure> {
    let command_files: &[&str] = if name == "kinetoscope-cli" { &COMMAND } else { &[] };
    let needed: Vec<&str> = NEEDED.iter().chain(command_files).copied().collect();
    if let Some(missing) = needed.iter().find(|wanted| !files.iter().any(|file| file == *wanted)) {
        return Err(format!("the package of {name} has no {missing}"));
    }
    let is_allowed = |file: &str| {
        needed.contains(&file)
            || ALLOWED.iter().any(|start| file == *start || (start.ends_with('/') && file.starts_with(start)))
    };
    match files.iter().find(|file| !is_allowed(file)) {
        Some(file) => Err(format!("the package of {name} contains {file}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{NEEDED, check};

    #[test]
    fn packages_contain_exactly_the_allowed_files() {
        let files = |more: &[&str]| -> Vec<String> {
            NEEDED.iter().chain(more).map(|name| (*name).to_owned()).collect()
        };
        assert_eq!(check("kinetoscope", &files(&["src/lib.rs", "Cargo.lock"])), Ok(()));
        assert!(check("kinetoscope", &files(&["stream/src/lib.rs"])).is_err());
        assert!(check("kinetoscope", &files(&["src/lib.rs"])[1..]).is_err());
        assert!(
            check("kinetoscope-cli", &files(&["src/main.rs", "build.rs"])).is_err(),
            "the page is missing"
        );
    }
}
