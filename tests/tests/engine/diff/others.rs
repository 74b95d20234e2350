//! Traces of others, read where they are.

use super::identities::check;
use super::{diff, int, profile};
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::files;
use serde_json::Value;
use std::path::Path;

fn read(folder: &Path, path: &str) -> Profile {
    profile(&std::fs::read(folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}")))
}

fn row<'a>(rows: &'a [Value], kind: &str, name: &str) -> &'a Value {
    rows.iter()
        .find(|row| row["kind"] == kind && row["name"] == name)
        .unwrap_or_else(|| panic!("no {kind} {name}"))
}

fn notes(rows: &[Value]) -> Vec<&str> {
    rows.iter().filter(|row| row["kind"] == "note").filter_map(|row| row["message"].as_str()).collect()
}

/// The traces below a folder, as far as they can be read.
fn traces(folder: &Path, found: &mut Vec<(String, Profile)>) {
    let mut paths: Vec<_> =
        folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            traces(&path, found);
        } else if let Some(trace) = std::fs::read(&path).ok().and_then(|bytes| Trace::read(&bytes).ok()) {
            let name = path.display().to_string();
            found.push((name.clone(), Profile::from_trace(&trace, &name)));
        }
    }
}

/// Each trace is compared with the next one: some are of the same program, most are not.
#[test]
fn identities_hold_for_real_traces() {
    let Some(folder) = files::shared("traces", "traces of others") else { return };
    let mut all = Vec::new();
    for part in
        ["hta", "kineto-samples", "tracelens", "torchrec", "kineto-gaoteng", "pippy", "catapult", "perfetto"]
    {
        traces(&folder.join(part), &mut all);
    }
    assert!(all.len() > 40, "{} traces", all.len());
    for pair in all.windows(2) {
        check(&pair[0].1, &pair[1].1, &format!("{} and {}", pair[0].0, pair[1].0));
    }
}

/// Processes that load data in the background: the step no longer waits for it, and the kernels take as long.
#[test]
fn workers_of_a_data_loader() {
    let Some(folder) = files::shared("traces", "traces of others") else { return };
    let base =
        read(&folder, "kineto-samples/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz");
    let new =
        read(&folder, "kineto-samples/samples/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz");
    check(&base, &new, "num_workers");
    let rows = diff(&base, &new);
    let loader = rows.iter().find(|row| row["kind"] == "operator").expect("a row");
    assert!(loader["names_b"][0].as_str().expect("a name").contains("MultiProcessing"), "{loader}");
    assert_eq!(loader["significant"], true);
    assert!(int(&loader["contribution_ns"]) < -50_000_000, "{loader}");
    let idle = row(&rows, "idle", "data_loading");
    assert!(idle["significant"] == true && int(&idle["contribution_ns"]) < -50_000_000, "{idle}");
    let devices = row(&rows, "speed", "devices");
    assert!((devices["factor"].as_f64().expect("a factor") - 1.0).abs() < 0.01, "{devices}");
}

/// One model on two devices: most of the host is the same, other kernels run, and one step of each decides nothing.
#[test]
fn one_model_on_two_devices() {
    let Some(folder) = files::shared("traces", "traces of others") else { return };
    let base = read(&folder, "tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz");
    let new = read(&folder, "tracelens/mi300/gaunernst_bert-small-uncased__1016001.json.gz");
    check(&base, &new, "two devices");
    let rows = diff(&base, &new);
    assert!(rows.iter().all(|row| row["significant"] == Value::Null), "one step each");
    let notes = notes(&rows);
    assert!(notes.contains(&"recorded on NVIDIA H100 80GB HBM3 and on AMD Instinct MI300X VF"), "{notes:?}");
    assert!(
        notes.iter().any(|note| note.starts_with("cannot tell noise from change: 1 step and 1 step")),
        "{notes:?}"
    );
    let total = row(&rows, "total", "wall");
    assert!(total["aligned_a"].as_f64().expect("a share") > 0.7, "{total}");
    let attention =
        rows.iter().find(|row| row["kind"] == "kernel" && row["names_b"][0] == "attn_fwd").expect("a row");
    assert_eq!(attention["change"], "renamed");
}

/// A layer of experts whose kernels were fused.
#[test]
fn experts_fused_and_not() {
    let Some(folder) = files::shared("traces", "traces of others") else { return };
    let folder = folder.join("tracelens/evals/unit_tests_comparative/test01_moe_fused_vs_unfused");
    let (base, new) = (read(&folder, "trace1.json"), read(&folder, "trace2.json"));
    check(&base, &new, "experts");
    let rows = diff(&base, &new);
    let kernels = rows.iter().find(|row| row["kind"] == "kernel").expect("a row");
    assert_eq!((&kernels["change"], &kernels["message"]), (&"fused".into(), &"4 kernels became 1".into()));
    assert_eq!(int(&kernels["contribution_ns"]), -360_000);
    assert_eq!(kernels["contribution_ns"], row(&rows, "total", "device_busy")["contribution_ns"]);
}

/// The two traces differ in ids and flows only.
#[test]
fn a_fix_of_flows_changes_no_time() {
    let Some(folder) = files::shared("traces", "traces of others") else { return };
    let folder = folder.join("kineto-samples/docs/traces");
    let rows = diff(&read(&folder, "before_fix_trace.json"), &read(&folder, "after_fix_trace.json"));
    assert!(rows.iter().all(|row| row["kind"] == "note"), "{rows:?}");
}

/// The example of HTA's trace comparison: the counts of kernels are those that HTA reports for the first iteration.
#[test]
fn the_example_of_hta() {
    let Some(folder) = files::shared("traces", "traces of others") else { return };
    let base = read(&folder, "hta/trace_diff/control/control.json.gz");
    let new = read(&folder, "hta/trace_diff/test/test.json.gz");
    check(&base, &new, "trace_diff");
    let rows = diff(&base, &new);
    let notes = notes(&rows);
    assert!(notes.contains(&"of runs of 8 ranks and 2 ranks"), "{notes:?}");
    let significant = super::significant(&rows);
    let of_device = |row: &&&Value| row["part_of"] == "device_busy";
    let first = significant.iter().find(of_device).expect("a row");
    assert_eq!(
        (&first["kind"], &first["name"]),
        (&"memcpy".into(), &"Memcpy DtoD (Device -> Device)".into())
    );
    assert_eq!((&first["change"], &first["cause"]), (&"more_calls".into(), &"calls".into()));
}
