//! Spans, instant events and their arguments, compared with PyTorch's format.

use crate::support;
use crate::support::{alone, check, check_with, row, rows};
use kinetoscope::Module;
use kinetoscope::Profiler;
use kinetoscope::Recording;
use kinetoscope::Sequence;
use kinetoscope::spans::Shape::{self, List, Tensor};
use kinetoscope::spans::named::{data_loader, optimizer_step};
use kinetoscope::spans::{operator, record_function};
use kinetoscope::{async_scope, counter, flow_end, flow_start, instant, scope, user_scope};
use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::analysis::timeline::modules::module_rows;
use kinetoscope_core::analysis::torch::stacks::Metric;
use kinetoscope_core::analysis::torch::table_options::TableOptions;
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::base::rows::Cell;
use kinetoscope_core::base::units::TimeUnit;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::fields::Value as Field;
use kinetoscope_core::trace::table::layout::{FieldPlace, Key};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

fn stop(profiler: &mut Profiler) -> Recording {
    profiler.stop().expect("a recording").expect("something was recorded")
}

fn text<'a>(trace: &'a Trace, name: &str, key: &str) -> Option<Field<'a>> {
    trace.table.field_named(row(trace, name), FieldPlace::Args, key)
}

#[test]
fn spans_nest_and_are_counted_like_torchs() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("recording should start");
    {
        let _outer = user_scope!("outer");
        for _ in 0..3 {
            let _op = scope!("op");
            let _inner = operator("inner");
        }
        let _dynamic = record_function(&format!("range {}", 7));
    }
    let recording = stop(&mut profiler);
    check(&recording);
    let averages = recording.key_averages(GroupBy::default()).expect("a trace");
    let count = |name: &str| averages.iter().find(|row| row.key == name).map(|row| row.count);
    assert_eq!(["outer", "op", "inner", "range 7"].map(count), [Some(1), Some(3), Some(3), Some(1)]);
    let table = recording.table().expect("a trace");
    assert!(table.contains("Self CPU time total"), "{table}");
    for (unit, suffix) in [(TimeUnit::S, "s"), (TimeUnit::Ms, "ms"), (TimeUnit::Us, "us")] {
        let options = TableOptions::default().with_time_unit(unit);
        let table = recording.table_with(GroupBy::default(), &options).expect("a trace");
        let total =
            table.lines().find_map(|line| line.strip_prefix("Self CPU time total: ")).expect("the total");
        assert_eq!(total.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'), suffix);
    }
    let trace = recording.trace().expect("a trace");
    let outer = row(trace, "outer");
    assert_eq!(trace.table.cat(outer), "user_annotation");
    for op in rows(trace, "op") {
        assert_eq!(trace.table.cat(op), "cpu_op");
        assert!(trace.table.ts(op) >= trace.table.ts(outer) && trace.table.end(op) <= trace.table.end(outer));
    }
    let window = row(trace, "Kinetoscope (0)");
    assert!(
        trace.table.ts(window) <= trace.table.ts(outer) && trace.table.end(outer) <= trace.table.end(window)
    );
    assert_eq!(recording.statistics.records, 16);
}

/// The maximum difference between the interpolated times of a recording and the system's clock, in ns.
const CLOCK_ERROR: i64 = 1_000_000;

#[test]
fn times_agree_with_the_system_clock() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("recording should start");
    let before = std::time::SystemTime::now();
    let started = std::time::Instant::now();
    let within = {
        let _span = scope!("sleep");
        let within = std::time::SystemTime::now();
        thread::sleep(std::time::Duration::from_millis(30));
        within
    };
    let took = started.elapsed().as_nanos() as i64;
    let recording = stop(&mut profiler);
    let table = &recording.trace().expect("a trace").table;
    let row = row(recording.trace().expect("a trace"), "sleep");
    assert!(
        table.dur(row) >= 30_000_000 && table.dur(row) <= took + took / 1000,
        "the span lasts {} ns, the clock measured {took} ns",
        table.dur(row)
    );
    let unix = table.base_ns() + table.ts(row);
    let since_1970 = |time: std::time::SystemTime| {
        time.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_nanos() as i64
    };
    let (earliest, latest) = (since_1970(before) - CLOCK_ERROR, since_1970(within) + CLOCK_ERROR);
    assert!((earliest..=latest).contains(&unix), "{unix} is not within {earliest} and {latest}");
}

