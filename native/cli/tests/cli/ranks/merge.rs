//! Traces of several ranks in one file, which `merge` writes.

use super::archives::tar_of;
use super::{copied, small_trace, text};
use crate::support::{data, kinetoscope};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn a_merged_trace_has_every_event_on_one_clock() {
    let (folder, paths) = copied("clocks");
    let merged = folder.path().join("merged.json");
    let output = kinetoscope(&["merge", text(folder.path()), "-o", text(&merged)]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&fs::read(&merged).expect("a trace")).expect("JSON");
    let events = document["traceEvents"].as_array().expect("events");
    let count = |path: &Path| -> u64 {
        let output = kinetoscope(&["info", text(path), "--format", "json"]);
        let info: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        info["rows"][0]["events"].as_u64().expect("a number")
    };
    let spans: u64 = paths.iter().map(|path| count(path)).sum();
    assert!(events.len() as u64 >= spans, "{} {spans}", events.len());
    let steps: Vec<&Value> = events.iter().filter(|event| event["name"] == "ProfilerStep#5").collect();
    let starts: Vec<f64> = steps.iter().map(|step| step["ts"].as_f64().expect("a time")).collect();
    let pids: BTreeSet<i64> =
        steps.iter().map(|step| step["pid"].as_i64().expect("a number") / 10_000_000).collect();
    assert_eq!(pids, BTreeSet::from([0, 1, 2, 3]));
    // The clocks of ranks 2 and 3 are 15 ms apart in the traces.
    let spread =
        starts.iter().copied().fold(f64::MIN, f64::max) - starts.iter().copied().fold(f64::MAX, f64::min);
    assert!(spread < 10_000.0, "{starts:?}");
    let mut owners = std::collections::BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "s" || event["ph"] == "f") {
        let rank = event["pid"].as_i64().expect("a number") / 10_000_000;
        assert_eq!(*owners.entry(event["id"].to_string()).or_insert(rank), rank);
    }
    assert!(owners.len() > 100);
    let two = folder.path().join("two.json.gz");
    let output = kinetoscope(&["merge", text(&paths[0]), text(&paths[3]), "--ranks", "3", "-o", text(&two)]);
    assert!(output.status.success());
    assert!(count(&two) >= count(&paths[3]) && count(&two) < 2 * count(&paths[3]));
    assert_eq!(kinetoscope(&["merge", text(&paths[0]), "--ranks", "9"]).status.code(), Some(2));
}

