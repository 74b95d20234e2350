//! Where kernels come from: runs of `torch.compile` with the files that PyTorch wrote about them, and annotations of CUDA graphs.

mod nodes;

use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::provenance::{Explained, ProvenanceFile};
use kinetoscope_tests::answers::{made, rows, rows_with, text};
use kinetoscope_tests::files;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const FOLDER: &str = "inductor";

fn file(name: &str) -> Vec<u8> {
    files::read(&files::data().join(FOLDER).join(name)).expect("a file")
}

fn trace(case: &str) -> Trace {
    Trace::read(&file(&format!("{case}/trace.json.gz"))).expect("a trace")
}

fn log(case: &str) -> Vec<u8> {
    file(&format!("{case}/torch_trace.log.gz"))
}

fn join(trace: &mut Trace, named: &[(&str, &[u8])]) -> Result<Explained, String> {
    let files: Vec<ProvenanceFile<'_>> =
        named.iter().map(|&(path, bytes)| ProvenanceFile { path, bytes }).collect();
    trace.join_provenance(&files).map_err(|error| error.to_string())
}

fn joined(case: &str) -> Trace {
    let mut trace = trace(case);
    let explained = join(&mut trace, &[("run.log", &log(case))]).expect("the log of the trace");
    assert_eq!(explained.calls, explained.known_calls, "{explained:?}");
    trace
}

/// The rows of a kind.
fn of_kind(trace: &Trace, kind: &str) -> Vec<Value> {
    rows(trace, "compiled").into_iter().filter(|row| row["kind"] == kind).collect()
}

/// A list of texts, without order.
fn set(value: &Value) -> BTreeSet<String> {
    let texts: Vec<&str> = match value {
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        Value::String(text) => text.split(", ").collect(),
        _ => Vec::new(),
    };
    texts.into_iter().map(str::to_owned).collect()
}

/// `case_b.py:14, 15` as the set of `case_b.py:14` and `case_b.py:15`.
fn lines(source: &Value) -> BTreeSet<String> {
    let mut file = "";
    let places = source.as_str().unwrap_or("").split(", ");
    let line = |place| match str::rsplit_once(place, ':') {
        Some((own, line)) => {
            file = own;
            format!("{file}:{line}")
        }
        None => format!("{file}:{place}"),
    };
    places.map(line).collect()
}

#[test]
fn generated_kernels_have_the_nodes_operators_and_lines_that_inductor_states() {
    let expected: Value = serde_json::from_slice(&file("expected.json")).expect("JSON");
    let mut checked = 0;
    for case in ["a", "b", "c"] {
        let trace = joined(case);
        let kernels = of_kind(&trace, "kernel");
        let graphs = of_kind(&trace, "graph");
        for (name, truth) in expected[case].as_object().expect("kernels") {
            for call in truth["calls"].as_array().expect("calls") {
                let handle = call["handle"].as_str().and_then(|handle| handle.rsplit(':').next());
                let handle: i64 = handle.and_then(|handle| handle.parse().ok()).expect("a handle");
                let is_it = |row: &&Value| row["name"] == **name && row["handle"] == handle;
                let row = kernels.iter().find(is_it).unwrap_or_else(|| panic!("{case} {name} {handle}"));
                let graph = graphs.iter().find(|graph| graph["graph"] == row["graph"]).expect("its graph");
                let id = truth["compile_id"].as_str().expect("an id");
                assert_eq!(graph["compile_id"], id.split('_').next().expect("without the attempt"), "{name}");
                assert_eq!(graph["graph_kind"], truth["graph"], "{name}");
                assert_eq!(graph["key"], truth["fx_graph_cache_key"], "{name}");
                assert_eq!(graph["file"], truth["output_code"], "{name}");
                assert_eq!(graph["matched_by"], "key", "{name}");
                assert_eq!(graph["cached"], false, "{name}");
                assert_eq!(lines(&row["source"]), set(&call["lines"]), "{name}:{handle}");
                checked += 1;
                // The nodes of a backward graph that is compiled later are in no file of this run.
                if truth["nodes_from"] != "inductor_provenance_tracking_node_mappings" {
                    assert_eq!(row["nodes"], Value::Null, "{name}");
                    continue;
                }
                assert_eq!(set(&row["nodes"]), set(&call["nodes"]), "{name}:{handle}");
                let mut operators = set(&call["operators"]);
                operators.remove("getitem");
                assert_eq!(set(&row["operators"]), operators, "{name}:{handle}");
                assert_eq!(set(&row["source_nodes"]), set(&call["pre_grad_nodes"]), "{name}:{handle}");
            }
        }
    }
    assert_eq!(checked, 22, "every call of a generated kernel");
}

