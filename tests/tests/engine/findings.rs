//! Findings: for each a hand-made trace that has it, and one that almost does.

mod kernels;
mod setup;

use kinetoscope_core::trace::Trace;
use kinetoscope_tests::answers::{made, rows};
use kinetoscope_tests::files;
use kinetoscope_tests::peers::{Peers, Tally, json as json_of};
use serde_json::{Value, json};

fn span(category: &str, name: &str, place: (i64, i64), time: (i64, i64), id: i64) -> Value {
    json!({
        "ph": "X", "cat": category, "name": name, "pid": place.0, "tid": place.1, "ts": time.0,
        "dur": time.1 - time.0, "args": {"correlation": id, "External id": id},
    })
}

/// Launch `id` of a kernel of 50 us on a device.
fn launch(id: i64, device: i64, kernel: &str) -> [Value; 2] {
    let start = id * 100;
    [
        span("cuda_runtime", "cudaLaunchKernel", (100, 1), (start, start + 5), id),
        span("kernel", kernel, (device, 7), (start + 10, start + 60), id),
    ]
}

/// The finding with a code, if the trace has it.
fn finding(events: &[Value], properties: &Value, code: &str) -> Option<Value> {
    let trace = made(&json!({"traceEvents": events, "deviceProperties": properties}));
    let [summary] = rows(&trace, "summary").try_into().expect("a summary");
    let found =
        summary["findings"].as_array().expect("findings").iter().find(|finding| finding["code"] == code);
    found.cloned()
}

/// 200 or 199 operators in each step of an optimizer, or one that is fused among them.
#[test]
fn an_optimizer_that_is_not_fused_runs_many_operators() {
    let found = |count: i64, last: &str| {
        let mut events = vec![span("user_annotation", "Optimizer.step#SGD.step", (100, 1), (0, 1000), 0)];
        events.extend((1..count).map(|at| span("cpu_op", "aten::add_", (100, 1), (at * 4, at * 4 + 3), 0)));
        events.push(span("cpu_op", last, (100, 1), (count * 4, count * 4 + 3), 0));
        finding(&events, &json!([]), "unfused_optimizer")
    };
    assert_eq!(found(200, "aten::add_").expect("a finding")["cost_ns"], json!(1_000_000));
    assert_eq!(found(199, "aten::add_"), None);
    assert_eq!(found(200, "aten::_foreach_add_"), None);
}

/// `zero_grad` is none of what another implementation of the steps saves.
#[test]
fn an_optimizer_saves_at_most_its_steps() {
    let mut events = vec![
        span("user_annotation", "Optimizer.step#SGD.step", (100, 1), (0, 1000), 0),
        span("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", (100, 1), (1000, 3000), 0),
    ];
    let operators = |first: i64| (0..200).map(move |at| (first + at * 4, first + at * 4 + 3));
    events.extend(
        [0, 1000].into_iter().flat_map(operators).map(|time| span("cpu_op", "aten::add_", (100, 1), time, 0)),
    );
    let found = finding(&events, &json!([]), "unfused_optimizer").expect("a finding");
    assert_eq!(found["saving_ns"], json!(1_000_000));
}

/// Launches at 0, 100 and so on, each of a kernel that runs from 10 to `end` after it, and in between an operator.
fn turns(count: i64, end: i64, operator: &str) -> Vec<Value> {
    let turn = |at: i64| {
        let start = at * 100;
        [
            span("cuda_runtime", "cudaLaunchKernel", (100, 1), (start, start + 5), at + 1),
            span("kernel", "gemm", (0, 7), (start + 10, start + end), at + 1),
            span("cpu_op", operator, (100, 1), (start + 5, start + 100), 0),
        ]
    };
    (0..count).flat_map(turn).collect()
}

