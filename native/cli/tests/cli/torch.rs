//! What PyTorch does, through the command line.

use crate::support::program;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Writes a trace to a file of this name.
fn written(name: &str, trace: &Value) -> PathBuf {
    let path = std::env::temp_dir().join(format!("kinetoscope-torch-{}-{name}", std::process::id()));
    std::fs::write(&path, trace.to_string()).expect("a file");
    path
}

fn run(arguments: &[&str], name: &str, trace: &Value) -> String {
    let path = written(name, trace);
    let output = program().args(arguments).arg(&path).output().expect("the command");
    std::fs::remove_file(path).expect("the file");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Returns the rows of an answer.
fn rows(arguments: &[&str], name: &str, trace: &Value) -> Vec<Value> {
    let text = run(&[arguments, &["--format", "json"]].concat(), name, trace);
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    answer["rows"].as_array().expect("rows").clone()
}

/// Returns the row with this value.
fn find<'a>(rows: &'a [Value], key: &str, value: &str) -> &'a Value {
    rows.iter().find(|row| row[key] == value).unwrap_or_else(|| panic!("no {key} {value} in {rows:#?}"))
}

/// A record of the legacy profiler.
fn record(kind: &str, name: &str, handle: u32, us: f64) -> Value {
    json!({
        "name": name, "kind": kind, "handle": handle, "node_id": -1, "thread_id": 1, "fwd_thread_id": 0,
        "correlation_id": 0, "is_async": false, "is_remote": false, "has_cuda": false, "device": -1, "scope": 0,
        "sequence_nr": -1, "flops": 0, "cpu_memory_usage": 0, "cuda_memory_usage": 0, "start_us": us,
        "cpu_elapsed_us": us, "shapes": [], "stack": 0,
    })
}

/// A backward function without a sequence number takes the stack of the first event without one. Allocations outside of
/// every range have none, and are on thread 0.
#[test]
fn a_backward_function_without_a_sequence_number_takes_the_first_stack() {
    let mut allocation = record("memory_alloc", "[memory]", 0, 1.0);
    allocation["cpu_memory_usage"] = 64.into();
    let mut forward = record("push", "aten::conv2d", 1, 2.0);
    forward["stack"] = 1.into();
    let mut backward = record("push", "torch::autograd::AccumulateGrad", 2, 4.0);
    backward["scope"] = 1.into();
    backward["fwd_thread_id"] = 1.into();
    let trace = json!({
        "start_record": {"thread_list": 0, "index": 0},
        "stack_table": [[], ["model/conv.py(170): forward"]],
        "threads": [[
            record("mark", "__start_profile", 0, 0.0), allocation, forward, record("pop", "", 1, 3.0), backward,
            record("pop", "", 2, 5.0),
        ]],
    });
    let rows = rows(&["events"], "sequence.json", &trace);
    assert_eq!(find(&rows, "name", "[memory]")["thread"], "0");
    let backward = find(&rows, "name", "torch::autograd::AccumulateGrad");
    assert_eq!(backward["stack"], json!(["model/conv.py(170): forward"]));
}

fn span(category: &str, name: &str, (ts, dur): (i64, i64), args: &Value) -> Value {
    json!({"ph": "X", "cat": category, "name": name, "pid": 7, "tid": 7, "ts": ts, "dur": dur, "args": args})
}

/// A trace with overload names in which an operator launches a kernel.
fn overloads() -> Value {
    let op = |name: &str, id: i64, time| span("cpu_op", name, time, &json!({"External id": id}));
    let launch = json!({"External id": 2, "correlation": 9});
    let mut kernel = span("kernel", "gemm", (30, 5), &launch);
    kernel["pid"] = 0.into();
    json!({"traceEvents": [
        op("aten::add.Tensor", 1, (0, 100)), op("aten::mm.out", 2, (10, 50)),
        span("cuda_runtime", "cudaLaunchKernel", (20, 2), &launch), kernel,
    ]})
}

#[test]
fn overload_names_are_no_part_of_trace_names_and_tree_nodes() {
    let events = rows(&["events"], "overloads.json", &overloads());
    let add = find(&events, "overload_name", "Tensor");
    assert_eq!((&add["name"], &add["trace_name"]), (&"aten::add".into(), &"aten::add".into()));
    let nodes = rows(&["event-tree"], "overload-tree.json", &overloads());
    let names: Vec<&Value> = nodes.iter().map(|node| &node["name"]).collect();
    assert_eq!(names, ["aten::add", "aten::mm", "cudaLaunchKernel", "gemm"]);
    assert_eq!((&nodes[1]["tag"], &nodes[1]["parent"]), (&"TorchOp".into(), &0.into()));
    assert_eq!((&nodes[3]["tag"], &nodes[3]["parent"]), (&"Kineto".into(), &2.into()));
}

