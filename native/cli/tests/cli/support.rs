//! Runs the program.

use serde_json::Value;
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

/// The rows of an answer. The program has to succeed.
pub(crate) fn rows(arguments: &[&str]) -> Vec<Value> {
    answer(arguments)["rows"].as_array().expect("rows").clone()
}

/// An answer as JSON. The program has to succeed.
pub(crate) fn answer(arguments: &[&str]) -> Value {
    let output = kinetoscope(&[arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", errors(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// A path as an argument.
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}
