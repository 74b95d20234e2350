//! Fields that newer versions of PyTorch write, in the answers that use them.

use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::analysis::torch::function_events::FunctionEvents;
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::queries::export_options::FoldedOptions;
use kinetoscope_core::queries::exports::folded;
use kinetoscope_core::queries::{QUERIES, Request};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::layout::Key;
use kinetoscope_core::trace::versions::Rules;
use kinetoscope_tests::answers::{made, rows};
use kinetoscope_tests::exports::exported;
use kinetoscope_tests::files;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

fn read(path: &str) -> Trace {
    Trace::read(&fs::read(files::data().join(path)).expect("a file")).expect("a trace")
}

fn find<'a>(rows: &'a [Value], key: &str, value: &str) -> &'a Value {
    rows.iter().find(|row| row[key] == value).unwrap_or_else(|| panic!("no {key} {value} in {rows:#?}"))
}

fn work(name: &str, ts: i64, args: &Value) -> Value {
    json!({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": 5, "args": args})
}

#[test]
fn nodes_of_cuda_graphs_have_annotations() {
    for file in ["gpu_graph/trace_merged.json.gz", "gpu_graph/trace.pftrace"] {
        let kernels = rows(&read(&format!("torch/2.15/cuspy/{file}")), "kernels");
        let annotation = |name: &str| &find(&kernels, "short_name", name)["annotation"];
        assert_eq!(*annotation("ampere_sgemm_32x32_sliced1x4_tn"), "block 0", "{file}");
        assert_eq!(*annotation("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), "all reduce", "{file}");
        assert_eq!(*annotation("vectorized_elementwise_kernel<4, AddFunctor<float>>"), Value::Null, "{file}");
    }
    let kernels = rows(&read("torch/2.15/synthetic/python_export_lanes/trace.json.gz"), "kernels");
    assert_eq!(find(&kernels, "name", "g2")["annotation"], "comm");
    // A name outside of a CUDA graph is no annotation.
    let node = json!({"graph node id": 4, "annotation": "[{\"name\":\"outer\"},{\"name\":\"inner\"}]"});
    let trace = made(&json!([work("a", 0, &node), work("b", 9, &json!({"name": "x"}))]));
    let kernels = rows(&trace, "kernels");
    assert_eq!(find(&kernels, "name", "a")["annotation"], "outer / inner");
    assert_eq!(find(&kernels, "name", "b")["annotation"], Value::Null);
}

#[test]
fn plain_copies_and_memsets_are_grouped_by_their_kind() {
    let kernels = rows(&read("torch/2.15/cuspy/gpu_random_0/trace_merged.json.gz"), "kernels");
    assert_eq!(find(&kernels, "name", "Memcpy HtoD (Pageable -> Device)")["count"], 50);
    assert_eq!(find(&kernels, "name", "Memset (Device)")["count"], 55);
    let copy = |ts: i64, kind: &str, from: &str| {
        let mut copy =
            work("Memcpy", ts, &json!({"copy kind": kind, "src kind": from, "dst kind": "device static"}));
        copy["cat"] = "gpu_memcpy".into();
        copy
    };
    let trace =
        made(&json!([copy(0, "HtoD", "pinned"), copy(9, "HtoD", "pageable"), copy(18, "HtoD", "pinned")]));
    let kernels = rows(&trace, "kernels");
    assert_eq!(kernels.len(), 2);
    assert_eq!(find(&kernels, "name", "Memcpy HtoD (Pinned -> Device Static)")["count"], 2);

    let unnamed = made(&json!([copy(0, "", "")]));
    assert_eq!(rows(&unnamed, "kernels")[0]["name"], "Memcpy");
    let mut memset = work("Memset", 0, &json!({"memory kind": "device"}));
    memset["cat"] = "gpu_memset".into();
    assert_eq!(rows(&made(&json!([memset])), "kernels")[0]["name"], "Memset (Device)");
}

/// Annotations of CUDA graphs are lists of scopes, from the outermost to the innermost.
#[test]
fn annotations_are_shown_with_what_has_no_name() {
    let annotated = |annotation: &Value| {
        let kernel = work("k", 0, &json!({"graph node id": 4, "annotation": annotation}));
        rows(&made(&json!([kernel])), "kernels")[0]["annotation"].clone()
    };
    assert_eq!(annotated(&json!(r#"[{"name": "block"}, {"layer": 3}]"#)), r#"block / {"layer":3}"#);
    assert_eq!(annotated(&json!([{"name": "a"}, {"name": "b"}])), "a / b");
    assert_eq!(annotated(&json!(r#"{"name": "c"}"#)), "c");
    assert_eq!(annotated(&json!("plain")), "plain");
    assert_eq!(annotated(&json!("[]")), Value::Null);
}

#[test]
fn options_of_ops_that_exclude_each_other_are_refused() {
    let trace = read("healthy/small_gpu_trace.json");
    let error = |options: &Value| {
        let ops = QUERIES.iter().find(|query| query.name == "ops").expect("the query");
        let options = Options::from_json(ops.options, options).expect("options");
        ops.answer(&trace, Request::new(&options)).err().map(|error| error.to_string())
    };
    for rows in ["events", "total"] {
        let message = error(&json!({"rows": rows, "groupBy": "shape"}));
        assert_eq!(message.as_deref(), Some("group-by: only averages have groups"));
    }
    assert!(error(&json!({"rows": "total", "topLevelOnly": true})).is_some());
    assert_eq!(error(&json!({"rows": "events", "topLevelOnly": true, "includePythonFunctions": true})), None);
}

/// The names and values of counters that the hardware defines are public; those of other counters are not.
#[test]
fn redacted_counters_of_the_hardware_remain() {
    let trace = read("torch/2.15/cuspy/gpu_counters/trace_merged.json.gz");
    let redacted = Trace::read(&exported(&trace, "redact", b"salt")).expect("a trace");
    let values = |trace: &Trace, private: bool| -> Vec<Value> {
        let counters = rows(trace, "counters").into_iter();
        let counters = counters.filter(|row| private || row["name"] != "my__metric.sum");
        counters.map(|row| json!([row["name"], row["points"], row["min"], row["max"]])).collect()
    };
    assert_eq!(values(&redacted, true), values(&trace, false));
    assert!(values(&trace, false).len() > 8);
}

/// Programs read the name of every event.
#[test]
fn exported_events_have_names_even_if_empty() {
    let trace = read("torch/2.15/kineto/odd_names/trace.json.gz");
    let text = exported(&trace, "chrome", b"");
    let document: Value = serde_json::from_slice(&text).expect("JSON");
    assert!(
        document["traceEvents"].as_array().expect("events").iter().all(|event| event["name"].is_string())
    );
}

#[test]
fn kernels_name_what_limits_their_occupancy() {
    let limited =
        |limits: &str| json!({"occupancy": {"activeBlocksPerMultiprocessor": 4, "limitingFactors": limits}});
    let trace = made(&json!([work("a", 0, &limited("REGS|SMEM")), work("b", 9, &limited("none"))]));
    let kernels = rows(&trace, "kernels");
    assert_eq!(find(&kernels, "name", "a")["occupancy_limit"], "REGS|SMEM");
    assert_eq!(find(&kernels, "name", "b")["occupancy_limit"], Value::Null);
}

#[test]
fn streams_have_priorities_channels_and_the_streams_of_graphs() {
    let tracks = rows(&read("torch/2.15/cuspy/gpu_graph/trace_merged.json.gz"), "tracks");
    let stream =
        |tid: &str| tracks.iter().find(|row| row["kind"] == "device" && row["tid"] == tid).expect("a stream");
    assert_eq!(stream("7")["priorities"], json!([-1, 0]));
    assert_eq!(stream("7")["original_streams"], json!([31, 32, 34]));
    assert_eq!(stream("21")["original_streams"], json!([33]));
    assert_eq!(stream("8")["channels"], json!([10]));
    assert_eq!(find(&tracks, "kind", "host")["channels"], json!([]));
}

#[test]
fn sampled_counters_belong_to_their_device() {
    for file in ["trace_merged.json.gz", "trace.pftrace"] {
        let trace = read(&format!("torch/2.15/cuspy/gpu_counters/{file}"));
        assert_eq!(find(&rows(&trace, "counters"), "name", "SM Active")["process"], "device 0", "{file}");
        assert_eq!(find(&rows(&trace, "tracks"), "process", "GPU 0 Counters")["kind"], "device", "{file}");
    }
}

#[test]
fn calls_of_collectives_have_their_group_number_and_size() {
    let calls = rows(&read("runs/two_groups/rank1.json.gz"), "collectives");
    assert_eq!(calls.len(), 80);
    let first = &calls[0];
    assert_eq!(first["collective"], "_allgather_base");
    assert_eq!((&first["group"], &first["group_description"]), (&"1".into(), &"tp01".into()));
    assert_eq!((&first["ranks"], &first["group_size"]), (&json!([0, 1]), &2.into()));
    assert_eq!((&first["seq"], &first["comms_id"]), (&7.into(), &"10159970886763999679".into()));
    assert_eq!(
        (&first["in_nelems"], &first["out_nelems"], &first["bytes"]),
        (&4096.into(), &8192.into(), &32768.into())
    );
    assert_eq!((&first["device_ns"], &first["bytes_per_second"]), (&Value::Null, &Value::Null));
}

/// The device time of a call is that of the work that it launched. Work without a recorded call is a call of its own.
#[test]
fn device_work_of_collectives_counts_once() {
    let message = json!({"Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 100, "Out msg nelems": 50});
    let with = |mut args: Value, more: Value| {
        args.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        args
    };
    let host = |category: &str, name: &str, args: Value| json!({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": 0, "dur": 9, "args": args});
    let trace = made(&json!([
        host(
            "cpu_op",
            "record_param_comms",
            with(message.clone(), json!({"External id": 3, "Is asynchronized op": 1}))
        ),
        host("cuda_runtime", "cudaLaunchKernel", json!({"External id": 3, "correlation": 8})),
        work("nccl", 20, &with(message.clone(), json!({"External id": 3, "correlation": 8}))),
        work("nccl", 40, &with(message, json!({"correlation": 9}))),
    ]));
    let calls = rows(&trace, "collectives");
    assert_eq!(calls.len(), 2);
    assert_eq!(
        (&calls[0]["cpu_ns"], &calls[0]["device_ns"], &calls[0]["is_async"]),
        (&9000.into(), &5000.into(), &true.into())
    );
    assert_eq!((&calls[1]["cpu_ns"], &calls[1]["device_ns"]), (&Value::Null, &5000.into()));
    assert_eq!((&calls[0]["bytes"], &calls[0]["bytes_per_second"]), (&200.into(), &40_000_000.into()));
}

/// Kernels and spans of the host without arguments are collectives all the same. A span whose call was recorded is the same one.
#[test]
fn collectives_without_arguments_are_rows() {
    let names = |events: Value| -> Vec<(Value, Value, Value)> {
        let calls = rows(&made(&events), "collectives");
        calls
            .iter()
            .map(|call| (call["collective"].clone(), call["cpu_ns"].clone(), call["device_ns"].clone()))
            .collect()
    };
    let kernels = json!([
        work("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", 20, &json!({})),
        work("void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*)", 40, &json!({})),
        work("ampere_sgemm_128x64_tn", 60, &json!({})),
    ]);
    let expected = [("all_reduce", 5_000), ("reduce", 5_000)];
    let expected = expected.map(|(name, ns)| (json!(name), Value::Null, json!(ns)));
    assert_eq!(names(kernels), expected);
    let host = |name: &str, args: Value| json!({"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 2, "ts": 3, "dur": 9, "args": args});
    let span = host("gloo:all_gather", json!({}));
    assert_eq!(names(json!([span])), [(json!("all_gather"), json!(9_000), Value::Null)]);
    let mut call = host("record_param_comms", json!({"Collective name": "allgather"}));
    call["cat"] = "cpu_op".into();
    assert_eq!(names(json!([call, span])), [(json!("allgather"), json!(9_000), Value::Null)]);
}

/// An annotation on a stream shows what the host did, and is no work of the stream.
#[test]
fn annotations_on_streams_are_not_busy_time() {
    let mut annotation = work("step", 0, &json!({}));
    annotation["cat"] = "gpu_user_annotation".into();
    annotation["dur"] = 80.into();
    let kernels = [work("gemm", 20, &json!({})), work("gemm", 40, &json!({}))];
    let trace = made(&json!([annotation, kernels[0], kernels[1]]));
    let rows = rows(&trace, "tracks");
    let row = find(&rows, "kind", "device");
    assert_eq!((&row["busy_ns"], &row["end_ns"]), (&10_000.into(), &80_000.into()), "{row}");
}

/// Kineto shortens the ranks of large groups. A damaged count has no size.
#[test]
fn ranks_of_collectives_can_be_shortened() {
    let args = json!({"Collective name": "allreduce", "dtype": "Float", "In msg nelems": -3, "Out msg nelems": -3,
        "Process Group Ranks": "[0, 1, ..., 63]"});
    let calls = rows(&made(&json!([work("nccl", 20, &args)])), "collectives");
    assert_eq!((&calls[0]["ranks"], &calls[0]["bytes"]), (&json!([0, 1, "...", 63]), &Value::Null));
}

/// Splits `path(line): function`.
fn frame(text: &str) -> Option<(String, &str)> {
    let (before, function) = text.split_once("): ")?;
    let (path, line) = before.rsplit_once('(')?;
    Some((format!("{path}: {function}"), line))
}

/// The line of a call, in the function around it, is that of a Python function that was called there.
#[test]
fn stacks_can_have_the_lines_of_calls() {
    let trace = read("torch/2.15/kineto/mlp_training/trace.json.gz");
    let table = &trace.table;
    let mut calls: BTreeSet<(String, &str)> = BTreeSet::new();
    for row in table.rows() {
        let text = |key| table.field(row, key).and_then(|value| value.as_str());
        let (Some(stack), Some(from)) = (text(Key::CallStack), text(Key::CallFrom)) else { continue };
        let caller = stack.split(';').next().and_then(frame);
        calls.extend(caller.zip(from.rsplit_once(':')).map(|((caller, _), (_, line))| (caller, line)));
    }
    let plain = FunctionEvents::new(&trace);
    let exact = plain.clone().with_call_sites(&trace).expect("lines of calls");
    let mut checked = 0;
    for event in exact.events() {
        let (before, after) = (plain.stacks.get(plain.stack(event)), exact.stacks.get(exact.stack(event)));
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(after) {
            assert_eq!(frame(before).map(|f| f.0), frame(after).map(|f| f.0));
            if before != after {
                let (function, line) = frame(after).expect("a line");
                assert!(calls.contains(&(function, line)), "{after}");
                checked += 1;
            }
        }
    }
    assert!(checked > 4_000, "{checked} frames");
    let old = read("torch/kineto/mlp_training/trace.json.gz");
    assert!(FunctionEvents::new(&old).with_call_sites(&old).is_err());

    let both = FoldedOptions { lanes: true, call_sites: true, ..FoldedOptions::default() };
    assert!(folded(&trace, &both).is_err());
}

/// PyTorch's rules decide what an event is, and redaction what is public. Neither changes the lines of calls.
#[test]
fn lines_of_calls_do_not_depend_on_rules_and_names() {
    let path = "torch/2.15/kineto/small_program/trace.json.gz";
    let lines = |trace: &Trace| -> BTreeSet<String> {
        let events = FunctionEvents::new(trace).with_call_sites(trace).expect("lines of calls");
        let stacks = events.events().map(|event| events.stacks.get(events.stack(event)));
        let frames =
            stacks.flatten().filter(|frame| frame.contains("helper") || frame.contains("small_program"));
        frames.map(|frame| frame.split(['(', ')']).nth(1).expect("a line").to_owned()).collect()
    };
    let mut trace = read(path);
    let known = lines(&trace);
    // The functions are defined in lines 867 and 869. The ranges begin in 870 and 873.
    assert_eq!(known, ["870", "871", "873", "874", "875", "876", "877"].map(String::from).into());
    trace.choose_rules(Rules::for_version("2.11").expect("rules"));
    assert!(lines(&trace).is_subset(&known) && lines(&trace).len() > 4);

    let redacted = Trace::read(&exported(&trace, "redact", b"salt")).expect("a trace");
    let events = FunctionEvents::new(&redacted).with_call_sites(&redacted).expect("lines of calls");
    let has_line = |line: &str| {
        let frames = events.events().flat_map(|event| events.stacks.get(events.stack(event)));
        frames.filter(|frame| frame.contains(line)).count() > 0
    };
    assert!(known.iter().all(|line| has_line(&format!(".py({line}): x"))));
}

/// A function that calls another one on two lines has two stacks.
#[test]
fn stacks_with_the_lines_of_calls_are_exact() {
    let call = |name: &str, id: i64, (ts, dur): (i64, i64), from: &str, stack: &str| {
        json!({"ph": "X", "cat": "python_function", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur,
            "args": {"Python id": id, "CallFrom": from, "Call stack": stack}})
    };
    let op = |ts: i64| {
        json!({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": ts, "dur": 5,
            "args": {"External id": ts, "Call stack": "ended.py(7): enter;a.py(10): inner;a.py(1): outer;main.py(2): <module>;"}})
    };
    let trace = made(&json!([
        call("main.py(2): <module>", 1, (0, 100), "main.py:2", ""),
        call("a.py(1): outer", 2, (1, 98), "main.py:50", "main.py(2): <module>;"),
        call("a.py(10): inner", 3, (10, 20), "a.py:4", "a.py(1): outer;main.py(2): <module>;"),
        op(12),
        call("a.py(10): inner", 4, (40, 20), "a.py:5", "a.py(1): outer;main.py(2): <module>;"),
        op(42),
    ]));
    let events = FunctionEvents::new(&trace).with_call_sites(&trace).expect("lines of calls");
    let stacks: Vec<&[String]> = (events.events())
        .filter(|&event| trace.table.name(events.row(event)) == "aten::mm")
        .map(|event| events.stacks.get(events.stack(event)))
        .collect();
    let expected = |line: u32| {
        ["ended.py(7): enter", "a.py(10): inner", &format!("a.py({line}): outer"), "main.py(50): <module>"]
            .map(str::to_owned)
    };
    assert_eq!(stacks, [expected(4), expected(5)]);
}

/// What was not recorded is no idle time with another cause.
#[test]
fn paused_recordings_are_no_idle_time() {
    let call = |ts: i64, id: i64| json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts, "dur": 2, "args": {"correlation": id}});
    let pause = json!({"ph": "X", "cat": "not_recorded", "name": "not recorded: CUDA", "pid": "Spans", "tid": "CUDA", "ts": 30, "dur": 50});
    let trace = made(&json!([
        call(0, 1),
        work("a", 5, &json!({"correlation": 1})),
        pause,
        call(90, 2),
        work("b", 100, &json!({"correlation": 2})),
    ]));
    let summary = &rows(&trace, "summary")[0];
    let causes = [("launch", 2000), ("queued", 8000), ("not_recorded", 50_000), ("unknown", 30_000)];
    let causes: Value = causes.iter().map(|(cause, time)| json!({"cause": cause, "time_ns": time})).collect();
    assert_eq!(summary["devices"][0]["idle_causes"], causes);
    let findings = summary["findings"].as_array().expect("findings").iter();
    let idle: Vec<&Value> = findings.filter(|finding| finding["code"] == "gpu_idle").collect();
    let [unknown] = idle[..] else { panic!("{idle:?}") };
    assert_eq!((&unknown["cause"], &unknown["cost_ns"]), (&json!("unknown"), &json!(30_000)));
    assert!(unknown["message"].as_str().expect("a text").contains("(60% of its recorded time)"), "{unknown}");
    assert!(rows(&trace, "check").iter().all(|row| row["holds"] != false));
}

/// A filter of PyTorch leaves out kinds of activity. That is said once, by kind.
#[test]
fn kinds_of_activity_that_were_not_recorded_are_named() {
    let op = json!({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 9, "args": {"External id": 3}});
    let call = json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"External id": 3, "correlation": 8}});
    let kernel = work("gemm", 20, &json!({"External id": 3, "correlation": 8}));
    let said = |events: &[&Value]| {
        let trace = made(&json!(events));
        let findings =
            trace.diagnostics.findings().iter().filter(|finding| finding.code == Code::NotRecorded);
        findings.map(|finding| (finding.count, finding.example.clone())).next()
    };
    assert_eq!(said(&[&op, &call, &kernel]), None);
    assert_eq!(said(&[&op]), None);
    assert_eq!(said(&[&op, &kernel]), Some((1, "cuda_runtime".into())));
    assert_eq!(said(&[&op, &call]), Some((1, "kernel".into())));
    assert_eq!(said(&[&call, &kernel]), Some((1, "cpu_op".into())));
    assert_eq!(said(&[&kernel]), Some((2, "cuda_runtime, cpu_op".into())));

    // A filter can leave out some kinds of device work, and calls of the runtime but not of the driver.
    let copy = json!({"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 1, "tid": 1, "ts": 4, "dur": 2, "args": {"External id": 3, "correlation": 9}});
    let driver = json!({"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernel", "pid": 1, "tid": 1, "ts": 4, "dur": 2, "args": {"External id": 3, "correlation": 10}});
    assert_eq!(said(&[&op, &call, &copy, &kernel]), Some((1, "gpu_memcpy".into())));
    assert_eq!(said(&[&op, &driver, &kernel]), Some((1, "cuda_runtime".into())));
    let mut trace = made(&json!([op, call, copy, kernel, driver]));
    assert_eq!(trace.diagnostics.count(Code::LaunchWithoutKernel), 1);
    trace = made(&json!([op, call, copy, kernel]));
    assert_eq!(trace.diagnostics.count(Code::LaunchWithoutKernel), 0);
}
