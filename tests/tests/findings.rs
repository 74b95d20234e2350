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
    let found = summary["findings"].as_array().expect("findings").iter().find(|one| one["code"] == code);
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
                let meant: Vec<_> = SAME.iter().filter(|one| advice.contains(one.0)).collect();
                let Some(text) = peers.trace(&set, "tb_plugin", worker).filter(|_| !meant.is_empty()) else {
                    continue;
                };
                let [summary] =
                    rows(&Trace::read(&text).expect("a trace"), "summary").try_into().expect("one");
                let found = summary["findings"].as_array().expect("findings").iter();
                let found: Vec<&str> = found.filter_map(|one| one["code"].as_str()).collect();
                for (what, codes) in meant {
                    let is_same = codes.iter().any(|code| found.contains(code));
                    all.count(is_same, || format!("{set} {version} {worker}: {what}, here {found:?}"));
                }
            }
        }
    }
    all.agrees("TensorBoard plugin: recommendations");
}