#[test]
fn arguments_have_torchs_names() {
    let _alone = alone();
    let mut profiler = Profiler::builder().record_shapes(true).start().expect("recording should start");
    {
        let (a, b) = (vec![2, 3], [3, 4]);
        let _span = scope!(
            "aten::mm",
            shapes: [a.as_slice(), &b[..], &[]],
            strides: [[3, 1], [4, 1]],
            dtypes: ["float", "float", "Scalar"],
            concrete: ["", "", 0.5],
            who = "me",
            count = 3u64,
            negative = -4,
            ratio = 0.25,
            yes = true,
            path = ?std::path::Path::new("a\"b"),
            shown = %7,
            none = None::<i32>,
        );
    }
    let recording = stop(&mut profiler);
    let document = check(&recording);
    let events = document["traceEvents"].as_array().expect("events");
    let mm = events.iter().find(|event| event["name"] == "aten::mm").expect("the span");
    let mut args = mm["args"].clone();
    args.as_object_mut().expect("args").remove("External id");
    let expected = json!({
        "Record function id": 0,
        "Input Dims": [[2, 3], [3, 4], []], "Input Strides": [[3, 1], [4, 1]], "Input type": ["float", "float", "Scalar"],
        "Concrete Inputs": ["", "", "0.5"], "who": "me", "count": 3, "negative": -4, "ratio": 0.25, "yes": true,
        "path": "\"a\\\"b\"", "shown": "7",
    });
    assert_eq!(args, expected);
    assert_eq!(document["record_shapes"], 1);
}

#[test]
fn shapes_of_tensor_lists_are_nested() {
    let _alone = alone();
    let mut profiler = Profiler::builder().record_shapes(true).start().expect("recording should start");
    let parts = vec![vec![2, 3], vec![4, 3]];
    {
        let list: Vec<Shape> = parts.iter().map(|part| Tensor(part)).collect();
        let _cat = scope!("aten::cat", shapes: [List(&list), Tensor(&[])], dtypes: ["TensorList", "Scalar"],
            strides: [List(&[Tensor(&[3, 1]), Tensor(&[3, 1])]), Tensor(&[])], concrete: ["", 0]);
    }
    let nested = [List(&[List(&[Tensor(&[5]), Tensor(&[])]), List(&[])]), Tensor(&[7, 1])];
    drop(scope!("nested", shapes: nested, dtype: "float"));
    drop(scope!("vectors", shapes: &parts));
    let recording = stop(&mut profiler);
    let document = check(&recording);
    let events = document["traceEvents"].as_array().expect("events");
    let args = |name: &str| &events.iter().find(|event| event["name"] == name).expect("the span")["args"];
    assert_eq!(args("aten::cat")["Input Dims"], json!([[[2, 3], [4, 3]], []]));
    assert_eq!(args("aten::cat")["Input Strides"], json!([[[3, 1], [3, 1]], []]));
    assert_eq!(args("nested")["Input Dims"], json!([[[[5], []], []], [7, 1]]));
    assert_eq!(args("nested")["Input type"], json!(["float", "float"]));
    assert_eq!(args("vectors")["Input Dims"], json!([[2, 3], [4, 3]]));
    let by_shape = recording.key_averages(GroupBy::default().by_shape()).expect("a trace");
    let cat = by_shape.iter().find(|row| row.key == "aten::cat").expect("a row");
    // PyTorch's tables leave the shapes of lists out.
    assert_eq!(cat.input_shapes, "[[], []]");
}

