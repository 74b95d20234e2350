//! Execution traces: they equal the goldens, and an export in pieces makes the same text.

use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::base::diagnostics::Severity;
use kinetoscope_core::output::write::execution_trace::{ExecutionTraceWriter, execution_trace};
use kinetoscope_core::queries::export;
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::exports::exported;
use kinetoscope_tests::files;
use serde_json::{Value, json};
use std::collections::BTreeMap;
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

const OBSERVED: &str = "torch/2.15/kineto/execution_trace_training";

fn read(file: &str) -> Trace {
    Trace::read(&fs::read(files::data().join(file)).expect("a file")).expect("a trace")
}

fn rows(trace: &Trace, query: &str) -> Vec<Value> {
    let rows = trace.ask(query, &Options::default()).expect("an answer");
    (0..rows.rows.len()).map(|at| serde_json::from_str(&rows.json_row(at)).expect("JSON")).collect()
}

/// The member of a node, or the value in its list of attributes.
fn attribute<'a>(node: &'a Value, name: &str) -> &'a Value {
    let listed =
        node["attrs"].as_array().and_then(|list| list.iter().find(|attribute| attribute["name"] == name));
    listed.map_or(&node[name], |attribute| &attribute["value"])
}

/// The nodes of PyTorch's file, by the number of their record function.
fn torchs() -> BTreeMap<i64, Value> {
    let packed = fs::read(files::data().join(OBSERVED).join("execution_trace.json.gz")).expect("a file");
    let file: Value = serde_json::from_reader(flate2::read::GzDecoder::new(&packed[..])).expect("JSON");
    let nodes = file["nodes"].as_array().expect("nodes").iter();
    let by_id = |node: &Value| (attribute(node, "rf_id").as_i64().unwrap_or(0), node.clone());
    nodes.map(by_id).filter(|(id, _)| *id != 0).collect()
}

#[test]
fn execution_traces_are_lists_of_operators() {
    let nodes = rows(&read("healthy/execution_trace.json"), "nodes");
    assert_eq!(nodes.len(), 2);
    let add = &nodes[1];
    assert_eq!((&add["id"], &add["parent"], &add["name"]), (&3.into(), &2.into(), &"aten::add".into()));
    assert_eq!((&add["rf_id"], &add["seq_id"], &add["tid"]), (&5.into(), &11.into(), &1.into()));
    assert_eq!(add["types"], "Tensor(float), Tensor(float), Int");
    assert_eq!(add["inputs"][0]["value"], json!([4, 5, 0, 6, 4, "cpu"]));
    assert_eq!(
        add["outputs"],
        json!([{"type": "Tensor(float)", "shape": [2, 3], "stride": [3, 1], "value": [8, 9, 0, 6, 4, "cpu"]}])
    );

    let [empty] = &rows(&read("healthy/execution_trace_of_2023.json"), "nodes")[..] else {
        panic!("one node")
    };
    assert_eq!((&empty["parent"], &empty["rf_id"], &empty["tid"]), (&4.into(), &3.into(), &1.into()));
    assert_eq!(empty["op_schema"], "aten::empty.memory_format(SymInt[] size) -> Tensor");
    assert_eq!(
        empty["inputs"][0],
        json!({"type": "GenericList[Int,Int]", "shape": [[], []], "stride": null, "value": [256, 256]})
    );

    let all = rows(&read(&format!("{OBSERVED}/execution_trace.json.gz")), "nodes");
    let torchs = torchs();
    assert_eq!(
        all.iter().filter(|node| torchs.contains_key(&node["rf_id"].as_i64().unwrap_or(0))).count(),
        111
    );
    assert!(rows(&read(&format!("{OBSERVED}/trace.json.gz")), "nodes").is_empty());
}

/// Tensor ids, storages and values of arguments that no trace has come from the execution trace.
#[test]
fn a_joined_execution_trace_describes_events_and_the_export() {
    let mut trace = read(&format!("{OBSERVED}/trace.json.gz"));
    let joined =
        trace.join(read(&format!("{OBSERVED}/execution_trace.json.gz"))).expect("the same recording");
    assert_eq!(joined, 111);
    let torchs = torchs();
    let text = exported(&trace, "execution-trace", b"");
    let ours: Value = serde_json::from_slice(&text).expect("JSON");
    let mut compared = 0;
    for node in ours["nodes"].as_array().expect("nodes") {
        let Some(gold) = torchs.get(&attribute(node, "rf_id").as_i64().expect("an id")) else { continue };
        assert_eq!(attribute(node, "op_schema"), attribute(gold, "op_schema"));
        for side in ["inputs", "outputs"] {
            assert_eq!(node[side], gold[side], "{}", gold["name"]);
        }
        for number in ["seq_id", "scope", "fw_tid", "tid"] {
            assert_eq!(attribute(node, number), attribute(gold, number), "{}: {number}", gold["name"]);
        }
        compared += 1;
    }
    assert_eq!(compared, 111);
    let events = rows(&trace, "events");
    let transpose = events.iter().find(|event| event["name"] == "aten::transpose").expect("the operator");
    assert_eq!(transpose["outputs"][0]["value"], json!([15, 9, 0, 128, 4, "cpu"]));
    assert_eq!(transpose["inputs"][2], json!({"type": "Int", "shape": [], "stride": [], "value": 1}));
}

