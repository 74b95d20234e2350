//! Call stacks of programs with line tables, with symbols only, and with neither.

use crate::support::rows;
use kinetoscope::files::open;
use kinetoscope_core::trace::table::layout::FieldPlace;
use std::path::Path;
use std::process::Command;

/// Returns the stacks that a program records, and whether the trace warns that it has no symbols.
fn stacks(program: &Path, folder: &Path) -> (Vec<String>, bool) {
    let file = folder.join("stacks.ktrace");
    let _ = std::fs::remove_file(&file);
    let status = Command::new(program).arg("stacks").arg(&file).status().expect("the program should run");
    assert!(status.success());
    let trace = open(&file).expect("a trace");
    let stack = |row| trace.table.field_named(row, FieldPlace::Args, "Call stack").and_then(|v| v.as_str());
    let stacks =
        rows(&trace, "with a stack").into_iter().map(|row| stack(row).unwrap_or("").to_owned()).collect();
    let warning = trace.table.metadata.text("WARNING").unwrap_or("");
    (stacks, warning.contains("call stacks have no functions"))
}

/// Returns a copy of the program without some of its symbols.
fn stripped(program: &Path, folder: &Path, how: &str) -> std::path::PathBuf {
    let copy = folder.join(how);
    let status = Command::new("strip").arg(how).arg("-o").arg(&copy).arg(program).status();
    assert!(status.expect("binutils have `strip`").success());
    copy
}

#[test]
fn stacks_have_functions_without_debug_information_and_a_warning_without_symbols() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Path::new(env!("CARGO_BIN_EXE_recording-child"));
    let (with_lines, is_warned) = stacks(program, folder.path());
    assert_eq!((with_lines.len(), is_warned), (3, false));
    for stack in &with_lines {
        let frames: Vec<&str> = stack.split(';').collect();
        assert!(frames[0].contains("recording-child.rs(") && frames[0].ends_with(": leaf"), "{stack}");
        assert!(frames[1].ends_with("middle"), "{stack}");
    }
    let (with_symbols, is_warned) = stacks(&stripped(program, folder.path(), "--strip-debug"), folder.path());
    assert_eq!((with_symbols.len(), is_warned), (3, false));
    for stack in &with_symbols {
        let ours =
            "recording_child::stacks::leaf;recording_child::stacks::middle;recording_child::stacks::record;";
        assert!(stack.starts_with(ours), "{stack}");
        assert!(!stack.contains("kinetoscope::") && !stack.contains("std::rt"), "{stack}");
    }
    let (without, is_warned) = stacks(&stripped(program, folder.path(), "--strip-all"), folder.path());
    assert!(without.iter().all(|stack| !stack.contains("leaf")), "{without:?}");
    assert!(is_warned);
}
