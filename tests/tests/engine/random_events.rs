//! Random events, shared by several test files.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Returns names, with every character that JSON has to escape.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "aten::mm",
            "aten::add",
            "ProfilerStep#1",
            "void k<int>(int)",
            "",
            "é\"\\\n😀"
        ])
        .prop_map(str::to_owned),
        "[ -~]{0,12}",
    ]
}

fn argument() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        name().prop_map(Value::from),
        prop::collection::vec(0..100i64, 0..4).prop_map(Value::from),
        (-1000i64..1000, 1..1000u32).prop_map(|(a, b)| json!(a as f64 / f64::from(b))),
    ]
}

fn arguments() -> impl Strategy<Value = BTreeMap<String, Value>> {
    prop::collection::btree_map("[a-zA-Z ]{1,10}", argument(), 0..5)
}

prop_compose! {
    /// A span of any category.
    pub(crate) fn span()(
        name in name(),
        cat in prop::sample::select(vec!["cpu_op", "user_annotation", "cuda_runtime", "kernel", "gpu_memcpy", "python_function", "other"]),
        tid in 0..3i64,
        ts in 0..400i64,
        dur in 0..120i64,
        correlation in 0..12i64,
        id in 0..12i64,
        mut args in arguments(),
    ) -> Value {
        args.insert("correlation".into(), json!(correlation));
        args.insert("External id".into(), json!(id));
        json!({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args})
    }
}

prop_compose! {
    /// An event of any other phase.
    pub(crate) fn mark()(
        name in name(),
        ph in prop::sample::select(vec!["B", "E", "i", "C", "s", "f", "b", "e", "M"]),
        tid in 0..3i64,
        ts in 0..400i64,
        id in 0..6i64,
    ) -> Value {
        json!({"ph": ph, "cat": "c", "name": name, "pid": 1, "tid": tid, "ts": ts, "id": id})
    }
}

/// Returns the events of a trace.
pub(crate) fn events() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(prop_oneof![3 => span(), 1 => mark()], 0..60)
}

/// Returns the text of a trace.
pub(crate) fn text(events: &[Value]) -> String {
    json!({"schemaVersion": 1, "traceEvents": events}).to_string()
}