#[test]
fn external_calls_are_known_by_their_order() {
    let trace = joined("b");
    let calls: Vec<(String, String)> = of_kind(&trace, "kernel")
        .iter()
        .filter(|row| row["name"].as_str().is_some_and(|name| name.starts_with("aten::")))
        .map(|row| (row["handle"].to_string(), row["source"].as_str().unwrap_or("").to_owned()))
        .collect();
    // The products of the attention block, as its source has them: qkv, scores, values, output.
    let expected =
        [("2", "case_b.py:14"), ("4", "case_b.py:15"), ("6", "case_b.py:19"), ("8", "case_b.py:20")];
    for (handle, line) in expected {
        assert!(calls.contains(&(handle.to_owned(), line.to_owned())), "{handle} {line} of {calls:?}");
    }
    assert_eq!(calls.len(), expected.len());
}

/// The trace of a case in which the names of events were changed.
fn renamed(case: &str, name: impl Fn(&str) -> Option<String>) -> Trace {
    let mut json: Value = serde_json::from_slice(&unpacked(case)).expect("JSON");
    let events = json["traceEvents"].as_array_mut().expect("events");
    events.retain_mut(|event| {
        let Some(new) = name(event["name"].as_str().unwrap_or("")) else { return false };
        event["name"] = new.into();
        true
    });
    made(&json)
}

fn unpacked(case: &str) -> Vec<u8> {
    use std::io::Read;
    let mut out = Vec::new();
    let bytes = file(&format!("{case}/trace.json.gz"));
    flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut out).expect("gzip");
    out
}

#[test]
fn calls_without_keys_are_known_by_files_regions_or_names() {
    let truth = |trace: &Trace| -> Vec<(Value, Value)> {
        let kernels = of_kind(trace, "kernel");
        let mut all: Vec<(Value, Value)> =
            kernels.iter().map(|row| (row["event"].clone(), row["source"].clone())).collect();
        all.sort_by_key(|row| row.0.as_i64());
        all
    };
    let is_key = |name: &str| name.starts_with("## Call CompiledFxGraph");
    let is_code = |name: &str| name.contains(".py(") && name.ends_with("): call");
    let unkeyed =
        |name: &str| if is_key(name) { "## Call CompiledFxGraph None ##".into() } else { name.to_owned() };
    for case in ["a", "c"] {
        let expected = truth(&joined(case));
        for by in ["file", "region"] {
            let mut trace = renamed(case, |name| match by {
                "region" if is_code(name) => Some("gone".into()),
                _ => Some(unkeyed(name)),
            });
            join(&mut trace, &[("run.log", &log(case))]).expect("the log");
            for graph in of_kind(&trace, "graph") {
                // No region is around a backward pass, so that only the names of its kernels show it.
                let shown = if graph["graph_kind"] == "backward" && by == "region" { "names" } else { by };
                assert_eq!(graph["matched_by"], shown, "{case}: {graph}");
            }
            assert_eq!(truth(&trace), expected, "{case} by {by}");
        }
    }
}

