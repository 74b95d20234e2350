//! Debian's compiler. Its packages include the source of the standard library, so std can be built for any target.

use crate::shell::{Failure, cache, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const RUSTC: &str = "/usr/bin/rustc";
const CARGO: &str = "/usr/bin/cargo";
const SOURCE: &str = "/usr/lib/rustlib/src/rust/library";
pub(crate) const WASM_LINKER: &str = "/usr/bin/wasm-ld-19";
/// The libraries that do not need std.
const BARE: [&str; 3] = ["libcore-", "liballoc-", "libcompiler_builtins-"];
const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-19"];

/// Returns Debian's cargo with Debian's rustc, independent of rustup; unstable options are enabled.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(CARGO);
    command
        .env("RUSTC", RUSTC)
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO");
    command
}

/// Installs the compiler if it is missing and can be installed.
pub(crate) fn require(target: &str) -> Result<(), Failure> {
    provide(&[RUSTC, CARGO, SOURCE, WASM_LINKER], &PACKAGES, &format!("run `rustup target add {target}`"))
}

/// Ensures that these paths exist, by installing packages if possible. Otherwise the error names the alternative
/// `instead`.
pub(crate) fn provide(paths: &[&str], packages: &[&str], instead: &str) -> Result<(), Failure> {
    let all_exist = || paths.iter().all(|p| Path::new(p).exists());
    if all_exist() {
        return Ok(());
    }
    if Path::new("/usr/bin/apt-get").exists() && is_root() {
        install(packages)?;
        if all_exist() {
            return Ok(());
        }
    }
    Err(format!("{} is missing: {instead}, or on Debian `apt-get install {}`", paths[0], packages.join(" ")))
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout.trim_ascii() == b"0")
}

fn install(packages: &[&str]) -> Result<(), Failure> {
    let _ = Command::new("apt-get").args(["update", "-qq"]).status();
    let mut install = Command::new("apt-get");
    install
        .args(["install", "-y", "-qq", "--no-install-recommends"])
        .args(packages)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(Stdio::null());
    run(&mut install)
}

/// Returns a private sysroot with std for a WebAssembly target. It is built once per version of the compiler and kept
/// in the cache. Its subfolder `bare` is a sysroot without std.
pub(crate) fn sysroot(target: &str) -> Result<PathBuf, Failure> {
    let version = Command::new(RUSTC).arg("-vV").output().map_err(|e| format!("{RUSTC}: {e}"))?.stdout;
    let text = String::from_utf8_lossy(&version);
    let release = text.split_whitespace().nth(1).unwrap_or_default();
    let sysroot = cache().join("sysroots").join(format!("{target}-{release}"));
    let stamp = sysroot.join("built-by");
    if fs::read(&stamp).is_ok_and(|built| built == version) {
        return Ok(sysroot);
    }
    let _ = fs::remove_dir_all(&sysroot);
    let build = sysroot.join("build");
    let failure = |what: &str, error: std::io::Error| format!("{}: {what}: {error}", sysroot.display());
    fs::create_dir_all(build.join("src")).map_err(|e| failure("src", e))?;
    let manifest = "[package]\nname = \"sysroot\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n";
    fs::write(build.join("Cargo.toml"), manifest).map_err(|e| failure("Cargo.toml", e))?;
    fs::write(build.join("src/lib.rs"), "").map_err(|e| failure("lib.rs", e))?;
    let mut std = cargo();
    std.args(["build", "--release", "--quiet", "-Z", "build-std=std,panic_abort", "--target", target])
        .args(["--target-dir", "target"])
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", WASM_LINKER)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_TARGET_DIR")
        .current_dir(&build);
    run(&mut std)?;
    assemble(&sysroot, &build, target).map_err(|e| failure("libraries", e))?;
    let _ = fs::remove_dir_all(&build);
    fs::write(&stamp, version).map_err(|e| failure("stamp", e))?;
    Ok(sysroot)
}

/// Copies the libraries to the paths where rustc searches for them.
fn assemble(sysroot: &Path, build: &Path, target: &str) -> std::io::Result<()> {
    let below = Path::new("lib/rustlib").join(target).join("lib");
    let (libraries, bare) = (sysroot.join(&below), sysroot.join("bare").join(&below));
    fs::create_dir_all(&libraries)?;
    fs::create_dir_all(&bare)?;
    for entry in fs::read_dir(build.join("target").join(target).join("release/deps"))? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|e| e == "rlib") {
            fs::copy(entry.path(), libraries.join(entry.file_name()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if BARE.iter().any(|library| name.starts_with(library)) {
                fs::copy(entry.path(), bare.join(name))?;
            }
        }
    }
    Ok(())
}
