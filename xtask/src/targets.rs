//! Checks the published crates for other systems with `cargo check`: nothing is linked or run. If the active toolchain
//! has no std for a target, Debian's compiler builds it from the library's source.

use crate::shell::{self, Failure, cargo, root, run};
use crate::tally::{Tally, skip};
use crate::toolchain::{debian, has_target};

const TARGETS: [&str; 3] = ["x86_64-pc-windows-msvc", "x86_64-apple-darwin", "aarch64-unknown-linux-gnu"];

const PACKAGES: [&str; 4] = ["kinetoscope-stream", "kinetoscope-core", "kinetoscope", "kinetoscope-cli"];

/// Every feature except `itt`, whose dependency compiles C code for the target.
const FEATURES: &str =
    "kinetoscope/analysis,kinetoscope/tracing,kinetoscope/cuda,kinetoscope/nvml,kinetoscope/nvtx";

/// Disables optimisation and debug information, because the output is not used.
const SETTINGS: [&str; 3] = [
    "profile.dev.package.\"*\".opt-level=0",
    "profile.dev.build-override.opt-level=0",
    "profile.dev.debug=false",
];

/// Checks the recorder with its default features, and all crates with `FEATURES`; warnings are errors.
pub(crate) fn check() -> Result<Tally, Failure> {
    let mut sum = Tally::default();
    for target in TARGETS {
        let mut runs: Vec<&[&str]> = vec![&["-p", "kinetoscope"]];
        let all: Vec<&str> =
            PACKAGES.iter().flat_map(|package| ["-p", *package]).chain(["--features", FEATURES]).collect();
        runs.push(&all);
        for selection in runs {
            match check_one(target, selection)? {
                Ok(()) => sum.add(Tally::PASSED),
                Err(reason) => sum.add(skip(target, &reason)),
            }
        }
        sum.add(skip(&format!("{target}, feature itt"), "its dependency needs a C compiler for the target"));
    }
    Ok(sum)
}

/// The inner error is the reason why nothing was checked.
fn check_one(target: &str, selection: &[&str]) -> Result<Result<(), Failure>, Failure> {
    let mut check = if has_target(target) {
        let mut check = cargo(&["check"]);
        check.env("RUSTFLAGS", "-D warnings");
        check
    } else {
        if let Err(reason) = debian::require(target) {
            return Ok(Err(reason));
        }
        let mut check = debian::cargo();
        // With RUSTFLAGS, warnings of the standard library itself would be errors.
        check.args(["check", "-Z", "build-std=std,panic_abort", "-Z", "warnings"]);
        check.args(["--config", "build.warnings=\"deny\""]).env_remove("RUSTFLAGS");
        check
    };
    check.args(["--quiet", "--locked", "--target", target]).args(selection);
    check.arg("--target-dir").arg(shell::target().join("targets")).current_dir(root());
    for setting in SETTINGS {
        check.args(["--config", setting]);
    }
    run(&mut check).map(Ok)
}
