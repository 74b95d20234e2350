//! What users of profilers reported as wrong, with the right values.

use crate::support::{self, answer, kinetoscope, program, rows};
use serde_json::{Value, json};
use std::fs;

/// The path of a file in `tests/data`, as an argument.
fn data(path: &str) -> String {
    support::data(path).display().to_string()
}

/// The values of a column by the names of the rows.
fn column(rows: &[Value], key: &str) -> Vec<(String, i64)> {
    let text = |row: &Value| row["name"].as_str().unwrap_or("").to_owned();
    rows.iter().map(|row| (text(row), row[key].as_i64().unwrap_or(-1))).collect()
}

fn code(arguments: &[&str]) -> Option<i32> {
    kinetoscope(arguments).status.code()
}

#[test]
fn two_processes_with_the_same_ids_keep_their_kernels() {
    let trace = data("healthy/correlation_of_two_processes.json");
    let ops = column(&rows(&["ops", &trace]), "device_time_total_ns");
    assert!(ops.contains(&("aten::mm".into(), 100_000)), "{ops:?}");
    assert!(ops.contains(&("aten::add".into(), 300_000)), "{ops:?}");
    let launches = rows(&["launches", &trace]);
    let delays: Vec<i64> = launches.iter().map(|row| row["delay_mean_ns"].as_i64().unwrap_or(-1)).collect();
    assert_eq!(delays, [20_000, 20_000]);
    let kernels = column(&rows(&["kernels", "--by", "operator", &trace]), "sum_ns");
    assert_eq!(kernels, [("aten::add".into(), 300_000), ("aten::mm".into(), 100_000)]);
    assert_eq!(code(&["--strict", &trace]), Some(0));
}

#[test]
fn a_link_that_nothing_decides_is_a_loss() {
    let trace = data("malformed/correlation_of_undecided_calls.json");
    assert_eq!(code(&["--strict", &trace]), Some(3));
    let check = rows(&["check", &trace]);
    let lost: Vec<&Value> = check.iter().filter(|row| row["kind"] == "lost").collect();
    assert!(matches!(lost[..], [loss] if loss["name"] == "ambiguous_link" && loss["count"] == 2), "{lost:?}");
    let fitness = answer(&["fitness", &trace]).to_string();
    assert!(fitness.contains("2 parts of the trace lost or uncertain"), "{fitness}");
}

#[test]
fn epoch_nanoseconds_are_read_as_such() {
    let trace = data("malformed/times_in_nanoseconds.json");
    let names = column(&rows(&["names", &trace]), "total_ns");
    assert_eq!(names, [("step".into(), 5_000_000), ("load".into(), 1_000_000), ("save".into(), 500_000)]);
    assert!(rows(&["tree", &trace]).iter().all(|row| row["depth"].as_i64().unwrap_or(0) == 0));
    assert_eq!(code(&["--strict", &trace]), Some(0));
    let text = String::from_utf8(kinetoscope(&[&trace]).stdout).expect("UTF-8");
    assert!(text.contains("All times are nanoseconds since 1970."), "{text}");
}

#[test]
fn times_of_other_units_are_lost_and_named() {
    let trace = data("malformed/times_of_other_units.json");
    assert_eq!(code(&["--strict", &trace]), Some(3));
    let text = String::from_utf8(kinetoscope(&[&trace]).stdout).expect("UTF-8");
    assert!(text.contains("638400000000000000: ticks of 100 ns since the year 1"), "{text}");
    assert!(text.contains("3 parts lost or uncertain"), "{text}");
}

#[test]
fn local_ids_pair_within_their_process() {
    let tasks = rows(&["tasks", &data("healthy/ids_of_one_process.json")]);
    assert_eq!(column(&tasks, "life_ns"), [("read".into(), 110_000)]);
}

