#![allow(dead_code)] // Not every test file uses every function.

//! Shared by the tests of the recorder: one recording at a time, and the properties that every trace of it has.

use kinetoscope::{Profiler, ProfilerBuilder, Recording};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::category::Category;
use kinetoscope_core::trace::table::events::{Row, Table};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test records: a process has one recording at a time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records what runs.
pub(crate) fn record(run: impl FnOnce()) -> Recording {
    record_with(Profiler::builder(), run)
}

pub(crate) fn record_with(builder: ProfilerBuilder, run: impl FnOnce()) -> Recording {
    let mut profiler = builder.start().expect("recording should start");
    run();
    profiler.stop().expect("a recording").expect("a recording")
}

/// A program that records, as the tests of crashes need it.
pub(crate) fn child(how: &str, paths: &[&Path]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recording-child"));
    command.arg(how).args(paths);
    command
}

pub(crate) fn codes(trace: &Trace) -> Vec<Code> {
    trace.diagnostics.findings().iter().map(|finding| finding.code).collect()
}

/// Returns the arguments of the only event with a name.
pub(crate) fn args(document: &Value, name: &str) -> Value {
    let events = document["traceEvents"].as_array().expect("events");
    let named: Vec<&Value> = events.iter().filter(|event| event["name"] == name).collect();
    assert_eq!(named.len(), 1, "{name}");
    let mut args = named[0]["args"].clone();
    for key in ["External id", "Record function id"] {
        args.as_object_mut().expect("args").remove(key);
    }
    args
}

/// Returns the rows with a name.
pub(crate) fn rows(trace: &Trace, name: &str) -> Vec<Row> {
    trace.table.rows().filter(|&row| trace.table.name(row) == name && trace.table.ph(row) != b'M').collect()
}

/// Returns the only row with a name.
pub(crate) fn row(trace: &Trace, name: &str) -> Row {
    let rows = rows(trace, name);
    assert_eq!(rows.len(), 1, "{name}");
    rows[0]
}

/// Returns the system's id of the thread of a row.
pub(crate) fn thread_id(table: &Table, row: Row) -> u64 {
    table.names.get(table.track(row).tid).parse().expect("the id of a thread")
}

/// Returns the recording as a Chrome trace.
pub(crate) fn chrome(recording: &Recording) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    recording.export_chrome_trace(&path).expect("a file");
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

/// Checks the properties of every recording that ended normally: no diagnostics, the Chrome trace reads back as the
/// same events, spans of a track nest, and the fields are Kineto's.
pub(crate) fn check(recording: &Recording) -> Value {
    check_with(recording, &[])
}

/// The same as [`check`], for a recording with these diagnostics.
pub(crate) fn check_with(recording: &Recording, expected: &[Code]) -> Value {
    let codes = |trace: &Trace| -> Vec<Code> {
        let codes = trace.diagnostics.findings().iter().map(|finding| finding.code);
        codes.filter(|&code| code != Code::AsyncApart).collect()
    };
    assert_eq!(codes(recording.trace().expect("a trace")), expected, "diagnostics");
    let document = chrome(recording);
    let again = Trace::read(document.to_string().as_bytes()).expect("a trace");
    assert_eq!(codes(&again), [], "diagnostics of the Chrome trace");
    assert_eq!(again.table.len(), recording.trace().expect("a trace").table.len());
    check_nesting(&recording.trace().expect("a trace").table);
    check_schema(&document);
    check_track_names(&document);
    document
}

/// Checks that spans of a track nest. Perfetto rejects spans that overlap without nesting.
pub(crate) fn check_nesting(table: &Table) {
    let mut tracks: HashMap<u32, Vec<(i64, i64)>> = HashMap::new();
    for row in table.rows().filter(|&row| table.is_span(row) && table.category(row) != Category::Window) {
        tracks.entry(table.track_id(row).0).or_default().push((table.ts(row), table.end(row)));
    }
    for spans in tracks.values_mut() {
        spans.sort_by_key(|&(start, end)| (start, -end));
        let mut open: Vec<i64> = Vec::new();
        for &(start, end) in spans.iter() {
            open.retain(|&until| until > start);
            assert!(
                open.last().is_none_or(|&until| end <= until),
                "{start} to {end} overlaps the end of {open:?}"
            );
            open.push(end);
        }
    }
}

/// Checks that every track with spans has exactly one name.
pub(crate) fn check_track_names(document: &Value) {
    let events = document["traceEvents"].as_array().expect("events");
    let tracks = |matches: &dyn Fn(&Value) -> bool| -> Vec<String> {
        events.iter().filter(|e| matches(e)).map(|e| format!("{} {}", e["pid"], e["tid"])).collect()
    };
    let named = tracks(&|event| event["name"] == "thread_name");
    assert_eq!(named.iter().collect::<HashSet<_>>().len(), named.len(), "{named:?}");
    let of_spans = tracks(&|event| event["ph"] == "X" && event["pid"] != "Spans");
    assert!(of_spans.iter().all(|track| named.contains(track)), "{named:?}");
}

/// Checks the fields of each category: those of Kineto's format, and ours.
pub(crate) fn check_schema(document: &Value) {
    assert_eq!(document["recorder"], concat!("Kinetoscope ", env!("CARGO_PKG_VERSION")));
    for key in ["schemaVersion", "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds", "traceEvents"]
    {
        assert!(document.get(key).is_some(), "{key}");
    }
    let base = document["baseTimeNanoseconds"].as_i64().expect("ns");
    assert_eq!(base % 7_889_238_000_000_000, 0, "the base time should be a multiple of three months");
    for event in document["traceEvents"].as_array().expect("events") {
        let object = event.as_object().expect("an object");
        let ph = event["ph"].as_str().expect("ph");
        assert!(event["name"].is_string(), "{event}");
        assert!(
            event["ts"].is_number() && event["pid"] != Value::Null && event["tid"] != Value::Null,
            "{event}"
        );
        let top: &[&str] = match ph {
            "X" => &["dur"],
            "i" => &["s"],
            "s" | "b" | "e" | "t" => &["id"],
            "f" => &["id", "bp"],
            "C" | "M" => &["args"],
            _ => panic!("a phase that Kineto does not write: {event}"),
        };
        assert!(top.iter().all(|key| object.contains_key(*key)), "{event}");
        let args: Vec<&str> =
            event["args"].as_object().into_iter().flat_map(|a| a.keys()).map(String::as_str).collect();
        let needed: &[&str] =
            match (event["cat"].as_str().unwrap_or(""), ph, event["name"].as_str().unwrap_or("")) {
                // A range of NVTX's.
                ("user_annotation", "X", _) if args.contains(&"domain") => &[],
                ("cpu_op" | "user_annotation", "X", _) => &["External id"],
                ("python_function", ..) => &["Python id", "Python parent id"],
                ("cpu_instant_event", _, "[memory]") => {
                    &["Device Type", "Device Id", "Addr", "Bytes", "Total Allocated", "Total Reserved"]
                }
                ("Trace", ..) => &["Op count"],
                _ => &[],
            };
        assert!(needed.iter().all(|key| args.contains(key)), "{event}");
    }
}