/// A device that waits for operators in 21 turns, 80 of 100 us each. With fewer launches there is no loop, and 2 us of 100 are
/// below the threshold.
#[test]
fn a_device_waits_for_the_host() {
    let found = |count, end| finding(&turns(count, end, "aten::mm"), &json!([]), "host_bound");
    let bound = found(21, 30).expect("a finding");
    assert_eq!((&bound["cause"], &bound["ideal"]), (&json!("operator"), &json!(true)));
    // 20 gaps of 80 us from the end of a kernel to the next: 70 in the operator, 5 in the call, 5 until the work begins.
    assert_eq!(bound["cost_ns"], json!(20 * 80_000));
    let message = bound["message"].as_str().expect("a text");
    assert!(
        message.contains(
            "operators 1.400ms, calls that launch 100.000us, the delay from a launch to its start 100.000us"
        ),
        "{message}"
    );
    assert!(bound["advice"].as_str().expect("a text").contains("CUDA graph"), "{bound}");
    assert_eq!(found(19, 30), None);
    assert_eq!(found(21, 108), None);
}

/// Python code is moved, not captured; a program that uses graphs or a compiler gets no such advice.
#[test]
fn advice_depends_on_what_the_program_does() {
    let advice = |events: &[Value]| {
        let found = finding(events, &json!([]), "host_bound").expect("a finding");
        found["advice"].as_str().expect("a text").to_owned()
    };
    let mut python = turns(21, 30, "aten::mm");
    for event in python.iter_mut().filter(|event| event["cat"] == "cpu_op") {
        (event["cat"], event["name"]) = (json!("python_function"), json!("train.py(1): collate"));
    }
    python.push(span("cpu_op", "aten::add", (100, 1), (0, 4), 0));
    assert!(advice(&python).contains("move other code out of the loop"), "{}", advice(&python));
    let with = |name: &str| {
        [turns(21, 30, "aten::mm"), vec![span("cuda_runtime", name, (100, 1), (2096, 2098), 99)]].concat()
    };
    assert!(!advice(&with("cudaGraphLaunch")).contains("CUDA graph"));
    assert!(advice(&with("cudaEventRecord")).contains("CUDA graph"));
    let compiled = [
        turns(21, 30, "aten::mm"),
        vec![span("cpu_op", "Torch-Compiled Region: 0/0", (100, 1), (2096, 2098), 0)],
    ]
    .concat();
    assert!(
        !advice(&compiled).contains("torch.compile;") && !advice(&compiled).contains("with torch.compile"),
        "{}",
        advice(&compiled)
    );
}

/// Two kernels with a gap of 80 us that shows nothing of the host, or that ends with a kernel without a launch; with or without
/// operators elsewhere.
#[test]
fn advice_for_unknown_idle_time_depends_on_the_recording() {
    let advice = |has_launch: bool, has_operators: bool| {
        let mut events = turns(3, 30, "aten::mm");
        events.retain(|event| {
            event["cat"] != "cpu_op" && (has_launch || event["cat"] != "cuda_runtime" || event["ts"] != 100)
        });
        if has_operators {
            events.push(span("cpu_op", "aten::empty", (100, 1), (1, 2), 0));
        }
        let found = finding(&events, &json!([]), "gpu_idle").expect("a finding");
        assert_eq!((&found["cause"], &found["saving_ns"]), (&json!("unknown"), &Value::Null));
        found["advice"].as_str().expect("a text").to_owned()
    };
    assert!(advice(true, true).contains("with_stack=True"));
    assert!(advice(true, false).contains("ProfilerActivity.CPU"));
    assert!(advice(false, true).contains("calls of the runtime"));
}

/// A step from 0 to 2000 that loads for 1000 before its 21 kernels.
#[test]
fn a_device_is_idle_before_its_first_kernel_of_a_step() {
    let events = |step: &str| {
        let mut events = turns(21, 90, "aten::mm");
        events.push(span("cpu_op", "aten::preprocess", (100, 1), (-1000, 0), 0));
        events.push(span("user_annotation", step, (100, 1), (-1000, 2100), 0));
        events
    };
    let cost = |step| finding(&events(step), &json!([]), "host_bound").expect("a finding")["cost_ns"].clone();
    // 20 gaps of 20 us; in a step also 1010 us before the first kernel.
    assert_eq!((cost("ProfilerStep#1"), cost("step 1")), (json!(1_410_000), json!(400_000)));
}

