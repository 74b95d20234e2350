//! Captures of graphs: the operators and modules of replayed kernels, on real pairs of traces and on generated ones with known
//! truth.

mod generated;

use generated::Model;
use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::queries::schema::{Data, Schema};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::attribution::OwnerSource;
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_tests::answers::{rows, rows_with};
use kinetoscope_tests::files;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders, traces and captures of the pairs.
const PAIRS: [(&str, &str, &str); 2] = [
    ("sglang_decode", "sglang_Qwen3-8B_decode.json.gz", "bs_32_rank0.json.gz"),
    (
        "vllm_prefilldecode_piecewise",
        "graph_execution.json.gz",
        "graph_capture_rank_0.1773709679453551615.pt.trace.json.gz",
    ),
];

fn read(path: &Path) -> Trace {
    Trace::read(&files::read(path).expect("a file")).expect("a trace")
}

fn capture_of(folder: &Path, pair: usize) -> PathBuf {
    folder.join(PAIRS[pair].0).join("capture_traces").join(PAIRS[pair].2)
}

/// A real trace, joined with its capture.
fn joined(folder: &Path, pair: usize) -> Trace {
    let mut trace = read(&folder.join(PAIRS[pair].0).join(PAIRS[pair].1));
    let found = trace.join_capture(read(&capture_of(folder, pair))).expect("the capture of the trace");
    assert!(found.explained == found.launches && found.explained_ns == found.time_ns, "{found:?}");
    assert!((found.confidence - 1.0).abs() < f64::EPSILON, "{found:?}");
    trace
}

/// The values of a column of texts of the table of kernels, with the number of the event.
fn column(trace: &Trace, name: &str) -> Vec<(usize, Option<String>)> {
    let schema = Schema::named("kernels").expect("a table");
    let columns = ["event", name].map(|name| schema.column(name).expect("a column"));
    let analysis = Analysis::new(trace);
    let source = schema.open(&analysis, Some(&columns));
    let Data::Ints(events) = source.read(columns[0], 0..source.len()) else { panic!("no integers") };
    let texts: Vec<Option<String>> = match source.read(columns[1], 0..source.len()) {
        Data::Names(ids) => ids.iter().map(|id| id.map(|id| trace.table.names.get(id).to_owned())).collect(),
        Data::Texts(texts) => texts.iter().map(|text| text.as_deref().map(str::to_owned)).collect(),
        other => panic!("{other:?}"),
    };
    let number = |event: Option<i64>| usize::try_from(event.expect("an event")).expect("a number");
    events.into_iter().map(number).zip(texts).collect()
}

/// Of the kernel time of replays, at least 95 % has an operator and a module.
#[test]
fn replays_of_real_engines_have_operators_and_modules() {
    let Some(folder) = files::shared("traces/tracelens/inference", "captures of graphs") else { return };
    for pair in 0..PAIRS.len() {
        let trace = joined(&folder, pair);
        let modules = column(&trace, "module");
        let (mut replayed, mut named, mut placed) = (0, 0, 0);
        for (event, module) in &modules {
            let row = Row::new(*event);
            let launch = trace.links.launch(row).map_or("", |call| trace.table.name(call));
            if !launch.contains("GraphLaunch") {
                continue;
            }
            let owner = trace.owner(row).expect("an owner");
            assert_eq!(owner.source, OwnerSource::Capture);
            let ns = trace.table.dur(row);
            replayed += ns;
            named += if owner.op.is_some() { ns } else { 0 };
            placed += if module.is_some() { ns } else { 0 };
        }
        assert!(replayed > 0 && named * 100 >= replayed * 95 && placed * 100 >= replayed * 95, "{pair}");
    }
}

