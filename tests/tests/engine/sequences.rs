//! Sequences of device work that repeat: answers worked out by hand, a naive search, and HTA's frequent sequences.

use kinetoscope_core::analysis::device::sequences::{Search, Sequence, sequences};
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::queries::{Request, query};
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::answers::{made, rows_with};
use kinetoscope_tests::peers::{Peers, Tally, csv, without_last_step};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An activity of a stream and its launch call; times are in microseconds.
#[derive(Clone, Debug)]
struct Work {
    name: String,
    stream: String,
    time: (i64, i64),
    launch: (i64, i64),
}

fn work(name: &str, time: (i64, i64), launch: (i64, i64)) -> Work {
    Work { name: name.into(), stream: "7".into(), time, launch }
}

fn host(category: &str, name: &str, (start, end): (i64, i64)) -> Value {
    json!({"ph": "X", "cat": category, "name": name, "pid": "1", "tid": "1", "ts": start, "dur": end - start, "args": {}})
}

fn trace_of(work: &[Work], others: Vec<Value>) -> Trace {
    let mut events = others;
    for (id, activity) in work.iter().enumerate() {
        let category = if activity.name.starts_with("Memcpy") { "gpu_memcpy" } else { "kernel" };
        let mut call = host("cuda_runtime", "cudaLaunchKernel", activity.launch);
        call["args"]["correlation"] = (id + 1).into();
        events.push(call);
        events.push(json!({"ph": "X", "cat": category, "name": activity.name, "pid": "0", "tid": activity.stream, "ts": activity.time.0,
            "dur": activity.time.1 - activity.time.0, "args": {"correlation": id + 1}}));
    }
    made(&json!(events))
}

