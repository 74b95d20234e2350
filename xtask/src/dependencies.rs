//! Checks of the dependencies: licences, sources and duplicates by `deny.toml`, and known vulnerabilities. What cannot be checked on a
//! machine is a skip with its cause.

use crate::npm;
use crate::shell::{Failure, cache, cargo, root, run};
use crate::tally::{Tally, skip};
use std::path::Path;
use std::process::{Command, Output};

/// The version of cargo-deny that the slow step installs.
const DENY: &str = "0.18.9";

/// Checks `deny.toml` if cargo-deny is installed: a part of the step `lints`.
pub(crate) fn rules() -> Result<Tally, Failure> {
    let installed = cache().join("deny/bin/cargo-deny");
    let program = if installed.exists() { installed.as_path() } else { Path::new("cargo-deny") };
    if Command::new(program).arg("--version").output().is_err() {
        return Ok(skip("deny", "cargo-deny is not installed; `cargo xtask test dependencies` installs it"));
    }
    run(deny(program).args(["licenses", "bans", "sources"]))?;
    Ok(Tally::PASSED)
}

/// Installs cargo-deny, checks its rules and the database of advisories, and lets npm audit its packages.
pub(crate) fn check() -> Result<Tally, Failure> {
    let installed = cache().join("deny");
    run(
        cargo(&["install", "--quiet", "--locked", "cargo-deny", "--version", DENY, "--root"]).arg(&installed)
    )?;
    let mut sum = rules()?;
    let program = installed.join("bin/cargo-deny");
    let advisories = output(deny(&program).arg("advisories"))?;
    sum.add(outcome("advisories", &advisories, |text| text.contains("failed to fetch advisory database"))?);
    for folder in npm::FOLDERS {
        let audit = output(npm::npm(&root().join(folder))?.args(["audit", "--audit-level=high"]))?;
        sum.add(outcome(folder, &audit, |text| text.contains("audit endpoint returned an error"))?);
    }
    Ok(sum)
}

/// `cargo deny check` by the rules of the project.
fn deny(program: &Path) -> Command {
    let mut deny = Command::new(program);
    deny.current_dir(root()).args(["--all-features", "--locked", "check", "--hide-inclusion-graph"]);
    deny
}

fn output(command: &mut Command) -> Result<Output, Failure> {
    command.output().map_err(|error| format!("{command:?}: {error}"))
}

/// The outcome of a check that needs a database, which may be out of reach.
fn outcome(name: &str, output: &Output, is_out_of_reach: fn(&str) -> bool) -> Result<Tally, Failure> {
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        Ok(Tally::PASSED)
    } else if is_out_of_reach(&text) {
        Ok(skip(name, "the database of vulnerabilities cannot be reached"))
    } else {
        Err(format!("{name}: {text}"))
    }
}