/// Fifty kernels, whose operators and modules were read from the raw events of the captures by a separate script, and looked at.
#[test]
fn fifty_kernels_of_real_engines_have_the_right_operators() {
    let Some(folder) = files::shared("traces/tracelens/inference", "captures of graphs") else { return };
    let expected = fs::read_to_string(files::data().join("captured-kernels.csv")).expect("a file");
    for (pair, (name, _, _)) in PAIRS.iter().enumerate() {
        let trace = joined(&folder, pair);
        let (operators, modules) = (column(&trace, "operator"), column(&trace, "module"));
        let of = |all: &[(usize, Option<String>)], event: usize| {
            all.iter().find(|row| row.0 == event).and_then(|row| row.1.clone())
        };
        let own = expected.lines().filter(|line| line.starts_with(name));
        assert_eq!(own.clone().count(), 25);
        for line in own {
            let cells: Vec<&str> = line.split(',').collect();
            let event: usize = cells[1].parse().expect("an event");
            assert_eq!(of(&operators, event).as_deref(), Some(cells[2]), "{line}");
            assert_eq!(of(&modules, event).as_deref(), Some(cells[3]), "{line}");
        }
    }
}

#[test]
fn captures_of_other_models_and_batches_are_refused() {
    let Some(folder) = files::shared("traces/tracelens/inference", "captures of graphs") else { return };
    for (pair, (name, file, _)) in PAIRS.iter().enumerate() {
        let mut trace = read(&folder.join(name).join(file));
        let error = trace.join_capture(read(&capture_of(&folder, 1 - pair))).expect_err("another model");
        assert!(error.to_string().contains("no graph launch agrees"), "{error}");
        assert_eq!(
            rows(&trace, "kernels").len(),
            rows(&read(&folder.join(name).join(file)), "kernels").len()
        );
    }
    let mut trace = read(&folder.join(PAIRS[0].0).join(PAIRS[0].1));
    let text = files::read(&capture_of(&folder, 0).with_extension("")).expect("a file");
    let text = String::from_utf8(text).expect("text");
    let smaller = text.replace("capture_32_DECODE", "capture_16_DECODE");
    assert!(smaller.len() == text.len() && smaller != text);
    let smaller = Trace::read(smaller.as_bytes()).expect("a trace");
    let error = trace.join_capture(smaller).expect_err("32 requests do not fit into a graph for 16");
    assert!(error.to_string().contains("fewer requests or tokens"), "{error}");
    assert!(trace.join_capture(Trace::read(text.as_bytes()).expect("a trace")).is_ok());
}

/// The products that one decode of the model computes, counted from the raw shapes of the capture by a separate script.
#[test]
fn operations_of_a_real_replay_are_counted() {
    let Some(folder) = files::shared("traces/tracelens/inference", "captures of graphs") else { return };
    let flops = rows(&joined(&folder, 0), "flops");
    let of = |name: &str| flops.iter().find(|row| row["name"] == name).expect(name);
    let products: i64 = ["aiter::gemm_a16w16", "aten::mm"]
        .iter()
        .map(|name| of(name)["flops"].as_i64().expect("a number"))
        .sum();
    assert_eq!(products, 484_358_225_920);
    assert_eq!(of("aiter::gemm_a16w16")["bound"], "memory");
}

#[test]
fn generated_replays_have_their_operators_and_layers() {
    for seed in 0..40 {
        let model = Model::new(seed);
        let mut trace = model.trace();
        let found = trace.join_capture(model.capture(1.0)).expect("the capture");
        assert_eq!(found.explained, model.launches(), "seed {seed}");
        for (event, truth) in model.truth() {
            let owner = trace.owner(Row::new(event)).expect("an owner");
            let op = owner.op.expect("an operator");
            assert_eq!(owner.trace.table.name(op), truth, "seed {seed}, event {event}");
        }
    }
}

/// A capture whose names differ in some calls has a confidence, and is refused if they are too many.
#[test]
fn confidence_is_the_share_of_calls_that_agree() {
    let mut refused = [0, 0];
    for seed in 0..20 {
        let model = Model::new(seed);
        for (at, share) in [0.98, 0.6].into_iter().enumerate() {
            let mut trace = model.trace();
            match trace.join_capture(model.capture(share)) {
                Ok(found) => assert!((0.9..=1.0).contains(&found.confidence), "{found:?}"),
                Err(_) => refused[at] += 1,
            }
        }
    }
    assert!(refused[0] <= 6 && refused[1] >= 16, "{refused:?}");
}

