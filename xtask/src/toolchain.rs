//! Finds a toolchain for targets that the active one may lack, in this order: its own std for the target; `rustup
//! target add`, unless there is no rustup or `RUSTUP_AUTO_INSTALL=0` is set; on Debian as root, the distribution's
//! compiler with the library's source; otherwise an error with the packages to install.

pub(crate) mod debian;

use crate::shell::{self, Failure, cargo, root, run};
use crate::tally::Tally;
use std::path::Path;
use std::process::{Command, Stdio};

const BARE: &str = "x86_64-unknown-none";

/// The variable with the compiler's flags for the target; they do not apply to build scripts.
const FLAGS: &str = "CARGO_ENCODED_RUSTFLAGS";
const SEPARATOR: &str = "\u{1f}";

/// WebAssembly for browsers and Node.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// Installs the distribution's toolchain if the active one lacks a target and cannot add it.
pub(crate) fn install_if_missing() -> Result<(), Failure> {
    for target in [BARE, WASM] {
        if !(has_target(target) || add_target(target)) {
            debian::require(target)?;
        }
    }
    Ok(())
}

/// Checks the core crate alone for a target without std, so that no use of std is hidden by the features of another
/// crate.
pub(crate) fn check_no_std() -> Result<Tally, Failure> {
    let (mut check, target) = if has_target(BARE) || add_target(BARE) {
        (cargo(&[]), BARE)
    } else {
        debian::require(BARE)?;
        (debian_cargo(&debian::sysroot(WASM)?.join("bare"), &[]), WASM)
    };
    check.args(["check", "-p", "kinetoscope-core", "--quiet", "--target", target, "--target-dir"]);
    run(check.arg(shell::target().join("no-std")))?;
    Ok(Tally::PASSED)
}

/// Returns a cargo command that compiles for WebAssembly with these flags.
pub(crate) fn wasm(flags: &[&str]) -> Result<Command, Failure> {
    if has_target(WASM) || add_target(WASM) {
        let mut command = cargo(&[]);
        command.env(FLAGS, flags.join(SEPARATOR));
        return Ok(command);
    }
    debian::require(WASM)?;
    Ok(debian_cargo(&debian::sysroot(WASM)?, flags))
}

/// Returns Debian's cargo with a sysroot for WebAssembly.
fn debian_cargo(sysroot: &Path, flags: &[&str]) -> Command {
    let sysroot = sysroot.display().to_string();
    let mut command = debian::cargo();
    command
        .env(FLAGS, [flags, &["--sysroot", &sysroot]].concat().join(SEPARATOR))
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", debian::WASM_LINKER)
        .current_dir(root());
    command
}

/// Whether the active toolchain has the libraries of this target.
pub(crate) fn has_target(target: &str) -> bool {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    output.is_ok_and(|o| o.status.success() && Path::new(String::from_utf8_lossy(&o.stdout).trim()).is_dir())
}

fn add_target(target: &str) -> bool {
    if std::env::var_os("RUSTUP_AUTO_INSTALL").is_some_and(|v| v == "0") {
        return false;
    }
    let status = Command::new("rustup").args(["target", "add", target]).stderr(Stdio::inherit()).status();
    status.is_ok_and(|s| s.success()) && has_target(target)
}
