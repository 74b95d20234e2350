//! Launches: hand-made traces, a naive twin, and the results of Holistic Trace Analysis.

use kinetoscope_core::trace::Trace;
use kinetoscope_tests::answers::{made, rows, rows_with};
use kinetoscope_tests::exports::{exported, exported_with};
use kinetoscope_tests::peers::{Peers, Tally, csv, without_last_step};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A call and its kernel, in us.
fn launch(id: i64, call: (i64, i64), stream: i64, work: (i64, i64)) -> [Value; 2] {
    let span = |cat: &str, name: &str, place: (i64, i64), time: (i64, i64)| {
        json!({
            "ph": "X", "cat": cat, "name": name, "pid": place.0, "tid": place.1, "ts": time.0,
            "dur": time.1 - time.0, "args": {"correlation": id},
        })
    };
    [
        span("cuda_runtime", "cudaLaunchKernel", (100, 1), call),
        span("kernel", &format!("kernel_{stream}"), (0, stream), work),
    ]
}

fn ints(row: &Value, keys: &[&str]) -> Vec<i64> {
    keys.iter().map(|&key| row[key].as_i64().unwrap_or_else(|| panic!("{key} of {row}"))).collect()
}

/// Three launches on stream 7: delays of 5, 0 (the kernel starts within its call) and 101 us.
/// Calls:   0-10, 10-20, 20-30. Kernels: 15-20, 18-40, 131-140.
/// Queue:   1 from 0, 2 from 10 to 15, 1 until 18, 0 until 20, 1 until 131.
#[test]
fn a_stream_has_delays_and_a_queue() {
    let events = [
        launch(1, (0, 10), 7, (15, 20)),
        launch(2, (10, 20), 7, (18, 40)),
        launch(3, (20, 30), 7, (131, 140)),
    ];
    let trace = made(&json!(events.as_flattened()));
    let [row] = rows(&trace, "launches").try_into().expect("a stream");
    assert_eq!((&row["device"], &row["stream"], &row["name"]), (&json!("0"), &json!("7"), &Value::Null));
    let keys = ["count", "call_mean_ns", "call_max_ns", "delay_median_ns", "delay_p95_ns", "delay_max_ns"];
    assert_eq!(ints(&row, &keys), [3, 10_000, 10_000, 5_000, 101_000, 101_000]);
    // 106 us by 3; 5 + 22 + 9 us by 3.
    assert_eq!(ints(&row, &["delay_mean_ns", "work_mean_ns"]), [35_333, 12_000]);
    // The first and the last kernel take less time than their calls.
    assert_eq!(ints(&row, &["short", "slow", "late", "queue_max", "full_ns"]), [2, 0, 1, 2, 0]);
    // 10 + 2 · 5 + 3 + 111 us by 131 us.
    assert_eq!(row["queue_mean"], json!(134.0 / 131.0));
    assert_eq!(ints(&row, &["event", "call_event"]), [5, 4]);
}

/// Each limit: just not exceeded, and exceeded.
#[test]
fn outliers_exceed_limits() {
    let counts = |call: i64, delay: i64, work: i64| {
        let start = call + delay;
        let trace = made(&json!(launch(1, (0, call), 7, (start, start + work))));
        ints(&rows(&trace, "launches")[0], &["short", "slow", "late"])
    };
    assert_eq!(counts(50, 100, 50), [0, 0, 0]);
    assert_eq!(counts(50, 100, 49), [1, 0, 0]);
    // A slow call is no sign of a short kernel.
    assert_eq!(counts(51, 100, 49), [0, 1, 0]);
    assert_eq!(counts(50, 101, 50), [0, 0, 1]);
}

/// 1,024 launches of 1 us each, or one fewer, before a kernel starts at 2,000 us.
#[test]
fn a_queue_is_full_at_1024_launches() {
    let full = |count: i64| {
        let calls = (0..count).map(|at| launch(at + 1, (at, at + 1), 7, (2000 + at, 2001 + at)));
        let trace = made(&json!(calls.flatten().collect::<Vec<_>>()));
        ints(&rows(&trace, "launches")[0], &["queue_max", "full_ns"])
    };
    // Full from the start of the last call, at 1,023 us, to 2,000 us.
    assert_eq!(full(1024), [1024, 977_000]);
    assert_eq!(full(1023), [1023, 0]);
}

#[test]
fn launches_are_grouped_on_request() {
    let events =
        [launch(1, (0, 10), 7, (15, 20)), launch(2, (10, 20), 8, (60, 70)), launch(3, (20, 30), 7, (31, 40))];
    let trace = made(&json!(events.as_flattened()));
    let groups = |by: &str| -> Vec<(Value, Value, i64)> {
        let rows = rows_with(&trace, "launches", &json!({"by": by}));
        rows.iter()
            .map(|row| (row["stream"].clone(), row["name"].clone(), ints(row, &["count"])[0]))
            .collect()
    };
    let (seven, eight) = (json!("7"), json!("8"));
    // The longest sum of delays first.
    assert_eq!(groups("stream"), [(eight.clone(), Value::Null, 1), (seven.clone(), Value::Null, 2)]);
    assert_eq!(groups("call"), [(Value::Null, json!("cudaLaunchKernel"), 3)]);
    let named = |stream: Value, name: &str, count| (stream, json!(name), count);
    assert_eq!(groups("kernel"), [named(Value::Null, "kernel_8", 1), named(Value::Null, "kernel_7", 2)]);
    let single =
        [named(eight, "kernel_8", 1), named(seven.clone(), "kernel_7", 1), named(seven, "kernel_7", 1)];
    assert_eq!(groups("launch"), single);
}

