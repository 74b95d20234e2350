//! The queries of the timeline, compared with naive reference implementations on random traces, and with fixed results
//! on small ones.

use crate::random_events::{events, text};
use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::analysis::timeline::call_tree::{CallNode, bottom_up, merged};
use kinetoscope_core::analysis::timeline::counters::{Counter, Unit, counters};
use kinetoscope_core::analysis::timeline::modules::module_rows;
use kinetoscope_core::analysis::timeline::names::name_rows;
use kinetoscope_core::analysis::timeline::spans::{Relation, find, instances, related};
use kinetoscope_core::analysis::torch::averages::key_averages;
use kinetoscope_core::analysis::torch::function_events::FunctionEvents;
use kinetoscope_core::base::rows::{Cell, Rows};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_core::trace::tree::Position;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn read(events: &[Value]) -> Trace {
    Trace::read(text(events).as_bytes()).expect("a trace")
}

/// Returns every span: row, track, level on the track, position in the tree.
fn spans(trace: &Trace) -> Vec<(Row, u32, u32, Position)> {
    let tree = &trace.tree;
    let mut below: BTreeMap<u32, u32> = BTreeMap::new();
    let mut all = Vec::new();
    for lane in tree.lanes() {
        let from = below.entry(lane.track.0).or_default();
        all.extend(lane.positions().map(|at| (tree.row(at), lane.track.0, *from + tree.depth(at), at)));
        *from += lane.depth;
    }
    all
}

fn column<'a>(rows: &'a Rows, key: &str) -> Vec<&'a Cell> {
    let at = rows.columns.iter().position(|c| c.key == key).expect(key);
    rows.rows.iter().map(|row| &row[at]).collect()
}

fn number(cell: &Cell) -> i64 {
    match cell {
        Cell::Ns(n) | Cell::Int(n) => *n,
        other => panic!("{other:?} is not a number"),
    }
}

fn numbers(rows: &Rows, key: &str) -> Vec<i64> {
    column(rows, key).into_iter().map(number).collect()
}

fn texts(rows: &Rows, key: &str) -> Vec<String> {
    let text = |cell: &Cell| if let Cell::Text(text) = cell { text.clone() } else { String::new() };
    column(rows, key).into_iter().map(text).collect()
}

