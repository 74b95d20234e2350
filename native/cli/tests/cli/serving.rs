//! Options about inference engines: rules and expressions for the names of iterations, and captures of graphs.

use crate::support::{data, errors, kinetoscope, rows, shown};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

fn example(name: &str) -> PathBuf {
    data("../../docs/traces").join(name)
}

#[test]
fn rules_and_expressions_name_iterations() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = shown(&folder.path().join("run.json"));
    let range = |at: u32| {
        format!(
            r#"{{"ph":"X","cat":"user_annotation","name":"turn {at} of 8","pid":1,"tid":1,"ts":{}00,"dur":50}}"#,
            at + 1
        )
    };
    fs::write(&trace, format!("[{},{},{}]", range(0), range(1), range(2))).expect("a file");
    assert!(rows(&["serving", &trace]).is_empty());
    let iterations = |arguments: &[&str]| {
        let all = rows(&[&["serving", &trace], arguments].concat());
        all.into_iter().filter(|row| row["kind"] == "iteration").collect::<Vec<_>>()
    };
    let rules = shown(&folder.path().join("rules.csv"));
    fs::write(&rules, "# mine\ndecode,turn {number} of {batch}\n").expect("a file");
    let by_rules = iterations(&["--step-rules", &rules]);
    let by_expression = iterations(&["--steps-from", r"^turn (?<number>\d+) of (?<batch>\d+)$"]);
    for (found, phase, generated) in
        [(&by_rules, "decode", Value::from(8)), (&by_expression, "step", Value::Null)]
    {
        let of = |key: &str| found.iter().map(|row| row[key].clone()).collect::<Vec<_>>();
        assert_eq!((of("step"), of("batch")), (vec![0.into(), 1.into(), 2.into()], vec![8.into(); 3]));
        assert_eq!((&found[0]["phase"], &found[0]["generated"]), (&Value::from(phase), &generated));
    }
    assert_eq!(rows(&["steps", &trace, "--steps-from", "turn [12]"]).len(), 2);
    fs::write(&rules, "decode,token {number}\n").expect("a file");
    let output = kinetoscope(&["serving", &trace, "--step-rules", &rules]);
    assert!(output.status.success());
    assert!(errors(&output).contains("one of the patterns matches"), "{}", errors(&output));
    fs::write(&rules, "decode\n").expect("a file");
    for (arguments, part) in [
        (["--steps-from", "absent"], "no range of the trace has a name that matches"),
        (["--steps-from", "(?<size>.)"], "the groups are phase, batch, tokens, number"),
        (["--steps-from", "("], "invalid value"),
        (["--step-rules", &rules], "line 1 is `decode`"),
    ] {
        let output = kinetoscope(&[&["serving", &trace][..], &arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(errors(&output).contains(part), "{}", errors(&output));
    }
}

/// A capture is given, or lies in a folder next to the trace.
#[test]
fn captures_are_joined() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("serving.json.gz");
    fs::copy(example("serving.json.gz"), &trace).expect("a copy");
    let (trace, capture) = (shown(&trace), shown(&example("serving-capture.json.gz")));
    let products = |arguments: &[&str]| -> i64 {
        let all = rows(&[&["kernels", &trace, "--by", "operator"], arguments].concat());
        let found = all.iter().find(|row| row["name"] == "aten::mm").expect("products");
        found["count"].as_i64().expect("a count")
    };
    // 3 iterations launch each of 4 layers with 4 products, 18 replay a graph of them.
    assert_eq!(products(&[]), 48);
    assert_eq!(products(&["--capture", &capture]), 48 + 18 * 16);
    let captures = folder.path().join("capture_traces");
    fs::create_dir(&captures).expect("a folder");
    fs::copy(&capture, captures.join("capture.json.gz")).expect("a copy");
    assert_eq!(products(&[]), 48 + 18 * 16);
    // What is no capture of the trace is reported, and the others are used.
    fs::copy(data("healthy/small_gpu_trace.json"), captures.join("another.json")).expect("a copy");
    let output = kinetoscope(&["kernels", &trace]);
    assert!(output.status.success());
    assert!(errors(&output).contains("no stream is captured in this trace"), "{}", errors(&output));
    assert_eq!(products(&[]), 48 + 18 * 16);
    let refused = kinetoscope(&["kernels", &trace, "--capture", &trace]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(errors(&refused).contains("no stream is captured"), "{}", errors(&refused));
}