#[test]
fn a_graph_that_several_fit_is_not_named() {
    // Without keys, files and regions, `graph_2_cpp_fused_mul_relu_0` is known by the number of its graph.
    let bare = |name: &str| {
        let is_place =
            name.starts_with("## Call") || name.starts_with("Torch-Compiled") || name.ends_with("): call");
        Some(if is_place { "## Call CompiledFxGraph None ##".to_owned() } else { name.to_owned() })
    };
    let mut trace = renamed("c", bare);
    join(&mut trace, &[("run.log", &log("c"))]).expect("the log");
    assert!(of_kind(&trace, "graph").iter().all(|graph| graph["matched_by"] == "names"));
    // Without the numbers as well, three graphs have the same kernels: which one ran is not known, where they come from is.
    let mut trace = renamed("c", |name| {
        let name = bare(name)?;
        Some(name.split_once("_cpp_").map_or(name.clone(), |(_, rest)| format!("cpp_{rest}")))
    });
    join(&mut trace, &[("run.log", &log("c"))]).expect("the log");
    for graph in of_kind(&trace, "graph") {
        assert_eq!(graph["matched_by"], "equal_graphs", "{graph}");
        assert_eq!((&graph["compile_id"], &graph["file"]), (&Value::Null, &Value::Null));
    }
    let kernels = of_kind(&trace, "kernel");
    assert!(kernels.iter().all(|row| row["source"] != Value::Null), "{kernels:?}");
    // A graph with the same names whose kernels come from other lines.
    let log = |lines: &[u32]| -> String {
        let log = |(at, &line): (usize, &u32)| log_of(at as u32, &[("triton_poi_fused_add_0", line)]);
        lines.iter().enumerate().map(log).collect()
    };
    let mut trace = made(&json!({"traceEvents": [
        {"ph":"X","cat":"user_annotation","name":"## Call CompiledFxGraph None ##","pid":1,"tid":1,"ts":0,"dur":50},
        {"ph":"X","cat":"cpu_op","name":"triton_poi_fused_add_0","pid":1,"tid":1,"ts":5,"dur":20}
    ]}));
    assert!(join(&mut trace, &[("run.log", log(&[3, 4]).as_bytes())]).is_err(), "either line");
    join(&mut trace, &[("run.log", log(&[3, 3]).as_bytes())]).expect("the same line");
    assert_eq!(rows(&trace, "compiled")[1]["source"], "model.py:3");
}

#[test]
fn breaks_and_recompilations_have_their_reasons() {
    let trace = joined("c");
    let breaks = of_kind(&trace, "break");
    assert_eq!(breaks.len(), 1, "{breaks:?}");
    assert_eq!(breaks[0]["line"], "case_c.py:12");
    assert_eq!(breaks[0]["reason"], "Call to `torch._dynamo.graph_break()`");
    assert_eq!(breaks[0]["count"], 3);
    let graphs = of_kind(&trace, "graph");
    let reason = |id: &str| {
        graphs.iter().find(|graph| graph["compile_id"] == id).expect("a graph")["recompile_reason"].clone()
    };
    assert_eq!(reason("0/1"), "0/0: tensor 'x' size mismatch at index 0. expected 4, actual 6");
    assert!(
        reason("0/2").as_str().is_some_and(|reason| reason.starts_with("0/1: low == True # h = ")),
        "{}",
        reason("0/2")
    );
    let function =
        graphs.iter().find(|graph| graph["compile_id"] == "1/1").expect("a graph")["function"].clone();
    assert_eq!(function, "torch_dynamo_resume_in_forward_at_12 case_c.py:12");
    // The sums of calls are those of the events: twelve regions ran.
    assert_eq!(graphs.iter().filter_map(|graph| graph["calls"].as_i64()).sum::<i64>(), 12);
}

#[test]
fn folders_and_kernel_information_do_without_a_log() {
    let mut trace = trace("a");
    let mappings = file("a/inductor_provenance_tracking_node_mappings.json");
    let path = "torch_compile_debug/run_1/torchinductor/model__0_forward_1.0/inductor_provenance_tracking_node_mappings.json";
    let explained = join(&mut trace, &[(path, &mappings)]).expect("the folder");
    assert_eq!((explained.graphs, explained.known_calls), (1, 2), "the forward calls: {explained:?}");
    let kernels = of_kind(&trace, "kernel");
    let softmax = kernels.iter().find(|row| row["name"] == "graph_0_cpp_fused__softmax_4").expect("a kernel");
    assert_eq!(set(&softmax["nodes"]), set(&json!(["amax", "sub_2", "exp", "sum_1", "div"])));

    let mut trace = self::trace("d");
    join(&mut trace, &[("kernel_information.json", &file("d/kernel_information.json"))]).expect("the file");
    let kernels = of_kind(&trace, "kernel");
    assert_eq!(kernels.len(), 9);
    assert!(kernels.iter().all(|row| row["calls"] == 2 && row["source"] != Value::Null), "{kernels:?}");
    let first = kernels
        .iter()
        .find(|row| row["name"] == "graph_0_cpp_fused_add_mean_mul_pow_rsqrt_0")
        .expect("a kernel");
    assert_eq!(first["source"], "work/d/layer.py:27");
}