/// A call of 2 ms that launches the first kernel of a name, while others take 5 us, and what almost is a first use: the second
/// kernel of the name, and a call during which the device runs.
#[test]
fn a_first_use_is_a_cold_start() {
    let launches = |long: i64, names: [&str; 2], busy: bool| {
        let mut events = turns(6, 30, "aten::mm");
        let start = 1000;
        let shared = span("kernel", "before", (0, 8), (1000, if busy { 2900 } else { 1001 }), 50);
        events.push(span("cuda_runtime", "cudaLaunchKernel", (100, 1), (990, 993), 50));
        events.push(shared);
        for (at, name) in names.into_iter().enumerate() {
            let at = at as i64;
            let begun = start + at * long;
            events.push(span(
                "cuda_runtime",
                "cudaLaunchKernel",
                (100, 1),
                (begun, begun + if at == 1 { long } else { 5 }),
                60 + at,
            ));
            events.push(span(
                "kernel",
                name,
                (0, 7),
                (begun + if at == 1 { long } else { 6 } + 5, begun + long + 30),
                60 + at,
            ));
        }
        finding(&events, &json!([]), "cold_start")
    };
    let found = launches(2000, ["first", "second"], false).expect("a finding");
    assert_eq!((&found["cost_ns"], &found["cause"]), (&json!(2_000_000), &json!("cold_start")));
    assert!(found["advice"].as_str().expect("a text").contains("warm up"), "{found}");
    assert_eq!(launches(2000, ["same", "same"], false), None);
    assert_eq!(launches(400, ["first", "second"], false), None);
}

/// A first launch of 2 ms whose kernel begins after 1 ms, or earlier: then its code was there.
#[test]
fn a_call_whose_kernel_runs_early_loads_no_code() {
    let found = |delay: i64| {
        let mut events = turns(6, 30, "aten::mm");
        events.push(span("cuda_runtime", "cudaLaunchKernel", (100, 1), (1000, 3000), 60));
        events.push(span("kernel", "first", (0, 7), (1000 + delay, 1000 + delay + 10), 60));
        finding(&events, &json!([]), "cold_start").is_some()
    };
    assert!(found(1000));
    assert!(!found(999));
}

/// The first of three ranges takes 3 times as long as the others, or 2.9 times.
#[test]
fn a_first_range_that_takes_three_times_as_long_is_a_cold_start() {
    let found = |first: i64| {
        let range = |start: i64, length: i64| {
            span("user_annotation", "forward", (100, 1), (start, start + length), 0)
        };
        let operators = (0..20).map(|at| span("cpu_op", "aten::mm", (100, 1), (at * 50, at * 50 + 40), 0));
        let ranges = [range(0, first), range(first, 100), range(first + 100, 100)];
        finding(&operators.chain(ranges).collect::<Vec<_>>(), &json!([]), "cold_start")
    };
    assert_eq!(found(300).expect("a finding")["cost_ns"], json!(200_000));
    assert_eq!(found(290), None);
}

/// A capture of 500 of 600 us, in which nothing that operators launch runs; without the call that begins it, there is no capture.
#[test]
fn captures_of_graphs_are_no_idle_time() {
    let events = |begin: &str| {
        let call =
            |name: &str, start: i64, id: i64| span("cuda_runtime", name, (100, 1), (start, start + 5), id);
        let mut events = vec![
            call("cudaLaunchKernel", 0, 1),
            span("kernel", "gemm", (0, 7), (10, 20), 1),
            call(begin, 20, 0),
        ];
        events.extend((0..24).map(|at| call("cudaLaunchKernel", 30 + at * 20, 0)));
        events
            .extend((0..24).map(|at| span("cpu_op", "aten::mm", (100, 1), (28 + at * 20, 38 + at * 20), 0)));
        events.extend([
            call("cudaStreamEndCapture", 515, 0),
            call("cudaGraphLaunch", 580, 2),
            span("kernel", "gemm", (0, 7), (590, 600), 2),
        ]);
        events
    };
    let found = finding(&events("cudaStreamBeginCapture"), &json!([]), "graph_capture").expect("a finding");
    assert_eq!(found["cost_ns"], json!(500_000));
    assert!(
        found["message"].as_str().expect("a text").starts_with("1 capture of CUDA graphs took 500.000us ("),
        "{found}"
    );
    let around =
        [vec![span("cpu_op", "CompiledFunction", (100, 1), (18, 540), 0)], events("cudaStreamBeginCapture")]
            .concat();
    let found = finding(&around, &json!([]), "graph_capture").expect("a finding");
    assert_eq!(found["cost_ns"], json!(522_000));
    assert!(
        found["message"]
            .as_str()
            .expect("a text")
            .contains(" took 500.000us, 522.000us with the operators around them ("),
        "{found}"
    );
    assert_eq!(finding(&events("cudaStreamBeginCapture"), &json!([]), "host_bound"), None);
    assert_eq!(finding(&events("cudaStreamBegin"), &json!([]), "graph_capture"), None);
}

