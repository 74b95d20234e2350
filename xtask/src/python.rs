//! Environments of Python with packages.

use crate::shell::{Failure, cache, run};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Installs packages, unless they are already installed. Returns the interpreter of their environment.
pub(crate) fn environment(packages: &[&str]) -> Result<PathBuf, Failure> {
    let folder = cache().join("python").join(packages.join("_"));
    let (python, stamp) = (folder.join("bin/python"), folder.join("installed"));
    if !stamp.exists() {
        // An environment cannot be renamed: its programs contain its path.
        let _ = fs::remove_dir_all(&folder);
        run(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut install = Command::new(&python);
        run(install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages))?;
        fs::write(&stamp, "").map_err(|e| format!("{}: {e}", stamp.display()))?;
    }
    Ok(python)
}
