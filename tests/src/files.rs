//! Fixtures and the corpus of real traces: their paths, and how to read them.

use kinetoscope::files::unpacker;
use kinetoscope_core::trace::{Trace, TraceReader};
use std::error::Error;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Returns the folder of fixtures in the repository.
pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

/// Returns the path of a fake library, which is built together with the test.
pub fn fake(name: &str) -> PathBuf {
    let folder = std::env::current_exe().expect("a program").parent().expect("a folder").to_owned();
    let path = folder.join(format!("libkinetoscope_{name}_fake.so"));
    assert!(path.exists(), "{}", path.display());
    path
}

/// Reports that the calling test is skipped, and why. The line goes directly to stderr, because the test runner
/// captures the output of tests that pass. `cargo xtask test` counts these lines.
pub fn skip(reason: &str) {
    let thread = std::thread::current();
    let _ = writeln!(io::stderr(), "SKIPPED {}: {reason}", thread.name().unwrap_or("a test"));
}

/// Returns a folder next to the repository, for data that cannot be in it. If it is absent, reports a skip and returns
/// `None`.
pub fn shared(name: &str, holds: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(name);
    if !folder.is_dir() {
        skip(&format!("{holds} not found in ../shared/{name}"));
        return None;
    }
    Some(folder)
}

/// Returns the bytes of `path`, or the decompressed bytes of `path` with `.gz` appended.
pub fn read(path: &Path) -> Option<Vec<u8>> {
    if let Ok(bytes) = fs::read(path) {
        return Some(bytes);
    }
    let packed = fs::read(format!("{}.gz", path.display())).ok()?;
    let mut bytes = Vec::new();
    flate2::read::MultiGzDecoder::new(packed.as_slice())
        .read_to_end(&mut bytes)
        .expect("a complete gzip file");
    Some(bytes)
}

/// Reads a trace on the calling thread.
///
/// # Errors
///
/// The file cannot be read, or is not a trace.
pub fn read_alone(path: &str) -> Result<Trace, Box<dyn Error>> {
    let mut file = fs::File::open(path)?;
    let mut reader = TraceReader::new(unpacker());
    let mut buffer = vec![0; 256 << 10];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            return Ok(reader.finish()?);
        }
        reader.feed(&buffer[..length])?;
    }
}

/// Returns every file below a folder, in the order of the paths.
pub fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(below(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Returns the folders in `folder`, sorted by name.
pub fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut folders: Vec<PathBuf> =
        entries.map(|e| e.expect("an entry").path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    folders
}
