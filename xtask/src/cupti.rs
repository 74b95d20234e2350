//! Tests with the CUPTI libraries of each toolkit, from its Python wheels. They iterate over records without a driver.

use crate::rust_tests;
use crate::shell::{Failure, cache, run, target};
use crate::tally::{Tally, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Packages and versions, one for each toolkit whose library loads without a driver.
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

/// Runs the test of the record layouts with each library. Skipped where the wheels cannot be downloaded.
pub(crate) fn test() -> Result<Tally, Failure> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Ok(skip("cupti", "the CUPTI wheels are downloaded for Linux on x86-64 only"));
    }
    let has_pip = Command::new("python3").args(["-m", "pip", "--version"]).stdout(Stdio::null()).status();
    if !has_pip.is_ok_and(|status| status.success()) {
        return Ok(skip("cupti", "CUPTI is downloaded with Python's pip, which is not installed"));
    }
    let libraries = cache().join("cupti");
    fs::create_dir_all(&libraries).map_err(|e| format!("{}: {e}", libraries.display()))?;
    for (package, version) in WHEELS {
        let library = libraries.join(format!("libcupti-{version}.so"));
        if !library.exists() {
            fetch(package, version, &library)?;
        }
    }
    rust_tests::test_one("cuda", &["wheels::"], "KINETOSCOPE_CUPTI_WHEELS", &libraries)
}

/// Downloads a wheel and extracts the library from it.
fn fetch(package: &str, version: &str, library: &Path) -> Result<(), Failure> {
    let folder = target().join("cupti").join(version);
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let wanted = format!("{package}=={version}");
    let pip = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"];
    run(Command::new("python3").args(pip).args(["--only-binary=:all:", "--dest"]).arg(&folder).arg(&wanted))?;
    let wheel = find(&folder, &|name| name.starts_with("nvidia_cuda_cupti"));
    let wheel = wheel.ok_or(format!("{wanted}: pip downloaded no wheel"))?;
    let unpacked = folder.join("unpacked");
    run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&unpacked))?;
    let is_library = |name: &str| name == "libcupti.so.12" || name == "libcupti.so.13";
    let found = find(&unpacked, &is_library).ok_or(format!("{wanted}: the wheel contains no libcupti"))?;
    // Copied under a temporary name and renamed, so that an existing library is always complete.
    let part = library.with_extension("part");
    fs::copy(found, &part).and_then(|_| fs::rename(&part, library)).map_err(|e| e.to_string())?;
    fs::remove_dir_all(&folder).map_err(|e| e.to_string())
}

/// Returns the first file below a folder whose name satisfies `matches`.
fn find(folder: &Path, matches: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
    let paths: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let is_file = |path: &&PathBuf| {
        path.is_file() && path.file_name().and_then(|name| name.to_str()).is_some_and(matches)
    };
    let here = paths.iter().find(is_file).cloned();
    here.or_else(|| paths.iter().filter(|path| path.is_dir()).find_map(|path| find(path, matches)))
}