#[test]
fn shapes_are_evaluated_only_if_they_are_recorded() {
    let _alone = alone();
    let evaluated = AtomicUsize::new(0);
    let shapes = || {
        evaluated.fetch_add(1, Ordering::Relaxed);
        [[1, 2]]
    };
    drop(scope!("off", shapes: shapes()));
    assert_eq!(evaluated.load(Ordering::Relaxed), 0);
    let mut profiler = Profiler::builder().start().expect("recording should start");
    drop(scope!("on", shapes: shapes()));
    let recording = stop(&mut profiler);
    assert_eq!(text(recording.trace().expect("a trace"), "on", "Input Dims"), None);
}

#[test]
fn flops_are_taken_from_the_span_or_computed_by_torchs_formula() {
    let _alone = alone();
    let mut profiler = Profiler::builder().with_flops(true).start().expect("recording should start");
    drop(scope!("given", flops: 4000));
    drop(scope!("aten::mm", shapes: [[2, 3], [3, 4]], dtype: "float", concrete: ["", ""]));
    let recording = stop(&mut profiler);
    let document = check(&recording);
    assert_eq!((&document["with_flops"], &document["record_shapes"]), (&json!(1), &json!(1)));
    let averages = recording.key_averages(GroupBy::default()).expect("a trace");
    let flops = |name: &str| averages.iter().find(|row| row.key == name).map(|row| row.flops);
    assert_eq!([flops("given"), flops("aten::mm")], [Some(4000), Some(2 * 2 * 3 * 4)]);
    let table = recording.table().expect("a trace");
    assert!(table.contains("FLOPs"), "{table}");
}

#[test]
fn nested_modules_form_a_hierarchy() {
    let _alone = alone();
    let (model, layer, act) =
        (Module::new("Net", "net"), Module::new("Block", "A0"), Module::new("Act", "B0"));
    let run = || {
        let _net = model.scope();
        drop(scope!("aten::sub"));
        let _layer = layer.scope();
        let _act = act.scope();
        drop(scope!("aten::add"));
    };
    let mut profiler = Profiler::builder().with_modules(true).start().expect("recording should start");
    run();
    let recording = stop(&mut profiler);
    check(&recording);
    let trace = recording.trace().expect("a trace");
    let hierarchy = |name: &str| text(trace, name, "Module Hierarchy").and_then(|v| v.as_str());
    assert_eq!(hierarchy("aten::sub"), Some("TOP(Net)::forward."));
    assert_eq!(hierarchy("aten::add"), Some("TOP(Net)::forward.A0(Block)::forward.B0(Act)::forward."));
    let modules = module_rows(trace);
    let paths: Vec<&Cell> = modules.rows.iter().map(|row| &row[2]).collect();
    assert_eq!(paths.len(), 3, "{paths:?}");
    let mut profiler = Profiler::builder().start().expect("recording should start");
    run();
    let recording = stop(&mut profiler);
    assert!(rows(recording.trace().expect("a trace"), "nn.Module: Net_0").is_empty());
    assert_eq!(text(recording.trace().expect("a trace"), "aten::add", "Module Hierarchy"), None);
}

#[test]
fn backward_is_linked_to_its_forward_on_another_thread() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("recording should start");
    let sequence = Sequence::next();
    drop(scope!("aten::mul", sequence: sequence));
    let other = thread::spawn(move || drop(scope!("MulBackward0", backward: sequence)));
    other.join().expect("the thread should not panic");
    let recording = stop(&mut profiler);
    check(&recording);
    let trace = recording.trace().expect("a trace");
    let (forward, backward) = (row(trace, "aten::mul"), row(trace, "MulBackward0"));
    assert_eq!(trace.table.int(forward, Key::SequenceNumber), Some(sequence.number));
    assert_eq!(trace.table.int(backward, Key::SequenceNumber), Some(sequence.number));
    assert_eq!(trace.table.int(forward, Key::FwdThreadId), Some(0));
    assert!(trace.table.int(backward, Key::FwdThreadId) > Some(0));
    let flows = rows(trace, "fwdbwd");
    assert_eq!(flows.len(), 2);
    assert_eq!(trace.pairs.flows, [(flows[0], flows[1])]);
    assert_eq!(trace.table.track_id(flows[1]), trace.table.track_id(backward));
}

