//! The time of devices by class of work: hand-made traces, a naive twin, and the results of other tools.

use kinetoscope_core::trace::Trace;
use kinetoscope_tests::answers::{made, rows, rows_with};
use kinetoscope_tests::files;
use kinetoscope_tests::peers::{Peers, Tally, json as json_of, without_last_step};
use proptest::prelude::*;
use serde_json::{Value, json};

const NAMES: [(&str, &str); 4] = [
    ("kernel", "gemm"),
    ("kernel", "ncclDevKernel_AllReduce_Sum_f32"),
    ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)"),
    ("gpu_memset", "Memset (Device)"),
];

/// An activity of a class, in us.
fn activity(class: usize, stream: i64, time: (i64, i64)) -> Value {
    let (cat, name) = NAMES[class];
    json!({"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": time.0, "dur": time.1 - time.0})
}

fn step(number: usize, time: (i64, i64)) -> Value {
    json!({
        "ph": "X", "cat": "user_annotation", "name": format!("ProfilerStep#{number}"), "pid": 1, "tid": 1,
        "ts": time.0, "dur": time.1 - time.0,
    })
}

const PARTS: [&str; 4] = ["compute_ns", "exposed_communication_ns", "exposed_memcpy_ns", "exposed_memset_ns"];
const CLASSES: [&str; 4] = ["compute_ns", "communication_ns", "memcpy_ns", "memset_ns"];

fn ns(row: &Value, key: &str) -> i64 {
    row[key].as_i64().unwrap_or_else(|| panic!("{key} of {row}"))
}

/// The parts, the idle time and the wall time, in us.
fn parts(row: &Value) -> [i64; 6] {
    let keys = [PARTS[0], PARTS[1], PARTS[2], PARTS[3], "idle_ns", "wall_ns"];
    keys.map(|key| ns(row, key) / 1000)
}

/// compute       ---- 10 to 50
/// communication       ------- 40 to 80: 50 to 80 is exposed
/// copy                  -------- 70 to 100: 80 to 100
/// memset                             - 110 to 115
/// Nothing runs from 100 to 110.
#[test]
fn each_instant_counts_for_the_first_class_that_runs() {
    let events = json!([
        activity(0, 7, (10, 50)),
        activity(1, 8, (40, 80)),
        activity(2, 9, (70, 100)),
        activity(3, 7, (110, 115)),
        step(1, (0, 60)),
        step(2, (60, 120)),
    ]);
    let trace = made(&events);
    let [device] = rows(&trace, "breakdown").try_into().expect("a device");
    assert_eq!(parts(&device), [40, 30, 20, 5, 10, 105]);
    assert_eq!(CLASSES.map(|key| ns(&device, key) / 1000), [40, 40, 30, 5]);
    assert_eq!(device["overlap"], json!(0.25));
    let [first, second] = rows_with(&trace, "breakdown", &json!({"by": "step"})).try_into().expect("steps");
    // 10 us before the first activity are idle.
    assert_eq!(parts(&first), [40, 10, 0, 0, 10, 60]);
    // 60 to 80, 80 to 100, 110 to 115; idle from 100 to 110 and from 115 to 120.
    assert_eq!(parts(&second), [0, 20, 20, 5, 15, 60]);
    assert_eq!((&second["step"], &second["overlap"]), (&json!("ProfilerStep#2"), &json!(0)));
}

/// Communication that only touches compute is exposed; without communication there is no overlap.
#[test]
fn overlap_needs_both_at_once() {
    let overlap = |events: Value| rows(&made(&events), "breakdown")[0]["overlap"].clone();
    assert_eq!(overlap(json!([activity(0, 7, (0, 10)), activity(1, 8, (10, 20))])), json!(0));
    assert_eq!(overlap(json!([activity(0, 7, (0, 20)), activity(1, 8, (10, 20))])), json!(1));
    assert_eq!(overlap(json!([activity(0, 7, (0, 20))])), Value::Null);
}

/// Where HTA differs. A kernel runs from 10 to 20, and another one from 30 to 40: 10 us are idle.
/// HTA counts the wait from 0 to 25 and the operator from 22 to 28, which have streams, as work: a span of 40 us, of which
/// 2 us are idle.
#[test]
fn waits_and_operators_with_streams_are_no_work() {
    let with_stream = |cat: &str, name: &str, time: (i64, i64)| {
        json!({
            "ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": time.0, "dur": time.1 - time.0,
            "args": {"stream": 7},
        })
    };
    let events = json!([
        with_stream("cuda_sync", "Stream Sync", (0, 25)),
        with_stream("kernel", "gemm", (10, 20)),
        with_stream("cpu_op", "triton_poi_fused_add", (22, 28)),
        with_stream("kernel", "gemm", (30, 40)),
    ]);
    let [row] = rows(&made(&events), "breakdown").try_into().expect("a device");
    assert_eq!(parts(&row), [20, 0, 0, 0, 10, 30]);
}

/// A multicast collective communicates; HTA counts it as compute: 30 us of compute.
#[test]
fn multicast_collectives_are_communication() {
    let mut events = [activity(0, 7, (0, 10)), activity(0, 8, (10, 30))];
    events[1]["name"] = "multimem_all_reduce_kernel<c10::BFloat16, 16>".into();
    let [row] = rows(&made(&json!(events)), "breakdown").try_into().expect("a device");
    assert_eq!(parts(&row), [10, 20, 0, 0, 0, 30]);
}

/// The same by looking at every microsecond.
fn naive(activities: &[(usize, (i64, i64))], time: (i64, i64)) -> [i64; 6] {
    let mut parts = [0; 6];
    for at in time.0..time.1 {
        let runs = |class: usize| {
            activities.iter().any(|activity| activity.0 == class && activity.1.0 <= at && at < activity.1.1)
        };
        parts[(0..4).find(|&class| runs(class)).unwrap_or(4)] += 1;
    }
    parts[5] = time.1 - time.0;
    parts
}