#[test]
fn events_have_their_kernels_and_ids() {
    let events = rows(&["events"], "kernels.json", &overloads());
    let mm = find(&events, "name", "aten::mm");
    assert_eq!(mm["kernels"], json!([{"name": "gemm", "device": 0, "duration_ns": 5000}]));
    assert_eq!((&mm["use_device"], &mm["device_index"]), (&"cuda".into(), &7.into()));
    assert_eq!(find(&events, "name", "gemm")["linked_correlation_id"], 2);
    assert_eq!(find(&events, "name", "aten::add")["kernels"], json!([]));
}

#[test]
fn rows_are_averages_events_or_the_total() {
    let twice = json!([
        span("cpu_op", "aten::a", (0, 10), &json!({})),
        span("cpu_op", "aten::a", (20, 30), &json!({}))
    ]);
    let counts = |what: &str| -> Vec<Value> {
        let rows = rows(&["ops", "--rows", what], &format!("rows-{what}.json"), &twice);
        rows.iter().map(|row| json!([row["name"], row["count"], row["cpu_time_total_ns"]])).collect()
    };
    assert_eq!(counts("averages"), [json!(["aten::a", 2, 40_000])]);
    assert_eq!(counts("events"), [json!(["aten::a", 1, 10_000]), json!(["aten::a", 1, 30_000])]);
    assert_eq!(counts("total"), [json!(["Total", 2, 40_000])]);
    let table = run(&["ops", "--rows", "events"], "rows-table.json", &twice);
    assert_eq!(table.lines().filter(|line| line.trim_start().starts_with("aten::a")).count(), 2);
}

/// TorchScript calls no Python functions; its operators have their modules.
#[test]
fn modules_of_torchscript_are_those_of_its_operators() {
    let op =
        |name: &str, time, modules: &str| span("cpu_op", name, time, &json!({"Module Hierarchy": modules}));
    let trace = json!([
        op("forward", (0, 100), "TOP(Net)::forward."),
        op("aten::linear", (10, 20), "TOP(Net)::forward.fc(Linear)::forward."),
        op("aten::addmm", (12, 10), "TOP(Net)::forward.fc(Linear)::forward.SELF(Linear)::scale."),
        op("aten::relu", (40, 10), "TOP(Net)::forward."),
    ]);
    let modules = rows(&["modules"], "modules.json", &trace);
    let times: Vec<_> = modules
        .iter()
        .map(|m| json!([m["path"], m["count"], m["cpu_time_total_ns"], m["self_cpu_time_total_ns"]]))
        .collect();
    assert_eq!(
        times,
        [json!(["TOP(Net)", 1, 100_000, 80_000]), json!(["TOP(Net)/fc(Linear)", 1, 20_000, 20_000])]
    );
    let groups = rows(&["ops", "--group-by", "module"], "by-module.json", &trace);
    assert_eq!(find(&groups, "name", "aten::addmm")["stack"], json!(["TOP(Net)/fc(Linear)"]));
    assert_eq!(find(&groups, "name", "aten::relu")["stack"], json!(["TOP(Net)"]));
}

/// PyTorch's `NamePattern` searches names with a regular expression.
#[test]
fn patterns_are_searched_by_regular_expressions() {
    let op = |name: &str, at: i64| span("cpu_op", name, (at, 10), &json!({}));
    let trace =
        json!([op("aten::mm", 0), op("aten::add", 20), op("aten::addmm", 40), op("aten::mul(x)", 60)]);
    let events = |expression: &str| -> Vec<Value> {
        let rows = rows(&["patterns", "--name", expression], "names.json", &trace);
        rows.iter().map(|row| json!([row["event"], row["count"]])).collect()
    };
    assert_eq!(events("aten::(mm|add)$"), [json!(["aten::mm", 2])]);
    assert_eq!(events("^add"), [json!(null); 0]);
    assert_eq!(events(r"\(.\)"), [json!(["aten::mul(x)", 1])]);
    let report = run(&["patterns", "--report", "--name", "mm$"], "report.json", &trace);
    assert!(report.contains("mm$: 2 events matched."), "{report}");

    let path = written("bad-expression.json", &trace);
    let mut command = program();
    let output = command.args(["patterns", "--name", "aten::("]).arg(&path).output().expect("the command");
    std::fs::remove_file(path).expect("the file");
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(error.starts_with("kinetoscope: name: "), "{error}");
}