#[test]
fn files_of_another_run_or_kind_are_refused() {
    let mut trace = trace("a");
    let error = join(&mut trace, &[("run.log", &log("b"))]).expect_err("another model");
    assert!(error.contains("they are of another run"), "{error}");
    let error = join(&mut trace, &[("model.py", b"print(1)")]).expect_err("a program");
    assert!(error.contains("model.py: neither a file of torch.compile"), "{error}");
    let code = b"# AOT ID: ['0_forward']\n# [Provenance debug handles] cpp_fused_add_0:1\n";
    let error = join(&mut trace, &[("one.py", code), ("two.py", &[code, &b"#"[..]].concat())])
        .expect_err("two graphs");
    assert!(error.contains("two.py: another file of this kind is in the same folder"), "{error}");
    for other in [&b"{}"[..], b"[]", b"", b"{\"traceEvents\":[]}", b"\x80\x04K\x01."] {
        assert!(join(&mut trace, &[("other", other)]).is_err(), "{other:?}");
    }
    assert!(rows(&trace, "compiled").iter().all(|row| row["kind"] != "break"), "nothing was joined");
}

#[test]
fn a_log_that_is_cut_or_damaged_does_not_fail() {
    use std::io::Read;
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&log("c")[..]).read_to_end(&mut text).expect("gzip");
    for length in (1..text.len()).step_by(text.len() / 60) {
        let mut trace = trace("c");
        let _ = join(&mut trace, &[("run.log", &text[..length])]);
        rows(&trace, "compiled");
        let mut damaged = text.clone();
        damaged[length] = b'{';
        let _ = join(&mut trace, &[("run.log", &damaged)]);
        rows(&trace, "compiled");
    }
}

/// A compiled graph on a device: a kernel that an operator launches, and one that a CUDA graph replays.
fn on_device() -> Trace {
    made(&json!({"traceEvents": [
        {"ph":"X","cat":"cpu_op","name":"Torch-Compiled Region: 0/0","pid":1,"tid":1,"ts":0,"dur":50,"args":{"External id":1}},
        {"ph":"X","cat":"cpu_op","name":"triton_poi_fused_add_0","pid":1,"tid":1,"ts":5,"dur":20,
            "args":{"External id":2,"kernel_file":"/cache/ab/cab.py"}},
        {"ph":"X","cat":"cuda_driver","name":"cuLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":7,"External id":2}},
        {"ph":"X","cat":"kernel","name":"triton_poi_fused_add_0","pid":0,"tid":7,"ts":40,"dur":24,"args":{"correlation":7,"External id":2}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":60,"dur":5,"args":{"correlation":8}},
        {"ph":"X","cat":"kernel","name":"triton_poi_fused_add_0","pid":0,"tid":7,"ts":70,"dur":20,"args":{"correlation":8}},
        {"ph":"X","cat":"kernel","name":"triton_red_fused_sum_1","pid":0,"tid":7,"ts":95,"dur":30,"args":{"correlation":8}}
    ]}))
}

/// A log of one graph whose kernels come from these lines.
fn log_of(id: u32, kernels: &[(&str, u32)]) -> String {
    use std::fmt::Write;
    let ids = format!("\"frame_id\": {id}, \"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"0\"");
    let mut code = format!("\t# AOT ID: ['{id}_inference']\n");
    let mut stacks = serde_json::Map::new();
    for (at, (name, line)) in kernels.iter().enumerate() {
        let _ = writeln!(code, "\t        # [Provenance debug handles] {name}:{}", at + 1);
        let stack = format!(
            "  File \"model.py\", line {line}, in forward\n    x\n  File \"torch/nn/functional.py\", line 9, in relu\n"
        );
        stacks.insert(format!("{name}:{}", at + 1), json!([stack]));
    }
    let head = "V1130 09:16:02.479000 1 torch/_inductor/graph.py:1] ";
    let name = "inductor_provenance_tracking_kernel_stack_traces";
    format!(
        "{head}{{\"inductor_output_code\": {{\"filename\": \"/cache/x/c{id}.py\"}}, {ids}}}\n{code}{head}{{\"artifact\": {{\"name\": \"{name}\"}}, \
         {ids}}}\n\t{}\n",
        Value::Object(stacks)
    )
}