/// One call that launches a graph of three kernels on two streams: one launch, whose delay is that of the first kernel.
#[test]
fn the_launch_of_a_graph_is_one_launch() {
    let [call, first] = launch(1, (0, 10), 7, (15, 20));
    let [_, second] = launch(1, (0, 10), 8, (30, 35));
    let [_, third] = launch(1, (0, 10), 7, (40, 60));
    let trace = made(&json!([call, third, second, first]));
    let by = |by: &str| rows_with(&trace, "launches", &json!({"by": by}));
    let [of_calls] = by("call").try_into().expect("one row");
    let keys = ["count", "activities", "delay_mean_ns", "delay_max_ns", "work_mean_ns", "late"];
    assert_eq!(ints(&of_calls, &keys), [1, 3, 5_000, 5_000, 10_000, 0]);
    let streams: Vec<(Vec<i64>, Value)> = by("stream")
        .iter()
        .map(|row| (ints(row, &["count", "activities"]), row["delay_mean_ns"].clone()))
        .collect();
    assert_eq!(streams, [(vec![1, 2], json!(5_000)), (vec![0, 1], Value::Null)]);
    assert_eq!(by("launch").len(), 1);
}

/// Copies that have their kind in their arguments are named by it.
#[test]
fn copies_are_named_by_their_kinds() {
    let copy = |id: i64, kind: &str| {
        let [call, mut work] = launch(id, (id * 100, id * 100 + 10), 7, (id * 100 + 20, id * 100 + 30));
        work["cat"] = json!("gpu_memcpy");
        work["name"] = json!("Memcpy");
        work["args"]["copy kind"] = json!(kind);
        [call, work]
    };
    let events = [copy(1, "HtoD"), copy(2, "DtoH"), copy(3, "HtoD")];
    let rows = rows_with(&made(&json!(events.as_flattened())), "launches", &json!({"by": "kernel"}));
    let counts: Vec<_> = rows.iter().map(|row| (row["name"].as_str(), row["count"].as_i64())).collect();
    assert_eq!(counts, [(Some("Memcpy HtoD"), Some(2)), (Some("Memcpy DtoH"), Some(1))]);
}

/// Two copies of 1,000 bytes in 10 us each, which overlap for 5 us: 0.1, 0.2 and 0.1 GB/s.
#[test]
fn bandwidth_is_the_sum_of_the_copies_that_run() {
    let copy = |stream: i64, start: i64, bytes: i64| {
        json!({
            "ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": stream,
            "ts": start, "dur": 10, "args": {"bytes": bytes},
        })
    };
    let trace = made(&json!([copy(7, 0, 1000), copy(8, 5, 1000), copy(7, 30, 0)]));
    let counters = kinetoscope_core::analysis::timeline::counters::counters(&trace);
    let points = |name: &str| {
        let found = counters.iter().find(|counter| counter.name == name);
        found.map(|counter| counter.points.iter().map(|p| (p.0, p.1.round())).collect::<Vec<_>>())
    };
    let expected = vec![(0, 1e8), (5_000, 2e8), (10_000, 1e8), (15_000, 0.0)];
    assert_eq!(points("bandwidth HtoD"), Some(expected));
    assert_eq!(points("bandwidth DtoH"), None);
}

proptest! {
    /// The queue by looking at every microsecond.
    #[test]
    fn queues_equal_a_naive_count(launches in prop::collection::vec((0i64..40, 1i64..9, 0i64..30, 1i64..9), 1..10)) {
        let mut events = Vec::new();
        for (id, &(call, length, wait, work)) in (1..).zip(&launches) {
            events.extend(launch(id, (call, call + length), 7, (call + wait, call + wait + work)));
        }
        let row = &rows(&made(&json!(events)), "launches")[0];
        let start = launches.iter().map(|launch| launch.0).min().expect("a launch");
        let end = launches.iter().map(|launch| launch.0 + launch.2).max().expect("a launch");
        let waiting = |at: i64| launches.iter().filter(|launch| launch.0 <= at && at < launch.0 + launch.2).count() as i64;
        let lengths: Vec<i64> = (start..end).map(waiting).collect();
        prop_assert_eq!(ints(row, &["queue_max"])[0], lengths.iter().copied().max().unwrap_or(0));
        let mean = lengths.iter().sum::<i64>() as f64 / (end - start).max(1) as f64;
        let queue_mean = row["queue_mean"].as_f64().expect("a mean");
        prop_assert!((queue_mean - mean).abs() < 1e-9, "{} and {}", queue_mean, mean);
    }
}

