//! A toolchain for targets that the active one may lack, found in this order: its own std for the target; `rustup target
//! add`, unless there is no rustup or `RUSTUP_AUTO_INSTALL=0` is set; on Debian as root, the distribution's compiler with
//! the library's source; else a message that says what to install.

use crate::Failure;
use crate::steps::{cargo, root, run};
use std::path::Path;
use std::process::{Command, Stdio};

const BARE: &str = "x86_64-unknown-none";
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_SOURCE: &str = "/usr/lib/rustlib/src/rust/library";

/// Checks core alone on a target that has no std, so that nothing that uses std can hide behind another crate's features.
pub(crate) fn check_no_std() -> Result<(), Failure> {
    if has_target(BARE) || add_target(BARE) {
        return run(&mut cargo(&["check", "-p", "kinetoscope-core", "--target", BARE, "--quiet"]));
    }
    if !has_debian() {
        install_debian()?;
    }
    let mut command = Command::new(DEBIAN_CARGO);
    command
        .args(["check", "-p", "kinetoscope-core", "--target", BARE, "-Z", "build-std=core,alloc", "--quiet"])
        .args(["--target-dir", "target/no-std"])
        .env("RUSTC", DEBIAN_RUSTC)
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO")
        .current_dir(root());
    run(&mut command)
}

/// Whether the active toolchain has a std, or a core, for this target.
fn has_target(target: &str) -> bool {
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

fn has_debian() -> bool {
    [DEBIAN_RUSTC, DEBIAN_CARGO, DEBIAN_SOURCE].iter().all(|p| Path::new(p).exists())
}

fn install_debian() -> Result<(), Failure> {
    let apt = Path::new("/usr/bin/apt-get").exists();
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0");
    if apt && root {
        let packages = ["rustc-web", "cargo-web", "rust-web-src"];
        let _ = Command::new("apt-get").args(["update", "-qq"]).status();
        let mut install = Command::new("apt-get");
        install
            .args(["install", "-y", "-qq", "--no-install-recommends"])
            .args(packages)
            .stdout(Stdio::null());
        run(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
        if has_debian() {
            return Ok(());
        }
    }
    Err(format!(
        "core cannot be checked without std here: run `rustup target add {BARE}`, or on Debian \
         `apt-get install rustc-web cargo-web rust-web-src`"
    ))
}
