//! What users, other users and inputs can do to the command line: no file is lost, nothing that a trace says is obeyed.

#[cfg(unix)]
mod files;
#[cfg(unix)]
mod size;
mod text;

/// A legal trace with one span.
const SMALL: &str = r#"{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]}"#;
