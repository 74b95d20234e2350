//! Sums of extreme and of very many times and sizes: every query answers, no total is negative, and each equals a
//! reference sum in 128 bits, saturated to 64. Tests are built with overflow checks.

use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::analysis::device::memory::Memory;
use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::analysis::timeline::call_tree::merged;
use kinetoscope_core::analysis::timeline::counters::counters;
use kinetoscope_core::analysis::timeline::names::name_rows;
use kinetoscope_core::analysis::torch::averages::{key_averages, total_average};
use kinetoscope_core::analysis::torch::function_events::FunctionEvents;
use kinetoscope_core::base::error::Error;
use kinetoscope_core::base::rows::{Cell, Rows};
use kinetoscope_core::base::time;
use kinetoscope_core::queries::{QUERIES, Request};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::bounds::MOST_NS;
use kinetoscope_core::trace::table::events::{LARGEST, Row};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Returns microseconds at and beyond every bound.
fn extreme() -> impl Strategy<Value = Value> {
    let bounds = [time::EARLIEST, time::LATEST, time::LONGEST, -time::LONGEST, 0, i64::MAX, i64::MIN]
        .map(|ns| json!(ns / 1000));
    prop_oneof![
        2 => Just(json!(1e300)),
        2 => Just(json!(time::LONGEST / 1000)),
        1 => Just(json!(-1e300)),
        2 => prop::sample::select(bounds.to_vec()),
        2 => (0..1000i64).prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
    ]
}

fn size() -> impl Strategy<Value = i64> {
    prop_oneof![Just(i64::MAX), Just(i64::MIN), Just(LARGEST), Just(-LARGEST), any::<i64>(), -1000..1000i64]
}

/// Returns sizes of tensors, some with more elements than fit in 64 bits.
fn dims() -> impl Strategy<Value = Value> {
    prop::collection::vec(prop::collection::vec(prop_oneof![size(), 0..9i64], 0..5), 0..4)
        .prop_map(Value::from)
}

prop_compose! {
    /// An event of a Chrome trace.
    fn chrome_event()(
        ph in prop::sample::select(vec!["X", "X", "X", "X", "B", "E", "i", "C"]),
        cat in prop::sample::select(vec![
            "cpu_op", "cpu_op", "user_annotation", "cuda_runtime", "kernel", "gpu_memcpy", "python_function", "cpu_instant_event",
        ]),
        name in prop::sample::select(vec![
            "aten::mm", "aten::conv2d", "ProfilerStep#1", "ProfilerStep#2", "cudaDeviceSynchronize", "cudaLaunchKernel",
            "enumerate(DataLoader)#_", "nn.Module: A_0", "[memory]", "[OutOfMemory]", "Memcpy HtoD (Pageable -> Device)",
            "Torch-Compiled Region: 0/0",
        ]),
        (pid, tid) in (0..2i64, 0..2i64),
        (ts, dur) in (extreme(), extreme()),
        (bytes, device) in (size(), 0..2i64),
        (correlation, id) in (0..4i64, 0..4i64),
        (dims, kinds) in (dims(), Just(json!(["float", "float", "float"]))),
    ) -> Value {
        json!({"ph": ph, "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": {
            "correlation": correlation, "External id": id, "Bytes": bytes, "bytes": bytes, "Device Type": device,
            "Total Allocated": bytes, "Total Reserved": bytes, "Addr": id, "Input Dims": dims, "Input type": kinds,
            "Concrete Inputs": ["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"],
        }})
    }
}

prop_compose! {
    /// An event of a profiling result.
    fn result()(
        name in prop::sample::select(vec!["aten::mm", "kernel", "cudaLaunchKernel", "[memory]"]),
        device in prop::sample::select(vec!["CPU", "CUDA"]),
        (start, end) in (size(), size()),
        (id, linked) in (0..4i64, 0..4i64),
        (bytes, elapsed) in (size(), extreme()),
    ) -> Value {
        json!({"name": name, "device_type": device, "start_ns": start, "end_ns": end, "correlation_id": id,
            "linked_correlation_id": linked, "nbytes": bytes, "cuda_elapsed_us": elapsed, "start_thread_id": 1,
            "end_thread_id": 1})
    }
}

prop_compose! {
    /// A record of the legacy profiler.
    fn record()(
        kind in prop::sample::select(vec!["push", "push", "pop", "memory_alloc"]),
        handle in 0..4i64,
        cpu_ns in size(),
        (cpu, cuda) in (size(), size()),
        us in extreme(),
    ) -> Value {
        json!({"kind": kind, "name": "aten::mm", "handle": handle, "node_id": -1, "thread_id": 1, "cpu_ns": cpu_ns,
            "cpu_memory_usage": cpu, "cuda_memory_usage": cuda, "has_cuda": true, "cuda_us": us})
    }
}