/// An engine writes a file for each size: whatever their order, each launch takes the smallest one that its batch fits into.
#[test]
fn captures_of_sizes_can_be_files_of_their_own() {
    for seed in 0..20 {
        let model = Model::new(seed);
        for is_reversed in [false, true] {
            let mut trace = model.trace();
            let mut files = model.captures();
            if is_reversed {
                files.reverse();
            }
            let joined = files.into_iter().filter_map(|file| trace.join_capture(file).ok()).count();
            assert!(joined > 0, "seed {seed}");
            for (event, truth) in model.truth() {
                let owner = trace.owner(Row::new(event)).expect("an owner");
                assert_eq!(
                    owner.trace.table.name(owner.op.expect("an operator")),
                    truth,
                    "seed {seed}, event {event}"
                );
            }
        }
    }
}

/// A recording that begins within an iteration has the right layers from the next iteration on.
#[test]
fn layers_begin_anew_with_each_iteration() {
    for seed in [1, 3, 5, 7, 9, 11] {
        let model = Model::new(seed);
        let mut trace = model.trace_without_first_launch();
        trace.join_capture(model.capture(1.0)).expect("the capture");
        let first = model.events_of_first_iteration();
        for (event, truth) in model.truth().into_iter().filter(|one| one.0 >= first) {
            // The events of the first launch are missing.
            let row = Row::new(event - model.events_of_first_launch());
            let owner = trace.owner(row).expect("an owner");
            assert_eq!(
                owner.trace.table.name(owner.op.expect("an operator")),
                truth,
                "seed {seed}, event {event}"
            );
        }
    }
}

/// What the queries say of device time with an operator is the same.
#[test]
fn queries_agree_on_the_time_of_replayed_operators() {
    for seed in 0..20 {
        let model = Model::new(seed);
        let mut trace = model.trace();
        trace.join_capture(model.capture(1.0)).expect("the capture");
        let ns = |row: &Value, key: &str| row[key].as_i64().expect(key);
        let mut by_operator: Vec<(String, i64)> = rows_by(&trace, "operator");
        by_operator.retain(|row| row.0 != "(no operator)");
        let ops = rows(&trace, "ops");
        for (name, time) in &by_operator {
            let of = |row: &&Value| row["name"] == name.as_str() && row["device_type"] == "CPU";
            let total: i64 = ops.iter().filter(of).map(|row| ns(row, "self_device_time_total_ns")).sum();
            assert_eq!(total, *time, "seed {seed}: {name}");
        }
        let modules: i64 =
            rows(&trace, "modules").iter().map(|row| ns(row, "self_device_time_total_ns")).sum();
        let by_module: i64 =
            rows_by(&trace, "module").iter().filter(|row| row.0 != "(no module)").map(|row| row.1).sum();
        assert_eq!(modules, by_module, "seed {seed}");
        let all: i64 = by_operator.iter().map(|row| row.1).sum();
        let on_host = |row: &&Value| {
            row["name"].is_string() && !row["lane"].as_str().expect("a lane").contains("stream")
        };
        let tree = rows_with(&trace, "tree", &json!({"depth": -1}));
        let in_tree: i64 = tree.iter().filter(on_host).map(|row| ns(row, "device_self_ns")).sum();
        assert!(in_tree >= all, "seed {seed}");
        let flops = rows(&trace, "flops");
        let counted =
            |name: &str| flops.iter().find(|row| row["name"] == name && row["kind"] == "total").cloned();
        let [every, with, without] =
            ["all", "counted", "not counted"].map(|name| ns(&counted(name).expect("a sum"), "time_ns"));
        assert_eq!(every, with + without);
    }
}

/// The groups of kernels by operator or module, with their times.
fn rows_by(trace: &Trace, by: &str) -> Vec<(String, i64)> {
    let all = rows_with(trace, "kernels", &json!({"by": by}));
    let row = |row: &Value| {
        (row["name"].as_str().expect("a name").to_owned(), row["sum_ns"].as_i64().expect("a time"))
    };
    all.iter().map(row).collect()
}
