//! Findings about how a program is set up: distribution, backends, memory.

use super::{finding, launch, span};
use serde_json::{Value, json};

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

/// Old traces show it by the operators that copy, and only by all of them.
#[test]
fn data_parallel_is_known_by_its_copies() {
    let found = |names: &[&str]| {
        let copies = names
            .iter()
            .zip(0..)
            .map(|(name, at)| span("cpu_op", name, (100, 1), (at * 50, at * 50 + 40), 0));
        let launches = [launch(1, 0, "gemm"), launch(2, 1, "gemm")].into_iter().flatten();
        finding(&copies.chain(launches).collect::<Vec<_>>(), &json!([]), "data_parallel")
    };
    assert_eq!(found(&["Broadcast", "Scatter", "Gather"]).expect("a finding")["cost_ns"], json!(120_000));
    assert_eq!(found(&["Broadcast", "Scatter"]), None);
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
    let allocated = |bytes: i64, kind: i64, training: &str| {
        let memory = json!({
            "ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 100, "tid": 1, "ts": 5, "s": "t",
            "args": {"Device Type": kind, "Device Id": 0, "Bytes": bytes, "Addr": 1, "Total Allocated": bytes},
        });
        let training = span("cpu_op", training, (100, 1), (0, 4), 0);
        finding(&[memory, training], &json!([{"id": 0, "totalGlobalMem": 100}]), "memory_nearly_full")
    };
    let found = allocated(91, 1, "AddmmBackward0").expect("a finding");
    assert_eq!((&found["cost_ns"], &found["saving_ns"]), (&json!(0), &Value::Null));
    assert!(found["message"].as_str().expect("a text").ends_with("(91%)"), "{found}");
    assert_eq!(allocated(90, 1, "AddmmBackward0"), None);
    assert_eq!(allocated(91, 0, "AddmmBackward0"), None);
    // An engine for inference reserves its memory on purpose.
    assert_eq!(allocated(91, 1, "aten::addmm"), None);
}