/// Memory that is allocated and freed in each of 24 turns, or only allocated.
#[test]
fn memory_that_is_freed_in_the_loop_is_not_cached() {
    let all = |free: &str, turns_of_all: i64| {
        let mut events = turns(turns_of_all, 30, "aten::mm");
        for at in 0..24 {
            let start = at * 100 + 40;
            events.push(span("cuda_runtime", "cudaMalloc", (100, 1), (start, start + 20), 0));
            events.push(span("cuda_runtime", free, (100, 1), (start + 20, start + 50), 0));
        }
        finding(&events, &json!([]), "caching_allocator")
    };
    let found = |free: &str| all(free, 24).map(|found| found["cost_ns"].clone());
    let advice = |turns: i64| {
        all("cudaFree", turns).expect("a finding")["advice"].as_str().expect("a text").to_owned()
    };
    assert!(advice(24).starts_with("memory is returned to the driver in the loop"));
    assert!(advice(60).starts_with("memory was returned to the driver early in the recording only"));
    assert_eq!(found("cudaFree"), Some(json!(23 * 50_000)));
    assert_eq!(found("cudaMalloc"), None);
    assert_eq!(found("cudaFreeHost"), None);
}

/// In each turn the host loads for 35 us and is in an operator for 60: what both save is not the sum of what each saves alone.
#[test]
fn savings_are_shown_alone_and_after_the_findings_above() {
    let mut events = turns(21, 30, "aten::mm");
    for at in 0..21 {
        let start = at * 100 + 5;
        let name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
        events.push(span("user_annotation", name, (100, 1), (start, start + 35), 0));
    }
    for event in events.iter_mut().filter(|event| event["cat"] == "cpu_op") {
        event["ts"] = (event["ts"].as_i64().expect("a time") + 35).into();
        event["dur"] = 60.into();
    }
    let found = |code| finding(&events, &json!([]), code).expect("a finding");
    let saving = |finding: &Value, key: &str| finding[key].as_i64().expect("a time");
    let (loading, host) = (found("data_loading"), found("host_bound"));
    assert_eq!(saving(&loading, "saving_ns"), saving(&loading, "added_ns"), "{loading}");
    assert!(saving(&host, "added_ns") <= saving(&host, "saving_ns"), "{host}");
    // The kernels remain: 21 of 20 us.
    assert!(saving(&loading, "added_ns") + saving(&host, "added_ns") <= 2_100_000 - 21 * 20_000);
}

/// A collective of 6 or 5 us between kernels, in a window of 101 us: 5.9 % or 4.95 %.
#[test]
fn communication_is_exposed_from_5_percent() {
    let exposed = |ns: i64| {
        let kernel = |name: &str, stream, time| span("kernel", name, (0, stream), time, 0);
        let reduce = kernel("ncclDevKernel_AllReduce_Sum_f32", 8, (90 - ns, 90));
        let events = [kernel("gemm", 7, (0, 90 - ns)), reduce, kernel("gemm", 7, (90, 101))];
        finding(&events, &json!([]), "exposed_communication")
    };
    assert_eq!(exposed(6).expect("a finding")["cost_ns"], json!(6_000));
    assert_eq!(exposed(5), None);
}

