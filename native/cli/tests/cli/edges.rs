//! Traces that lack something, and what answers, budgets and exit codes say of it.

use crate::support::program;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

fn kinetoscope(folder: &Path, arguments: &str) -> Output {
    let mut command = program();
    command.args(arguments.split(' ')).current_dir(folder).stdin(Stdio::null()).output().expect("a process")
}

fn code(folder: &Path, arguments: &str) -> i32 {
    kinetoscope(folder, arguments).status.code().expect("an exit code")
}

fn answer(folder: &Path, arguments: &str) -> Value {
    let output = kinetoscope(folder, &format!("{arguments} --format json"));
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{arguments}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The number of a diagnostic.
fn count(answer: &Value, code: &str) -> i64 {
    let all = answer["diagnostics"].as_array().expect("diagnostics");
    all.iter()
        .find(|diagnostic| diagnostic["code"] == code)
        .map_or(0, |diagnostic| diagnostic["count"].as_i64().expect("a count"))
}

/// A folder with traces, and the files of `more`.
fn folder(more: &[(&str, Value)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("empty.json", "[]");
    write("metadata.json", r#"[{"ph":"M","name":"process_name","pid":1,"args":{"name":"x"}}]"#);
    write("a.json", r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":9}]"#);
    for (name, document) in more {
        write(name, &document.to_string());
    }
    folder
}

fn span(name: &str, cat: &str, (pid, tid): (i64, i64), (ts, dur): (i64, i64), args: &Value) -> Value {
    json!({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
}

#[test]
fn no_command_is_content_with_a_trace_without_events() {
    let folder = folder(&[]);
    let folder = folder.path();
    for trace in ["empty.json", "metadata.json"] {
        for command in [
            "summary TRACE",
            "check TRACE",
            "ops TRACE",
            "diff TRACE TRACE",
            "diff a.json TRACE",
            "diff-tree TRACE a.json",
            "outline TRACE",
            "summarize TRACE -o s.ksum",
        ] {
            let command = command.replace("TRACE", trace);
            if (command.starts_with("outline") || command.starts_with("repair")) && trace == "metadata.json" {
                continue;
            }
            assert_eq!(code(folder, &format!("{command} --strict")), 3, "{command}");
        }
        assert_eq!(code(folder, &format!("check --init {trace}")), 2, "{trace}");
        assert_eq!(code(folder, &format!("ranks {trace}")), 2, "{trace}");
        let text = kinetoscope(folder, &format!("summary {trace}")).stdout;
        let text = String::from_utf8(text).expect("UTF-8");
        assert!(
            text.lines().next().is_some_and(|line| line.ends_with("Chrome trace without events")),
            "{text}"
        );
    }
    assert_eq!(code(folder, "repair empty.json -o repaired.json --strict"), 3);
}

#[test]
fn an_empty_rank_does_not_replace_another() {
    let step = span("ProfilerStep#1", "user_annotation", (1, 1), (1_000_000, 90), &json!({}));
    let folder = folder(&[("run.rank0.json", json!({"traceEvents": [step]}))]);
    fs::rename(folder.path().join("empty.json"), folder.path().join("run.rank1.json")).expect("a file");
    let rows = answer(folder.path(), "ranks run.rank0.json run.rank1.json");
    let rows = rows["rows"].as_array().expect("rows").clone();
    assert!(rows.iter().any(|row| row["kind"] == "rank" && row["rank"] == 0), "{rows:?}");
    assert!(rows.iter().any(|row| row["code"] == "no_events"), "{rows:?}");
    assert_eq!(code(folder.path(), "ranks run.rank0.json run.rank1.json --strict"), 3);
}

#[test]
fn budgets_that_a_trace_cannot_decide_do_not_pass() {
    let folder = folder(&[]);
    let folder = folder.path();
    fs::write(folder.join("recompilations.toml"), "[recompilations]\nmax = 0\n").expect("a file");
    fs::write(folder.join("findings.toml"), "[findings]\nforbid = [\"gpu_idle\"]\n").expect("a file");
    fs::write(folder.join("incomplete.toml"), "[findings]\nforbid = [\"trace_incomplete\"]\n")
        .expect("a file");
    for budget in ["recompilations.toml", "findings.toml"] {
        assert_eq!(code(folder, &format!("check {budget} a.json")), 3, "{budget}");
        assert_eq!(code(folder, &format!("check {budget} metadata.json")), 2, "{budget}");
    }
    assert_eq!(code(folder, "check incomplete.toml a.json"), 0);
    // Without calls, neither launches nor the causes of idle time are known.
    let kernels = [0, 500].map(|ts| span("k", "kernel", (0, 7), (ts, 5), &json!({"device": 0})));
    fs::write(folder.join("kernels.json"), json!(kernels).to_string()).expect("a file");
    fs::write(folder.join("launches.toml"), "[launches]\nmax = 10\n").expect("a file");
    assert_eq!(code(folder, "check launches.toml kernels.json"), 3);
    let ops = json!([span("aten::mm", "cpu_op", (1, 1), (0, 9), &json!({"External id": 1}))]);
    fs::write(folder.join("ops.json"), ops.to_string()).expect("a file");
    assert_eq!(code(folder, "check recompilations.toml ops.json"), 0);
}

#[test]
fn the_recorders_own_span_is_no_range_of_the_program() {
    let trace = |length: i64, second: i64| {
        json!([
            span("PyTorch Profiler (0)", "Trace", (7, 7), (0, length), &json!({})),
            span("main", "range", (1, 1), (0, 1000), &json!({})),
            span("second", "range", (1, 2), (0, second), &json!({})),
        ])
    };
    let folder = folder(&[
        ("short.json", trace(1000, 500)),
        ("long.json", trace(3000, 500)),
        ("other.json", trace(1000, 400)),
    ]);
    let diff = |new: &str| {
        let output = kinetoscope(folder.path(), &format!("diff short.json {new}"));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert!(!diff("long.json").contains("PyTorch Profiler"), "{}", diff("long.json"));
    let sentence = "Calls of second took 500.000us in sum (1 in A), 400.000us in sum (1 in B).";
    assert!(diff("other.json").contains(sentence), "{}", diff("other.json"));
    let budgets =
        String::from_utf8(kinetoscope(folder.path(), "check --init short.json").stdout).expect("UTF-8");
    assert!(budgets.contains("main") && !budgets.contains("PyTorch Profiler"), "{budgets}");
}

#[test]
fn links_that_are_guesses_are_losses() {
    let call = |(pid, ts): (i64, i64), id: i64, external: i64| {
        span(
            "cudaLaunchKernel",
            "cuda_runtime",
            (pid, pid),
            (ts, 2),
            &json!({"correlation": id, "External id": external}),
        )
    };
    let kernel =
        |ts: i64, id: i64| span("k", "kernel", (0, 7), (ts, 5), &json!({"correlation": id, "device": 0}));
    let operator =
        |tid: i64, ts: i64| span("aten::mm", "cpu_op", (1, tid), (ts, 10), &json!({"External id": 1}));
    // A process that rarely uses the device.
    let mut rare: Vec<Value> =
        (1..9).flat_map(|id| [call((11, 100 * id), id, 0), kernel(100 * id + 20, id)]).collect();
    rare.extend([call((22, 950), 1, 0), kernel(968, 1)]);
    // Both calls begin after the work.
    let early = vec![call((1, 12), 5, 1), call((1, 32), 5, 2), kernel(8, 5)];
    // The operators are on other threads than the call.
    let elsewhere = vec![operator(2, 0), operator(3, 1), call((1, 5), 5, 1), kernel(20, 5)];
    let clear = vec![operator(2, 0), call((1, 5), 5, 1), kernel(20, 5)];
    for (name, events, guesses) in
        [("rare", rare, 1), ("early", early, 1), ("elsewhere", elsewhere, 1), ("clear", clear, 0)]
    {
        let folder = folder(&[("t.json", json!({"schemaVersion": 1, "traceEvents": events}))]);
        assert_eq!(count(&answer(folder.path(), "check t.json"), "ambiguous_link"), guesses, "{name}");
        assert_eq!(code(folder.path(), "info t.json --strict"), guesses as i32 * 3, "{name}");
    }
}

#[test]
fn samples_begin_the_recording_and_lack_nothing_in_silence() {
    let nodes = json!([
        {"id": 1, "callFrame": {"functionName": "(root)", "scriptId": 0}},
        {"id": 2, "callFrame": {"functionName": "foo", "scriptId": 0}, "parent": 1}
    ]);
    let profile = json!({"nodes": nodes, "samples": [2, 2, 1], "timeDeltas": [5, 5, 5], "startTime": 100, "endTime": 200});
    let event = json!({"name": "CpuProfile", "ph": "I", "cat": "x", "pid": 1, "tid": 7, "ts": 500,
        "args": {"data": {"cpuProfile": profile}}});
    let missing = json!({"traceEvents": [span("a", "c", (1, 1), (0, 9), &json!({}))], "stackFrames": {},
        "samples": [{"tid": 1, "pid": 1, "ts": 1, "sf": "9"}, {"tid": 1, "pid": 1, "sf": "9"}]});
    let folder = folder(&[("profile.json", json!([event])), ("missing.json", missing)]);
    let samples = answer(folder.path(), "samples profile.json --by thread --time 0us..10s");
    assert_eq!(samples["rows"][0]["samples"], 3);
    assert_eq!(code(folder.path(), "slice profile.json --time 0us..10s -o slice.json"), 0);
    assert_eq!(answer(folder.path(), "samples slice.json --by thread")["rows"][0]["samples"], 3);
    let check = answer(folder.path(), "check missing.json");
    assert!(count(&check, "sample_stack") > 0 && count(&check, "sample_time") > 0, "{check}");
    assert_eq!(code(folder.path(), "samples missing.json --strict"), 3);
}

#[test]
fn keys_that_occur_twice_and_numbers_with_a_fraction_are_noticed() {
    let folder = folder(&[]);
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write(
        "twice.json",
        r#"[{"ph":"X","name":"a","ts":0,"ts":5,"dur":1,"pid":1,"tid":1},{"ph":"i","s":"t","ph":"i","name":"b","ts":1,"pid":1,"tid":1}]"#,
    );
    write(
        "fraction.json",
        r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":9},{"ph":"X","name":"b","pid":1.0,"tid":1.00,"ts":2,"dur":5}]"#,
    );
    assert_eq!(count(&answer(folder.path(), "check twice.json"), "duplicate_key"), 2);
    let tree = answer(folder.path(), "tree fraction.json");
    let depths: Vec<&Value> =
        tree["rows"].as_array().expect("rows").iter().map(|row| &row["depth"]).collect();
    assert_eq!(depths, [&json!(null), &json!(0), &json!(1)], "{tree}");
}

#[test]
fn standard_output_is_a_file_named_by_a_dash() {
    let folder = folder(&[]);
    let summary = kinetoscope(folder.path(), "summarize a.json -o -").stdout;
    fs::write(folder.path().join("a.ksum"), &summary).expect("a file");
    assert_eq!(code(folder.path(), "ranks a.ksum"), 0);
    assert_eq!(code(folder.path(), "check a.json --record -"), 2);
    assert!(!folder.path().join("-").exists());
    let repaired =
        String::from_utf8(kinetoscope(folder.path(), "repair a.json -o r.json").stderr).expect("UTF-8");
    assert!(repaired.contains("1 event written"), "{repaired}");
}

#[test]
fn rules_that_were_chosen_leave_no_doubt() {
    let kernel = span("aten::mm", "cpu_op", (1, 1), (0, 5), &json!({"External id": 1}));
    let trace =
        json!({"schemaVersion": 1, "baseTimeNanoseconds": 1, "traceEvents": [kernel], "traceName": "t"});
    let folder = folder(&[("t.json", trace)]);
    let row = |arguments: &str| answer(folder.path(), arguments)["rows"][0].clone();
    assert!(row("info t.json --torch-version 2.10")["torch_rules_doubt"].is_null());
    let chosen = row("info t.json --torch-version 2.11");
    assert_eq!((&chosen["torch_rules"], &chosen["torch_rules_doubt"]), (&json!("2.11"), &json!(null)));
}
