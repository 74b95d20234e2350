//! The event tree, the anti-patterns found in it and `BasicEvaluation` are compared with those of the real `PyTorch`.

use kinetoscope_core::analysis::torch::evaluation::{Call, Evaluation, Overlaps, Queued, calls, evaluate};
use kinetoscope_core::analysis::torch::event_tree::{EventNode, EventTree};
use kinetoscope_core::analysis::torch::event_tree_rows::event_tree_rows;
use kinetoscope_core::analysis::torch::patterns::rules::NamePattern;
use kinetoscope_core::analysis::torch::patterns::{ALL, Pattern, REPORTED, Scene, find, report};
use kinetoscope_core::base::rows::Cell;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::category::Category;
use kinetoscope_core::trace::table::events::{Row, Table};
use kinetoscope_core::trace::table::layout::Key;
use kinetoscope_tests::files;
use kinetoscope_tests::torch::{Case, Differences, cases};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the reason why the tree of a case cannot be computed from its trace.
fn exception(case: &str) -> Option<&'static str> {
    match case.strip_prefix("2.15/").unwrap_or(case) {
        "kineto/odd_names_quote" if case.starts_with("2.15/") => Some("quotes are written as apostrophes"),
        case if case.starts_with("kineto/filter_") => Some("the filter keeps events out of the trace"),
        "2.10/kineto/left_open" => Some("ends of open spans are computed from the least number"),
        "kineto/acc_events" => Some("the trace holds the last of two cycles"),
        "kineto/odd_names" | "kineto/odd_python_names" => Some("names that are not ASCII are not written"),
        "kineto/multithreaded_training_no_arrows" => Some("no flow links to the forward thread"),
        _ => None,
    }
}

fn tree_cases() -> Vec<(Case, Value)> {
    let groups = ["kineto", "patterns", "cuda", "2.15/kineto", "2.15/patterns", "2.10/kineto"];
    groups
        .iter()
        .flat_map(|group| cases(group))
        .filter(|case| exception(&case.name).is_none())
        .filter_map(|case| case.json("event_tree.json").map(|tree| (case, tree)))
        .collect()
}

/// Name, start, end, and the parent's name and start.
type NodeKey = (String, i64, i64, Option<(String, i64)>);

fn unix(table: &Table, ns: i64) -> i64 {
    table.base_ns() + ns
}

#[test]
fn the_tags_of_nodes_equal_torchs() {
    let mut d = Differences::default();
    for (case, gold) in tree_cases() {
        let rows = event_tree_rows(&case.trace);
        let tag = rows.columns.iter().position(|column| column.key == "tag").expect("a column");
        let mut ours: BTreeMap<String, u64> = BTreeMap::new();
        for row in &rows.rows {
            let Cell::Text(tag) = &row[tag] else { panic!("a tag is a text") };
            *ours.entry(tag.clone()).or_default() += 1;
        }
        let theirs: BTreeMap<String, u64> = serde_json::from_value(gold["tags"].clone()).expect("tags");
        d.check(|| case.name.clone(), ours, theirs);
    }
    d.settle(50);
}

#[test]
fn event_trees_equal_torchs() {
    let mut d = Differences::default();
    for (case, gold) in tree_cases() {
        let (tree, table) = (EventTree::new(&case.trace), &case.trace.table);
        let key = |node: EventNode| {
            let (start, end) = tree.time(table, node);
            (tree.name(table, node).to_owned(), unix(table, start), unix(table, end))
        };
        let mut ours: Vec<NodeKey> = tree
            .nodes()
            .map(|node| {
                let (name, start, end) = key(node);
                (name, start, end, tree.parent(node).map(|p| (key(p).0, key(p).1)))
            })
            .collect();
        let nodes = gold["nodes"].as_array().expect("nodes");
        let text = |node: &Value| node["name"].as_str().unwrap_or_default().to_owned();
        let int = |node: &Value, key: &str| node[key].as_i64().expect("a time");
        let mut theirs: Vec<NodeKey> = nodes
            .iter()
            .map(|node| {
                let parent = node["parent"].as_u64().map(|p| &nodes[p as usize]);
                let parent = parent.map(|p| (text(p), int(p, "start_ns")));
                (text(node), int(node, "start_ns"), int(node, "end_ns"), parent)
            })
            .collect();
        ours.sort();
        theirs.sort();
        d.check(|| format!("{} nodes", case.name), ours.len(), theirs.len());
        for (ours, theirs) in ours.into_iter().zip(theirs) {
            d.check(|| case.name.clone(), ours, theirs);
        }
    }
    d.settle(15_000);
}