#[test]
fn instants_counters_flows_and_async_spans_are_recorded() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("recording should start");
    {
        let _span = scope!("producer");
        instant!("here", reason = "cold");
        counter!("queue", 3);
        counter!("memory", used = 1.5, free = 2);
        flow_start!("item", 7);
    }
    let request = async_scope!("request", path = "/a");
    thread::spawn(move || {
        let _span = scope!("consumer");
        flow_end!("item", 7);
        drop(request);
    })
    .join()
    .expect("the thread should not panic");
    let recording = stop(&mut profiler);
    check(&recording);
    let trace = recording.trace().expect("a trace");
    assert_eq!(text(trace, "here", "reason").and_then(|v| v.as_str()), Some("cold"));
    assert_eq!(text(trace, "queue", "value").and_then(|v| v.as_i64()), Some(3));
    assert_eq!(text(trace, "memory", "used").and_then(|v| v.as_f64()), Some(1.5));
    assert_eq!(trace.pairs.flows.len(), 1);
    assert_eq!(trace.pairs.asyncs.len(), 1);
    let (begin, end) = trace.pairs.asyncs[0];
    assert_ne!(trace.table.track_id(begin), trace.table.track_id(end));
}

#[test]
fn training_loop_ranges_have_torchs_names() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("recording should start");
    assert_eq!(data_loader("Batches", [1, 2]).sum::<i32>(), 3);
    drop(optimizer_step("SGD"));
    let recording = stop(&mut profiler);
    // Two batches, and the call that finds no further batch.
    assert_eq!(rows(recording.trace().expect("a trace"), "enumerate(DataLoader)#Batches.__next__").len(), 3);
    assert_eq!(rows(recording.trace().expect("a trace"), "Optimizer.step#SGD.step").len(), 1);
}

#[test]
fn exported_stacks_end_in_a_positive_number() {
    let _alone = alone();
    #[inline(never)]
    fn busy() {
        let _span = scope!("busy");
        thread::sleep(std::time::Duration::from_millis(1));
    }
    let mut profiler = Profiler::builder().with_stack(true).start().expect("recording should start");
    busy();
    let recording = stop(&mut profiler);
    check(&recording);
    let stack = text(recording.trace().expect("a trace"), "busy", "Call stack")
        .and_then(|v| v.as_str())
        .expect("a stack");
    let first = stack.split(';').next().expect("a frame");
    assert!(first.contains("spans.rs(") && first.ends_with(": busy"), "{stack}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stacks.txt");
    recording.export_stacks(&path, Metric::SelfCpuTime).expect("a file");
    let lines = std::fs::read_to_string(&path).expect("a file");
    assert!(lines.lines().count() > 0);
    for line in lines.lines() {
        let number: i64 = line.rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a number");
        assert!(number > 0, "{line}");
    }
}

#[test]
fn deeply_nested_spans_and_long_strings_are_kept() {
    let _alone = alone();
    fn down(depth: usize) {
        let _span = scope!("down");
        if depth > 1 {
            down(depth - 1);
        }
    }
    let long = "ü".repeat(5000);
    let mut profiler = Profiler::builder().start().expect("recording should start");
    down(700);
    drop(scope!("long", text = long));
    drop(record_function(""));
    let recording = stop(&mut profiler);
    check(&recording);
    assert_eq!(rows(recording.trace().expect("a trace"), "down").len(), 700);
    let tree = &recording.trace().expect("a trace").tree;
    let deepest = tree.positions().filter(|&at| tree.parent(at).is_some()).count();
    assert_eq!(deepest, 699);
    let kept =
        text(recording.trace().expect("a trace"), "long", "text").and_then(|v| v.as_str()).expect("a text");
    assert_eq!(kept, long);
    assert_eq!(recording.statistics.cut_arguments, 0);
}

