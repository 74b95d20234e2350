//! Findings: for each a hand-made trace that has it, and one that almost does.

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

/// A matrix product of 50 us in single precision, and one that runs on tensor cores.
#[test]
fn devices_with_tensor_cores_should_use_them() {
    let products = |names: &[&str], major: i64| {
        let events: Vec<Value> = (1..).zip(names).flat_map(|(id, name)| launch(id, 0, name)).collect();
        finding(&events, &json!([{"id": 0, "computeMajor": major}]), "no_tensor_cores")
    };
    let found = products(&["ampere_sgemm_128x64_nn"], 8).expect("a finding");
    assert_eq!((&found["cost_ns"], &found["events"]), (&json!(50_000), &json!([1])));
    // The replay with products that take 25 us is 25 us shorter.
    assert_eq!(found["saving_ns"], json!(25_000));
    assert_eq!(products(&["ampere_sgemm_128x64_nn"], 6), None);
    assert_eq!(products(&["ampere_fp16_s16816gemm_fp16_128x64"], 8), None);
    // One of eleven kernels of equal length is less than a tenth of them.
    let others: Vec<&str> = std::iter::repeat_n("vectorized_elementwise_kernel", 10).collect();
    assert_eq!(products(&[&["ampere_sgemm_128x64_nn"], others.as_slice()].concat(), 8), None);
    assert!(products(&[&["ampere_sgemm_128x64_nn"], &others[1..]].concat(), 8).is_some());
}

#[test]
fn data_parallel_on_several_devices_is_replaced() {
    let forward = |name: &str, device: i64| {
        let mut events = vec![span("cpu_op", name, (100, 1), (0, 400), 0)];
        events.extend([launch(1, 0, "gemm"), launch(2, device, "gemm")].into_iter().flatten());
        finding(&events, &json!([]), "data_parallel")
    };
    let found = forward("DataParallel.forward", 1).expect("a finding");
    assert_eq!((&found["cost_ns"], &found["events"]), (&json!(400_000), &json!([0])));
    assert_eq!(forward("DataParallel.forward", 0), None);
    assert_eq!(forward("DistributedDataParallel.forward", 1), None);
}

#[test]
fn collectives_of_device_tensors_stay_on_devices() {
    let collective = |name: &str, has_device: bool| {
        let mut events = vec![span("cpu_op", name, (100, 1), (0, 90), 0)];
        events.extend(launch(1, 0, "gemm").into_iter().filter(|_| has_device));
        finding(&events, &json!([]), "host_collectives")
    };
    assert_eq!(collective("gloo:all_reduce", true).expect("a finding")["cost_ns"], json!(90_000));
    assert_eq!(collective("nccl:all_reduce", true), None);
    assert_eq!(collective("gloo:all_reduce", false), None);
}

/// A kernel from 0 to `busy`, and one of 1 us that is launched at once and begins at 90: the device is idle between.
fn with_a_gap(busy: i64, operator: &str) -> Vec<Value> {
    vec![
        span("cuda_runtime", "cudaLaunchKernel", (100, 1), (-2, -1), 1),
        span("kernel", "gemm", (0, 7), (0, busy), 1),
        span("cpu_op", operator, (100, 1), (0, 95), 0),
        span("cuda_runtime", "cudaLaunchKernel", (100, 1), (95, 96), 2),
        span("kernel", "gemm", (0, 7), (100, 101), 2),
    ]
}

/// Of a window of 101 us, the device is idle for 26 us (25.7 %) or for 25 us (24.8 %): the operator is open for all but 5
/// of them.
#[test]
fn a_device_is_idle_from_25_percent() {
    let idle = |busy| finding(&with_a_gap(busy, "aten::mm"), &json!([]), "gpu_idle");
    let found = idle(74).expect("a finding");
    assert_eq!((&found["cost_ns"], &found["cause"]), (&json!(21_000), &json!("operator")));
    assert_eq!(idle(75), None);
}

/// Without any span of the host, the trace has the launches and does not show what the host did.
#[test]
fn advice_for_unknown_idle_time_depends_on_the_launches() {
    let advice = |events: &[Value]| {
        let found = finding(events, &json!([]), "gpu_idle").expect("a finding");
        assert_eq!(found["cause"], json!("unknown"));
        found["advice"].as_str().expect("a text").to_owned()
    };
    let mut events = with_a_gap(50, "aten::mm");
    events.remove(2);
    assert!(advice(&events).contains("with_stack=True"));
    events.remove(2);
    assert!(advice(&events).contains("no launches"));
}

