//! Idle time by cause: every cause has a trace with the answer worked out, and one that almost matches.
//!
//! This is one file because all causes share the same gap, and a rule that is changed shows in the parts of the others.

use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::analysis::device::device_time::DeviceTime;
use kinetoscope_core::analysis::device::idle::Cause;
use kinetoscope_core::analysis::device::idle_rows::idle;
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::answers::{made, rows, rows_with};
use kinetoscope_tests::files;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A span of a thread of the host, or of a stream of device 0; times are in microseconds.
fn span(category: &str, name: &str, thread: &str, (start, end): (i64, i64)) -> Value {
    let pid = if ["kernel", "gpu_memcpy"].contains(&category) { "0" } else { "1" };
    json!({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": thread, "ts": start, "dur": end - start, "args": {}})
}

fn with(mut event: Value, key: &str, value: i64) -> Value {
    event["args"][key] = value.into();
    event
}

/// Two kernels with a gap from 10 to 100; the call that launches the second takes from 90 to 95.
fn kernels() -> Vec<Value> {
    vec![
        span("kernel", "first", "7", (0, 10)),
        with(span("kernel", "second", "7", (100, 110)), "correlation", 2),
        with(span("cuda_runtime", "cudaLaunchKernel", "1", (90, 95)), "correlation", 2),
    ]
}

/// Checks the idle time of each cause, in microseconds.
#[track_caller]
fn is(events: &[Value], expected: &[(&str, i64)]) {
    let expected = expected.iter().map(|&(cause, time)| (cause.to_owned(), time)).collect();
    assert_eq!(causes(&made(&json!(events))), expected);
}

/// The idle time of each cause, in microseconds.
fn causes(trace: &Trace) -> BTreeMap<String, i64> {
    let time = |row: &Value| {
        (row["cause"].as_str().expect("a cause").to_owned(), row["time_ns"].as_i64().expect("a time") / 1000)
    };
    rows(trace, "idle").iter().map(time).collect()
}

fn behind(trace: &Trace, cause: &str) -> Vec<(String, i64)> {
    let rows = rows(trace, "idle");
    let row = rows.iter().find(|row| row["cause"] == cause).expect("the cause");
    let list = row["behind"].as_array().expect("a list").iter();
    list.map(|entry| {
        (
            entry["name"].as_str().expect("a name").to_owned(),
            entry["time_ns"].as_i64().expect("a time") / 1000,
        )
    })
    .collect()
}

/// 10 to 20 the data loader, whatever runs inside of it; 20 to 30 `aten::item`, of which 8 wait for the device; 30 to 40
/// `cudaMalloc`; 40 to 50 `aten::linear`; 50 to 60 the optimizer with an operator; 60 to 66 autograd, of which 2 are an
/// operator; 66 to 90 `main.py`, of which 4 collect garbage, 3 wait for a lock, 3 load a module, 4 copy to another
/// device, and 2 flush the profiler's buffers. Then 5 for the launch, and 5 in the queue.
#[test]
fn every_instant_of_a_gap_has_one_cause() {
    let mut events = kernels();
    events.extend([
        span("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "1", (10, 20)),
        span("cpu_op", "aten::stack", "1", (12, 18)),
        span("cpu_op", "aten::item", "1", (20, 30)),
        span("cuda_runtime", "cudaStreamSynchronize", "1", (21, 29)),
        span("cuda_runtime", "cudaMalloc", "1", (30, 40)),
        span("cpu_op", "aten::linear", "1", (40, 50)),
        span("cpu_op", "aten::addmm", "1", (42, 48)),
        span("user_annotation", "Optimizer.step#SGD.step", "1", (50, 60)),
        span("cpu_op", "aten::add_", "1", (52, 54)),
        span("cpu_op", "autograd::engine::evaluate_function: MmBackward0", "1", (60, 66)),
        span("cpu_op", "MmBackward0", "1", (62, 64)),
        span("python_function", "main.py(3): train", "1", (66, 90)),
        span("python_function", "Python GC", "1", (70, 74)),
        span("python_function", "<built-in method acquire of _thread.lock object at 0x7f>", "1", (74, 77)),
        span("cuda_driver", "cuModuleLoadData", "1", (77, 80)),
        with(span("cuda_runtime", "cudaMemcpyAsync", "1", (80, 84)), "correlation", 9),
        span("overhead", "Buffer Flush", "-1", (84, 86)),
    ]);
    let mut copy =
        with(span("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "9", (81, 83)), "correlation", 9);
    copy["pid"] = "3".into();
    events.push(copy);
    let trace = made(&json!(events));
    let expected = [
        ("data_loading", 10),
        ("synchronization", 8),
        ("operator", 14),
        ("allocation", 10),
        ("optimizer", 10),
        ("autograd", 4),
        ("user_code", 8),
        ("garbage_collection", 4),
        ("lock", 3),
        ("compilation", 3),
        ("host_to_device_copy", 4),
        ("profiler_overhead", 2),
        ("launch", 5),
        ("queued", 5),
    ];
    assert_eq!(causes(&trace), expected.map(|(cause, time)| (cause.to_owned(), time)).into());
    assert_eq!(
        behind(&trace, "operator"),
        [("aten::linear".into(), 10), ("aten::item".into(), 2), ("MmBackward0".into(), 2)]
    );
    assert_eq!(behind(&trace, "synchronization"), [("aten::item".into(), 8)]);
    assert_eq!(behind(&trace, "queued"), [("second".into(), 5)]);
    assert_eq!(rows(&trace, "idle")[0]["share"], 14.0 / 90.0);
}

/// A step from 0 to 80 and a function from 5 to 95 overlap, so they are on two lanes of the thread. The data loader is
/// open in the step from 20 to 60, and `sleep` in the function from 30 to 50. A second `sleep`, from 62 to 70, is in none.
#[test]
fn spans_of_several_lanes_of_a_thread_are_nested_by_their_starts() {
    let mut events = kernels();
    events.extend([
        span("user_annotation", "ProfilerStep#1", "1", (0, 80)),
        span("python_function", "main.py(3): train", "1", (5, 95)),
        span("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "1", (20, 60)),
        span("python_function", "<built-in function sleep>", "1", (30, 50)),
        span("python_function", "<built-in function sleep>", "1", (62, 70)),
    ]);
    let trace = made(&json!(events));
    assert!(trace.tree.lanes().iter().filter(|lane| lane.positions().len() > 1).count() > 1, "two lanes");
    let expected = [("data_loading", 40), ("user_code", 40), ("launch", 5), ("queued", 5)];
    assert_eq!(causes(&trace), expected.map(|(cause, time)| (cause.to_owned(), time)).into());
}

/// One span from 10 to 90 on the thread that launches.
#[test]
fn names_that_almost_match_are_something_else() {
    for (category, name, cause) in [
        ("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "data_loading"),
        ("user_annotation", "enumerate(DataPipe)#Mapper", "data_loading"),
        ("user_annotation", "my DataLoader", "user_code"),
        ("python_function", "enumerate(DataLoader)#_", "user_code"),
        ("cuda_runtime", "cudaEventSynchronize", "synchronization"),
        ("cuda_runtime", "hipStreamSynchronize", "synchronization"),
        ("cpu_op", "aten::synchronize", "operator"),
        ("cuda_runtime", "cudaHostAlloc", "allocation"),
        ("cuda_driver", "cuMemCreate", "allocation"),
        ("cpu_op", "cudaMalloc", "operator"),
        ("cuda_driver", "cuLibraryLoadData", "compilation"),
        ("cuda_driver", "cuModuleUnload", "compilation"),
        ("cuda_runtime", "hipModuleLaunchKernel", "launch"),
        ("cuda_runtime", "cudaMemGetInfo", "allocation"),
        ("cuda_runtime", "cudaStreamWaitEvent", "launch"),
        ("python_function", "<built-in function collect>", "garbage_collection"),
        ("python_function", "<built-in method collect of Bin object at 0x7f>", "user_code"),
        ("overhead", "Lazy Function Loading", "compilation"),
        ("overhead", "Command Buffer Full", "profiler_overhead"),
        ("user_annotation", "Command Buffer Full", "user_code"),
        ("python_function", "Python GC", "garbage_collection"),
        ("python_function", "gc.py(1): Python GC", "user_code"),
        ("python_function", "threading.py(295): wait", "lock"),
        ("python_function", "threading.py(295): waiter", "user_code"),
        ("cuda_runtime", "cudaLaunchKernel", "launch"),
        ("cuda_runtime", "cudaMemcpyAsync", "launch"),
        ("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", "optimizer"),
        ("user_annotation", "My Optimizer.step", "user_code"),
        ("cpu_op", "autograd::engine::evaluate_function: X", "autograd"),
        ("cpu_op", "MulBackward0", "operator"),
        ("user_annotation", "ProfilerStep#4", "user_code"),
    ] {
        let mut events = kernels();
        events.push(span(category, name, "1", (10, 90)));
        let found = causes(&made(&json!(events)));
        assert_eq!(found.get(cause), Some(&if cause == "launch" { 85 } else { 80 }), "{name}: {found:?}");
    }
}

/// The thread that launches does nothing until 50: the thread with the operators loads data until 40.
#[test]
fn the_main_thread_is_consulted_while_another_one_does_nothing() {
    let mut events = kernels();
    events.retain(|event| event["cat"] == "kernel");
    events.extend([
        with(span("cuda_runtime", "cudaLaunchKernel", "2", (90, 100)), "correlation", 2),
        span("cpu_op", "aten::mm", "2", (50, 100)),
        span("user_annotation", "enumerate(DataLoader)#_", "1", (0, 40)),
        span("cpu_op", "aten::relu", "1", (60, 70)),
        span("cpu_op", "aten::relu", "1", (70, 80)),
    ]);
    let expected = [("data_loading", 30), ("unknown", 10), ("operator", 40), ("launch", 10)];
    assert_eq!(causes(&made(&json!(events))), expected.map(|(cause, time)| (cause.to_owned(), time)).into());
}

/// Thread 1 launches at 90; from 10 to 90 it waits in the call of autograd, or has only an annotation open, while thread 2 runs
/// the backward pass: 20 to 40 an operator, 40 to 80 `cudaFree`. While it is in another function, it decides itself.
#[test]
fn the_thread_that_runs_the_backward_pass_is_consulted() {
    let events = |category: &str, name: &str| {
        let mut events = kernels();
        events.extend([
            span("cpu_op", "aten::forward", "1", (-20, 0)),
            span("cpu_op", "aten::loss", "1", (-10, 0)),
            span("cpu_op", "aten::zero", "1", (0, 5)),
            span("cpu_op", "aten::zero", "1", (5, 9)),
            span(category, name, "1", (9, 90)),
            span("cpu_op", "autograd::engine::evaluate_function: MulBackward0", "2", (20, 80)),
            span("cpu_op", "aten::mul", "2", (20, 40)),
            span("cuda_runtime", "cudaFree", "2", (40, 80)),
        ]);
        events
    };
    let waits = [("allocation", 40), ("operator", 20), ("user_code", 20), ("launch", 5), ("queued", 5)];
    let run_backward = "<built-in method run_backward of torch._C._EngineBase object at 0x7f>";
    is(&events("python_function", run_backward), &waits);
    is(&events("user_annotation", "backward"), &waits);
    let alone = [("user_code", 80), ("launch", 5), ("queued", 5)];
    is(&events("python_function", "train.py(7): log"), &alone);
}

/// From 20 to 60 a graph is captured: an operator and a call in it launch nothing that runs, and neither is idle time of theirs. The
/// call that instantiates the graph belongs to it.
#[test]
fn a_capture_is_a_cause_of_its_own() {
    let events = |begin: &str| {
        let mut events = kernels();
        events.extend([
            span("cuda_runtime", begin, "1", (20, 22)),
            span("cpu_op", "aten::mm", "1", (24, 50)),
            span("cuda_runtime", "cudaLaunchKernel", "1", (30, 34)),
            span("cuda_runtime", "cudaStreamEndCapture", "1", (55, 60)),
            span("cuda_runtime", "cudaGraphInstantiateWithFlags", "1", (60, 70)),
        ]);
        events
    };
    is(
        &events("cudaStreamBeginCapture"),
        &[("graph_capture", 50), ("unknown", 30), ("launch", 5), ("queued", 5)],
    );
    is(
        &events("cudaStreamBegin"),
        &[("graph_capture", 10), ("operator", 22), ("launch", 16), ("unknown", 37), ("queued", 5)],
    );
    // The operator around a capture records the graph anew.
    let mut around = events("cudaStreamBeginCapture");
    around.push(span("cpu_op", "CompiledFunction", "1", (12, 80)));
    is(&around, &[("graph_capture", 68), ("unknown", 12), ("launch", 5), ("queued", 5)]);
}

/// The second stream begins at 400, though its kernel was launched at 95: it still did work from before the recording. After 150 us
/// it only was queued.
#[test]
fn a_stream_can_be_busy_with_work_from_before_the_recording() {
    let events = |start: i64| {
        let mut events = kernels();
        (events[1]["tid"], events[1]["ts"]) = (json!("8"), json!(start));
        events
    };
    is(&events(400), &[("unknown", 80), ("launch", 5), ("not_recorded", 305)]);
    is(&events(245), &[("unknown", 80), ("launch", 5), ("queued", 150)]);
}

/// Without the call there is no cause. A pause of the recording is one of its own. A trace without any call had them
/// filtered, as the kernels refer to them.
#[test]
fn what_was_not_recorded_is_said() {
    let mut events = kernels();
    events[2] = span("cuda_runtime", "cudaGetDevice", "1", (200, 201));
    events.push(span("not_recorded", "not recorded: CUDA", "1", (20, 50)));
    is(&events, &[("unknown", 60), ("not_recorded", 30)]);
    events.remove(2);
    is(&events, &[("not_recorded", 90)]);
}

/// The call takes from 20 to 95; its copy runs from 100 to 110.
#[test]
fn a_call_that_copies_is_a_copy() {
    let copies = |name: &str| {
        let mut events = kernels();
        events[1] = with(span("gpu_memcpy", name, "7", (100, 110)), "correlation", 2);
        events[2] = with(span("cuda_runtime", "cudaMemcpyAsync", "1", (20, 95)), "correlation", 2);
        events
    };
    let rest = [("unknown", 10), ("queued", 5)];
    for (name, cause) in [
        ("Memcpy HtoD (Pageable -> Device)", "host_to_device_copy"),
        ("Memcpy DtoH (Device -> Pageable)", "synchronization"),
        ("Memcpy DtoD (Device -> Device)", "launch"),
    ] {
        is(&copies(name), &[rest[0], rest[1], (cause, 75)]);
    }
}

/// One call launches a graph at 2; its kernels run from 10 to 20, 50 to 60 and 90 to 100. Two single kernels, of which
/// the second was launched as early, were queued.
#[test]
fn a_graph_launches_its_work_itself() {
    let trace = |call: &str, ids: [i64; 3]| {
        let kernel = |(at, id): (usize, i64)| {
            let start = 10 + 40 * at as i64;
            with(span("kernel", "k", "7", (start, start + 10)), "correlation", id)
        };
        let mut events: Vec<Value> = ids.into_iter().enumerate().map(kernel).collect();
        for id in 1..=ids[2] {
            events.push(with(span("cuda_runtime", call, "1", (id, id + 1)), "correlation", id));
        }
        events
    };
    is(&trace("cudaGraphLaunch", [1, 1, 1]), &[("not_recorded", 60)]);
    is(&trace("cudaGraphLaunch", [1, 2, 2]), &[("queued", 30), ("not_recorded", 30)]);
    is(&trace("cudaLaunchKernel", [1, 2, 3]), &[("queued", 60)]);
}

/// Thread 1 loads data from 10 to 90. Thread 2 has one row of overhead, from 40 to 42, and an operator from 20 to 80:
/// only the overhead comes before what the launching thread does.
#[test]
fn only_the_overhead_of_its_threads_counts() {
    let mut events = kernels();
    events.extend([
        span("user_annotation", "enumerate(DataLoader)#_", "1", (10, 90)),
        span("cpu_op", "aten::y", "2", (20, 80)),
        span("overhead", "Buffer Flush", "2", (40, 42)),
    ]);
    is(&events, &[("data_loading", 78), ("profiler_overhead", 2), ("launch", 5), ("queued", 5)]);
}

/// While the launching thread does nothing, the busiest thread of its process is consulted, not that of another one.
#[test]
fn other_processes_are_not_consulted() {
    let mut events = kernels();
    for at in 1..9 {
        events.push(span("cpu_op", "aten::other", "3", (at * 10, at * 10 + 9)));
        let last = events.len() - 1;
        events[last]["pid"] = "2".into();
    }
    is(&events, &[("unknown", 80), ("launch", 5), ("queued", 5)]);
    events.push(span("cpu_op", "aten::own", "4", (20, 50)));
    is(&events, &[("operator", 30), ("unknown", 50), ("launch", 5), ("queued", 5)]);
}

/// The first kernel runs from 100 to 110 and is launched at 90, the second from 150 to 160 at 112. Step 1 is from 20 to
/// 120: the data loader until 80, nothing until 90. Step 2 ends at 200.
#[test]
fn steps_include_the_time_before_the_first_and_after_the_last_activity() {
    let launch = |at: i64, id: i64| {
        with(span("cuda_runtime", "cudaLaunchKernel", "1", (at, at + 2)), "correlation", id)
    };
    let kernel = |start: i64, id| with(span("kernel", "k", "7", (start, start + 10)), "correlation", id);
    let events = json!([
        span("user_annotation", "ProfilerStep#1", "2", (20, 120)),
        span("user_annotation", "ProfilerStep#2", "2", (120, 200)),
        span("user_annotation", "enumerate(DataLoader)#_", "1", (20, 80)),
        launch(90, 1),
        kernel(100, 1),
        launch(112, 2),
        kernel(150, 2),
    ]);
    let trace = made(&events);
    let found: Vec<(String, String, i64)> = rows_with(&trace, "idle", &json!({"by": "step"}))
        .iter()
        .map(|row| {
            let text = |key: &str| row[key].as_str().expect("a text").to_owned();
            (text("step"), text("cause"), row["time_ns"].as_i64().expect("a time") / 1000)
        })
        .collect();
    let expected = [
        ("ProfilerStep#1", "data_loading", 60),
        // 98 to 100 and 114 to 120.
        ("ProfilerStep#1", "queued", 14),
        ("ProfilerStep#1", "user_code", 12),
        ("ProfilerStep#1", "launch", 4),
        ("ProfilerStep#2", "not_recorded", 40),
        ("ProfilerStep#2", "queued", 30),
    ];
    assert_eq!(found, expected.map(|(step, cause, time)| (step.to_owned(), cause.to_owned(), time)));
    let idle: Vec<i64> = rows_with(&trace, "breakdown", &json!({"by": "step"}))
        .iter()
        .map(|row| row["idle_ns"].as_i64().expect("a time") / 1000)
        .collect();
    assert_eq!(idle, [90, 70]);
}

/// Stream 8 runs from 40 to 60 and from 95 to 98. Between, it waits for its launch until 70, then in the queue. Stream 9
/// is busy from 75 to 90.
#[test]
fn streams_wait_for_other_streams() {
    let launch = |at: i64, id: i64| {
        with(span("cuda_runtime", "cudaLaunchKernel", "1", (at, at + 2)), "correlation", id)
    };
    let kernel = |stream: &str, time, id| with(span("kernel", "k", stream, time), "correlation", id);
    let events = json!([
        kernel("7", (0, 100), 1),
        kernel("8", (40, 60), 2),
        kernel("8", (95, 98), 3),
        kernel("9", (75, 90), 4),
        launch(1, 2),
        launch(68, 3),
        launch(72, 4),
        span("cpu_op", "aten::mm", "1", (0, 80)),
    ]);
    let trace = made(&events);
    let of = |stream: &str| -> BTreeMap<String, i64> {
        let rows = rows_with(&trace, "idle", &json!({"by": "stream"}));
        let stream_rows = rows.iter().filter(|row| row["stream"] == stream);
        stream_rows
            .map(|row| {
                (
                    row["cause"].as_str().expect("a cause").to_owned(),
                    row["time_ns"].as_i64().expect("a time") / 1000,
                )
            })
            .collect()
    };
    assert!(of("7").is_empty());
    let expected = [("not_recorded", 42), ("operator", 8), ("launch", 2), ("other_stream", 25)];
    assert_eq!(of("8"), expected.map(|(cause, time)| (cause.to_owned(), time)).into());
    assert!(rows(&trace, "idle").is_empty());
}

/// The step begins at 30: 20 of the operator are before it.
#[test]
fn idle_time_is_clipped_to_steps() {
    let mut events = kernels();
    events.extend([
        span("cpu_op", "aten::mm", "1", (10, 90)),
        span("user_annotation", "ProfilerStep#1", "2", (30, 97)),
    ]);
    let rows = rows_with(&made(&json!(events)), "idle", &json!({"by": "step"}));
    let found: Vec<(&Value, &Value, &Value)> =
        rows.iter().map(|row| (&row["step"], &row["cause"], &row["time_ns"])).collect();
    let step = json!("ProfilerStep#1");
    assert_eq!(
        found,
        [
            (&step, &json!("operator"), &json!(60_000)),
            (&step, &json!("launch"), &json!(5000)),
            (&step, &json!("queued"), &json!(2000))
        ]
    );
}

/// The parts of a gap, ns by ns, from the spans that are open: those around decide before those inside.
#[test]
fn random_gaps_equal_a_naive_count() {
    const NAMES: [(&str, &str, &str); 7] = [
        ("user_annotation", "enumerate(DataLoader)#_", "data_loading"),
        ("cpu_op", "aten::mm", "operator"),
        ("user_annotation", "Optimizer.step#A.step", "optimizer"),
        ("cpu_op", "autograd::engine::evaluate_function: X", "autograd"),
        ("python_function", "a.py(1): f", "user_code"),
        ("cuda_runtime", "cudaMalloc", "allocation"),
        ("python_function", "Python GC", "garbage_collection"),
    ];
    proptest!(ProptestConfig::with_cases(300), |(bytes in proptest::collection::vec(any::<u8>(), 300))| {
        let mut spans: Vec<(usize, i64, i64)> = Vec::new();
        nest(&mut bytes.into_iter(), &mut spans, (0, 90), 0);
        let mut events = kernels();
        let named = |&(name, start, end): &(usize, i64, i64)| span(NAMES[name].0, NAMES[name].1, "1", (start, end));
        events.extend(spans.iter().map(named));
        let mut expected: BTreeMap<String, i64> = [("launch".to_owned(), 5), ("queued".to_owned(), 5)].into();
        for at in 10..90 {
            // Spans are in order: those around come first.
            let open = spans.iter().filter(|span| span.1 <= at && at < span.2).map(|span| NAMES[span.0].2);
            let mut cause = "unknown";
            for inside in open {
                let is_kept = match cause {
                    "data_loading" | "allocation" | "garbage_collection" => true,
                    "unknown" | "user_code" => false,
                    "optimizer" => matches!(inside, "operator" | "user_code"),
                    _ => inside == "user_code",
                };
                cause = if is_kept { cause } else { inside };
            }
            *expected.entry(cause.to_owned()).or_insert(0) += 1;
        }
        prop_assert_eq!(causes(&made(&json!(events))), expected, "{:?}", spans);
    });
}

/// Adds random spans within a period, each before those inside of it.
fn nest(
    bytes: &mut dyn Iterator<Item = u8>,
    spans: &mut Vec<(usize, i64, i64)>,
    (start, end): (i64, i64),
    depth: usize,
) {
    let mut from = start;
    if depth == 5 {
        return;
    }
    loop {
        let (Some(skipped), Some(length), Some(name)) = (bytes.next(), bytes.next(), bytes.next()) else {
            return;
        };
        from += i64::from(skipped % 12);
        let until = (from + 1 + i64::from(length % 40)).min(end);
        if from >= until {
            return;
        }
        spans.push((usize::from(name % 7), from, until));
        nest(bytes, spans, (from, until), depth + 1);
        from = until;
    }
}

/// The parts of the gaps of every device and stream of a real trace add up to its idle time, without an overlap.
#[test]
fn causes_add_up_to_the_idle_time_of_real_traces() {
    let Some(folder) = files::shared("traces", "the corpus of real traces") else { return };
    let mut checked = 0;
    for path in files::below(&folder) {
        let Some(Ok(trace)) = files::read(&path).map(|bytes| Trace::read(&bytes)) else { continue };
        let analysis = Analysis::new(&trace);
        for by_stream in [false, true] {
            for idle_time in idle(&analysis, by_stream) {
                let length: i64 = idle_time.parts.iter().map(|part| part.time.1 - part.time.0).sum();
                assert_eq!(
                    length,
                    idle_time.idle_ns,
                    "{}: {} {:?}",
                    path.display(),
                    idle_time.device,
                    idle_time.stream
                );
                assert!(
                    idle_time.parts.windows(2).all(|two| two[0].time.1 <= two[1].time.0),
                    "{}",
                    path.display()
                );
                checked += usize::from(!idle_time.parts.is_empty());
            }
        }
        let devices: Vec<i64> = analysis.devices().iter().map(DeviceTime::idle_ns).collect();
        assert_eq!(
            idle(&analysis, false).iter().map(|idle_time| idle_time.idle_ns).collect::<Vec<_>>(),
            devices
        );
    }
    assert!(checked > 100, "{checked} devices and streams");
}

/// Training on two devices waits for its data: the profiler shows `enumerate(DataLoader)` for half of the time.
#[test]
fn a_slow_data_loader_is_the_largest_cause() {
    let Some(folder) = files::shared("traces", "the corpus of real traces") else { return };
    for worker in ["worker0_span1", "worker1_span1"] {
        let path = folder.join(format!("kineto-gaoteng/resnet50_newAPI_ddp/{worker}.pt.trace.json"));
        let trace = Trace::read(&files::read(&path).expect("a trace")).expect("a trace");
        let rows = rows(&trace, "idle");
        assert_eq!(rows[0]["cause"], Cause::DataLoading.as_str(), "{worker}");
        assert!(rows[0]["share"].as_f64() > Some(0.5), "{}", rows[0]["share"]);
    }
}
