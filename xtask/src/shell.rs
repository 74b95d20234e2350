//! Paths, commands and failures, used by every step. This module imports no other module.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An error message for people.
pub(crate) type Failure = String;

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Returns the target folder: the output of cargo and everything else that is generated.
pub(crate) fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Returns the folder for installed tools and libraries. It is outside of the repository, so that all checkouts share
/// it: `KINETOSCOPE_CACHE`, otherwise the user's cache.
pub(crate) fn cache() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let of_user = || set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    set("KINETOSCOPE_CACHE")
        .or_else(|| Some(of_user()?.join("kinetoscope")))
        .unwrap_or_else(|| target().join("cache"))
}

/// Returns a cargo command that runs in the root of the repository.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command and returns an error if it fails.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|e| format!("{command:?}: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}")) }
}

/// Copies a file into a folder, which is created.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let folder = to.parent().unwrap_or(to);
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    fs::copy(from, to).map(drop).map_err(|e| format!("{}: {e}", from.display()))
}

/// Returns every file below a folder with one of these extensions, except generated files, installed packages and data.
pub(crate) fn sources_of(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            let is_excluded =
                ["target", "data", "corpus", "node_modules"].iter().any(|name| path.ends_with(name));
            if !is_excluded {
                found.extend(sources_of(&path, extensions)?);
            }
        } else if path.extension().is_some_and(|e| extensions.iter().any(|wanted| e == *wanted)) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a file exists and is not older than any of its sources.
pub(crate) fn is_current(made: &Path, sources: &[PathBuf]) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
    let made = changed(made);
    made.is_some() && sources.iter().all(|source| changed(source) <= made)
}
