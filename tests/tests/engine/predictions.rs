//! What is predicted, against what really happened: the same program with and without what a prediction leaves out, and runs
//! that measured what was put into them. The costs of late ranks are in `ranks/recorded.rs`.

use kinetoscope_core::trace::Trace;
use kinetoscope_tests::answers::{rows, rows_with};
use kinetoscope_tests::files;
use serde_json::{Value, json};
use std::path::Path;

/// How far a prediction may be from what happened.
const TOLERANCE: f64 = 0.2;

fn near(predicted: f64, real: f64, what: &str) {
    println!("{what}: predicted {predicted:.0}, real {real:.0} ns a step: {:.3}", predicted / real);
    assert!((predicted / real - 1.0).abs() < TOLERANCE, "{what}: predicted {predicted}, real {real}");
}

fn open(path: &Path) -> Trace {
    let bytes = files::read(path).unwrap_or_else(|| panic!("{} cannot be read", path.display()));
    Trace::read(&bytes).expect("a trace")
}

fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no integer"))
}

fn median(mut values: Vec<i64>) -> f64 {
    values.sort_unstable();
    let half = values.len() / 2;
    i64::midpoint(values[half], values[(values.len() - 1) / 2]) as f64
}

fn walls(trace: &Trace) -> Vec<i64> {
    rows(trace, "steps").iter().map(|step| int(&step["wall_ns"])).collect()
}

/// What freeing a cause saves in a step.
fn saving(trace: &Trace, cause: &str) -> f64 {
    let rows = rows_with(trace, "what-if", &json!({"free": [cause]}));
    int(&rows[0]["saving_ns"]) as f64 / walls(trace).len() as f64
}

/// The same training run, with its data loaded in the main process and by four workers.
#[test]
fn a_loader_with_workers_saves_what_is_predicted() {
    let Some(traces) = files::shared("traces", "a real pair") else { return };
    let samples = traces.join("kineto-samples/samples");
    let alone = open(&samples.join("resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz"));
    let workers = open(&samples.join("resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz"));
    // Its first step and one other are slow, so the medians are compared.
    let real = median(walls(&alone)) - median(walls(&workers));
    near(saving(&alone, "data_loading"), real, "four workers");
    let summary = &rows(&alone, "summary")[0];
    let first = &summary["findings"][0];
    assert_eq!(first["code"], "data_loading");
    near(int(&first["saving_ns"]) as f64 / walls(&alone).len() as f64, real, "the finding");
}

/// The mean of what a run measured of its own injections in a step, in ns.
fn measured(folder: &Path) -> f64 {
    let truth: Value =
        serde_json::from_slice(&std::fs::read(folder.join("truth.json")).expect("a file")).expect("JSON");
    let all = truth["measured"].as_array().expect("a list");
    let sum: i64 = all.iter().map(|row| int(&row[3]) - int(&row[2])).sum();
    sum as f64 / all.len() as f64
}

/// Programs that measured the work that was put into them; the base has the rest of the same cause.
#[test]
fn injected_work_is_what_is_saved_without_it() {
    let Some(runs) = files::shared("runs", "recorded pairs") else { return };
    for (program, cause) in [("loader_work", "data_loading"), ("host_sleep", "user_code")] {
        for number in [1, 2] {
            let folder = runs.join(format!("{program}{number}"));
            let base = open(&runs.join(format!("base{number}/trace.json.gz")));
            let predicted = saving(&open(&folder.join("trace.json.gz")), cause) - saving(&base, cause);
            near(predicted, measured(&folder), &format!("{program}{number}"));
        }
    }
}
