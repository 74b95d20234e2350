//! The real CUPTI of each toolkit, from its Python wheels: libraries that step over records without a driver.

use crate::rust_tests;
use crate::shell::{Failure, cache, run, target};
use crate::tally::{Tally, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Packages and versions, one of each toolkit that can be loaded without a driver.
const WHEELS: [(&str, &str); 11] = [
    ("nvidia-cuda-cupti-cu12", "12.0.146"),
    ("nvidia-cuda-cupti-cu12", "12.1.105"),
    ("nvidia-cuda-cupti-cu12", "12.2.142"),
    ("nvidia-cuda-cupti-cu12", "12.3.101"),
    ("nvidia-cuda-cupti-cu12", "12.4.127"),
    ("nvidia-cuda-cupti-cu12", "12.5.82"),
    ("nvidia-cuda-cupti-cu12", "12.6.80"),
    ("nvidia-cuda-cupti-cu12", "12.8.90"),
    ("nvidia-cuda-cupti-cu12", "12.9.79"),
    ("nvidia-cuda-cupti", "13.0.85"),
    ("nvidia-cuda-cupti", "13.1.115"),
];

/// Has every one of them step over records; says so where they cannot be had.
pub(crate) fn test() -> Result<Tally, Failure> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok(skip("cupti", "the wheels of CUPTI are fetched for Linux on x86-64 only"));
    }
    let has_pip = Command::new("python3").args(["-m", "pip", "--version"]).stdout(Stdio::null()).status();
    if !has_pip.is_ok_and(|status| status.success()) {
        return Ok(skip("cupti", "the real CUPTI is fetched by Python's pip, which is not here"));
    }
    let libraries = cache().join("cupti");
    fs::create_dir_all(&libraries).map_err(|e| format!("{}: {e}", libraries.display()))?;
    for (package, version) in WHEELS {
        let library = libraries.join(format!("libcupti-{version}.so"));
        if !library.exists() {
            fetch(package, version, &library)?;
        }
    }
    rust_tests::test_one("cupti_wheels", "KINETOSCOPE_CUPTI_WHEELS", &libraries)
}

/// Fetches a wheel and takes the library out of it.
fn fetch(package: &str, version: &str, library: &Path) -> Result<(), Failure> {
    let folder = target().join("cupti").join(version);
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let wanted = format!("{package}=={version}");
    let pip = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"];
    run(Command::new("python3").args(pip).args(["--only-binary=:all:", "--dest"]).arg(&folder).arg(&wanted))?;
    let wheel = find(&folder, &|name| name.starts_with("nvidia_cuda_cupti"));
    let wheel = wheel.ok_or(format!("{wanted}: no wheel came"))?;
    let unpacked = folder.join("unpacked");
    run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&unpacked))?;
    let is_library = |name: &str| name == "libcupti.so.12" || name == "libcupti.so.13";
    let found = find(&unpacked, &is_library).ok_or(format!("{wanted}: there is no libcupti in it"))?;
    // By another name first, so that a library which is there is whole.
    let part = library.with_extension("part");
    fs::copy(found, &part).and_then(|_| fs::rename(&part, library)).map_err(|e| e.to_string())?;
    fs::remove_dir_all(&folder).map_err(|e| e.to_string())
}

/// The first file below a folder whose name is meant.
fn find(folder: &Path, is_meant: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
    let paths: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let is_file = |path: &&PathBuf| {
        path.is_file() && path.file_name().and_then(|name| name.to_str()).is_some_and(is_meant)
    };
    let here = paths.iter().find(is_file).cloned();
    here.or_else(|| paths.iter().filter(|path| path.is_dir()).find_map(|path| find(path, is_meant)))
}
