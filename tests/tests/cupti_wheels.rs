//! The real CUPTI of each toolkit steps over buffers of records as they are read here. `cargo xtask test cupti` fetches
//! the libraries, which need no driver for this, and says where they are.

use kinetoscope::device::{CUPTI_VARIABLE, DRIVER_VARIABLE};
use kinetoscope_tests::files::{fake, skip};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The loader is content with a real CUPTI; what it cannot do without a driver is told, and ends nothing.
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
fn the_real_libraries_step_over_records_as_they_are_read() {
    let Some(folder) = env::var_os(FOLDER_VARIABLE).map(PathBuf::from) else {
        skip("`cargo xtask test slow` fetches CUPTI's libraries and runs this test");
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
    println!("stepped over by CUPTI {versions:?}");
    versions.dedup();
    assert!(versions.len() >= 8, "{versions:?}");
}
