//! Runs the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The path of a file in `tests/data`.
pub(crate) fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(path)
}

pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_kinetoscope"))
}

pub(crate) fn kinetoscope(arguments: &[&str]) -> Output {
    program().args(arguments).output().expect("a process")
}

pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