#[test]
fn asynchronous_spans_are_spans_where_no_others_are() {
    let trace = data("healthy/asynchronous_only.json");
    let names = rows(&["names", &trace]);
    let expected = [("llm.call".into(), 1_497_000_000), ("agent.run".into(), 1_000_000_000)];
    assert_eq!(column(&names, "total_ns"), expected);
    assert_eq!(column(&names, "count"), [("llm.call".into(), 2), ("agent.run".into(), 1)]);
    let folded =
        String::from_utf8(kinetoscope(&["export", "folded", "--lanes", &trace]).stdout).expect("UTF-8");
    assert!(folded.contains(";agent.run;llm.call 899000\n"), "{folded}");
    let other = data("cases/asynchronous_only_after.json");
    let diff = String::from_utf8(kinetoscope(&["diff", &trace, &other]).stdout).expect("UTF-8");
    let sentence =
        "Calls of llm.call took 1.497s in sum (2 in A), 1.199s in sum (1 in B). The tables show the thread";
    assert!(diff.contains(sentence), "{diff}");
}

#[test]
fn clocks_may_differ_by_a_minute() {
    let text = kinetoscope(&["ranks", &data("cases/clocks_far_apart")]).stdout;
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(text.starts_with("Run: 2 of 2 ranks, 3 steps, 3 matched collectives"), "{text}");
    assert!(text.contains("waiting for other ranks: 300.000us, summed over the ranks"), "{text}");
    assert!(text.contains("its clock is 60.000s ahead of that of the reference rank"), "{text}");
}

#[test]
fn two_cycles_of_a_worker_are_one_rank() {
    let text = kinetoscope(&["ranks", &data("cases/two_cycles_one_worker")]).stdout;
    assert!(text.starts_with(b"Run: 1 rank, 6 steps"), "{}", String::from_utf8_lossy(&text));
}

