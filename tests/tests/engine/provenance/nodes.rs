//! Annotations and stacks of the nodes of CUDA graphs.

use super::{file, join};
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::answers::{made, rows_with};
use serde_json::{Value, json};

#[test]
fn annotations_of_a_file_are_those_that_pytorch_writes_into_the_trace() {
    let groups = |trace: &Trace| -> Vec<(Value, Value, Value)> {
        let groups = rows_with(trace, "kernels", &json!({"by": "annotation"}));
        groups.iter().map(|row| (row["name"].clone(), row["count"].clone(), row["sum_ns"].clone())).collect()
    };
    let read = |name: &str| Trace::read(&file(&format!("annotations/{name}"))).expect("a trace");
    let expected = groups(&read("output.graph_lanes_none.trace.json"));
    assert!(expected.len() == 4 && expected[0].0 == "attention", "{expected:?}");
    let mut trace = read("input.trace.json");
    assert_eq!(groups(&trace).len(), 1, "no annotation");
    let json = file("annotations/annotations.as_json.json");
    let explained = join(&mut trace, &[("annotations.json", &json)]).expect("annotations");
    assert_eq!((explained.activities, groups(&trace)), (4, expected.clone()));
    // The same as the pickle of a dictionary with integers as keys, protocol 2.
    let pickle = b"\x80\x02}(\x8a\x05\x01\x00\x00\x00\x05]}X\x04\x00\x00\x00nameX\x09\x00\x00\x00attentionsa\x8a\x05\x02\x00\x00\x00\x05]}X\x04\x00\x00\x00nameX\x0a\x00\x00\x00all_reducesau.";
    join(&mut trace, &[("annotations.pkl", pickle)]).expect("a pickle");
    let names: Vec<Value> = groups(&trace).into_iter().map(|group| group.0).collect();
    assert_eq!(names, ["all_reduce", "(no annotation)", "attention"]);
    // Stacks of the nodes.
    let stacks = file("annotations/py_stacks.json.gz");
    join(&mut trace, &[("a.json", &json), ("stacks.json.gz", &stacks)]).expect("stacks");
    assert_eq!(groups(&trace), expected);
    let sources = rows_with(&trace, "kernels", &json!({"by": "source"}));
    let own = sources.iter().find(|row| row["source_by"] == "graph_node").expect("a source");
    assert_eq!((&own["name"], &own["count"]), (&json!("/home/me/train.py:12"), &json!(1)));
}

#[test]
fn a_node_is_known_by_its_graph_where_its_id_has_32_bits() {
    let node = |graph: i64, node: i64| {
        json!({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":graph * 10 + node,"dur":2,
        "args":{"graph id":graph,"graph node id":node}})
    };
    let mut trace = made(&json!({"traceEvents": [node(5, 1), node(6, 1)]}));
    join(&mut trace, &[("annotations.json", br#"{"21474836481": "attention"}"#)]).expect("annotations");
    let groups = rows_with(&trace, "kernels", &json!({"by": "annotation"}));
    let groups: Vec<(&Value, &Value)> = groups.iter().map(|row| (&row["name"], &row["count"])).collect();
    assert_eq!(groups, [(&json!("attention"), &json!(1)), (&json!("(no annotation)"), &json!(1))]);
}
