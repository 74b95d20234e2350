//! Execution traces: they equal the goldens, and an export in pieces makes the same text.

use kinetoscope_core::trace::Trace;
use kinetoscope_core::write::execution_trace::{ExecutionTraceWriter, execution_trace};
use kinetoscope_tests::exports::exported;
use kinetoscope_tests::files;
use serde_json::Value;
use std::fs;

#[test]
fn execution_traces_equal_their_goldens() {
    for name in ["recording.ktrace", "recording_of_devices.ktrace", "small_gpu_trace.json"] {
        let trace = fs::read(files::data().join("healthy").join(name)).expect("a fixture");
        let trace = Trace::read(&trace).expect("a trace");
        let golden = files::data().join("execution_traces").join(format!("{name}.json"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&golden, execution_trace(&trace)).expect("a golden");
        }
        assert_eq!(execution_trace(&trace), fs::read_to_string(golden).expect("a golden"), "{name}");
    }
}

#[test]
fn an_export_in_pieces_makes_the_same_text() {
    let trace = fs::read(files::data().join("healthy/recording.ktrace")).expect("a fixture");
    let trace = Trace::read(&trace).expect("a trace");
    let mut writer = ExecutionTraceWriter::new(&trace);
    let (mut text, mut pieces) = (String::new(), 0);
    loop {
        let mut piece = String::new();
        let is_more = writer.next(&trace, &mut piece, 100);
        text.push_str(&piece);
        pieces += 1;
        if !is_more {
            break;
        }
    }
    assert!(pieces > 2, "{pieces} pieces");
    assert_eq!(text, execution_trace(&trace));

    assert_eq!(exported(&trace, "execution-trace", b""), text.as_bytes());
}

/// The track of the backward thread is before that of the forward thread.
#[test]
fn a_backward_operator_refers_to_a_forward_operator_of_a_later_thread() {
    let trace = Trace::read(
        br#"[{"ph":"X","cat":"cpu_op","name":"MulBackward0","pid":1,"tid":1,"ts":50,"dur":5,
              "args":{"Sequence number":7,"Fwd thread id":1}},
             {"ph":"X","cat":"cpu_op","name":"aten::mul","pid":1,"tid":2,"ts":10,"dur":5,
              "args":{"Sequence number":7}}]"#,
    )
    .expect("a trace");
    let written: Value = serde_json::from_str(&execution_trace(&trace)).expect("JSON");
    let nodes = written["nodes"].as_array().expect("nodes");
    let find = |name: &str| nodes.iter().find(|node| node["name"] == name).expect("the node");
    let attributes = find("MulBackward0")["attrs"].as_array().expect("attributes");
    let parent = attributes.iter().find(|attribute| attribute["name"] == "fw_parent").expect("the attribute");
    assert!(find("MulBackward0")["id"].as_u64() < find("aten::mul")["id"].as_u64());
    assert_eq!(parent["value"], find("aten::mul")["id"]);
}
