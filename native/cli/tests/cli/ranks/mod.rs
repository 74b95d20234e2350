//! `ranks`, `summarize` and `merge`, as a user runs them: folders, archives, patterns, damaged and foreign files.

mod archives;
mod merge;

use crate::support::{data, kinetoscope};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn run(folder: &str) -> PathBuf {
    data("runs").join(folder)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The rows of `ranks` about these files.
fn rows(paths: &[&Path]) -> Vec<Value> {
    let mut arguments = vec!["ranks", "--format", "json"];
    arguments.extend(paths.iter().map(|path| text(path)));
    let output = kinetoscope(&arguments);
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(document["schema"], "kinetoscope.ranks/1");
    document["rows"].as_array().expect("rows").clone()
}

/// A folder with the traces of a run, and their paths.
fn copied(folder: &str) -> (tempfile::TempDir, Vec<PathBuf>) {
    let copy = tempfile::tempdir().expect("a folder");
    let copied = (0..4).map(|rank| {
        let name = format!("rank{rank}.json.gz");
        let path = copy.path().join(&name);
        fs::copy(run(folder).join(&name), &path).expect("a copy");
        path
    });
    let paths = copied.collect();
    (copy, paths)
}

/// A trace of a rank with one operator that launches a kernel, and a step; `rank` can be left out.
fn small_trace(rank: Option<i64>, second: i64) -> Vec<u8> {
    let info = rank.map(|rank| format!(r#""distributedInfo": {{"rank": {rank}, "world_size": 2}},"#));
    let ts = second * 1_000_000;
    format!(
        r#"{{{} "traceEvents": [
        {{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 9000000, "tid": 1, "ts": {ts}, "dur": 90}},
        {{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9000000, "tid": 1, "ts": {ts}, "dur": 20, "args": {{"External id": 5}}}},
        {{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9000000, "tid": 1, "ts": {}, "dur": 2, "args": {{"External id": 5, "correlation": 7}}}},
        {{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": {}, "dur": 9, "args": {{"External id": 5, "correlation": 7, "device": 0, "stream": 7}}}}]}}"#,
        info.unwrap_or_default(),
        ts + 5,
        ts + 8
    )
    .into_bytes()
}

#[test]
fn summaries_answer_as_the_traces_do() {
    for name in ["slow_forward", "clocks", "pipeline", "two_groups", "alternating"] {
        let (folder, paths) = copied(name);
        let other = tempfile::tempdir().expect("a folder");
        let [all, again] = ["all.ksum", "again.ksum"].map(|name| other.path().join(name));
        let summarize = |arguments: &[&str]| {
            let output = kinetoscope(&[&["summarize"], arguments].concat());
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        summarize(&[text(folder.path()), "-o", text(&all)]);
        summarize(&[text(folder.path()), "-o", text(other.path())]);
        let parts: Vec<PathBuf> =
            (0..4).rev().map(|rank| other.path().join(format!("rank{rank}.ksum"))).collect();
        let mut arguments: Vec<&str> = parts.iter().map(|part| text(part)).collect();
        arguments.extend(["-o", text(&again)]);
        summarize(&arguments);
        assert_eq!(fs::read(&all).expect("a file"), fs::read(&again).expect("a file"), "{name}");
        assert_eq!(rows(&[&all]), rows(&[folder.path()]), "{name}");
        for (part, trace) in parts.iter().zip(paths.iter().rev()) {
            let size = |path: &Path| fs::metadata(path).expect("a file").len();
            assert!(size(part) <= (size(trace) / 50).max(256 << 10), "{name}: {} bytes", size(part));
        }
    }
}

/// The file was written by the first version of the format. It stays as it is when the format changes.
#[test]
fn a_file_of_the_first_version_is_read() {
    let old = rows(&[&run("summaries/slow_forward_version_1.ksum")]);
    let new = rows(&[&run("slow_forward")]);
    for kind in ["straggler", "clock", "collective"] {
        let of = |rows: &[Value]| rows.iter().filter(|row| row["kind"] == kind).cloned().collect::<Vec<_>>();
        assert!(!of(&old).is_empty());
        assert_eq!(of(&old), of(&new));
    }
}

#[test]
fn one_rank_and_one_step_can_be_shown() {
    let output = kinetoscope(&["ranks", text(&run("slow_forward")), "--rank", "2", "--step", "5"]);
    let page = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(page.contains("Ranks in steps") && page.contains("slow_forward"), "{page}");
    for wrong in [["--rank", "9"], ["--step", "99"]] {
        let output = kinetoscope(&["ranks", text(&run("slow_forward")), wrong[0], wrong[1]]);
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn no_output_overwrites_an_input_or_another_output() {
    let (folder, paths) = copied("slow_forward");
    let before: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).expect("a trace")).collect();
    for command in ["ranks", "summarize", "merge"] {
        let output = kinetoscope(&[command, text(folder.path()), "-o", text(&paths[1])]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("rank1.json.gz would overwrite its input"), "{message}");
    }
    let again = folder.path().join("again");
    fs::create_dir(&again).expect("a folder");
    fs::copy(&paths[2], again.join("rank0.json.gz")).expect("a copy");
    let other = tempfile::tempdir().expect("a folder");
    let output = kinetoscope(&["summarize", text(folder.path()), "-o", text(other.path())]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains("two traces would be written to") && message.contains("rank0.ksum"),
        "{message}"
    );
    let after: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).expect("a trace")).collect();
    assert!(before == after, "a trace was overwritten");
}

#[test]
fn a_run_without_a_rank_has_a_line_for_each_file() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("rank0.json"), "").expect("an empty file");
    fs::write(folder.path().join("a\nb.json"), "<html>").expect("a page");
    for command in ["ranks", "merge"] {
        let output = kinetoscope(&[command, text(folder.path())]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let lines = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(lines.lines().count(), 3, "{lines}");
        assert!(
            lines.contains("rank0.json: the input is empty") && lines.contains("a\\nb.json: "),
            "{lines}"
        );
        assert!(lines.ends_with("no trace of a rank could be read\n"), "{lines}");
    }
}

#[test]
fn two_cycles_of_a_rank_stay_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    // The second cycle is two hours later.
    for (cycle, second) in [(0, 1), (1, 7201)] {
        for rank in [0, 1] {
            let path = folder.path().join(format!("worker{rank}_span{cycle}.json"));
            fs::write(path, small_trace(Some(rank), second)).expect("a trace");
        }
    }
    let found = rows(&[folder.path()]);
    let rank = found.iter().find(|row| row["kind"] == "rank").expect("a rank");
    assert_eq!((&rank["windows"], &rank["wall_ns"]), (&2.into(), &180_000.into()));
    let steps = found.iter().filter(|row| row["kind"] == "step");
    assert_eq!(steps.map(|row| row["step"].clone()).collect::<Vec<_>>(), [3, 3]);
    let merged = folder.path().join("merged.json");
    assert!(kinetoscope(&["merge", text(folder.path()), "-o", text(&merged)]).status.success());
    let output = kinetoscope(&["launches", text(&merged), "--format", "json"]);
    let launches: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let launches = launches["rows"].as_array().expect("rows");
    assert!(
        !launches.is_empty() && launches.iter().all(|row| row["max_delay_ns"].as_i64() < Some(1_000_000)),
        "{launches:?}"
    );
}

#[test]
fn answers_do_not_depend_on_the_order_of_files_without_a_rank() {
    let folder = tempfile::tempdir().expect("a folder");
    // The second one is earlier.
    for (name, second) in [("a.json", 3), ("b.json", 1)] {
        fs::write(folder.path().join(name), small_trace(None, second)).expect("a trace");
    }
    let ksum = folder.path().join("run.ksum");
    let traces = rows(&[folder.path()]);
    assert!(kinetoscope(&["summarize", text(folder.path()), "-o", text(&ksum)]).status.success());
    assert_eq!(rows(&[&ksum]), traces);
    let first = traces.iter().find(|row| row["kind"] == "rank").expect("a rank");
    assert_eq!((&first["rank"], &first["trace"]), (&0.into(), &"a.json".into()));
}