/// The names, count, gaps and saving in microseconds of each sequence.
fn found(trace: &Trace, options: &Value) -> Vec<(String, i64, i64, i64)> {
    let rows = rows_with(trace, "sequences", options);
    let number = |row: &Value, key: &str| row[key].as_i64().expect(key);
    let short = |row: &Value| {
        let names: Vec<&str> =
            row["kernels"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        names.join(" ")
    };
    rows.iter()
        .map(|row| {
            (short(row), number(row, "count"), number(row, "gap_ns") / 1000, number(row, "saving_ns") / 1000)
        })
        .collect()
}

/// `a b` three times: b starts 4 after the end of a. Its call returns after the end of a, except for the last time, when
/// b was in the queue. `c` is between them.
fn pairs() -> Vec<Work> {
    let mut all = Vec::new();
    for at in [0, 100, 200] {
        let queued = at == 200;
        let launch = if queued { (at + 1, at + 3) } else { (at + 8, at + 12) };
        all.push(work("a", (at, at + 10), (at - 5, at - 2)));
        all.push(work("b", (at + 14, at + 20), launch));
        all.push(work(&format!("c{at}"), (at + 30, at + 40), (at + 13, at + 15)));
    }
    all
}

#[test]
fn the_saving_is_the_time_in_which_the_stream_waited_for_a_launch() {
    let trace = trace_of(&pairs(), Vec::new());
    assert_eq!(found(&trace, &json!({})), [("a b".to_owned(), 3, 12, 8)]);
    let row = &rows_with(&trace, "sequences", &json!({}))[0];
    let value = |key: &str| row[key].as_i64();
    assert_eq!([value("time_ns"), value("launch_ns")], [Some(48_000), Some(10_000)]);
    assert_eq!(
        [value("length"), value("streams"), value("sequence"), value("event")],
        [Some(2), Some(1), Some(1), Some(1)]
    );
    assert_eq!((&row["names"], &row["operator"]), (&json!("a, b"), &Value::Null));
    let ours = sequences(&trace, &Search::default()).expect("sequences");
    let names = |rows: &[_]| rows.iter().map(|&row| trace.table.name(row).to_owned()).collect::<Vec<_>>();
    assert!(ours[0].occurrences().all(|rows| names(rows) == ["a", "b"]));
    assert_eq!(ours[0].occurrences().len(), 3);
}

/// Each of these is between the two calls of every pair, or almost.
#[test]
fn sequences_end_where_they_cannot_be_one_launch() {
    let at = |offset: i64, length: i64, category: &'static str, name: &'static str| {
        [0, 100, 200].map(|at| host(category, name, (at + offset, at + offset + length))).to_vec()
    };
    let is_found = |others: Vec<Value>| !found(&trace_of(&pairs(), others), &json!({})).is_empty();
    assert!(is_found(Vec::new()));
    assert!(!is_found(at(0, 1, "cuda_runtime", "cudaStreamSynchronize")));
    assert!(is_found(at(16, 1, "cuda_runtime", "cudaStreamSynchronize")));
    assert!(is_found(at(0, 1, "cuda_runtime", "cudaEventQuery")));
    assert!(is_found(at(0, 1, "cpu_op", "aten::synchronize")));
    let mut elsewhere = at(0, 1, "cuda_runtime", "cudaDeviceSynchronize");
    for event in &mut elsewhere {
        event["tid"] = "2".into();
    }
    assert!(is_found(elsewhere));
    assert!(!is_found(at(0, 90, "user_annotation", "ProfilerStep#1")));
    assert!(is_found(at(-6, 90, "user_annotation", "ProfilerStep#1")));
    assert!(is_found(at(0, 90, "user_annotation", "a range")));
}

#[test]
fn streams_graphs_and_collectives_end_sequences() {
    let count = |change: &dyn Fn(&mut Work)| {
        let mut all = pairs();
        all.iter_mut().filter(|work| work.name == "b").for_each(change);
        found(&trace_of(&all, Vec::new()), &json!({})).len()
    };
    assert_eq!(count(&|_| {}), 1);
    assert_eq!(count(&|work| work.stream = "8".into()), 0);
    assert_eq!(count(&|work| work.name = "ncclDevKernel_AllReduce".into()), 0);
    assert_eq!(count(&|work| work.name = "my_memory_kernel".into()), 1);
    // A copy may end a sequence; if its call waits for it, nothing follows it.
    let copies = |end: i64| {
        let mut all = pairs();
        for work in all.iter_mut().filter(|work| work.name == "a") {
            work.name = "Memcpy DtoH".into();
            work.launch.1 = work.time.0 + end;
        }
        found(&trace_of(&all, Vec::new()), &json!({})).len()
    };
    assert_eq!((copies(-1), copies(9), copies(10)), (1, 1, 0));
    let mut graph = trace_of(&pairs(), Vec::new());
    assert_eq!(found(&graph, &json!({})).len(), 1);
    let mut events: Vec<Value> = Vec::new();
    for activity in pairs() {
        events.push(json!({"ph": "X", "cat": "kernel", "name": activity.name, "pid": "0", "tid": "7", "ts": activity.time.0, "dur": 5, "args": {"correlation": 1}}));
    }
    let mut call = host("cuda_runtime", "cudaGraphLaunch", (-5, -1));
    call["args"]["correlation"] = 1.into();
    events.push(call);
    graph = made(&json!(events));
    assert!(found(&graph, &json!({})).is_empty());
}

/// Below operators: all that an outermost call launched, on whatever stream.
#[test]
fn sequences_of_operators_are_all_that_a_call_launched() {
    let mut all = pairs();
    all[1].stream = "8".into();
    let mut others = Vec::new();
    for at in [0, 100, 200] {
        others.push(host("cpu_op", "aten::linear", (at - 6, at + 20)));
        others.push(host("cpu_op", "aten::linear_inner", (at + 7, at + 13)));
    }
    let trace = trace_of(&all, others);
    let count = |options: Value| {
        found(&trace, &options).into_iter().map(|(names, count, ..)| (names, count)).collect::<Vec<_>>()
    };
    let once = |names: &str| (names.to_owned(), 1);
    assert_eq!(
        count(json!({"operator": "aten::linear", "minCount": 1})),
        [once("a b c0"), once("a b c100"), once("a b c200")]
    );
    assert_eq!(
        count(json!({"operator": "linear_inner", "minLength": 1, "minCount": 2})),
        [("b".to_owned(), 2)]
    );
    assert!(count(json!({"operator": "aten::linear", "minCount": 1, "minLength": 4})).is_empty());
    assert!(count(json!({"operator": "aten::relu", "minCount": 1})).is_empty());
}

#[test]
fn bounds_out_of_range_are_refused() {
    let trace = trace_of(&pairs(), Vec::new());
    let query = query("sequences").expect("a query");
    for (options, expected) in [
        (json!({"minLength": 0}), "at least 1"),
        (json!({"minCount": 0}), "at least 1"),
        (json!({"minLength": 9}), "maximum length 8 is below the minimum length 9"),
        (json!({"minLength": 3, "maxLength": 2}), "below the minimum length 3"),
        (json!({"maxLength": 33}), "at most 32"),
    ] {
        let parsed = Options::from_json(query.options, &options).expect("options");
        let error = query.answer(&trace, Request::new(&parsed)).map(|_| ()).expect_err("refused").to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(found(&trace, &json!({"operator": "x", "minLength": 99})).is_empty());
}

/// The sequences of one stream by the definition: every part, counted one by one.
fn naive(all: &[Work], (min, max): (usize, usize), min_count: usize) -> Vec<(String, usize, i64, i64)> {
    let gap = |at: usize| (all[at].time.0 - all[at - 1].time.1).max(0);
    let saving = |at: usize| if all[at].launch.1 > all[at - 1].time.1 { gap(at) } else { 0 };
    let within = |start: usize, length: usize, value: &dyn Fn(usize) -> i64| -> i64 {
        (start + 1..start + length).map(value).sum()
    };
    let apart = |starts: &[usize], length: usize, taken: &[bool]| -> Vec<usize> {
        let mut end = 0;
        let mut kept = Vec::new();
        for &start in starts {
            if start >= end && !taken[start..start + length].contains(&true) {
                end = start + length;
                kept.push(start);
            }
        }
        kept
    };
    let nothing = vec![false; all.len()];
    let mut candidates = Vec::new();
    for length in (min..=max).rev() {
        let mut parts: Vec<(Vec<&str>, Vec<usize>)> = Vec::new();
        for start in 0..(all.len() + 1).saturating_sub(length) {
            let names: Vec<&str> = all[start..start + length].iter().map(|work| work.name.as_str()).collect();
            match parts.iter_mut().find(|part| part.0 == names) {
                Some(part) => part.1.push(start),
                None => parts.push((names, vec![start])),
            }
        }
        for (names, starts) in parts {
            let kept = apart(&starts, length, &nothing);
            if kept.len() >= min_count {
                let sum = |value: &dyn Fn(usize) -> i64| {
                    kept.iter().map(|&at| within(at, length, value)).sum::<i64>()
                };
                candidates.push((-sum(&saving), -sum(&gap), length, starts, names.join(" ")));
            }
        }
    }
    candidates.sort_by_key(|candidate| (candidate.0, candidate.1));
    let mut taken = nothing;
    let mut found = Vec::new();
    for (_, _, length, starts, names) in candidates {
        let kept = apart(&starts, length, &taken);
        if kept.len() >= min_count {
            for &at in &kept {
                taken[at..at + length].fill(true);
            }
            let sum =
                |value: &dyn Fn(usize) -> i64| kept.iter().map(|&at| within(at, length, value)).sum::<i64>();
            found.push((names, kept.len(), sum(&gap), sum(&saving)));
        }
    }
    found.sort_by_key(|found| (-found.3, -found.2));
    found
}

#[test]
fn random_streams_equal_a_naive_search() {
    let item = (0u8..3, 1i64..4, 0i64..3, 0i64..4);
    let bounds = (1usize..4, 0usize..4, 1usize..4);
    proptest!(ProptestConfig::with_cases(400), |(list in proptest::collection::vec(item, 1..40), (min, more, min_count) in bounds)| {
        let mut all: Vec<Work> = Vec::new();
        let mut at = 100;
        for (name, length, gap, delay) in list {
            at += gap;
            let name = ["x", "y", "z"][usize::from(name)];
            all.push(work(name, (at, at + length), (at - 3, (at - 3 + delay).min(at))));
            at += length;
        }
        let expected = naive(&all, (min, min + more), min_count);
        let options = json!({"minLength": min, "maxLength": min + more, "minCount": min_count});
        let found: Vec<(String, usize, i64, i64)> = found(&trace_of(&all, Vec::new()), &options)
            .into_iter().map(|(names, count, gap, saving)| (names, count as usize, gap, saving)).collect();
        prop_assert_eq!(found, expected);
    });
}

/// The operator, the names of the activities and the count.
type Patterns = BTreeMap<(String, Vec<String>), (usize, f64)>;

fn patterns(trace: &Trace, found: &[Sequence]) -> Patterns {
    let name = |row| trace.table.name(row).to_owned();
    let pattern = |sequence: &Sequence| {
        let names = sequence.rows[..sequence.length].iter().map(|&row| name(row)).collect();
        let operator = sequence.operator.map(name).unwrap_or_default();
        ((operator, names), (sequence.occurrences().len(), sequence.time_ns as f64 / 1e3))
    };
    found.iter().map(pattern).collect()
}

#[test]
fn hta_finds_the_same_sequences_of_operators() {
    let Some(peers) = Peers::find() else { return };
    let mut all = Tally::default();
    for (set, folder) in peers.sets("hta") {
        let mode = if folder.join("ns").is_dir() { "ns" } else { "default" };
        for (file, operator, min_length) in [
            ("aten_linear", "aten::linear", 1),
            ("aten_conv2d", "aten::conv2d", 1),
            ("autograd_engine_evaluate_function", "autograd::engine::evaluate_function", 1),
            ("ProfilerStep", "ProfilerStep", 3),
        ] {
            let path = folder.join(mode).join(format!("frequent_kernel_sequences_{file}.csv"));
            let theirs = csv(&path, &["pattern", "count", "GPU kernel duration (us)"]);
            let text = if theirs.is_empty() { None } else { peers.trace(&set, "hta/tracelens/oracle", "0") };
            let Some(text) = text else { continue };
            let trace = without_last_step(&text);
            let search =
                Search { min_length, min_count: 1, operator: Some(operator.to_owned()), ..Search::default() };
            let ours = patterns(&trace, &sequences(&trace, &search).expect("sequences"));
            for row in theirs {
                let mut names = row[0].split('|').map(str::to_owned);
                let key = (names.next().unwrap_or_default(), names.collect());
                let found = ours.get(&key);
                let is_same = found.is_some_and(|&(count, us)| {
                    row[1].parse() == Ok(count)
                        && row[2].parse::<f64>().is_ok_and(|theirs| (theirs - us).abs() < 0.01)
                });
                // HTA counts calls that wait for the device as kernels, and of calls of an operator only those of the
                // smallest depth in the trace.
                let has_waits = row[0].contains("|Stream Wait Event") || row[0].contains("Sync");
                let has_more =
                    found.is_some_and(|&(count, _)| row[1].parse().is_ok_and(|theirs: usize| theirs < count));
                assert!(is_same || has_waits || has_more, "{set} {operator}: {found:?}, HTA {row:?}");
                all.count(is_same, || {
                    format!("{set} {operator}: {found:?}, HTA {} {} of {:.100}", row[1], row[2], row[0])
                });
            }
        }
    }
    all.agrees("HTA: kernel sequences of operators");
}