/// The exported counters and the critical path read back as what they were.
#[test]
fn an_exported_trace_has_counters_and_the_critical_path() {
    let events = [launch(1, (0, 10), 7, (15, 20)), launch(2, (10, 20), 8, (60, 70))];
    let trace = made(&json!(events.as_flattened()));
    let text = exported_with(&trace, "chrome", &json!({"counters": true, "criticalPath": true}), b"");
    let again = Trace::read(&text).expect("a trace");
    let names = |trace: &Trace, before: &str| -> Vec<(String, i64, f64)> {
        let text = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
        rows(trace, "counters")
            .iter()
            .filter(|row| text(row, "name").starts_with(before))
            .map(|row| {
                let name = text(row, "name").replace(" count", "").replace(" share", "");
                (name, ints(row, &["points"])[0], row["max"].as_f64().expect("a number"))
            })
            .collect()
    };
    let queues = names(&trace, "launch queue");
    assert_eq!(queues, [("launch queue 7".to_owned(), 2, 1.0), ("launch queue 8".to_owned(), 2, 1.0)]);
    // The file's counters come first, then they are computed again.
    assert_eq!(names(&again, "launch queue")[..2], queues);
    let path: Vec<(i64, i64)> = again
        .table
        .rows()
        .filter(|&row| again.table.cat(row) == "critical_path")
        .map(|row| (again.table.ts(row) / 1000, again.table.end(row) / 1000))
        .collect();
    assert_eq!((path.first().expect("a span").0, path.last().expect("a span").1), (0, 70));
    assert!(path.windows(2).all(|pair| pair[0].1 == pair[1].0), "{path:?}");
    // Without options the export adds nothing.
    let plain = exported(&trace, "chrome", b"");
    assert_eq!(Trace::read(&plain).expect("a trace").table.len(), trace.table.len());
}

/// The launches that Holistic Trace Analysis knows, by correlation id: durations and delay.
#[test]
fn hta_has_the_same_launches() {
    let Some(peers) = Peers::find() else { return };
    let (mut times, mut queues) = (Tally::default(), Tally::default());
    for (set, folder) in peers.sets("hta") {
        // The default mode rounds times to microseconds; it is right where they are integers.
        let folder = folder.join(if folder.join("ns").is_dir() { "ns" } else { "default" });
        let stats = csv(
            &folder.join("kernel_launch_stats_rank0.csv"),
            &["correlation", "cpu_duration", "gpu_duration", "launch_delay"],
        );
        let theirs = csv(&folder.join("queue_length_summary.csv"), &["rank", "stream", "queue_length_max"]);
        let Some(text) = peers.trace(&set, "hta/tracelens/oracle", "0").filter(|_| !stats.is_empty()) else {
            continue;
        };
        let trace = without_last_step(&text);
        let ours = by_id(&trace);
        for row in stats {
            let [cpu, gpu, delay] = [1, 2, 3].map(|at| row[at].parse::<f64>().expect("a number"));
            let found = ours.get(&row[0]);
            let is_close = |ns: i64, us: f64| (ns as f64 / 1e3 - us).abs() < 0.3;
            let same = found.is_some_and(|launch| {
                is_close(launch[0], cpu) && is_close(launch[1], gpu) && is_close(launch[2], delay)
            });
            times.count(same, || format!("{set} {}: {found:?}, HTA {cpu} {gpu} {delay}", row[0]));
        }
        let streams = rows(&trace, "launches");
        for row in theirs.iter().filter(|row| row[0] == "0") {
            let stream = |stream_row: &&Value| {
                stream_row["stream"].as_str().is_some_and(|name| name.trim_start_matches("stream ") == row[1])
            };
            let found = streams.iter().find(stream).map(|stream_row| ints(stream_row, &["queue_max"])[0]);
            let max: f64 = row[2].parse().expect("a number");
            queues.count(found == Some(max as i64), || {
                format!("{set} stream {}: {found:?}, HTA {max}", row[1])
            });
        }
    }
    // HTA counts a launch before the work that starts at the same time; here both count together.
    assert!(queues.others.iter().all(|other| other.contains("cuda_event_sync_multi_stream stream 28")));
    times.agrees("HTA: durations and delay of launches");
    queues.agrees("HTA: longest launch queue of streams");
}

/// The durations of call and work and the delay of each launch, in ns.
fn by_id(trace: &Trace) -> BTreeMap<String, [i64; 3]> {
    let mut found = BTreeMap::new();
    for row in rows_with(trace, "launches", &json!({"by": "launch"})) {
        let at = row["event"].as_u64().expect("an event") as usize;
        let work = trace.table.row(at).expect("a row");
        let id = trace.table.field_named(
            work,
            kinetoscope_core::trace::table::layout::FieldPlace::Args,
            "correlation",
        );
        let times = ints(&row, &["call_mean_ns", "work_mean_ns", "delay_mean_ns"]);
        found.insert(id.and_then(|id| id.as_i64()).unwrap_or(0).to_string(), [times[0], times[1], times[2]]);
    }
    found
}