fn is_ancestor(trace: &Trace, above: Position, at: Position) -> bool {
    trace.tree.ancestors(at).any(|ancestor| ancestor == above)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn names_sum_the_spans_in_the_window(events in events(), start in -50..450i64, length in 1..500i64, everything in any::<bool>()) {
        let trace = read(&events);
        let window = (!everything).then_some((start * 1000, (start + length) * 1000));
        let (from, to) = window.unwrap_or((i64::MIN / 4, i64::MAX / 4));
        let clip = |row: Row| {
            let (begin, end) = (trace.table.ts(row) - trace.start_ns, trace.table.end(row) - trace.start_ns);
            let overlaps = begin < to && (end > from || (begin == end && begin >= from));
            overlaps.then(|| end.min(to) - begin.max(from))
        };
        let tracks: Vec<i64> = vec![0, 1];
        let mut naive: BTreeMap<(String, String), (i64, i64, i64)> = BTreeMap::new();
        let seen: Vec<_> = spans(&trace).into_iter().filter(|s| s.1 < 2).collect();
        for &(row, _, _, at) in &seen {
            let Some(duration) = clip(row) else { continue };
            let children = seen.iter().filter(|s| trace.tree.parent(s.3) == Some(at));
            let inside: i64 = children.filter_map(|s| clip(s.0)).sum();
            let category = trace.table.category(row).as_str();
            let category = if category == "other" { "" } else { category };
            let group = naive.entry((trace.table.name(row).to_owned(), category.to_owned())).or_default();
            *group = (group.0 + 1, group.1 + duration, group.2 + duration - inside);
        }
        let rows = name_rows(&trace, window, &tracks);
        let keys = texts(&rows, "name").into_iter().zip(texts(&rows, "category"));
        let values = numbers(&rows, "count").into_iter().zip(numbers(&rows, "total_ns")).zip(numbers(&rows, "self_ns"));
        let ours: BTreeMap<_, _> = keys.zip(values.map(|((a, b), c)| (a, b, c))).collect();
        prop_assert_eq!(ours, naive);
        let totals = numbers(&rows, "total_ns");
        prop_assert!(totals.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn found_spans_are_those_with_the_names(events in events(), device_only in any::<bool>()) {
        let trace = read(&events);
        let names = ["aten::mm", "ProfilerStep#1"];
        let mut naive: Vec<_> = spans(&trace)
            .into_iter()
            .filter(|s| names.contains(&trace.table.name(s.0)))
            .filter(|s| !device_only || trace.table.category(s.0).is_device_work())
            .map(|s| (trace.table.ts(s.0) - trace.start_ns, s.0, s.1, s.2))
            .collect();
        naive.sort_unstable();
        let ours: Vec<_> =
            find(&trace, &names, device_only).iter().map(|s| (s.start_ns, s.row, s.track.0, s.depth)).collect();
        prop_assert_eq!(ours, naive);
    }

    #[test]
    fn every_row_of_ops_has_its_instances(events in events(), module in any::<bool>()) {
        let trace = read(&events);
        let all = FunctionEvents::new(&trace);
        let by = if module { GroupBy::default().by_module() } else { GroupBy::default() };
        let mut seen = BTreeSet::new();
        for (at, group) in (0..).zip(key_averages(&all, &trace.table, by)) {
            let found = instances(&trace, by, at);
            prop_assert_eq!(found.len() as u64, group.count);
            prop_assert!(found.iter().all(|span| seen.insert(span.row)));
        }
    }

    #[test]
    fn relations_are_symmetric(events in events()) {
        let trace = read(&events);
        let (tree, links) = (&trace.tree, &trace.links);
        let all = spans(&trace);
        for &(row, track, depth, at) in &all {
            let (span, found) = related(&trace, row);
            prop_assert_eq!(span.map(|s| (s.row, s.track.0, s.depth)), Some((row, track, depth)));
            let of = |wanted: Relation| -> Vec<Row> {
                found.iter().filter(|r| r.0 == wanted).map(|r| r.1.row).collect()
            };
            let ancestors: Vec<Row> = tree.ancestors(at).map(|at| tree.row(at)).collect();
            prop_assert_eq!(of(Relation::Ancestor), ancestors);
            prop_assert_eq!(of(Relation::Launch), links.launch(row).into_iter().collect::<Vec<_>>());
            prop_assert_eq!(of(Relation::Operator), links.op(row).into_iter().collect::<Vec<_>>());
            let inside: BTreeSet<Row> = all.iter().filter(|s| s.3 == at || is_ancestor(&trace, at, s.3)).map(|s| s.0).collect();
            let work: BTreeSet<Row> = links.launch_of.iter().chain(&links.op_of).filter(|p| inside.contains(&p.1)).map(|p| p.0).collect();
            prop_assert_eq!(of(Relation::DeviceWork).into_iter().collect::<BTreeSet<_>>(), work);
        }
    }

    #[test]
    fn curves_hold_each_value_until_the_next(
        points in prop::collection::vec((0..1000i64, -5..20i32), 0..40),
        start in -100..900i64,
        length in 1..800i64,
        pixels in 1..60u32,
    ) {
        let mut points: Vec<(i64, f64)> = points.into_iter().map(|(at, value)| (at, f64::from(value))).collect();
        points.sort_by_key(|p| p.0);
        let counter = Counter { name: String::new(), process: String::new(), unit: Unit::Count, points: points.clone() };
        // Each pixel is an integer number of ns, so that the reference can evaluate every ns.
        let length = length * i64::from(pixels);
        let curve = counter.curve(start, start + length, pixels);
        prop_assert_eq!([curve.low.len(), curve.high.len(), curve.mean.len()], [pixels as usize; 3]);
        let value_at = |ns: i64| points.iter().rev().find(|p| p.0 <= ns).map(|p| p.1);
        for (at, from) in (0usize..).zip((0..i64::from(pixels)).map(|p| start + p * length / i64::from(pixels))) {
            let values: Vec<f64> = (from..from + length / i64::from(pixels)).filter_map(value_at).collect();
            if values.is_empty() {
                prop_assert!(curve.mean[at].is_nan());
                continue;
            }
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            prop_assert!((curve.mean[at] - mean).abs() < 1e-9, "{} differs from {}", curve.mean[at], mean);
            let (low, high) = (values.iter().copied().fold(f64::INFINITY, f64::min), values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            // A value that was replaced at its own time still counts.
            prop_assert!(curve.low[at] <= low && high <= curve.high[at]);
        }
    }

    #[test]
    fn bottom_up_trees_keep_the_total_of_every_name(events in events(), depth in 1..6usize) {
        let trace = read(&events);
        for lane in trace.tree.lanes() {
            let nodes = merged(&trace, lane, &[]);
            let inverted = bottom_up(&nodes, depth);
            let mut naive: BTreeMap<u32, i64> = BTreeMap::new();
            for node in nodes.iter().filter(|n| n.self_ns != 0) {
                *naive.entry(node.name.0).or_default() += node.self_ns;
            }
            let roots: BTreeMap<u32, i64> =
                inverted.iter().filter(|n| n.parent.is_none()).map(|n| (n.name.0, n.total_ns)).collect();
            prop_assert_eq!(roots, naive);
            prop_assert!(inverted.iter().all(|n| n.depth < depth));
            let self_sum: i64 = inverted.iter().map(|n| n.self_ns).sum();
            prop_assert_eq!(self_sum, nodes.iter().map(|n| n.self_ns).sum::<i64>());
            let below = |at: usize| inverted.iter().filter(|n| n.parent == Some(at)).map(|n| n.total_ns).sum::<i64>();
            for (at, node) in inverted.iter().enumerate() {
                prop_assert_eq!(node.total_ns, node.self_ns + below(at));
            }
        }
    }
}

fn span(name: &str, cat: &str, tid: i64, ts: i64, dur: i64, args: &Value) -> Value {
    let pid = i64::from(cat != "kernel");
    json!({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
}

/// Returns a module with an inner module, an operator with a kernel in each, and the backward operator of one of them
/// on another thread.
fn model() -> Vec<Value> {
    let python = |name: &str, ts, dur| span(name, "python_function", 1, ts, dur, &json!({}));
    let op = |name: &str, tid, ts, dur, args| span(name, "cpu_op", tid, ts, dur, &args);
    let launch =
        |tid, ts, id: i64| span("cudaLaunchKernel", "cuda_runtime", tid, ts, 2, &json!({"correlation": id}));
    let kernel = |ts, dur, id: i64| span("k", "kernel", 7, ts, dur, &json!({"correlation": id}));
    vec![
        python("nn.Module: Net_0", 0, 100),
        python("nn.Module: Linear_0", 10, 40),
        op("aten::addmm", 1, 20, 20, json!({"Sequence number": 5, "External id": 1})),
        launch(1, 25, 1),
        python("nn.Module: Linear_0", 60, 10),
        op("aten::add", 1, 80, 10, json!({"External id": 2})),
        launch(1, 82, 2),
        op("AddmmBackward0", 2, 120, 30, json!({"Sequence number": 5, "Fwd thread id": 1, "External id": 3})),
        launch(2, 130, 3),
        kernel(30, 7, 1),
        kernel(90, 5, 2),
        kernel(140, 11, 3),
    ]
}

#[test]
fn modules_include_the_device_work_of_forward_and_backward() {
    let rows = module_rows(&read(&model()));
    assert_eq!(texts(&rows, "path"), ["Net_0", "Net_0/Linear_0"]);
    assert_eq!(numbers(&rows, "count"), [1, 2]);
    assert_eq!(numbers(&rows, "cpu_time_total_ns"), [100_000, 50_000]);
    assert_eq!(numbers(&rows, "self_cpu_time_total_ns"), [50_000, 50_000]);
    assert_eq!(numbers(&rows, "device_time_total_ns"), [12_000, 7_000]);
    assert_eq!(numbers(&rows, "self_device_time_total_ns"), [5_000, 7_000]);
    assert_eq!(numbers(&rows, "backward_device_time_total_ns"), [11_000, 11_000]);
}

#[test]
fn a_trace_without_modules_has_no_module_rows() {
    assert!(module_rows(&read(&[span("a", "cpu_op", 1, 0, 1, &json!({}))])).rows.is_empty());
}

#[test]
fn the_call_tree_has_device_time() {
    let trace = read(&model());
    let mut launched = vec![0; trace.table.len()];
    for &(work, launch) in &trace.links.launch_of {
        launched[launch.index()] += trace.table.dur(work);
    }
    let nodes = merged(&trace, &trace.tree.lanes()[0], &launched);
    let of = |name: &str| -> &CallNode {
        nodes.iter().find(|n| trace.table.names.get(n.name) == name).expect(name)
    };
    assert_eq!((of("nn.Module: Net_0").device_total_ns, of("nn.Module: Net_0").device_self_ns), (12_000, 0));
    assert_eq!(of("aten::addmm").device_total_ns, 7_000);
}

fn values(counters: &[Counter], name: &str) -> Vec<(i64, f64)> {
    counters.iter().find(|c| c.name == name).map(|c| c.points.clone()).expect(name)
}

#[test]
fn counters_are_read_and_derived_from_device_work() {
    let counter = |ts: i64, args: Value| json!({"ph": "C", "name": "queue", "pid": 1, "tid": 1, "ts": ts, "args": args});
    let mut events = model();
    events.extend([
        counter(5, json!({"in": 3, "bytes": 10})),
        counter(9, json!({"in": 1.5, "text": "no number"})),
    ]);
    let found = counters(&read(&events));
    assert_eq!(values(&found, "queue in"), [(5_000, 3.0), (9_000, 1.5)]);
    assert_eq!(values(&found, "queue bytes"), [(5_000, 10.0)]);
    assert_eq!(found.iter().find(|c| c.name == "queue bytes").map(|c| c.unit), Some(Unit::Bytes));
    let busy = [(30, 1.0), (37, 0.0), (90, 1.0), (95, 0.0), (140, 1.0), (151, 0.0)];
    assert_eq!(values(&found, "busy"), busy.map(|(us, value)| (us * 1000, value)));
    let queue = [(25, 1.0), (30, 0.0), (82, 1.0), (90, 0.0), (130, 1.0), (140, 0.0)];
    assert_eq!(values(&found, "launch queue 7"), queue.map(|(us, value)| (us * 1000, value)));
}

#[test]
fn memory_events_become_counters_of_their_device() {
    let record = |ts: i64, bytes: i64, total: i64| {
        let args = json!({"Total Reserved": 4096, "Total Allocated": total, "Bytes": bytes, "Addr": 7, "Device Id": 0, "Device Type": 1});
        json!({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "s": "t", "args": args})
    };
    let found = counters(&read(&[record(1, 512, 512), record(3, -512, 0)]));
    assert_eq!(values(&found, "memory allocated"), [(0, 512.0), (2_000, 0.0)]);
    assert_eq!(values(&found, "memory reserved"), [(0, 4096.0), (2_000, 4096.0)]);
    assert!(found.iter().all(|c| c.process == "CUDA 0" && c.unit == Unit::Bytes));
}

#[test]
fn spans_around_and_inside_operators_have_their_forward_and_backward_relations() {
    let trace = read(&model());
    let row = |name: &str| trace.table.rows().find(|&row| trace.table.name(row) == name).expect(name);
    let of = |name: &str, wanted: Relation| -> Vec<String> {
        let (_, found) = related(&trace, row(name));
        found.iter().filter(|r| r.0 == wanted).map(|r| trace.table.name(r.1.row).to_owned()).collect()
    };
    assert_eq!(of("AddmmBackward0", Relation::Forward), ["aten::addmm"]);
    assert_eq!(of("nn.Module: Linear_0", Relation::Backward), ["AddmmBackward0"]);
    assert_eq!(of("nn.Module: Net_0", Relation::DeviceWork), ["k", "k"]);
    let call = trace.table.rows().rfind(|&r| trace.table.name(r) == "cudaLaunchKernel").expect("a call");
    let (_, found) = related(&trace, call);
    let forward: Vec<_> =
        found.iter().filter(|r| r.0 == Relation::Forward).map(|r| trace.table.name(r.1.row)).collect();
    assert_eq!(forward, ["aten::addmm"]);
}

#[test]
fn flows_of_the_file_connect_the_innermost_spans() {
    let flow = |ph: &str, tid: i64, ts: i64, cat: &str| json!({"ph": ph, "cat": cat, "name": "flow", "id": 1, "pid": 1, "tid": tid, "ts": ts, "bp": "e"});
    let op = |name: &str, tid, ts, dur| span(name, "other", tid, ts, dur, &json!({}));
    let events = |cat: &str| {
        vec![
            op("outer", 1, 0, 100),
            op("inner", 1, 10, 20),
            op("target", 2, 50, 10),
            flow("s", 1, 15, cat),
            flow("f", 2, 55, cat),
        ]
    };
    let of = |trace: &Trace, name: &str| -> Vec<(Relation, String)> {
        let row = trace.table.rows().find(|&row| trace.table.name(row) == name).expect(name);
        let (_, found) = related(trace, row);
        let flows = found.iter().filter(|r| matches!(r.0, Relation::FlowFrom | Relation::FlowTo));
        flows.map(|r| (r.0, trace.table.name(r.1.row).to_owned())).collect()
    };
    let trace = read(&events("mine"));
    assert_eq!(of(&trace, "inner"), [(Relation::FlowTo, "target".to_owned())]);
    assert_eq!(of(&trace, "target"), [(Relation::FlowFrom, "inner".to_owned())]);
    assert_eq!(of(&trace, "outer"), []);
    // Without a binding point, an end belongs to the next slice.
    let mut next = events("mine");
    next.push(op("later", 2, 58, 1));
    let end = next.iter_mut().find(|event| event["ph"] == "f").expect("an end");
    end.as_object_mut().expect("an object").remove("bp");
    let trace = read(&next);
    assert_eq!(of(&trace, "inner"), [(Relation::FlowTo, "later".to_owned())]);
    assert_eq!(of(&trace, "later"), [(Relation::FlowFrom, "inner".to_owned())]);
    assert_eq!(of(&trace, "target"), []);
    assert_eq!(of(&read(&events("ac2g")), "inner"), []);
}
