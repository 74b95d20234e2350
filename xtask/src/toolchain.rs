//! A toolchain for targets that the active one may lack, found in this order: its own std for the target; `rustup target
//! add`, unless there is no rustup or `RUSTUP_AUTO_INSTALL=0` is set; on Debian as root, the distribution's compiler with
//! the library's source; else a message that says what to install.

pub(crate) mod debian;

use crate::shell::{Failure, cargo, root, run, target};
use crate::tally::Tally;
use std::path::Path;
use std::process::{Command, Stdio};

const BARE: &str = "x86_64-unknown-none";

/// WebAssembly as browsers and Node run it.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// Installs what the distribution has of toolchains, where the active one lacks a target and cannot add it.
pub(crate) fn need() -> Result<(), Failure> {
    for target in [BARE, WASM] {
        if !(has_target(target) || add_target(target)) {
            debian::need(target)?;
        }
    }
    Ok(())
}

/// Checks core alone on a target that has no std, so that nothing that uses std can hide behind another crate's features.
pub(crate) fn check_no_std() -> Result<Tally, Failure> {
    let is_known = has_target(BARE) || add_target(BARE);
    let mut check = if is_known { cargo(&[]) } else { debian::cargo() };
    check.args(["check", "-p", "kinetoscope-core", "--target", BARE, "--quiet", "--target-dir"]);
    check.arg(target().join("no-std")).current_dir(root());
    if !is_known {
        debian::need(BARE)?;
        check.args(["-Z", "build-std=core,alloc"]);
    }
    run(&mut check)?;
    Ok(Tally::PASSED)
}

/// A cargo that compiles for WebAssembly with these flags.
pub(crate) fn wasm(flags: &[&str]) -> Result<Command, Failure> {
    let flags = |more: &[&str]| [flags, more].concat().join("\u{1f}");
    if has_target(WASM) || add_target(WASM) {
        let mut command = cargo(&[]);
        command.env("CARGO_ENCODED_RUSTFLAGS", flags(&[]));
        return Ok(command);
    }
    debian::need(WASM)?;
    let sysroot = debian::sysroot(WASM)?;
    let mut command = debian::cargo();
    command
        .env("CARGO_ENCODED_RUSTFLAGS", flags(&["--sysroot", &sysroot.display().to_string()]))
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", debian::WASM_LINKER)
        .current_dir(root());
    Ok(command)
}

/// Whether the active toolchain has a std, or a core, for this target.
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