#[test]
fn merging_writes_each_recording_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let merged = folder.path().join("merged.json");
    let path = |name: &str, rank: i64| {
        let path = folder.path().join(name);
        fs::write(&path, small_trace(Some(rank), 1)).expect("a trace");
        path
    };
    let (first, second) = (path("rank0.json", 0), path("rank1.json", 1));
    let output = kinetoscope(&["merge", text(&first), text(&first), text(&second), "-o", text(&merged)]);
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("rank0.json (2): rank 0 at the same time as rank0.json")
    );
    let spans = |path: &Path| fs::read_to_string(path).expect("a trace").matches("aten::mm").count();
    assert_eq!(spans(&merged), 2);
    let tar = folder.path().join("twice.tar");
    tar_of(&tar, &[("rank0.json", small_trace(Some(0), 1)), ("rank0.json", small_trace(Some(1), 1))], false);
    assert!(kinetoscope(&["merge", text(&tar), "-o", text(&merged)]).status.success());
    let trace = fs::read_to_string(&merged).expect("a trace");
    assert!(
        trace.contains(r#""rank":0,"trace":"rank0.json""#)
            && trace.contains(r#""rank":1,"trace":"rank0.json (2)""#)
    );
}

/// Samples of all forms keep their threads, stacks and times, on the clock of the merged trace.
#[test]
fn merging_moves_samples() {
    let folder = tempfile::tempdir().expect("a folder");
    let chunk = json!({"data": {"cpuProfile": {"samples": [1, 1], "nodes": [{"id": 1, "callFrame": {"functionName": "js"}}]},
        "timeDeltas": [300, 400]}});
    let paths = [0, 1].map(|rank| {
        let document = json!({
            "distributedInfo": {"rank": rank, "world_size": 2},
            "baseTimeNanoseconds": 1_700_000_000_000_000_000_i64 + rank * 5_000_000,
            "traceEvents": [
                {"ph": "X", "cat": "cpu_op", "name": "run", "pid": 1, "tid": 10, "ts": 0, "dur": 3000},
                {"ph": "P", "name": "tick", "pid": 1, "tid": 10, "ts": 200, "sf": "5"},
                {"ph": "P", "cat": "disabled-by-default-v8", "name": "Profile", "id": "0x1", "pid": 1, "tid": 10, "ts": 0,
                    "args": {"data": {"startTime": 1000}}},
                {"ph": "P", "cat": "disabled-by-default-v8", "name": "ProfileChunk", "id": "0x1", "pid": 1, "tid": 9, "ts": 1,
                    "args": chunk},
            ],
            "stackFrames": {"4": {"name": "outer"}, "5": {"name": "inner", "parent": "4"}},
            "samples": [{"pid": 1, "tid": "10", "ts": "100.5", "sf": 4}],
        });
        let path = folder.path().join(format!("rank{rank}.json"));
        fs::write(&path, document.to_string()).expect("a trace");
        path
    });
    let merged = folder.path().join("merged.json");
    let output = kinetoscope(&["merge", text(&paths[0]), text(&paths[1]), "-o", text(&merged)]);
    assert!(output.status.success(), "{output:?}");
    let count = |options: &[&str]| -> Vec<(String, i64)> {
        let args = [&["samples", text(&merged), "--format", "json"], options].concat();
        let rows: Value = serde_json::from_slice(&kinetoscope(&args).stdout).expect("JSON");
        let row = |row: &Value| {
            (row["name"].as_str().unwrap_or("").to_owned(), row["samples"].as_i64().unwrap_or(0))
        };
        rows["rows"].as_array().expect("rows").iter().map(row).collect()
    };
    let is = |options: &[&str], expected: &[(&str, i64)]| {
        let expected: Vec<(String, i64)> =
            expected.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
        assert_eq!(count(options), expected, "{options:?}");
    };
    is(&[], &[("js", 4), ("outer", 4), ("inner", 2)]);
    is(&["--by", "thread"], &[("rank 0: thread 10", 4), ("rank 1: thread 10", 4)]);
    is(&["--time", "5.1ms..5.15ms"], &[("outer", 1)]);
    is(&["--time", "5.2ms..5.25ms"], &[("inner", 1), ("outer", 1)]);
    is(&["--time", "6.3ms..6.31ms"], &[("js", 1)]);
    is(&["--time", "6.7ms..6.71ms"], &[("js", 1)]);
}

/// A device has its number with its rank, not the number that the merged trace gives it.
#[test]
fn devices_of_a_merged_trace_have_their_ranks() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = [3, 12].map(|rank| {
        let path = folder.path().join(format!("rank{rank}.json"));
        fs::write(&path, small_trace(Some(rank), 1)).expect("a trace");
        path
    });
    let merged = folder.path().join("merged.json");
    assert!(kinetoscope(&["merge", text(&paths[0]), text(&paths[1]), "-o", text(&merged)]).status.success());
    let column = |query: &str, key: &str| -> Vec<String> {
        let output = kinetoscope(&[query, text(&merged), "--format", "json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let rows = answer["rows"].as_array().expect("rows").iter();
        rows.map(|row| row[key].as_str().unwrap_or("").to_owned()).collect()
    };
    assert_eq!(column("breakdown", "device"), ["rank 3: 0", "rank 12: 0"]);
    let tracks = column("tracks", "process");
    for device in ["rank 3: device 0", "rank 12: device 0"] {
        assert!(tracks.iter().any(|name| name == device), "{tracks:?}");
    }
}

/// Ids of every kind are those of the rank, so that spans of two ranks do not pair. The string of a number stays the same id.
#[test]
fn asynchronous_spans_of_merged_ranks_do_not_pair() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = [0, 1].map(|rank| {
        let event = |ph: &str, id: (&str, Value), ts: i64| json!({"ph": ph, "cat": "c", "name": id.0, "pid": 1, "tid": 1, "ts": ts, id.0: id.1});
        let global = |ph: &str, ts: i64| event(ph, ("id2", json!({"global": "0x1"})), ts);
        // Rank 0 has the begin of the global span twice, rank 1 has its end twice.
        let (first, second) = if rank == 0 { ("b", "b") } else { ("e", "e") };
        let document = json!({
            "distributedInfo": {"rank": rank, "world_size": 2},
            "traceEvents": [
                {"ph": "X", "cat": "cpu_op", "name": "run", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
                event("b", ("id", json!("9")), 10), event("e", ("id", json!(9)), 30),
                global(first, 40), global(second, 50),
            ],
        });
        let path = folder.path().join(format!("rank{rank}.json"));
        fs::write(&path, document.to_string()).expect("a trace");
        path
    });
    let merged = folder.path().join("merged.json");
    assert!(kinetoscope(&["merge", text(&paths[0]), text(&paths[1]), "-o", text(&merged)]).status.success());
    let output = kinetoscope(&["check", text(&merged), "--format", "json"]);
    let check: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let unmatched =
        check["rows"].as_array().expect("rows").iter().find(|row| row["name"] == "unmatched_async");
    assert_eq!(unmatched.expect("a diagnostic")["count"], 4);
    let output = kinetoscope(&["tasks", text(&merged), "--format", "json"]);
    let tasks: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let pairs =
        tasks["rows"].as_array().expect("rows").iter().find(|row| row["name"] == "id").expect("tasks");
    assert_eq!((&pairs["count"], &pairs["life_ns"]), (&json!(2), &json!(40_000)));
}

/// A merged trace states what its recordings have alike, so that it is read by the rules of the version that wrote them.
#[test]
fn a_merged_trace_is_read_by_the_rules_of_its_recordings() {
    let folder = tempfile::tempdir().expect("a folder");
    let merged = folder.path().join("merged.json");
    let info = |path: &str| -> Value {
        let output = kinetoscope(&["info", path, "--format", "json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        answer["rows"][0].clone()
    };
    let data = data("torch");
    let cases = ["2.15/kineto/left_open/trace.json", "2.10/kineto/left_open/trace.json"];
    for case in cases {
        let source = data.join(case);
        assert!(kinetoscope(&["merge", text(&source), "-o", text(&merged)]).status.success(), "{case}");
        for key in ["torch_rules", "torch_rules_doubt", "devices", "host"] {
            assert_eq!(info(text(&merged))[key], info(text(&source))[key], "{case}: {key}");
        }
        let ops = |path: &Path| -> Vec<(String, Value, Value)> {
            let output = kinetoscope(&["ops", text(path), "--format", "json"]);
            let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            let rows = answer["rows"].as_array().expect("rows").iter();
            rows.map(|row| (row["name"].to_string(), row["count"].clone(), row["cpu_time_total_ns"].clone()))
                .collect()
        };
        assert_eq!(ops(&merged), ops(&source), "{case}");
        assert!(!ops(&merged).is_empty());
    }
}

fn answer_of(query: &str, path: &Path) -> Vec<Value> {
    let output = kinetoscope(&[query, text(path), "--format", "json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    answer["rows"].as_array().expect("rows").clone()
}

/// Each recording ends for itself: spans that are open at its end do not last into the next one.
#[test]
fn spans_do_not_last_beyond_their_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = |name: &str, start: i64, length: i64, rank: i64| {
        let event = |ph: &str, name: &str, ts: i64, more: Value| {
            let mut event = json!({"ph": ph, "name": name, "pid": 100, "tid": 5, "ts": start + ts});
            event.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            event
        };
        let stray = if start == 0 { ("B", "b") } else { ("E", "n") };
        let document = json!({
            "schemaVersion": 1, "baseTimeNanoseconds": 0, "host_name": "h",
            "distributedInfo": {"rank": rank, "world_size": 2},
            "traceEvents": [
                {"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "pid": 100, "tid": 5, "ts": start + 50,
                    "args": {"Addr": 7, "Bytes": 1000, "Device Type": 1, "Device Id": 0, "Total Allocated": 1000}},
                {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": start, "dur": length},
                event("X", "open", 20, json!({"cat": "cpu_op", "dur": length - 20, "args": {"External id": 1, "finished": false}})),
                event(stray.0, "block", 30, json!({})),
                event(stray.1, "request", 40, json!({"cat": "c", "id": 1, "tid": 6})),
            ],
        });
        let path = folder.path().join(name);
        fs::write(&path, document.to_string()).expect("a trace");
        path
    };
    let paths = [
        recording("a_rank0.1.json", 0, 100, 0),
        recording("b_rank0.2.json", 50_000, 300, 0),
        recording("c_rank1.json", 10, 6000, 1),
    ];
    let merged = folder.path().join("merged.json");
    let arguments = [&["merge", "-o", text(&merged)], &paths.each_ref().map(|path| text(path))[..]].concat();
    assert!(kinetoscope(&arguments).status.success());
    let ops = answer_of("events", &merged);
    let times: Vec<i64> = ops
        .iter()
        .filter(|row| row["name"] == "open")
        .map(|row| row["cpu_time_total_ns"].as_i64().expect("a time"))
        .collect();
    assert_eq!(times, [80_000, 5_980_000, 280_000]);
    let memory = answer_of("memory", &merged);
    let devices = memory.iter().filter(|row| row["kind"] == "device");
    let peaks: Vec<&Value> = devices.map(|row| &row["peak_bytes"]).collect();
    assert_eq!(peaks, [&json!(1000), &json!(1000)], "{memory:?}");
    let names = answer_of("names", &merged);
    let block = names.iter().find(|row| row["name"] == "block").expect("the span");
    assert_eq!(block["max_ns"], 0);
    let tasks = answer_of("tasks", &merged);
    let request = tasks.iter().find(|row| row["name"] == "request").expect("the task");
    assert_eq!(request["life_ns"], 60_000);
    let check = answer_of("check", &merged);
    for code in ["unmatched_begin", "unmatched_end"] {
        assert!(check.iter().any(|row| row["name"] == code), "{code}");
    }
}

/// The memory of ranks is apart, numbers of processes are their own again, and a merged trace is no rank.
#[test]
fn ranks_of_a_merged_trace_stay_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = [0, 1].map(|rank| {
        let memory = |ts: i64, bytes: i64, total: i64| {
            json!({"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "pid": 100, "tid": 1, "ts": ts,
            "args": {"Addr": 7, "Bytes": bytes, "Device Type": 1, "Device Id": 0, "Total Allocated": total, "Total Reserved": 1000}})
        };
        let mut document: Value = serde_json::from_slice(&small_trace(Some(rank), 1)).expect("JSON");
        let events = document["traceEvents"].as_array_mut().expect("events");
        events.extend([memory(1_000_010, 500 + rank, 500 + rank), memory(1_000_020 + rank, -500 - rank, 0)]);
        events.push(json!({"ph": "X", "cat": "overhead", "name": "Activity Buffer Request", "pid": -1, "tid": 0, "ts": 1_000_001, "dur": 1}));
        let path = folder.path().join(format!("rank{rank}.json"));
        fs::write(&path, document.to_string()).expect("a trace");
        path
    });
    let merged = folder.path().join("merged.json");
    assert!(kinetoscope(&["merge", text(&paths[0]), text(&paths[1]), "-o", text(&merged)]).status.success());
    let memory = answer_of("memory", &merged);
    let peaks: Vec<(&Value, &Value)> = memory
        .iter()
        .filter(|row| row["kind"] == "device")
        .map(|row| (&row["device"], &row["allocated_bytes"]))
        .collect();
    assert_eq!(
        peaks,
        [(&json!("rank 0: CUDA 0"), &json!(500)), (&json!("rank 1: CUDA 0"), &json!(501))],
        "{memory:?}"
    );
    assert!(!memory.iter().any(|row| row["kind"] == "unreleased"), "{memory:?}");
    let ops = answer_of("ops", &merged);
    let mm = ops.iter().find(|row| row["name"] == "aten::mm").expect("the operator");
    // Rank 0 releases its memory in the operator, rank 1 after it.
    assert_eq!(mm["device_memory_usage_bytes"], 501);
    let launches = answer_of("launches", &merged);
    assert_eq!(launches.len(), 2);
    for (rank, row) in launches.iter().enumerate() {
        assert_eq!((&row["device"], &row["stream"]), (&json!(format!("rank {rank}: 0")), &json!("7")));
    }
    let events = answer_of("events", &merged);
    let overhead: Vec<&Value> =
        events.iter().filter(|row| row["name"] == "Activity Buffer Request").collect();
    assert!(overhead.len() == 2 && overhead.iter().all(|row| row["device_index"] == -1), "{overhead:?}");
    assert_eq!(answer_of("info", &merged)[0]["ranks"], 2);
    for command in ["ranks", "merge", "summarize"] {
        let output =
            kinetoscope(&[command, text(&merged), "-o", text(&folder.path().join("other")), "--strict"]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("merged from several ranks"), "{command}");
    }
    // What was redacted is a merged trace as well.
    let redacted = folder.path().join("redacted.json");
    assert!(kinetoscope(&["redact", text(&merged), "-o", text(&redacted)]).status.success());
    assert_eq!(answer_of("memory", &redacted), memory);
    assert_eq!(answer_of("launches", &redacted), launches);
}

/// A step has the threads and devices of its process, which `check` confirms.
#[test]
fn steps_of_merged_ranks_have_the_devices_of_their_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let merged = folder.path().join("merged.json");
    let paths = [0, 1].map(|rank| {
        let trace = String::from_utf8(small_trace(Some(rank), 1)).expect("UTF-8");
        let path = folder.path().join(format!("rank{rank}.json"));
        fs::write(&path, trace.replace(r#""dur": 9,"#, &format!(r#""dur": {},"#, 9 + 30 * rank)))
            .expect("a trace");
        path
    });
    assert!(kinetoscope(&["merge", text(&paths[0]), text(&paths[1]), "-o", text(&merged)]).status.success());
    let steps = answer_of("steps", &merged);
    let busy: Vec<(&Value, &Value)> =
        steps.iter().map(|row| (&row["device_busy_ns"], &row["device_sum_ns"])).collect();
    assert_eq!(busy, [(&json!(9000), &json!(9000)), (&json!(39_000), &json!(39_000))]);
    assert!(kinetoscope(&["check", text(&merged)]).status.success());
}
