//! Operations and the roofline of operators of real traces: no operator is faster than its device can be.

use kinetoscope::files::open;
use kinetoscope_tests::answers::{made, rows};
use kinetoscope_tests::files;
use serde_json::{Value, json};

/// Traces with shapes and a device whose peak figures are known.
const TRACES: [&str; 9] = [
    "ao/ref_ep_moe_fwd.json.gz",
    "astra-sim/megatron-tp8/megatron_kineto_0.json.gz",
    "hta/trace_diff/control/control.json.gz",
    "sam-fast/amg_example_trace.json.gz",
    "tracelens/b200/eager_trace.json.gz",
    "tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    "tracelens/h100/facebook_timesformer-base-finetuned-k400__1016002.json.gz",
    "tracelens/inference/xdit_flux.1_aiter_sage/profile_trace_rank_0.json.gz",
    "tracelens/mi300/ddp_resnet18_no_pool/train_resnet18.json.gz",
];

#[test]
fn no_operator_computes_faster_than_its_device() {
    let Some(folder) = files::shared("traces", "real traces") else { return };
    let (mut computed, mut moved) = (0, 0);
    for name in TRACES {
        let trace = open(folder.join(name)).expect("a trace");
        for row in rows(&trace, "flops").iter().filter(|row| row["kind"] == "operator") {
            let Some(share) = row["roofline_share"].as_f64() else { continue };
            match row["bound"].as_str() {
                Some("compute") => {
                    computed += 1;
                    assert!(share <= 1.0, "{name}: {row}");
                }
                // Caches are faster than the memory.
                _ => moved += usize::from(share <= 1.05),
            }
        }
    }
    assert!(computed >= 12 && moved >= 150, "{computed} {moved}");
}

#[test]
fn counted_and_other_operators_are_all_of_the_time() {
    let Some(folder) = files::shared("traces", "real traces") else { return };
    for name in TRACES {
        let rows = rows(&open(folder.join(name)).expect("a trace"), "flops");
        let [all, counted, others] = [0, 1, 2].map(|at| rows[at]["time_ns"].as_i64().expect("a time"));
        assert_eq!(all, counted + others, "{name}");
        let sum = |key: &str| -> i64 {
            let of_operators = rows[3..].iter().filter(|row| row["counted"] == true);
            of_operators.map(|row| row[key].as_i64().expect("a number")).sum()
        };
        assert_eq!(rows[1]["time_ns"], sum("time_ns"), "{name}");
        assert_eq!(rows[1]["flops"], sum("flops"), "{name}");
    }
}

/// The products of a trace by the text of its events, with the formula of a product and nothing else.
#[test]
fn products_equal_a_count_of_the_raw_events() {
    let Some(folder) = files::shared("traces", "real traces") else { return };
    let path = folder.join("tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz");
    let text = files::read(&path.with_extension("")).expect("a file");
    let events: Value = serde_json::from_slice(&text).expect("JSON");
    let mut expected = 0;
    for event in events["traceEvents"].as_array().expect("events") {
        if event["name"] == "aten::linear" && event["ph"] == "X" {
            let dims = &event["args"]["Input Dims"];
            let sizes = |at: usize| -> Vec<i64> {
                dims[at]
                    .as_array()
                    .expect("sizes")
                    .iter()
                    .map(|size| size.as_i64().expect("a size"))
                    .collect()
            };
            expected += 2 * sizes(0).iter().product::<i64>() * sizes(1)[0];
        }
    }
    let rows = rows(&open(&path).expect("a trace"), "flops");
    let linear = rows.iter().find(|row| row["name"] == "aten::linear").expect("a row");
    assert_eq!(linear["flops"], expected);
    assert!(expected > 1_000_000_000_000);
}

/// A product of 2·64·64·64 operations on device `device`, for 1 us; another one on the host.
fn two_products(properties: &Value, device: i64) -> Vec<Value> {
    let dims = json!([[64, 64], [64, 64]]);
    let operator = |at: i64, id: i64| {
        json!({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at, "dur": 20,
            "args": {"External id": id, "Input Dims": dims, "Input type": ["float", "float"]}})
    };
    let trace = made(&json!({"deviceProperties": properties, "traceEvents": [
        operator(0, 1),
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 5, "dur": 5,
            "args": {"correlation": 7, "External id": 1}},
        {"ph": "X", "cat": "kernel", "name": "volta_sgemm", "pid": device, "tid": 7, "ts": 12, "dur": 1,
            "args": {"correlation": 7, "External id": 1, "device": device}},
        operator(100, 2),
    ]}));
    rows(&trace, "flops")
}

#[test]
fn calls_on_the_host_are_no_work_of_a_device() {
    let rows = two_products(&json!([]), 0);
    let product = rows.iter().find(|row| row["name"] == "aten::mm").expect("a row");
    assert_eq!(
        (&product["count"], &product["flops"], &product["time_ns"]),
        (&json!(1), &json!(524_288), &json!(1_000))
    );
    assert_eq!(rows[1]["flops"], 524_288);
}

#[test]
fn the_roofline_is_that_of_the_device_that_works() {
    let devices = json!([{"id": 0, "name": "Tesla T4"}, {"id": 1, "name": "NVIDIA H200"}]);
    let share = |device: i64| {
        let rows = two_products(&devices, device);
        rows.iter().find(|row| row["name"] == "aten::mm").and_then(|row| row["roofline_share"].as_f64())
    };
    // 49,152 bytes in 1 us, at 4.8 TB/s and at 320 GB/s.
    for (device, bandwidth) in [(1, 4.8e12), (0, 320e9)] {
        let expected: f64 = 49_152.0 / bandwidth / 1e-6;
        assert!(share(device).is_some_and(|share| (share / expected - 1.0).abs() < 1e-6), "{device}");
    }
    assert_eq!(share(2), None);
}