/// Returns each event, repeated the given number of times.
fn repeated(events: Vec<(Value, usize)>) -> Vec<Value> {
    events.into_iter().flat_map(|(event, times)| vec![event; times]).collect()
}

fn many(event: impl Strategy<Value = Value>) -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec((event, prop_oneof![1..4usize, 1..400usize]), 1..12).prop_map(repeated)
}

fn read(document: &Value) -> Trace {
    Trace::read(document.to_string().as_bytes()).expect("a trace")
}

fn saturated(sum: i128) -> i64 {
    i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })
}

/// Whether a column may be negative: differences, points in time before the recording, and memory in use when a trace
/// shows only releases.
fn is_signed(key: &str) -> bool {
    let others =
        ["start_ns", "end_ns", "at_ns", "growth_bytes", "peak_bytes", "share", "saving_ns", "saving_share"];
    // The bounds of a saving are on both sides of it.
    let is_bound = matches!(key, "saving_low_ns" | "saving_high_ns");
    is_bound || key.starts_with("self_") || key.contains("memory_usage") || others.contains(&key)
}

fn check_totals(query: &str, rows: &Rows) {
    for row in &rows.rows {
        for (column, cell) in rows.columns.iter().zip(row).filter(|(column, _)| !is_signed(column.key)) {
            match cell {
                Cell::Ns(n) | Cell::Bytes(n) | Cell::Amount(n) => {
                    assert!(*n >= 0, "{query} {}: {n}", column.key);
                }
                Cell::Share(part) => assert!(*part >= 0.0, "{query} {}: {part}", column.key),
                Cell::Json(value) => check_json(query, value),
                _ => {}
            }
        }
    }
}