/// Three steps of 100 us, of which the last takes 150 us, or 149.
#[test]
fn steps_are_uneven_from_half_as_much_again() {
    let uneven = |last: i64| {
        let step = |number: i64, start: i64, length: i64| {
            span("user_annotation", &format!("ProfilerStep#{number}"), (100, 1), (start, start + length), 0)
        };
        finding(&[step(1, 0, 100), step(2, 100, 100), step(3, 200, last)], &json!([]), "uneven_steps")
    };
    let found = uneven(150).expect("a finding");
    assert_eq!(found["cost_ns"], json!(50_000));
    assert!(!found["advice"].as_str().expect("a text").contains("first step"), "{found}");
    assert_eq!(uneven(149), None);
}

/// A wait of 400 of 1000 us in an operator, with others inside, while the last kernel runs; then the device is idle for 100 us.
fn wait_in(outer: &str, inner: &[&str]) -> Option<Value> {
    let mut events = vec![span("cpu_op", outer, (100, 1), (20, 480), 0)];
    events.extend(inner.iter().enumerate().map(|(at, name)| {
        let at = at as i64 + 1;
        span("cpu_op", name, (100, 1), (20 + at, 480 - at), 0)
    }));
    events.extend([
        span("cuda_runtime", "cudaLaunchKernel", (100, 1), (0, 5), 1),
        span("kernel", "a", (0, 7), (10, 450), 1),
        span("cuda_runtime", "cudaStreamSynchronize", (100, 1), (50, 460), 0),
        span("cuda_runtime", "cudaLaunchKernel", (100, 1), (500, 540), 2),
        span("kernel", "b", (0, 7), (550, 1000), 2),
    ]);
    // Waits that recur: ten.
    let mut all = Vec::new();
    for turn in 0..10 {
        for event in &events {
            let mut event = event.clone();
            event["ts"] = json!(event["ts"].as_i64().expect("a time") + turn * 1000);
            let id = event["args"]["correlation"].as_i64().expect("an id");
            if id > 0 {
                event["args"] = json!({"correlation": id + turn * 2, "External id": id + turn * 2});
            }
            all.push(event);
        }
    }
    finding(&all, &json!([]), "synchronization")
}

#[test]
fn advice_about_waits_follows_what_waits() {
    let advice = |outer: &str, inner: &[&str]| {
        let found = wait_in(outer, inner).expect("a finding");
        let message = found["message"].as_str().expect("a message");
        assert!(message.contains("The host waited 4.1"), "{message}");
        assert!(message.contains(&format!("most in `{outer}`: 4.1")), "{message}");
        assert!(message.contains("in 10 waits"), "{message}");
        String::from(found["advice"].as_str().expect("advice"))
    };
    assert!(advice("aten::index", &["aten::nonzero"]).contains("boolean mask"));
    assert!(advice("aten::nonzero", &[]).contains("boolean mask"));
    // Indices that are copied to the device.
    assert!(
        advice("aten::index", &["aten::to", "aten::copy_"]).contains("a copy between the host and the GPU")
    );
    assert!(advice("aten::is_nonzero", &["aten::item"]).contains("scalars"));
    assert!(advice("my nonzero range", &[]).contains(".item(), .cpu()"));
}

/// A copy of 24 KB from or to pageable memory takes 20 of 100 us: at 12 GB/s it takes 2.
#[test]
fn pageable_copies_are_compared_with_pinned_ones() {
    let pageable = |kind: &str, size: i64| {
        let mut copy = span("gpu_memcpy", &format!("Memcpy {kind}"), (0, 7), (50, 70), 1);
        copy["args"]["bytes"] = size.into();
        let events = [
            span("cpu_op", "aten::copy_", (100, 1), (0, 40), 0),
            span("cuda_runtime", "cudaMemcpyAsync", (100, 1), (40, 72), 1),
            copy,
            span("cpu_op", "aten::mm", (100, 1), (72, 100), 0),
        ];
        finding(&events, &json!([]), "pageable_copies").map(|found| found["saving_ns"].clone())
    };
    assert_eq!(pageable("HtoD (Pageable -> Device)", 24_000), Some(json!(18_000)));
    assert_eq!(pageable("DtoH (Device -> Pageable)", 24_000), Some(json!(18_000)));
    assert_eq!(pageable("HtoD (Pinned -> Device)", 24_000), None);
}

