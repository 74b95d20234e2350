//! What users, other users and inputs can do to the command line: no file is lost, nothing that a trace says is obeyed.

#[cfg(unix)]
mod files;
#[cfg(unix)]
mod size;
mod text;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A legal trace with one span.
const SMALL: &str = r#"{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]}"#;

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(path)
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_kinetoscope"))
}

fn kinetoscope(arguments: &[&str]) -> Output {
    program().args(arguments).output().expect("a process")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