fn check_json(query: &str, value: &Value) {
    match value {
        Value::Object(members) => {
            for (key, value) in members.iter().filter(|(key, _)| !is_signed(key)) {
                assert!(
                    !key.ends_with("_ns") || value.is_null() || value.as_i64().is_some_and(|n| n >= 0),
                    "{query} {key}: {value}"
                );
                check_json(query, value);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| check_json(query, value)),
        _ => {}
    }
}

/// Answers every query, as a table and as rows.
fn answer_every_query(trace: &Trace) {
    for query in QUERIES {
        for for_reading in [false, true] {
            let options = Options::default();
            let request = Request::new(&options).about("extreme").for_reading(for_reading);
            let answer = match query.answer(trace, request) {
                // Times of tests are not those of a program.
                Err(Error::Unfit(_)) => continue,
                answer => answer.expect("an answer"),
            };
            // Whether a trace is fit for a question is no matter of sums.
            assert!(!answer.failed || query.name == "fitness", "{}", answer.rows.to_text());
            check_totals(query.name, &answer.rows);
            let _ = (answer.to_text(None), answer.rows.to_csv());
        }
    }
    for counter in counters(trace) {
        let _ = (counter.curve(i64::MIN, i64::MAX, 7), counter.curve(i64::MIN, i64::MIN, 1));
    }
}

/// Reference implementation: sums by key, in 128 bits.
fn naive<K: Ord>(terms: impl IntoIterator<Item = (K, i64)>) -> BTreeMap<K, i64> {
    let mut sums: BTreeMap<K, i128> = BTreeMap::new();
    for (key, term) in terms {
        *sums.entry(key).or_default() += i128::from(term);
    }
    sums.into_iter().map(|(key, sum)| (key, saturated(sum))).collect()
}

fn spans(trace: &Trace) -> impl Iterator<Item = Row> {
    trace.table.rows().filter(|&row| trace.table.is_span(row))
}

/// Checks sums that count an event once: exact, and within the bound.
fn check_sums_of_times(trace: &Trace) {
    let table = &trace.table;
    let all: i128 = spans(trace).map(|row| i128::from(table.dur(row))).sum();
    assert!(all <= i128::from(MOST_NS), "{all}");
    let by_name =
        naive(spans(trace).map(|row| ((table.name(row), table.category(row).as_str()), table.dur(row))));
    let rows = name_rows(trace, None, &[]);
    let at = |key: &str| rows.columns.iter().position(|c| c.key == key).expect(key);
    let (name, category, total) = (at("name"), at("category"), at("total_ns"));
    assert_eq!(rows.rows.len(), by_name.len());
    for row in &rows.rows {
        let (Cell::Text(name), Cell::Ns(total)) = (&row[name], &row[total]) else { panic!("{row:?}") };
        let category = if let Cell::Text(category) = &row[category] { category.as_str() } else { "other" };
        assert_eq!(by_name.get(&(name.as_str(), category)), Some(total), "{name}");
    }
    let work = spans(trace).filter(|&row| table.category(row).is_device_work());
    let kernels: i128 = work.map(|row| i128::from(table.dur(row))).sum();
    let analysis = Analysis::new(trace);
    let groups = analysis.kernel_groups();
    assert_eq!(groups.iter().map(|g| i128::from(g.sum_ns)).sum::<i128>(), kernels);
    let device_total: i128 = analysis.devices().iter().map(|d| i128::from(d.sum_ns)).sum();
    assert_eq!(device_total, kernels);
    for lane in trace.tree.lanes() {
        let nodes = merged(trace, lane, &[]);
        let self_ns: i128 = nodes.iter().map(|node| i128::from(node.self_ns)).sum();
        let roots = nodes.iter().filter(|node| node.parent.is_none()).map(|node| i128::from(node.total_ns));
        assert_eq!(self_ns, roots.sum::<i128>());
    }
}

/// Checks sums that count an event in everything around it: exact, or saturated to 64 bits.
fn check_sums_over_ancestors(trace: &Trace) {
    let table = &trace.table;
    let events = FunctionEvents::new(trace);
    let mut totals: Vec<i128> =
        events.events().map(|event| i128::from(events.self_device_time_total_ns(event))).collect();
    for event in events.events().rev() {
        if let Some(parent) = events.parent(event) {
            totals[parent.index()] += totals[event.index()];
        }
    }
    assert_eq!(events.device_totals_ns(), totals.iter().copied().map(saturated).collect::<Vec<_>>());
    assert_eq!(total_average(&events, table).device_time_total_ns, saturated(totals.iter().sum()));
    let mut sums: BTreeMap<String, i128> = BTreeMap::new();
    for event in events.events() {
        *sums.entry(events.name(event).to_owned()).or_default() +=
            i128::from(events.cpu_time_total_ns(table, event));
    }
    let by = GroupBy::default().by_stack(5).by_shape();
    for group in key_averages(&events, table, by) {
        *sums.get_mut(&group.key).expect("a name") -= i128::from(group.cpu_time_total_ns);
    }
    assert!(sums.values().all(|&rest| rest == 0), "{sums:?}");
}

fn check_sizes(trace: &Trace) {
    let memory = Memory::new(trace);
    let of = |wanted: fn(i64) -> bool| {
        naive(memory.records.iter().filter(|r| wanted(r.bytes)).map(|r| (r.device, r.bytes.saturating_abs())))
    };
    let (allocated, freed) = (of(|bytes| bytes > 0), of(|bytes| bytes < 0));
    for (at, device) in (0u32..).zip(&memory.devices) {
        assert_eq!(device.allocated, allocated.get(&at).copied().unwrap_or(0));
        assert_eq!(device.freed, freed.get(&at).copied().unwrap_or(0));
    }
    let events = FunctionEvents::new(trace);
    for event in events.events() {
        let _ = (events.memory(event), events.self_memory(event));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn sums_of_chrome_traces_are_exact_or_saturated(events in many(chrome_event())) {
        let trace = read(&json!({"schemaVersion": 1, "traceEvents": events}));
        check_sums_of_times(&trace);
        check_sums_over_ancestors(&trace);
        check_sizes(&trace);
        answer_every_query(&trace);
    }

    #[test]
    fn sums_of_profiling_results_are_exact_or_saturated(start in size(), events in many(result())) {
        // Written as text, because serde_json sorts the members and the start must come first.
        let text = format!(r#"{{"trace_start_ns":{start},"events":{}}}"#, Value::from(events));
        let trace = Trace::read(text.as_bytes()).expect("a trace");
        check_sums_of_times(&trace);
        check_sizes(&trace);
        answer_every_query(&trace);
    }

    #[test]
    fn sums_of_legacy_records_are_exact_or_saturated(first in many(record()), second in many(record())) {
        let trace = read(&json!({"threads": [first, second]}));
        check_sums_of_times(&trace);
        check_sizes(&trace);
        answer_every_query(&trace);
    }
}

#[test]
fn sums_of_three_thousand_unfinished_spans_are_exact_or_saturated() {
    let event = |at: usize| {
        json!({"ph": "X", "cat": if at.is_multiple_of(3) { "kernel" } else { "cpu_op" }, "name": "a", "pid": at % 2,
            "tid": at % 7, "ts": 0, "dur": 1e300})
    };
    let events: Vec<Value> = (0..3000).map(event).collect();
    let trace = read(&json!({"schemaVersion": 1, "traceEvents": events}));
    check_sums_of_times(&trace);
    check_sums_over_ancestors(&trace);
    answer_every_query(&trace);
}