#[test]
fn an_xspace_is_refused_by_name() {
    let output = kinetoscope(&[&data("refused/xspace.xplane.pb")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("an XSpace profile"));
}

#[test]
fn traces_of_before_kineto_have_operators_and_device_work() {
    let ops = rows(&["kernels", "--by", "operator", &data("healthy/before_kineto.json")]);
    assert_eq!(column(&ops, "sum_ns"), [("add".into(), 134_176), ("mul".into(), 49_686)]);
}

#[test]
fn lines_are_read_with_and_without_a_header() {
    for name in ["healthy/lines.json", "healthy/lines_after_a_header.json"] {
        let names = rows(&["names", &data(name)]);
        assert_eq!(column(&names, "count"), [("op0".into(), 2), ("op1".into(), 2)], "{name}");
    }
}

#[test]
fn a_dash_as_output_is_standard_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = data("healthy/lines.json");
    let run = |arguments: &[&str]| {
        let mut command = program();
        command.args(arguments).current_dir(folder.path()).output().expect("a process").stdout
    };
    for command in ["names", "summary", "repair", "outline"] {
        let direct = run(&[command, &trace]);
        assert!(!direct.is_empty());
        assert!(run(&[command, &trace, "-o", "-"]) == direct, "{command}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

fn summary(path: &str) -> String {
    String::from_utf8(kinetoscope(&[&data(path)]).stdout).expect("UTF-8")
}

#[test]
fn samples_of_chrome_are_in_summaries_and_flame_graphs() {
    let trace = "healthy/samples_of_hermes.json";
    assert!(summary(trace).contains("3.000ms · 0 events · 4 samples"));
    let samples = rows(&["samples", "--by", "tree", &data(trace)]);
    let expected = [("[root]".into(), 4), ("work".into(), 2), ("idle".into(), 1)];
    assert_eq!(column(&samples, "samples"), expected);
    let folded = kinetoscope(&["export", "folded", &data(trace), "-o", "-"]).stdout;
    assert_eq!(String::from_utf8_lossy(&folded), "[root] 1\n[root];work 2\n[root];idle 1\n");
    let functions = &rows(&["summary", &data(trace)])[0]["top_functions"];
    assert_eq!(functions[0], serde_json::json!({"name": "work", "own": 2, "samples": 2}));
}

#[test]
fn a_snapshot_shows_its_memory() {
    let text = summary("snapshots/without-history.pickle");
    assert!(text.starts_with(
        "without-history.pickle · PyTorch memory snapshot\n3 segments · 9 blocks · no history\n"
    ));
    assert!(text.contains("CUDA 0         2  100.00 MB   30.00 MB   30.0%            25.00 MB"), "{text}");
    assert!(text.contains("torch.cuda.memory._record_memory_history"), "{text}");
    assert!(!text.contains("[memory]"), "{text}");
    let with_history = summary("snapshots/h100.pickle");
    assert!(with_history.contains("Owners at the peak of CUDA 0: 10.75 MB at 9.467ms"), "{with_history}");
    assert!(
        with_history.contains("gen_cuda.py(255): snapshot      4    6.75 MB          62.8%"),
        "{with_history}"
    );
    let memory = &rows(&["summary", &data("snapshots/without-history.pickle")])[0]["memory"][0];
    assert_eq!(memory["largest_free_bytes"], 25 << 20);
}

#[test]
fn the_first_line_states_what_a_file_is() {
    assert!(
        summary("healthy/empty_array.json").starts_with("empty_array.json · Chrome trace without events\n")
    );
    let nodes = summary("healthy/execution_trace.json");
    let expected = "execution_trace.json · PyTorch execution trace\n2 nodes · 1 operator with a schema · \
                    root [pytorch|profiler|execution_trace|thread] · version 1.1.1-chakra.0.0.4 of the format · no times\n";
    assert!(nodes.starts_with(expected), "{nodes}");
    assert!(nodes.contains("an execution trace has operators without times"), "{nodes}");
}

#[test]
fn device_time_in_the_summary_is_what_devices_did() {
    let operators = &rows(&["summary", &data("cases/overhead_rows.json")])[0]["top_operators"];
    let operators = operators.as_array().expect("operators");
    let expected = [("aten::add", 7_500), ("urEnqueueKernelLaunchWithArgsExp", 0), ("Instrumentation", 0)];
    assert_eq!(column(operators, "device_time_total_ns"), expected.map(|(name, ns)| (name.into(), ns)));
    // As PyTorch counts.
    let ops = column(&rows(&["ops", &data("cases/overhead_rows.json")]), "device_time_total_ns");
    assert!(ops.contains(&("aten::add".into(), 15_000)), "{ops:?}");
}

#[test]
fn kernels_of_expert_parallelism_are_communication() {
    let kernels = rows(&["kernels", &data("cases/communication_names.json")]);
    assert_eq!(kernels.len(), 26);
    for kernel in kernels {
        assert_eq!(kernel["class"], "communication", "{kernel}");
    }
}

#[test]
fn stacks_state_that_the_cpu_is_missing() {
    let output = kinetoscope(&["stacks", &data("cases/stacks_without_cpu.json")]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        message.contains("no events of the CPU") && message.contains("ProfilerActivity.CPU"),
        "{message}"
    );
}

/// Of spans that overlap, each instant counts for the first lane that is in one; none is outside of all spans.
#[test]
fn overlapping_asynchronous_spans_count_each_instant() {
    let [alone, both] =
        ["asynchronous_one", "asynchronous_overlaps"].map(|name| data(&format!("cases/{name}.json")));
    let output = kinetoscope(&["diff", &alone, &both, "--format", "json"]).stdout;
    let answer: Value = serde_json::from_slice(&output).expect("JSON");
    let rows = answer["rows"].as_array().expect("rows").clone();
    let ranges: Vec<&Value> = rows.iter().filter(|row| row["kind"] == "range").collect();
    assert_eq!(ranges.len(), 1, "{ranges:?}");
    assert_eq!(
        (&ranges[0]["name"], &ranges[0]["b_ns"], &ranges[0]["sum_b_ns"]),
        (&"B".into(), &90_000.into(), &95_000.into())
    );
    assert!(rows.iter().all(|row| row["name"] != "(outside of spans)"), "{rows:?}");
}

#[test]
fn a_window_of_a_file_in_nanoseconds_is_refused() {
    let output =
        kinetoscope(&["names", &data("malformed/times_in_nanoseconds.json"), "--window", "0us..2us"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("the times of this file are nanoseconds"), "{error}");
}

/// A block whose release has begun, and not ended, is part of the peak.
#[test]
fn blocks_that_wait_for_their_release_are_part_of_the_peak() {
    let text = kinetoscope(&[&data("snapshots/pending_free.pickle")]).stdout;
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(text.contains("Owners at the peak of CUDA 0: 15.00 MB"), "{text}");
    assert!(text.contains("(before the recording)      0   10.00 MB"), "{text}");
}

/// A number with a point is no reason to lose the time without a word.
#[test]
fn decimal_times_that_are_out_of_range_are_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    for ts in ["9300000000000000.0", "-9300000000000000.0", "9223372036854776.5"] {
        let path = folder.path().join("far.json");
        let event = format!(r#"[{{"ph":"X","name":"a","pid":1,"tid":1,"ts":{ts},"dur":5000}}]"#);
        fs::write(&path, event).expect("a trace");
        let path = path.to_str().expect("UTF-8");
        assert_eq!(code(&["summary", path, "--strict"]), Some(3), "{ts}");
        let exported = String::from_utf8(kinetoscope(&["export", "chrome", path]).stdout).expect("UTF-8");
        assert!(exported.contains(r#""dur":5000.000"#) && exported.contains(ts), "{exported}");
    }
}

/// The spans of the recorder itself are no spans of the program.
#[test]
fn asynchronous_spans_next_to_that_of_the_recorder_are_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.json");
    let event = |ph: &str, name: &str, more: Value| {
        let mut event = json!({"ph": ph, "name": name, "cat": "c", "pid": 1, "tid": 1});
        event.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        event
    };
    let recorder = event("X", "PyTorch Profiler (0)", json!({"cat": "Trace", "ts": 0, "dur": 100}));
    let span = [event("b", "r", json!({"id": 1, "ts": 10})), event("e", "r", json!({"id": 1, "ts": 60}))];
    let write = |events: Value| fs::write(&path, events.to_string()).expect("a trace");
    write(json!([recorder, span[0], span[1]]));
    let name = path.to_str().expect("UTF-8");
    assert_eq!(column(&rows(&["names", name]), "total_ns").last(), Some(&("r".into(), 50_000)));
    let folded =
        String::from_utf8(kinetoscope(&["export", "folded", "--lanes", name]).stdout).expect("UTF-8");
    assert!(folded.contains(";r 50"), "{folded}");
    write(json!([recorder, span[0], span[1], event("X", "other", json!({"ts": 0, "dur": 5}))]));
    let check = rows(&["check", name]);
    assert!(check.iter().any(|row| row["name"] == "async_apart" && row["count"] == 1), "{check:?}");
    let page = String::from_utf8(kinetoscope(&["diff", name, name]).stdout).expect("UTF-8");
    assert!(page.contains("not compared: 1 asynchronous span"), "{page}");
}

#[test]
fn a_file_without_events_passes_no_gate() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, budgets) = (folder.path().join("empty.json"), folder.path().join("b.toml"));
    fs::write(&path, "[]").expect("a trace");
    fs::write(&budgets, "[findings]\nforbid = [\"gpu_idle\"]\n").expect("budgets");
    let [path, budgets] = [&path, &budgets].map(|path| path.to_str().expect("UTF-8"));
    assert_eq!(code(&["check", budgets, path]), Some(2));
    for query in ["summary", "ops", "tasks", "tree"] {
        assert_eq!(code(&[query, path, "--strict"]), Some(3), "{query}");
    }
    let protobuf = folder.path().join("event.pb");
    fs::write(&protobuf, b"\x0a\x04\x40\x00\x50\x01").expect("a file");
    let output = kinetoscope(&["summary", protobuf.to_str().expect("UTF-8")]);
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!output.status.success() && message.contains("a protobuf without an event"), "{message}");
}