#[test]
fn arguments_beyond_64_kib_are_cut_and_counted() {
    let _alone = alone();
    let (long, shapes) = ("ü".repeat(50_000), vec![[1024, 1024]; 4000]);
    let mut profiler = Profiler::builder().record_shapes(true).start().expect("recording should start");
    drop(scope!("shapes", shapes: &shapes, dtype: "float"));
    drop(scope!("cut", text = long, number = 7, other = "left out"));
    drop(scope!("too many", shapes: vec![[1024, 1024]; 9000], text = "kept"));
    drop(record_function(&long));
    let recording = stop(&mut profiler);
    let document = check_with(&recording, &[Code::CutArgument]);
    let trace = recording.trace().expect("a trace");
    let args = |name: &str| {
        let events = document["traceEvents"].as_array().expect("events");
        events.iter().find(|event| event["name"] == name).expect("the event")["args"].clone()
    };
    let kept = args("shapes");
    assert_eq!(kept["Input Dims"].as_array().map(Vec::len), Some(4000));
    // The names of the types do not fit any more.
    assert_eq!((&kept["Input type"], &kept["cut arguments"]), (&Value::Null, &json!(1)));
    let cut = args("cut");
    let text = cut["text"].as_str().expect("a text");
    assert!(text.len() > 65_000 && long.starts_with(text), "{} bytes", text.len());
    assert_eq!(
        [&cut["number"], &cut["other"], &cut["cut arguments"]],
        [&Value::Null, &Value::Null, &json!(3)]
    );
    let many = args("too many");
    assert_eq!(
        [&many["Input Dims"], &many["text"], &many["cut arguments"]],
        [&Value::Null, &json!("kept"), &json!(1)]
    );
    let named = trace.table.rows().find(|&row| trace.table.name(row).starts_with('ü')).expect("a span");
    assert_eq!(
        trace.table.field_named(named, FieldPlace::Args, "cut arguments").and_then(|v| v.as_i64()),
        Some(1)
    );
    assert_eq!(recording.statistics.cut_arguments, 6);
    assert_eq!(document["kinetoscope"]["cut_arguments"], 6);
    let warning = "6 arguments were cut or left out, because those of a record exceed 64 KiB";
    assert_eq!(document["WARNING"], json!([warning]));
}

/// The trace was written by the example `native/examples/candle`; the page uses it as its sample.
#[test]
fn the_candle_training_trace_is_complete() {
    let bytes = kinetoscope_tests::files::read(
        &kinetoscope_tests::files::data().join("candle/training.pt.trace.json"),
    )
    .expect("a trace");
    let trace = Trace::read(&bytes).expect("a trace");
    assert_eq!(trace.diagnostics.findings(), []);
    support::check_schema(&serde_json::from_slice(&bytes).expect("JSON"));
    support::check_nesting(&trace.table);
    assert_eq!([rows(&trace, "ProfilerStep#3").len(), rows(&trace, "ProfilerStep#4").len()], [1, 1]);
    assert_eq!(rows(&trace, "matmul").len(), 14);
    // Spans of the model itself, recorded through `tracing`; nested modules; allocations of the allocator.
    assert_eq!([rows(&trace, "attend").len(), rows(&trace, "train").len()], [2, 2]);
    let hierarchy = trace.table.field_named(rows(&trace, "softmax")[0], FieldPlace::Args, "Module Hierarchy");
    assert_eq!(hierarchy.and_then(|v| v.as_str()), Some("TOP(Net)::forward.attention(Attention)::forward."));
    assert!(rows(&trace, "[memory]").len() > 1000);
    let flops: i64 = rows(&trace, "matmul").iter().filter_map(|&row| trace.table.int(row, Key::Flops)).sum();
    assert!(flops > 1_000_000);
}