/// Returns the depth-first positions of a tree's nodes, as the goldens count them. PyTorch has the calls that are linked to
/// an operator by an id before its other children.
fn positions(table: &Table, tree: &EventTree) -> Vec<usize> {
    let id = |node: EventNode| table.int(tree.row(node), Key::ExternalId);
    let is_linked = |node: EventNode, parent: EventNode| {
        let is_call = table.category(tree.row(node)).is_launch_call();
        is_call && id(node).is_some() && id(node) == id(parent)
    };
    let roots = tree.nodes().filter(|&node| tree.parent(node).is_none());
    let mut waiting: Vec<EventNode> = roots.collect();
    waiting.reverse();
    let (mut positions, mut next) = (vec![0; tree.len()], 0);
    while let Some(node) = waiting.pop() {
        positions[node.index()] = next;
        next += 1;
        let children = tree.children.get(node).iter().rev().copied();
        let (linked, others): (Vec<EventNode>, Vec<EventNode>) =
            children.partition(|&child| is_linked(child, node));
        waiting.extend(others.into_iter().chain(linked));
    }
    positions
}

/// The positions of the nodes of PyTorch's tree, by row. Patterns are found in the tree without device work.
fn positions_of_rows(trace: &Trace) -> BTreeMap<Row, u64> {
    let tree = EventTree::new(trace);
    let positions = positions(&trace.table, &tree);
    tree.nodes().map(|node| (tree.row(node), positions[node.index()] as u64)).collect()
}

fn compare_metrics(d: &mut Differences, case: &str, ours: &Evaluation, at: usize, gold: &Value) {
    let metrics = ours.metrics[at];
    let mut check = |key: &str, ours: i64| {
        d.check(|| format!("{case} {} {key}", gold["name"]), Some(ours), gold[key].as_i64());
    };
    check("duration_ns", metrics.duration_ns);
    check("self_ns", metrics.self_ns);
    check("idle_ns", metrics.idle_ns);
    check("queue_depth", metrics.queue_depth as i64);
    let fraction = gold["fraction_idle"].as_f64().expect("a fraction");
    d.check(|| format!("{case} fraction"), (metrics.fraction_idle() - fraction).abs() < 1e-12, true);
}

#[test]
fn evaluations_of_traces_equal_torchs() {
    let mut d = Differences::default();
    for (case, _) in tree_cases() {
        let Some(gold) = case.json("expected_basic_evaluation.json") else { continue };
        let Some(gold) = gold["metrics"].as_array() else { continue };
        let tree = EventTree::new(&case.trace);
        let ours = evaluate(&calls(&case.trace.table, &tree), Vec::new(), work_of_devices(&case));
        let positions = positions(&case.trace.table, &tree);
        d.check(|| format!("{} calls", case.name), ours.metrics.len(), gold.len());
        let mut by_position: Vec<&Value> = gold.iter().collect();
        by_position.sort_by_key(|node| node["node"].as_u64());
        for at in 0..tree.len() {
            compare_metrics(&mut d, &case.name, &ours, at, by_position[positions[at]]);
        }
    }
    d.settle(50_000);
}

/// Returns the work of devices as PyTorch evaluates it: all of it, because the names of its events are methods.
fn work_of_devices(case: &Case) -> Vec<Queued> {
    let results = case.json("kineto_events.json").expect("the results");
    let events = results["events"].as_array().expect("events").iter();
    let base = case.trace.table.base_ns();
    let queued = |event: &Value| {
        let int = |key: &str| event[key].as_i64().expect("a number");
        Queued { time: (int("start_ns") - base, int("end_ns") - base), id: int("linked_correlation_id") }
    };
    let is_hidden = |event: &Value| event["is_hidden_event"] == true;
    events.filter(|event| event["device_type"] == "CUDA" && !is_hidden(event)).map(queued).collect()
}