/// A trace has the types, shapes, strides and values of inputs as far as its texts show them.
#[test]
fn inputs_of_traces_equal_torchs() {
    let text = exported(&read(&format!("{OBSERVED}/trace.json.gz")), "execution-trace", b"");
    let ours: Value = serde_json::from_slice(&text).expect("JSON");
    let torchs = torchs();
    let mut compared = BTreeMap::new();
    for node in ours["nodes"].as_array().expect("nodes") {
        let Some(gold) = torchs.get(&attribute(node, "rf_id").as_i64().expect("an id")) else { continue };
        let (ours, theirs) = (&node["inputs"], &gold["inputs"]);
        assert_eq!((&ours["shapes"], &ours["strides"]), (&theirs["shapes"], &theirs["strides"]));
        for (at, kind) in theirs["types"].as_array().expect("types").iter().enumerate() {
            let kind = kind.as_str().expect("a type");
            // The trace has nothing for devices and undefined tensors, and no ids of tensors.
            let is_absent = kind == "Device" || kind.contains("nullptr");
            assert_eq!(ours["types"][at], if is_absent { "None" } else { kind }, "{}", gold["name"]);
            if kind != "Device" && !kind.contains("Tensor") {
                assert_eq!(ours["values"][at], theirs["values"][at], "{}", gold["name"]);
            }
            *compared.entry(kind.split('[').next().expect("a word")).or_insert(0) += 1;
        }
    }
    for kind in
        ["Tensor(float)", "Tensor(long int)", "GenericList", "Int", "Double", "Bool", "None", "Device"]
    {
        assert!(compared.contains_key(kind), "{compared:?}");
    }
}

/// What is written can be read, and joined to the trace that it was made from.
#[test]
fn written_execution_traces_are_read() {
    let mut trace = read(&format!("{OBSERVED}/trace.json.gz"));
    let written = exported(&trace, "execution-trace", b"");
    let nodes = |bytes: &[u8]| Trace::read(bytes).expect("an execution trace");
    assert_eq!(rows(&nodes(&written), "nodes").len(), 113);
    assert_eq!(trace.join(nodes(&written)).expect("the same recording"), 111);
    assert!(trace.diagnostics.worst() < Some(Severity::Lost));
    // Damage of the execution trace is damage of the joined trace.
    assert!(trace.join(nodes(&written[..written.len() / 2])).expect("a part") < 111);
    assert_eq!(trace.diagnostics.worst(), Some(Severity::Lost));
}

/// Exports that keep every event keep an execution trace one; exports that need times are refused.
#[test]
fn an_execution_trace_stays_one() {
    for file in ["healthy/execution_trace.json", "healthy/execution_trace_of_2023.json"] {
        let trace = read(file);
        for export in ["chrome", "execution-trace"] {
            let again = Trace::read(&exported(&trace, export, b"")).expect("an execution trace");
            assert_eq!(rows(&again, "nodes"), rows(&trace, "nodes"), "{file}: {export}");
        }
    }
    let trace = read("healthy/execution_trace.json");
    let refusal = |name: &str| {
        let export = export(name).expect("an export");
        export.begin(&trace, &Options::default(), b"salt").err().map(|error| error.to_string())
    };
    assert_eq!(refusal("pftrace").as_deref(), Some("the nodes of an execution trace have no times to draw"));
    assert_eq!(refusal("redact").as_deref(), Some("execution traces cannot be redacted yet"));
}

/// Arguments that are texts, and numbers that only fit into 64 bits without a sign.
#[test]
fn arguments_have_the_types_of_their_texts() {
    let text = br#"[{"ph":"X","cat":"cpu_op","name":"aten::f","pid":1,"tid":1,"ts":0,"dur":1,
        "args":{"Concrete Inputs":["18446744073709551615","[True, 2.5]","[a, 1]","[]","sum",""],
            "Input type":["Scalar","ScalarList","","ScalarList","",""],"Input Dims":[[],[],[],[],[],[]]}}]"#;
    let written: Value =
        serde_json::from_str(&execution_trace(&Trace::read(text).expect("a trace"))).expect("JSON");
    let inputs = &written["nodes"].as_array().expect("nodes").last().expect("a node")["inputs"];
    assert_eq!(inputs["values"], json!([u64::MAX, [true, 2.5], "[a, 1]", [], "sum", "<None>"]));
    assert_eq!(
        inputs["types"],
        json!(["Int", "GenericList[Bool,Double]", "String", "GenericList[]", "String", "None"])
    );
    assert_eq!(
        (&inputs["shapes"], &inputs["strides"]),
        (&json!([[], [[], []], [], [], [], []]), &inputs["shapes"])
    );
}

/// JSON has no infinite numbers.
#[test]
fn infinite_arguments_are_texts() {
    let text = br#"[{"ph":"X","cat":"cpu_op","name":"aten::masked_fill","pid":1,"tid":1,"ts":0,"dur":1,
        "args":{"Concrete Inputs":["-inf","2.5"],"Input type":["Scalar","Scalar"],"Input Dims":[[],[]]}}]"#;
    let written: Value =
        serde_json::from_str(&execution_trace(&Trace::read(text).expect("a trace"))).expect("JSON");
    let inputs = &written["nodes"].as_array().expect("nodes").last().expect("a node")["inputs"];
    assert_eq!((&inputs["values"], &inputs["types"]), (&json!(["-inf", 2.5]), &json!(["Double", "Double"])));
}

#[test]
fn only_execution_traces_of_the_same_recording_are_joined() {
    let mut trace = read(&format!("{OBSERVED}/trace.json.gz"));
    let message = |trace: &mut Trace, file: &str| trace.join(read(file)).expect_err("an error").to_string();
    assert_eq!(message(&mut trace, &format!("{OBSERVED}/trace.json.gz")), "this is no execution trace");
    assert!(
        message(&mut trace, "healthy/execution_trace_of_2023.json").ends_with("is it of another recording?")
    );
    assert!(trace.execution.is_none());
}