#[test]
fn kernels_on_a_device_and_in_replayed_graphs_have_sources() {
    let sources = |trace: &Trace| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let groups = rows_with(trace, "kernels", &json!({"by": "source"}));
        groups.iter().map(|row| (text(&row["name"]), text(&row["source_by"]))).collect()
    };
    let pair = |name: &str, by: &str| (name.to_owned(), by.to_owned());
    let mut trace = on_device();
    assert_eq!(sources(&trace), [pair("(no source)", "-"), pair("/cache/ab/cab.py", "generated_file")]);
    let own = log_of(0, &[("triton_poi_fused_add_0", 12), ("triton_red_fused_sum_1", 15)]);
    join(&mut trace, &[("run.log", own.as_bytes())]).expect("the log");
    let by_name = |line: u32| pair(&format!("model.py:{line}"), "kernel_name");
    assert_eq!(sources(&trace), [pair("model.py:12", "inductor"), by_name(15)]);
    let graph = &of_kind(&trace, "graph")[0];
    assert_eq!((graph["device_ns"].as_i64(), graph["calls"].as_i64()), (Some(24_000), Some(1)));
    let fitness = text(&trace, "fitness");
    let shown = "the files of torch.compile show the source of 100.0% (67.6% by names of kernels only)";
    assert!(fitness.replace('\n', " ").contains(shown), "{fitness}");
    // Another graph has a kernel of the same name from another line: a replayed kernel can be either.
    let both = own + &log_of(1, &[("triton_poi_fused_add_0", 40)]);
    join(&mut trace, &[("run.log", both.as_bytes())]).expect("the log");
    assert_eq!(sources(&trace), [by_name(15), pair("model.py:12", "inductor"), pair("(no source)", "-")]);
    // A log that lacks a kernel of the launch is of another program, or not all of it.
    let other = log_of(0, &[("triton_poi_fused_add_0", 12), ("triton_red_fused_sum_2", 15)]);
    join(&mut trace, &[("run.log", other.as_bytes())]).expect("the eager kernel");
    assert_eq!(sources(&trace), [pair("(no source)", "-"), pair("model.py:12", "inductor")]);
}

/// A log of a cached graph: that of [`log_of`], with its key.
fn log_with_key(id: u32, key: &str, kernels: &[(&str, u32)]) -> String {
    let ids = format!("\"frame_id\": {id}, \"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"0\"");
    let record = format!(
        "V1130 09:16:02.479000 1 torch/x.py:1] {{\"artifact\": {{\"name\": \"fx_graph_cache_hit\"}}, {ids}}}"
    );
    format!("{}{record}\n\t{{\"key\": \"{key}\"}}\n", log_of(id, kernels))
}

/// A call of a compiled graph in a region, as its operators.
fn call(region: u32, key: &str, ts: i64, inner: &[Value]) -> Vec<Value> {
    let mut events = vec![
        json!({"ph":"X","cat":"cpu_op","name":format!("Torch-Compiled Region: {region}/0"),"pid":1,"tid":1,"ts":ts,"dur":90}),
        json!({"ph":"X","cat":"cpu_op","name":"CompiledFunction","pid":1,"tid":1,"ts":ts + 1,"dur":88}),
        json!({"ph":"X","cat":"user_annotation","name":format!("## Call CompiledFxGraph {key} ##"),"pid":1,"tid":1,"ts":ts + 2,"dur":86}),
    ];
    events.extend_from_slice(inner);
    events
}

fn kernel_call(ts: i64) -> Value {
    json!({"ph":"X","cat":"cpu_op","name":"triton_poi_fused_add_0","pid":1,"tid":1,"ts":ts,"dur":20})
}