/// A copy of 2 MiB takes 400 us, 5.2 GB/s: at 12 GB/s it takes 174.8. One at 6.0 GB/s, and small ones, are no finding.
#[test]
fn pinned_copies_far_below_a_link_are_slow() {
    let slow = |size: i64, us: i64| {
        let mut copy = span("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", (0, 7), (50, 50 + us), 1);
        copy["args"]["bytes"] = size.into();
        let events = [
            span("cpu_op", "aten::copy_", (100, 1), (0, 60 + us), 0),
            span("cuda_runtime", "cudaMemcpyAsync", (100, 1), (40, 45), 1),
            copy,
            span("cuda_runtime", "cudaStreamSynchronize", (100, 1), (46, 50 + us), 0),
        ];
        let found = finding(&events, &json!([]), "slow_copies")?;
        let message = found["message"].as_str().expect("a message");
        assert!(message.contains("1 copy of 1 MiB or more from or to pinned memory"), "{message}");
        found["saving_ns"].as_i64()
    };
    let saved = slow(2 << 20, 400).expect("a finding");
    assert!((saved - 225_237).abs() < 10, "{saved}");
    assert_eq!(slow(2 << 20, 340), None);
    assert_eq!(slow((1 << 20) - 1, 400), None);
}

/// Launches whose kernels begin 10 us before them show nothing of what a change saves.
#[test]
fn without_common_clocks_no_saving_is_stated() {
    let saving = |early: i64| {
        let mut events = turns(30, 30, "aten::mm");
        for event in events.iter_mut().filter(|event| event["cat"] == "kernel") {
            event["ts"] = json!(event["ts"].as_i64().expect("a time") - early);
        }
        finding(&events, &json!([]), "host_bound").expect("a finding")["saving_ns"].clone()
    };
    assert!(saving(0).is_i64());
    assert_eq!(saving(20), Value::Null);
}

/// Parts of the texts of the TensorBoard plugin's recommendations, with the codes of the findings about the same.
const SAME: [(&str, &[&str]); 3] = [
    ("input data loading", &["data_loading"]),
    ("low utilization", &["host_bound", "gpu_idle", "data_loading", "synchronization", "pageable_copies"]),
    ("Tensor Cores eligible", &["no_tensor_cores"]),
];

/// What the plugin recommends, the findings name as well.
#[test]
fn recommendations_of_the_tensorboard_plugin_are_findings() {
    let Some(peers) = Peers::find() else { return };
    let mut all = Tally::default();
    for (set, folder) in peers.sets("tb_plugin") {
        for version in ["pypi-0.4.3", "git-041e7ce"] {
            for path in files::below(&folder.join(version)) {
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                let Some(worker) = name.strip_suffix(".overview.json") else { continue };
                let advice = json_of(&path)["recommendations"].to_string();
                let meant: Vec<_> =
                    SAME.iter().filter(|recommendation| advice.contains(recommendation.0)).collect();
                let Some(text) = peers.trace(&set, "tb_plugin", worker).filter(|_| !meant.is_empty()) else {
                    continue;
                };
                let [summary] =
                    rows(&Trace::read(&text).expect("a trace"), "summary").try_into().expect("one");
                let found = summary["findings"].as_array().expect("findings").iter();
                let found: Vec<&str> = found.filter_map(|finding| finding["code"].as_str()).collect();
                // The plugin judges samples of events, too.
                let questions = summary["fitness"].as_array().expect("questions").iter();
                let is_sampled = questions
                    .flat_map(|question| question["reasons"].as_array().expect("reasons"))
                    .any(|reason| reason["code"] == "sampled");
                for (what, codes) in meant {
                    let is_same = is_sampled || codes.iter().any(|code| found.contains(code));
                    all.count(is_same, || format!("{set} {version} {worker}: {what}, here {found:?}"));
                }
            }
        }
    }
    all.agrees("TensorBoard plugin: recommendations");
}
