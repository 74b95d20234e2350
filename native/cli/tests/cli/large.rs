//! Traces that may be larger than memory: `outline`, `--window` and `--memory-limit`.

use crate::support::{data, errors, kinetoscope};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The number of events of the trace. Every 10 us one of 6 us begins.
const EVENTS: usize = 60_000;

fn json(arguments: &[&str]) -> Value {
    let output = kinetoscope(&[arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Writes a trace of several pieces of text.
fn trace(folder: &Path) -> String {
    let mut text = "{\"traceEvents\": [".to_owned();
    for at in 0..EVENTS {
        let comma = if at == 0 { "" } else { "," };
        let name = ["aten::add", "aten::mul", "aten::mm"][at % 3];
        let ts = 1_000_000 + at * 10;
        let _ = write!(
            text,
            "{comma}\n{{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"{name}\", \"pid\": 1, \"tid\": 1, \"ts\": {ts}, \"dur\": 6, \"args\": {{\"External id\": {at}}}}}"
        );
    }
    let path = folder.join("large.json");
    fs::write(&path, text + "\n]}").expect("a file");
    path.display().to_string()
}

#[test]
fn an_outline_has_the_totals_in_every_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = trace(folder.path());
    let outline = json(&["outline", &path]);
    assert_eq!(outline["schema"], "kinetoscope.outline/1");
    assert_eq!(outline["trace"]["events"], EVENTS);
    let rows = outline["rows"].as_array().expect("rows");
    let names: Vec<(&str, i64)> = rows
        .iter()
        .filter(|row| row["kind"] == "name")
        .map(|row| (row["name"].as_str().expect("a name"), row["sum_ns"].as_i64().expect("a time")))
        .collect();
    assert_eq!(names, [("aten::add", 120_000_000), ("aten::mul", 120_000_000), ("aten::mm", 120_000_000)]);
    let first = json(&["outline", &path, "--row-limit", "1"]);
    assert_eq!(first["rows"].as_array().map(Vec::len), Some(4));
    let output = kinetoscope(&["outline", &path, &path, "--format", "csv"]);
    let csv = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(csv.lines().filter(|line| line.contains(",trace,")).count(), 2, "{csv}");
    for format in ["table", "md"] {
        let output = kinetoscope(&["outline", &path, "--format", format]);
        assert!(String::from_utf8_lossy(&output.stdout).contains("360.000ms"));
    }
}

#[test]
fn an_outline_says_what_could_not_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = trace(folder.path());
    let bytes = fs::read(&path).expect("the file");
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("a file");
    for (arguments, code) in [(["outline", &path].as_slice(), 0), (&["outline", &path, "--strict"], 3)] {
        let output = kinetoscope(arguments);
        assert_eq!(output.status.code(), Some(code));
        assert!(errors(&output).contains("a part could not be read: truncated ×1"), "{}", errors(&output));
    }
}

#[test]
fn an_outline_of_another_format_is_refused() {
    let data = data("healthy/recording.ktrace");
    let output = kinetoscope(&["outline", &data.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("an outline is of a Chrome trace"), "{}", errors(&output));
    assert_eq!(kinetoscope(&["outline", "no/such/file.json"]).status.code(), Some(2));
}

#[test]
fn a_window_has_its_events_in_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = trace(folder.path());
    // From 100 ms to 100.1 ms: the events at 100, 100.01, ..., 100.1 ms.
    let within = json(&["events", &path, "--window", "100ms..100.1ms"]);
    let starts = within["rows"].as_array().expect("rows");
    assert_eq!(starts.len(), 11);
    assert_eq!((&starts[0]["start_ns"], &starts[10]["start_ns"]), (&100_000_000.into(), &100_100_000.into()));
    assert_eq!(json(&["info", &path, "--window", "..1s"])["rows"][0]["events"], EVENTS);
    assert_eq!(json(&["info", &path, "--window", "590ms.."])["rows"][0]["events"], 1000);
    let csv = kinetoscope(&["export", "csv", &path, "--window", "100ms..100.1ms"]);
    assert_eq!(String::from_utf8_lossy(&csv.stdout).lines().count(), 12);
    let summary = kinetoscope(&["summary", &path, "--window", "100ms..100.1ms"]);
    let text = String::from_utf8_lossy(&summary.stdout).into_owned();
    assert!(text.contains("Only a window of time was read, without 59,989 events outside of it."), "{text}");
    assert!(text.contains("The window was read completely, without diagnostics."), "{text}");
    for pipe in ["-", "/dev/null"] {
        let output = kinetoscope(&["info", pipe, "--window", "1ms..2ms"]);
        assert_eq!(output.status.code(), Some(2));
    }
    for wrong in ["2ms..1ms", "5", "1..2"] {
        let output = kinetoscope(&["info", &path, "--window", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(errors(&output).contains("1.5ms..20ms"), "{}", errors(&output));
    }
}

#[test]
fn a_memory_limit_stops_reading_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = trace(folder.path());
    let output = kinetoscope(&["info", &path, "--memory-limit", "4MB", "--format", "json"]);
    assert!(
        errors(&output).contains("`kinetoscope outline` prints totals of all of it"),
        "{}",
        errors(&output)
    );
    let info: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let events = info["rows"][0]["events"].as_u64().expect("a count");
    assert!((4096..EVENTS as u64 / 2).contains(&events), "{events}");
    assert_eq!(info["diagnostics"][0]["code"], "memory_limit");
    assert_eq!(kinetoscope(&["info", &path, "--memory-limit", "4MB", "--strict"]).status.code(), Some(3));
    assert_eq!(json(&["info", &path, "--memory-limit", "1 GiB"])["rows"][0]["events"], EVENTS);
    let within = json(&["info", &path, "--memory-limit", "6MB", "--window", "590ms.."]);
    assert_eq!(within["rows"][0]["events"], 1000);
    let codes = within["diagnostics"].as_array().expect("diagnostics");
    assert_eq!(
        (codes.len(), &codes[0]["code"], &codes[0]["count"]),
        (1, &"outside_window".into(), &(EVENTS - 1000).into())
    );
    for wrong in ["4", "x", "0MB", "-1GB", "4 TB"] {
        let output = kinetoscope(&["info", &path, &format!("--memory-limit={wrong}")]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(errors(&output).contains("such as 2GB or 512MiB"), "{}", errors(&output));
    }
}