/// A step from 0 to 200 whose first kernel, of 20 us, begins at 170: 160 us of loading are before it.
#[test]
fn a_device_is_idle_before_its_first_kernel_of_a_step() {
    let events = |step: &str| {
        vec![
            span("user_annotation", step, (100, 1), (0, 200), 0),
            span("cpu_op", "aten::preprocess", (100, 1), (0, 160), 0),
            span("cuda_runtime", "cudaLaunchKernel", (100, 1), (160, 165), 1),
            span("kernel", "gemm", (0, 7), (170, 190), 1),
        ]
    };
    let found = finding(&events("ProfilerStep#1"), &json!([]), "gpu_idle").expect("a finding");
    assert_eq!((&found["cost_ns"], &found["cause"]), (&json!(160_000), &json!("operator")));
    assert_eq!(finding(&events("step 1"), &json!([]), "gpu_idle"), None);
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
    assert_eq!(uneven(150).expect("a finding")["cost_ns"], json!(50_000));
    assert_eq!(uneven(149), None);
}

/// 1,000 kernels of 4 us, or of 5 us; or 999 of them.
#[test]
fn many_kernels_below_5_us_are_short() {
    let short = |count: i64, length: i64| {
        let kernel = |at: i64| span("kernel", "k", (0, 7), (at * 10, at * 10 + length), 0);
        finding(&(0..count).map(kernel).collect::<Vec<_>>(), &json!([]), "short_kernels")
    };
    assert_eq!(short(1000, 4).expect("a finding")["cost_ns"], json!(4_000_000));
    assert_eq!(short(1000, 5), None);
    assert_eq!(short(999, 4), None);
}

/// Copies from pageable memory of the host, or to it, take 2 of 100 us.
#[test]
fn advice_for_pageable_copies_depends_on_their_direction() {
    let pageable = |kind: &str| {
        let events = [
            span("cpu_op", "aten::copy_", (100, 1), (0, 100), 0),
            span("gpu_memcpy", &format!("Memcpy {kind}"), (0, 7), (50, 52), 0),
        ];
        finding(&events, &json!([]), "pageable_copies").map(|found| found["cause"].clone())
    };
    assert_eq!(pageable("HtoD (Pageable -> Device)"), Some(json!("host_to_device_copy")));
    assert_eq!(pageable("DtoH (Device -> Pageable)"), Some(json!("synchronization")));
    assert_eq!(pageable("HtoD (Pinned -> Device)"), None);
}

/// 91 or 90 of 100 bytes of device 0; device types are 0 for the host and 1 for CUDA.
#[test]
fn memory_is_nearly_full_above_90_percent() {
    let allocated = |bytes: i64, kind: i64| {
        let memory = json!({
            "ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 100, "tid": 1, "ts": 5, "s": "t",
            "args": {"Device Type": kind, "Device Id": 0, "Bytes": bytes, "Addr": 1, "Total Allocated": bytes},
        });
        finding(&[memory], &json!([{"id": 0, "totalGlobalMem": 100}]), "memory_nearly_full")
    };
    let found = allocated(91, 1).expect("a finding");
    assert_eq!((&found["cost_ns"], &found["saving_ns"]), (&json!(0), &Value::Null));
    assert!(found["message"].as_str().expect("a text").ends_with("(91%)"), "{found}");
    assert_eq!(allocated(90, 1), None);
    assert_eq!(allocated(91, 0), None);
}

/// Parts of the texts of the TensorBoard plugin's recommendations, with the codes of the findings about the same.
const SAME: [(&str, &[&str]); 3] = [
    ("input data loading", &["data_loading"]),
    ("low utilization", &["gpu_idle", "data_loading", "synchronization", "pageable_copies"]),
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
                for (what, codes) in meant {
                    let is_same = codes.iter().any(|code| found.contains(code));
                    all.count(is_same, || format!("{set} {version} {worker}: {what}, here {found:?}"));
                }
            }
        }
    }
    all.agrees("TensorBoard plugin: recommendations");
}