proptest! {
    #[test]
    fn parts_equal_a_naive_count(
        spans in prop::collection::vec((0usize..4, 0i64..60, 1i64..20), 1..12),
        steps in prop::collection::vec((0i64..60, 1i64..30), 0..3),
    ) {
        let activities: Vec<_> = spans.iter().map(|&(class, ts, dur)| (class, (ts, ts + dur))).collect();
        let mut events: Vec<Value> = (7..).zip(&activities).map(|(at, span)| activity(span.0, at, span.1)).collect();
        let mut at = 0;
        let mut times = Vec::new();
        for (number, (wait, length)) in steps.into_iter().enumerate() {
            times.push((at + wait, at + wait + length));
            events.push(step(number, times[number]));
            at += wait + length;
        }
        let trace = made(&json!(events));
        let start = activities.iter().map(|span| span.1.0).min().expect("a start");
        let end = activities.iter().map(|span| span.1.1).max().expect("an end");
        prop_assert_eq!(parts(&rows(&trace, "breakdown")[0]), naive(&activities, (start, end)));
        let by_step = rows_with(&trace, "breakdown", &json!({"by": "step"}));
        prop_assert_eq!(by_step.len(), times.len());
        for (row, time) in by_step.iter().zip(times) {
            prop_assert_eq!(parts(row), naive(&activities, time));
        }
    }
}

/// On real traces the parts add up to the wall time, and a class runs at least as long as its part.
#[test]
fn parts_of_real_traces_add_up() {
    let Some(folder) = files::shared("traces", "the corpus of real traces") else { return };
    let mut seen = 0;
    for path in files::below(&folder) {
        let Some(Ok(trace)) = files::read(&path).map(|bytes| Trace::read(&bytes)) else { continue };
        for by in ["device", "step"] {
            for row in rows_with(&trace, "breakdown", &json!({"by": by})) {
                seen += 1;
                let [compute, communication, memcpy, memset, idle, wall] = parts_ns(&row);
                assert_eq!(
                    compute + communication + memcpy + memset + idle,
                    wall,
                    "{}: {row}",
                    path.display()
                );
                for (part, class) in PARTS.iter().zip(CLASSES) {
                    assert!(0 <= ns(&row, part) && ns(&row, part) <= ns(&row, class), "{row}");
                }
                assert!(idle >= 0, "{row}");
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

fn parts_ns(row: &Value) -> [i64; 6] {
    let keys = [PARTS[0], PARTS[1], PARTS[2], PARTS[3], "idle_ns", "wall_ns"];
    keys.map(|key| ns(row, key))
}

/// The row of a trace with one device.
fn only_device(trace: &Trace) -> Option<Value> {
    let mut rows = rows(trace, "breakdown");
    (rows.len() == 1).then(|| rows.remove(0))
}

/// The oracle computes with integers; `TraceLens` counts memsets as compute.
#[test]
fn an_exact_computation_gives_the_same_times() {
    let Some(peers) = Peers::find() else { return };
    let (mut all, mut hta, mut several) = (Tally::default(), Tally::default(), 0);
    for (set, folder) in peers.sets("oracle") {
        let exact = json_of(&folder.join("exact.json"));
        for (rank, theirs) in exact["ranks"].as_object().expect("ranks") {
            let Some(text) = peers.trace(&set, "hta/tracelens/oracle", rank) else { continue };
            let Some(ours) = only_device(&Trace::read(&text).expect("a trace")) else {
                several += 1;
                continue;
            };
            let tracelens = &theirs["tracelens_convention(all gpu events; memset counts as computation)"];
            let keys = [("span", "wall_ns"), ("idle", "idle_ns"), ("comm_union", "communication_ns")];
            for (key, column) in keys {
                all.count(ns(tracelens, key) == ns(&ours, column), || {
                    format!("{set} {rank} {key}: {}, exact {}", ours[column], tracelens[key])
                });
            }
            let Some(ours) = only_device(&without_last_step(&text)) else { continue };
            let theirs = &theirs["hta_default_filter"];
            let hidden = ns(&ours, "communication_ns") - ns(&ours, "exposed_communication_ns");
            let pairs = [
                ("span", ns(&ours, "wall_ns")),
                ("idle", ns(&ours, "idle_ns")),
                ("compute", ns(&ours, "compute_ns")),
                ("comm_union", ns(&ours, "communication_ns")),
                ("comp_comm_overlap", hidden),
            ];
            for (key, ours) in pairs {
                hta.count(ns(theirs, key) == ours, || {
                    format!("{set} {rank} {key}: {ours}, exact {}", theirs[key])
                });
            }
        }
    }
    let of = |tally: &Tally, sets: &[&str]| {
        tally.others.iter().filter(|other| sets.iter().any(|set| other.starts_with(set))).count()
    };
    // Multicast collectives are communication here; HTA counts an operator with a stream as a kernel.
    let multicast = ["tracelens-b200-eager"];
    // HTA counts rows of synchronizations as work, which stretches the span or hides idle time.
    let synchronizations = ["hta-cp-alexnet", "hta-cp-simple_add", "hta-cp-cuda_event_sync"];
    all.agrees("exact computation: span, idle and communication of devices");
    hta.agrees("exact computation, HTA's selection of events: span, idle, compute, communication, overlap");
    assert_eq!((of(&all, &multicast), several), (1, 1));
    assert_eq!((of(&hta, &multicast), of(&hta, &synchronizations)), (3, 6));
}