#[test]
fn functions_that_share_a_key_are_distinguished_by_their_regions() {
    let calls = [call(0, "fabc", 0, &[kernel_call(5)]), call(1, "fabc", 100, &[kernel_call(105)])];
    let mut trace = made(&json!(calls.concat()));
    let log = |line: u32, id: u32| log_with_key(id, "fabc", &[("triton_poi_fused_add_0", line)]);
    join(&mut trace, &[("run.log", (log(3, 0) + &log(9, 1)).as_bytes())]).expect("the log");
    let of =
        |kind: &str, key: &str| of_kind(&trace, kind).iter().map(|row| row[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("graph", "compile_id"), ["0/0", "1/0"]);
    assert_eq!(of("graph", "matched_by"), ["key", "key"]);
    assert_eq!(of("graph", "cached"), [true, true]);
    assert!(text(&trace, "compiled").contains("0/0 inference (cached)"));
    assert_eq!(of("kernel", "source"), ["model.py:3", "model.py:9"]);
}

#[test]
fn a_graph_with_another_key_is_another_graph() {
    let mut trace = made(&json!(call(0, "fabc", 0, &[kernel_call(5)])));
    let old = log_with_key(0, "fold", &[("triton_poi_fused_add_0", 3)]);
    assert!(join(&mut trace, &[("old.log", old.as_bytes())]).is_err(), "the same region and names");
    // Output of the program before the first record, and a mark of the encoding.
    let own = format!("\u{feff}Starting\n{}", log_with_key(0, "fabc", &[("triton_poi_fused_add_0", 3)]));
    join(&mut trace, &[("run.log", own.as_bytes()), ("again.log", own.as_bytes())]).expect("the log");
    assert_eq!(of_kind(&trace, "graph")[0]["matched_by"], "key");
    // Without the annotation, the region is around the functions of autograd.
    let bare: Vec<Value> = call(0, "", 0, &[kernel_call(5)])
        .into_iter()
        .filter(|event| event["cat"] != "user_annotation")
        .collect();
    let mut trace = made(&json!(bare));
    join(&mut trace, &[("run.log", own.as_bytes())]).expect("the log");
    assert_eq!(of_kind(&trace, "graph")[0]["matched_by"], "region");
}

#[test]
fn a_replay_in_a_compiled_region_has_sources() {
    let launch = json!({"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":8}});
    let mut events = call(0, "fabc", 0, &[launch]);
    for (name, ts) in [("triton_poi_fused_add_0", 40), ("ampere_sgemm", 50), ("triton_red_fused_sum_1", 60)] {
        events.push(json!({"ph":"X","cat":"kernel","name":name,"pid":0,"tid":7,"ts":ts,"dur":5,"args":{"correlation":8}}));
    }
    let mut trace = made(&json!(events));
    let log = log_with_key(0, "fabc", &[("triton_poi_fused_add_0", 3), ("triton_red_fused_sum_1", 4)]);
    join(&mut trace, &[("run.log", log.as_bytes())]).expect("the log");
    let source = |name: &str| {
        let rows = rows(&trace, "kernels");
        let row = rows.iter().find(|row| row["name"] == name).expect("a kernel");
        (row["source"].clone(), row["source_by"].clone())
    };
    assert_eq!(source("triton_red_fused_sum_1"), (json!("model.py:4"), json!("kernel_name")));
    assert_eq!(source("ampere_sgemm").1, Value::Null);
    let graph = &of_kind(&trace, "graph")[0];
    assert_eq!((&graph["matched_by"], &graph["device_ns"]), (&json!("key"), &json!(15_000)));
}

#[test]
fn stacks_of_the_trace_show_lines_where_they_have_them() {
    let with = |caller: Option<&str>| {
        let function = |name: &str, ts: i64, dur: i64, from: Option<&str>| {
            json!({"ph":"X","cat":"python_function","name":name,
            "pid":1,"tid":1,"ts":ts,"dur":dur,"args":{"CallFrom":from}})
        };
        let trace = made(&json!({"traceEvents": [
            function("train.py(3): main", 0, 90, None),
            function("torch/nn/modules/linear.py(110): forward", 1, 80, caller),
            {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":5,"dur":20,"args":{"External id":2}},
            {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":7,"External id":2}},
            {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":40,"dur":24,"args":{"correlation":7,"External id":2}}
        ]}));
        let row = rows(&trace, "kernels").remove(0);
        assert_eq!(row["source_by"], "stack");
        row["source"].as_str().map(str::to_owned)
    };
    assert_eq!(with(None).as_deref(), Some("train.py(3): main"), "the function and its first line");
    assert_eq!(with(Some("train.py:17")).as_deref(), Some("train.py:17"), "the line of the call");
    // An operator of Python, such as `+`, is no call: only the function around it is known, not the line from which that is called.
    let trace = made(&json!([
        {"ph":"X","cat":"python_function","name":"train.py(3): inner","pid":1,"tid":1,"ts":0,"dur":90,"args":{"CallFrom":"train.py:40"}},
        {"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":5,"dur":20,"args":{"External id":2}},
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":7,"External id":2}},
        {"ph":"X","cat":"kernel","name":"add","pid":0,"tid":7,"ts":40,"dur":24,"args":{"correlation":7,"External id":2}}
    ]));
    assert_eq!(rows(&trace, "kernels")[0]["source"], "train.py(3): inner");
}