#[test]
fn evaluations_of_queues_equal_torchs() {
    let mut d = Differences::default();
    for folder in files::folders(&files::data().join("torch/synthetic")) {
        let read = |file: &str| -> Option<Value> {
            files::read(&folder.join(file)).map(|bytes| serde_json::from_slice(&bytes).expect("JSON"))
        };
        let Some(input) = read("input.json") else { continue };
        let gold = read("expected_basic_evaluation.json").expect("a result");
        let name = folder.display().to_string();
        let list = |value: &Value| value.as_array().expect("a list").clone();
        let int = |value: &Value, key: &str| value[key].as_i64().expect("a number");
        let tree = list(&input["tree"]);
        let position = |id: &Value| tree.iter().position(|n| n["id"] == *id);
        let calls: Vec<Call> = tree
            .iter()
            .map(|n| Call {
                time: (int(n, "start_ns"), int(n, "end_ns")),
                parent: position(&n["parent"]).map(EventNode::new),
            })
            .collect();
        // If the names of events are methods, torch finds no launches, and no copies among the kernels.
        let sees_names = gold["name_is_method"] == false;
        let queued = |device: &str, wanted: fn(&str) -> bool, else_all: bool| -> Vec<Queued> {
            let is_wanted = |e: &&Value| {
                let name = e["name"].as_str().expect("a name");
                e["device"] == device && if sees_names { wanted(name) } else { else_all }
            };
            let time = |e: &Value| (int(e, "start_ns"), int(e, "start_ns") + int(e, "duration_ns"));
            let events = list(&input["kineto_events"]);
            let queued = |e| Queued { time: time(e), id: int(e, "linked_correlation_id") };
            events.iter().filter(is_wanted).map(queued).collect()
        };
        let launches = queued("CPU", |name| name.starts_with("cudaLaunchKernel"), false);
        let kernels = queued("CUDA", |name| matches!(name, "gemm" | "elementwise"), true);
        let ours = evaluate(&calls, launches, kernels);
        let queue: Vec<[i64; 3]> = ours.queue.iter().map(|&((s, e), depth)| [s, e, depth as i64]).collect();
        let theirs: Vec<[i64; 3]> = serde_json::from_value(gold["queue_depth"].clone()).expect("depths");
        d.check(|| format!("{name} queue"), queue, theirs);
        for metrics in list(&gold["metrics"]) {
            let at = position(&metrics["id"]).expect("a call");
            compare_metrics(&mut d, &name, &ours, at, &metrics);
        }
        let ranked: Vec<&Value> = ours.ranked.iter().map(|call| &tree[call.index()]["id"]).collect();
        d.check(
            || format!("{name} ranked"),
            ranked,
            gold["ranked_ids"].as_array().expect("ids").iter().collect(),
        );
    }
    d.settle(2000);
}

#[test]
fn overlaps_equal_torchs() {
    let bytes = files::read(&files::data().join("torch/units/intervals_overlap.json")).expect("a golden");
    let gold: Value = serde_json::from_slice(&bytes).expect("JSON");
    let rows = gold["rows"].as_array().expect("rows");
    for row in rows {
        let pair =
            |value: &Value| (value[0].as_i64().expect("the start"), value[1].as_i64().expect("the end"));
        let intervals = row["intervals"].as_array().expect("intervals").iter().map(pair).collect();
        let overlap = Overlaps::new(intervals).with(pair(&row["event"]));
        assert_eq!(Some(overlap), row["overlap"].as_i64(), "{row}");
    }
    assert!(rows.len() > 20);
}

/// Whether PyTorch left out a pattern for a reason that is not in the trace: it looks for matrix products without TF32 only
/// if it was built for no GPU before Ampere.
fn is_left_out(case: &Case, pattern: &str) -> bool {
    case.name.starts_with("cuda/") && pattern == "FP32 MatMul Pattern"
}

#[test]
fn patterns_equal_torchs() {
    let names = NamePattern::new("aten::(mm|add)$", |name| matches!(name, "aten::mm" | "aten::add"));
    let mut patterns: Vec<&dyn Pattern> = ALL.to_vec();
    patterns.push(&names);
    let (mut d, mut found_all) = (Differences::default(), 0);
    for case in cases("patterns").into_iter().chain(cases("cuda")) {
        let Some(gold) = case.json("expected_matches.json") else { continue };
        let scene = Scene::new(&case.trace);
        let (ours, positions) = (find(&scene, &patterns), positions_of_rows(&case.trace));
        for (index, pattern) in patterns.iter().enumerate() {
            let gold =
                gold["patterns"].as_array().expect("patterns").iter().find(|p| p["name"] == pattern.name());
            let gold = gold.unwrap_or_else(|| panic!("{} has no {}", case.name, pattern.name()));
            let what = |what: &str| format!("{} {} {what}", case.name, pattern.name());
            if is_left_out(&case, pattern.name()) {
                assert_eq!(gold["skip"], true, "{}", what("skip"));
                continue;
            }
            d.check(|| what("skip"), !scene.has(pattern.needs()), gold["skip"] == true);
            d.check(|| what("url"), Some(pattern.url()), gold["url"].as_str());
            let matched = gold["matched"].as_array().expect("matches");
            let ours: Vec<_> = ours.iter().filter(|m| m.pattern == index).collect();
            d.check(|| what("count"), ours.len(), matched.len());
            found_all += ours.len();
            for (ours, gold) in ours.into_iter().zip(matched) {
                d.check(
                    || what("node"),
                    positions.get(&scene.tree.row(ours.node)).copied(),
                    gold["node"].as_u64(),
                );
                d.check(|| what("event"), Some(scene.name(ours.node)), gold["event"].as_str());
                let file = |place: &str, end: char| place.split(end).next().map(str::to_owned);
                let place = scene.place(ours.node).unwrap_or("No source code location found");
                let place = file(place, '(');
                d.check(|| what("place"), place, gold["location"].as_str().and_then(|p| file(p, ':')));
                if gold["duration_ns"].is_i64() {
                    d.check(|| what("duration"), Some(ours.cpu_ns), gold["duration_ns"].as_i64());
                }
                assert!(ours.saving_ns.is_none_or(|ns| ns > 0), "{}", what("saving"));
            }
        }
    }
    assert!(found_all > 60, "{found_all} matches");
    d.settle(500);
}

