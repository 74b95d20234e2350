//! Checks the published crates for other systems with `cargo check`: nothing is linked or run. If the active toolchain
//! has no std for a target, Debian's compiler builds it from the library's source.

use crate::shell::{self, Failure, cargo, root, run};
use crate::tally::{Tally, skip};
use crate::toolchain::{debian, has_target};
use std::process::Command;

/// The systems on which the recorder was not run.
const SYSTEMS: [&str; 2] = ["x86_64-pc-windows-msvc", "x86_64-apple-darwin"];

const OTHER: [&str; 1] = ["aarch64-unknown-linux-gnu"];

const PACKAGES: [&str; 4] = ["kinetoscope-stream", "kinetoscope-core", "kinetoscope", "kinetoscope-cli"];

/// Every feature except `itt` and `criterion`, whose dependencies compile C code for the target.
const FEATURES: &str = "kinetoscope/analysis,kinetoscope/tracing,kinetoscope/cuda,kinetoscope/nvml,kinetoscope/nvtx,\
    kinetoscope/sampling,kinetoscope/control";

/// Disables optimisation and debug information, because the output is not used.
const SETTINGS: [&str; 3] = [
    "profile.dev.package.\"*\".opt-level=0",
    "profile.dev.build-override.opt-level=0",
    "profile.dev.debug=false",
];

/// Checks all crates with `FEATURES` for Windows and macOS, in one run of cargo, which builds procedural macros once.
pub(crate) fn systems() -> Result<Tally, Failure> {
    checked(&SYSTEMS, &all())
}

/// Checks all crates with `FEATURES` for the other targets, and the recorder with its default features for every target;
/// warnings are errors.
pub(crate) fn check() -> Result<Tally, Failure> {
    let mut sum = checked(&OTHER, &all())?;
    let targets = [SYSTEMS.as_slice(), &OTHER].concat();
    sum.add(checked(&targets, &["-p", "kinetoscope"])?);
    for target in targets {
        let features = format!("{target}, features itt and criterion");
        sum.add(skip(&features, "their dependencies need a C compiler for the target"));
    }
    Ok(sum)
}

/// The arguments that select all crates.
fn all() -> Vec<&'static str> {
    PACKAGES.iter().flat_map(|package| ["-p", *package]).chain(["--features", FEATURES]).collect()
}

/// Checks a selection of crates for targets. Those that cannot be checked are skipped.
fn checked(targets: &[&str], selection: &[&str]) -> Result<Tally, Failure> {
    let (ready, lacking): (Vec<&str>, Vec<&str>) = targets.iter().partition(|target| has_target(target));
    let mut sum = Tally::default();
    if !ready.is_empty() {
        let mut check = cargo(&["check"]);
        run_for(&ready, selection, check.env("RUSTFLAGS", "-D warnings"))?;
        sum.passed += ready.len();
    }
    let Some(first) = lacking.first() else { return Ok(sum) };
    if let Err(reason) = debian::require(first) {
        for target in lacking {
            sum.add(skip(target, &reason));
        }
        return Ok(sum);
    }
    let mut check = debian::cargo();
    // With RUSTFLAGS, warnings of the standard library itself would be errors.
    check.args(["check", "-Z", "build-std=std,panic_abort", "-Z", "warnings"]);
    check.args(["--config", "build.warnings=\"deny\""]).env_remove("RUSTFLAGS");
    run_for(&lacking, selection, &mut check)?;
    sum.passed += lacking.len();
    Ok(sum)
}

fn run_for(targets: &[&str], selection: &[&str], check: &mut Command) -> Result<(), Failure> {
    check.args(["--quiet", "--locked"]).args(selection).current_dir(root());
    check.arg("--target-dir").arg(shell::target().join("targets"));
    check.args(targets.iter().flat_map(|target| ["--target", *target]));
    check.args(SETTINGS.iter().flat_map(|setting| ["--config", *setting]));
    run(check)
}
