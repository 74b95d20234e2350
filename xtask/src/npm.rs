//! Installs npm packages, at the versions of a package-lock.json.

use crate::shell::{Failure, root, run};
use crate::tally::Tally;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The folders that have a package.json.
pub(crate) const FOLDERS: [&str; 4] = ["wasm/js", "tests/js", "web", "tests/browser"];

/// Installs the packages of every folder.
pub(crate) fn install_all() -> Result<Tally, Failure> {
    for folder in FOLDERS {
        install(&root().join(folder))?;
    }
    Ok(Tally::PASSED)
}

/// Installs the packages in the lock file of a folder, unless they are already installed.
pub(crate) fn install(folder: &Path) -> Result<(), Failure> {
    let lock = fs::read(folder.join("package-lock.json")).map_err(|e| format!("package-lock.json: {e}"))?;
    let stamp = folder.join("node_modules/.installed");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    let mut npm = npm(folder)?;
    run(npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    fs::write(&stamp, lock).map_err(|e| format!("{}: {e}", stamp.display()))
}

/// Returns the command that runs a script of a folder's package.json.
pub(crate) fn script(folder: &Path, name: &str) -> Result<Command, Failure> {
    let mut npm = npm(folder)?;
    npm.args(["run", name]);
    Ok(npm)
}

/// Returns the command that runs a program of an installed package.
pub(crate) fn program(folder: &Path, name: &str) -> Result<Command, Failure> {
    let path = folder.join("node_modules/.bin").join(name);
    if path.exists() { Ok(Command::new(path)) } else { Err(format!("{} is not installed", path.display())) }
}

/// Returns npm in a folder.
pub(crate) fn npm(folder: &Path) -> Result<Command, Failure> {
    if Command::new("npm").arg("--version").output().is_err() {
        return Err("npm is not installed: install Node.js 20 or later".to_owned());
    }
    let mut command = Command::new("npm");
    command.current_dir(folder);
    Ok(command)
}
