//! `tests/data/advice/truth.json`: what an engineer found in real traces, from the raw events.

use kinetoscope::files::open;
use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::analysis::device::device_time::DeviceTime;
use kinetoscope_tests::files;
use serde_json::Value;
use std::path::PathBuf;

fn truth() -> Value {
    let bytes = files::read(&files::data().join("advice/truth.json")).expect("the table");
    serde_json::from_slice(&bytes).expect("JSON")
}

fn rows(truth: &Value) -> &[Value] {
    truth["traces"].as_array().expect("traces")
}

/// The file of a row; `None` if it is about several files, or about a run.
fn file(row: &Value) -> Option<PathBuf> {
    let path = files::shared("traces", "real traces")?.join(row["path"].as_str().expect("a path"));
    path.is_file().then_some(path)
}

/// Whether two times in ms are the same: the table has two decimals.
fn agree(recorded: f64, ns: i64) -> bool {
    let computed = ns as f64 / 1e6;
    (recorded - computed).abs() <= 0.02 + recorded * 0.002
}

#[test]
fn the_table_is_complete() {
    let truth = truth();
    assert!(rows(&truth).len() >= 40);
    for row in rows(&truth) {
        let path = &row["path"];
        assert!(row["bound"]["by"].is_string(), "{path}");
        for finding in row["must"].as_array().expect("findings") {
            let name = finding["finding"].as_str().expect("a name");
            assert!(truth["findings"][name].is_string(), "{path}: {name} has no definition");
            assert!(finding["reason"].as_str().is_some_and(|reason| reason.len() > 20), "{path}: {name}");
        }
        for sentence in row["must_not"].as_array().expect("sentences") {
            assert!(sentence["sentence"].is_string() && sentence["reason"].is_string(), "{path}");
        }
    }
}

#[test]
fn the_time_of_devices_is_that_of_the_raw_events() {
    let truth = truth();
    let mut compared = 0;
    for row in rows(&truth).iter().filter(|row| row["kind"] == "gpu") {
        let (Some(path), Some(busy)) = (file(row), row["figures"]["device_busy_ms"].as_f64()) else {
            continue;
        };
        let trace = open(&path).expect("a trace");
        let analysis = Analysis::new(&trace);
        let is_meant = |device: &&DeviceTime| agree(busy, device.busy_ns);
        let device = analysis.devices().iter().find(is_meant);
        let device = device.unwrap_or_else(|| panic!("{}: no device is busy for {busy} ms", path.display()));
        if let Some(idle) = row["figures"]["idle_between_first_and_last_activity_ms"].as_f64() {
            let ns = device.window.1 - device.window.0 - device.busy_ns;
            assert!(agree(idle, ns), "{}: idle for {idle} ms or {ns} ns", path.display());
        }
        compared += 1;
    }
    assert!(compared == 0 || compared >= 50, "{compared} traces");
}