/// Since PyTorch 2.14, traces have the lines of calls. PyTorch had removed its patterns by then, so the programs are those
/// of 2.11, whose lines moved together.
#[test]
fn places_of_newer_traces_are_lines_of_calls() {
    let mut shifts = BTreeSet::new();
    let line = |place: &str| place.strip_prefix("gen_patterns.py:")?.parse::<i64>().ok();
    let all_old = cases("patterns");
    for case in cases("2.15/patterns") {
        let name = case.name.strip_prefix("2.15/").unwrap_or(&case.name);
        let Some(old) = all_old.iter().find(|old| old.name == name) else { continue };
        let Some(gold) = old.text("expected_report.txt") else { continue };
        let ours = report(&case.trace, REPORTED).to_text(None);
        let lines = |text: &str| -> Vec<i64> {
            text.lines().filter_map(|text| line(text.strip_prefix("[Source Code Location] ")?)).collect()
        };
        if lines(&ours).len() == lines(&gold).len() {
            shifts.extend(lines(&ours).iter().zip(lines(&gold)).map(|(ours, gold)| ours - gold));
        }
    }
    assert_eq!(shifts.len(), 1, "{shifts:?}");
}

/// The report has PyTorch's structure and numbers; its sentences are our own.
#[test]
fn reports_have_torchs_structure() {
    let mut reports = 0;
    for case in cases("patterns") {
        let Some(gold) = case.text("expected_report.txt") else { continue };
        let ours = report(&case.trace, REPORTED).to_text(None);
        let summary = |text: &str| text.split_once("Summary:\n").map(|(_, summary)| summary.to_owned());
        assert_eq!(summary(&ours), summary(&gold), "{}", case.name);
        assert_eq!(ours.lines().take(2).collect::<Vec<_>>(), gold.lines().take(2).collect::<Vec<_>>());
        // Whether messages are followed by a location, in order. Several calls of one function have one message here.
        let located = |text: &str| {
            let lines: Vec<bool> = text.lines().skip(2).map(|line| line.starts_with("[Source")).collect();
            let mut messages: Vec<bool> =
                lines.windows(2).filter(|pair| !pair[0]).map(|pair| pair[1]).collect();
            messages.dedup();
            messages
        };
        assert_eq!(located(&ours), located(&gold), "{}", case.name);
        reports += 1;
    }
    assert!(reports > 10);
}

/// Device work is below the call that launched it, also where calls of another process or of another time have its id.
#[test]
fn device_work_is_below_its_own_call_where_ids_repeat() {
    let event = |cat: &str, name: &str, (pid, tid): (i64, i64), (ts, dur): (i64, i64), device: bool| {
        let mut args = json!({"correlation": 7, "External id": 7});
        if device {
            args["device"] = pid.into();
            args["stream"] = tid.into();
        }
        json!({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
    };
    let launch = "cudaLaunchKernel";
    let events = json!([
        event("cuda_runtime", launch, (101, 101), (10, 5), false),
        event("kernel", "first", (0, 7), (20, 5), true),
        event("cuda_runtime", launch, (101, 101), (100, 5), false),
        event("kernel", "second", (0, 7), (120, 5), true),
    ]);
    let trace = Trace::read(events.to_string().as_bytes()).expect("a trace");
    let tree = EventTree::new(&trace);
    let start = |node| trace.table.ts(tree.row(node)) / 1000;
    let launched = |name: &str| {
        let kernel = tree.nodes().find(|&node| tree.name(&trace.table, node) == name).expect("a kernel");
        tree.parent(kernel).map(start)
    };
    assert_eq!([launched("first"), launched("second")], [Some(10), Some(100)]);

    let bytes =
        files::read(&files::data().join("healthy/correlation_of_two_processes.json")).expect("a trace");
    let trace = Trace::read(&bytes).expect("a trace");
    let (table, tree) = (&trace.table, EventTree::new(&trace));
    let kernels = tree.nodes().filter(|&node| table.category(tree.row(node)) == Category::Kernel);
    let calls: Vec<_> =
        kernels.map(|node| (tree.row(node), tree.parent(node).map(|call| tree.row(call)))).collect();
    assert!(
        calls.len() > 1 && calls.iter().all(|&(kernel, call)| call == trace.links.launch(kernel)),
        "{calls:?}"
    );
}