/// Dynamo's profiler counts events of all threads in the order of their start, an operator less for each graph call and
/// one less for itself. Its graphs are annotations named `TORCHDYNAMO`.
#[test]
fn coverage_has_the_result_of_dynamos_profiler() {
    let stack = "a.py(1): f;/x/site-packages/torch/nn.py(2): g;b.py(3): h;c.py(4): i;d.py(5): j;";
    let op = |name: &str, time, stack: &str| span("cpu_op", name, time, &json!({"Call stack": stack}));
    let mut elsewhere = op("aten::elsewhere", (26, 2), "");
    elsewhere["tid"] = 8.into();
    let trace = |region: Value, annotation: Value| {
        json!([
            op("aten::zeros", (0, 10), stack),
            region,
            annotation,
            op("aten::mm", (25, 20), ""),
            elsewhere,
            op("aten::inner", (30, 5), ""),
            op("aten::add", (50, 10), ""),
            op("aten::linear", (80, 40), stack),
        ])
    };
    let call = || span("user_annotation", "TORCHDYNAMO", (20, 50), &json!({}));
    let old = trace(call(), op("TorchDynamo Cache Lookup", (12, 1), ""));
    let table = run(&["coverage"], "dynamo.json", &old);
    let line = "Dynamo's profiler:  ? graphs  1 graph calls    2/   3 =  67% ops  37% time\n";
    assert!(table.contains(&format!("{line}MISSING b.py(3): h >> c.py(4): i >> d.py(5): j\n")), "{table}");
    let counts = |rows: &[Value], kind: &str| {
        let row = find(rows, "kind", kind);
        json!([row["graphs"], row["operators"], row["fusions"], row["time_ns"], row["device_time_ns"]])
    };
    let found = rows(&["coverage"], "dynamo-rows.json", &old);
    assert_eq!(counts(&found, "dynamo_captured"), json!([1, 2, 1, 30_000, null]));
    assert_eq!(counts(&found, "dynamo_total"), json!([0, 3, 2, 81_000, null]));
    assert_eq!(counts(&found, "captured"), json!([1, 2, 1, 50_000, 0]));

    let region = || op("Torch-Compiled Region: 0/0", (19, 55), "");
    let new = trace(region(), call());
    let table = run(&["coverage"], "dynamo-new.json", &new);
    let line = "Dynamo's profiler:  1 graphs  1 graph calls    0/   1 =   0% ops   0% time\n";
    assert!(table.contains(line), "{table}");

    let without = trace(region(), op("TorchDynamo Cache Lookup", (12, 1), ""));
    assert!(!run(&["coverage"], "dynamo-none.json", &without).contains("Dynamo's profiler"));
}

/// The execution trace of another recording is refused, with its name.
#[test]
fn events_take_inputs_from_an_execution_trace() {
    let args = json!({"External id": 2, "Record function id": 5});
    let trace = written("joined.json", &json!([span("cpu_op", "aten::add", (0, 10), &args)]));
    let node = |rf_id: i64| {
        let node = json!({"name": "aten::add", "id": 9, "rf_id": rf_id, "inputs": [[4, 5, 0, 6, 4, "cpu"]],
            "input_shapes": [[2, 3]], "input_types": ["Tensor(float)"]});
        format!(r#"{{"schema": "1.0.1", "nodes": [{node}]}}"#)
    };
    let with = |execution: &Path| {
        let mut command = program();
        command.args(["events", "--format", "json", "--execution-trace"]).arg(execution).arg(&trace);
        command.output().expect("the command")
    };
    let run = |rf_id: i64| {
        let name = format!("kinetoscope-torch-{}-execution-{rf_id}.json", std::process::id());
        let execution = std::env::temp_dir().join(name);
        std::fs::write(&execution, node(rf_id)).expect("a file");
        let output = with(&execution);
        std::fs::remove_file(execution).expect("the file");
        output
    };
    let answer: Value = serde_json::from_slice(&run(5).stdout).expect("JSON");
    let expected =
        json!([{"type": "Tensor(float)", "shape": [2, 3], "stride": null, "value": [4, 5, 0, 6, 4, "cpu"]}]);
    assert_eq!((&answer["rows"][0]["inputs"], &answer["rows"][0]["outputs"]), (&expected, &json!([])));
    let other = run(6);
    assert_eq!(other.status.code(), Some(2));
    let error = String::from_utf8(other.stderr).expect("UTF-8");
    assert!(
        error.contains("execution-6.json: no event of the trace has the name and the Record function id"),
        "{error}"
    );
    let folder = with(&std::env::temp_dir());
    assert!(String::from_utf8_lossy(&folder.stderr).contains("this is a folder"), "{folder:?}");
    std::fs::remove_file(trace).expect("the file");
}
