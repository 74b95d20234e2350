//! The real CUPTI of each toolkit iterates over buffers of records with the lengths that the decoder uses. `cargo xtask
//! test cupti` downloads the libraries, which need no driver for this, and passes their folder.

use kinetoscope::device::{CUPTI_VARIABLE, DRIVER_VARIABLE};
use kinetoscope_tests::files::{fake, skip};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Checks that the loader accepts a real CUPTI. Calls that need a driver fail with a warning and do not end the
/// program.
fn has_every_function(library: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace.json");
    let child = Command::new(env!("CARGO_BIN_EXE_cuda-child"))
        .arg("probe")
        .arg(&trace)
        .env(DRIVER_VARIABLE, fake("cuda"))
        .env(CUPTI_VARIABLE, library)
        .output()
        .expect("the child should run");
    assert!(child.status.success(), "{}: {}", library.display(), String::from_utf8_lossy(&child.stderr));
    assert_eq!(String::from_utf8_lossy(&child.stdout).trim(), "Ok(2)", "{}", library.display());
    let trace = fs::read_to_string(trace).expect("a trace");
    assert!(trace.contains("CUPTI failed: cuptiSubscribe returned "), "{trace}");
}

const FOLDER_VARIABLE: &str = "KINETOSCOPE_CUPTI_WHEELS";

#[test]
fn real_cupti_libraries_and_the_decoder_agree_on_record_lengths() {
    let Some(folder) = env::var_os(FOLDER_VARIABLE).map(PathBuf::from) else {
        skip("`cargo xtask test cupti` downloads CUPTI's libraries and runs this test");
        return;
    };
    let mut versions = Vec::new();
    for entry in fs::read_dir(&folder).expect("a folder").flatten() {
        let child = Command::new(env!("CARGO_BIN_EXE_cuda-child")).arg("step").arg(entry.path()).output();
        let child = child.expect("the child should run");
        let said = String::from_utf8_lossy(&child.stdout).trim().to_owned();
        let failed = String::from_utf8_lossy(&child.stderr);
        assert!(child.status.success(), "{}: {failed}", entry.path().display());
        versions.push(said.parse::<u32>().expect("a version"));
        has_every_function(&entry.path());
    }
    versions.sort_unstable();
    println!("iterated over by CUPTI {versions:?}");
    versions.dedup();
    assert!(versions.len() >= 8, "{versions:?}");
}
