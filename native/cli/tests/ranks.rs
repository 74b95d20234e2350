//! `ranks`, `summarize` and `merge`, as a user runs them: folders, archives, patterns, damaged and foreign files.

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/runs").join(folder)
}

fn kinetoscope(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kinetoscope")).args(arguments).output().expect("a process")
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

/// The rows without those whose text depends on paths.
fn facts(rows: &[Value]) -> Vec<&Value> {
    rows.iter().filter(|row| row["kind"] != "note" && row["kind"] != "rank").collect()
}

fn notes(rows: &[Value]) -> Vec<(String, String)> {
    let notes = rows.iter().filter(|row| row["kind"] == "note");
    let text = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
    notes.map(|row| (text(row, "code"), text(row, "message"))).collect()
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

fn tar_of(path: &Path, files: &[(&str, Vec<u8>)], compress: bool) {
    let file = File::create(path).expect("a file");
    let out: Box<dyn Write> =
        if compress { Box::new(GzEncoder::new(file, Compression::fast())) } else { Box::new(file) };
    let mut archive = tar::Builder::new(out);
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        // `set_path` refuses paths that leave the archive.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        archive.append(&header, bytes.as_slice()).expect("a file in the archive");
    }
    archive.finish().expect("an archive");
}

fn zip_of(path: &Path, files: &[(&str, Vec<u8>)]) {
    let mut archive = zip::ZipWriter::new(File::create(path).expect("a file"));
    for (name, bytes) in files {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).expect("a file in the archive");
        archive.write_all(bytes).expect("its bytes");
    }
    archive.finish().expect("an archive");
}

/// The files of a run with the names that they have in an archive.
fn members(paths: &[PathBuf]) -> Vec<(&'static str, Vec<u8>)> {
    let names = ["run/rank0.json.gz", "run/rank1.json.gz", "run/rank2.json.gz", "run/rank3.json.gz"];
    names.into_iter().zip(paths).map(|(name, path)| (name, fs::read(path).expect("a trace"))).collect()
}

#[test]
fn folders_archives_and_patterns_give_the_same_rows() {
    let (folder, paths) = copied("slow_forward");
    let expected = rows(&[folder.path()]);
    let straggler = expected.iter().find(|row| row["kind"] == "straggler").expect("a late rank");
    assert_eq!((&straggler["rank"], &straggler["phase"]), (&2.into(), &"forward".into()));
    assert!(straggler["message"].as_str().expect("evidence").contains("slow_forward"));
    let unfit = expected.iter().find(|row| row["question"] == "memory").expect("a verdict");
    assert_eq!(
        (&unfit["kind"], &unfit["verdict"], &unfit["ranks"]),
        (&"fitness".into(), &"unfit".into(), &serde_json::json!([0, 1, 2, 3]))
    );
    let other = tempfile::tempdir().expect("a folder");
    let [tar, gz, zip] = ["run.tar", "run.tar.gz", "run.zip"].map(|name| other.path().join(name));
    let mut files = members(&paths);
    files.push(("run/config.yaml", b"steps: 8".to_vec()));
    tar_of(&tar, &files, false);
    tar_of(&gz, &files, true);
    zip_of(&zip, &files);
    for archive in [&tar, &gz, &zip] {
        let found = rows(&[archive]);
        assert_eq!(facts(&found), facts(&expected), "{}", archive.display());
        let notes = notes(&found);
        assert!(
            notes.iter().any(|(code, text)| code == "skipped" && text.contains("config.yaml")),
            "{notes:?}"
        );
    }
    let pattern = folder.path().join("rank*.json.gz");
    assert_eq!(facts(&rows(&[&pattern])), facts(&expected));
    let reversed: Vec<&Path> = paths.iter().rev().map(PathBuf::as_path).collect();
    assert_eq!(facts(&rows(&reversed)), facts(&expected));
    assert_eq!(kinetoscope(&["ranks", text(&folder.path().join("none*.json"))]).status.code(), Some(2));
}

#[test]
fn bad_files_have_a_line_each_and_the_others_are_answered() {
    let (folder, paths) = copied("slow_forward");
    fs::write(folder.path().join("config.json"), r#"{"steps": 8}"#).expect("a file");
    assert_eq!(kinetoscope(&["ranks", text(folder.path()), "--strict"]).status.code(), Some(0));
    let mut damaged = fs::read(&paths[3]).expect("a trace");
    let half = damaged.len() / 2;
    damaged.truncate(half);
    fs::write(&paths[3], damaged).expect("a trace");
    fs::write(folder.path().join("rank4.json"), "").expect("an empty file");
    fs::write(folder.path().join("rank5.json.gz"), [0xff; 64]).expect("a corrupt file");
    fs::write(folder.path().join("rank6.ksum"), b"KSUM\x63rest").expect("a newer summary");
    fs::copy(&paths[0], folder.path().join("rank0-copy.json.gz")).expect("a copy");
    let other = r#"{"distributedInfo": {"rank": 2, "world_size": 64}, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}"#;
    fs::write(folder.path().join("rank2-other.json"), other).expect("a trace of another run");
    let mut old = String::new();
    GzDecoder::new(&*fs::read(&paths[1]).expect("a trace")).read_to_string(&mut old).expect("text");
    let newer = old.replacen(r#""schemaVersion": 1"#, r#""schemaVersion": 7"#, 1);
    assert_ne!(old, newer);
    fs::remove_file(&paths[1]).expect("a trace");
    fs::write(folder.path().join("rank1.json"), newer).expect("a trace of another schema");
    let found = rows(&[folder.path()]);
    let notes = notes(&found);
    for (code, part) in [
        ("skipped", "config.json"),
        ("unreadable", "rank4.json: the input is empty"),
        ("unreadable", "rank5.json.gz"),
        ("unreadable", "newer version"),
        ("partial", "rank3.json.gz"),
        ("duplicate_rank", "rank0-copy.json.gz"),
        ("another_run", "of a run of 64 ranks, not 4"),
        ("mixed_schema", "rank1.json: schema version 7, the others have 1"),
    ] {
        let count = notes.iter().filter(|(known, text)| known == code && text.contains(part)).count();
        assert_eq!(count, 1, "{code} {part}: {notes:#?}");
    }
    let named: Vec<&Value> =
        found.iter().filter(|row| row["kind"] == "straggler").map(|row| &row["rank"]).collect();
    assert_eq!(named, [2]);
    let folder = text(folder.path());
    assert_eq!(kinetoscope(&["ranks", folder]).status.code(), Some(0));
    assert_eq!(kinetoscope(&["ranks", folder, "--strict"]).status.code(), Some(3));
    // A file that is named must be a trace.
    let output = kinetoscope(&["ranks", folder, &format!("{folder}/config.json")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("config.json"));
    assert!(!output.stdout.is_empty());
}

#[test]
fn archives_cannot_leave_their_folder_or_fill_the_memory() {
    let (_folder, paths) = copied("pipeline");
    let other = tempfile::tempdir().expect("a folder");
    let mut files = members(&paths);
    files.push(("../outside.json", b"[]".to_vec()));
    files.push(("/absolute.json", b"[]".to_vec()));
    let [tar, zip] = ["run.tar.gz", "run.zip"].map(|name| other.path().join(name));
    files.push(("bomb.json", vec![b' '; 300 << 20]));
    tar_of(&tar, &files, true);
    zip_of(&zip, &files);
    for archive in [&tar, &zip] {
        let found = rows(&[archive]);
        let notes = notes(&found);
        for part in [
            "outside.json: its path leaves",
            "absolute.json: its path leaves",
            "bomb.json: it is 314572800 bytes",
        ] {
            assert!(
                notes.iter().any(|(code, text)| code == "unreadable" && text.contains(part)),
                "{part}: {notes:?}"
            );
        }
        assert_eq!(found.iter().filter(|row| row["kind"] == "rank").count(), 4);
    }
    assert_eq!(kinetoscope(&["ranks", text(&tar), "--strict"]).status.code(), Some(3));
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
        assert!(lines.contains("rank0.json: the input is empty") && lines.contains("a b.json: "), "{lines}");
        assert!(lines.ends_with("no trace of a rank could be read\n"), "{lines}");
    }
}

fn events(path: &Path) -> u64 {
    let output = kinetoscope(&["info", text(path), "--format", "json"]);
    let info: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    info["rows"][0]["events"].as_u64().expect("a number")
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
fn merging_writes_each_recording_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let merged = folder.path().join("merged.json");
    let path = |name: &str, rank: i64| {
        let path = folder.path().join(name);
        fs::write(&path, small_trace(Some(rank), 1)).expect("a trace");
        path
    };
    let (one, two) = (path("rank0.json", 0), path("rank1.json", 1));
    let output = kinetoscope(&["merge", text(&one), text(&one), text(&two), "-o", text(&merged)]);
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

/// The name of the archive has a rank as well.
#[test]
fn ranks_come_from_the_names_in_an_archive() {
    let folder = tempfile::tempdir().expect("a folder");
    let tar = folder.path().join("ranks2.tar.gz");
    let names = ["rank0.json", "rank3/trace.json", "rank7.json"];
    tar_of(&tar, &names.map(|name| (name, small_trace(None, 1))), true);
    let merged = folder.path().join("merged.json");
    let output = kinetoscope(&["merge", text(&tar), "--ranks", "3,7", "-o", text(&merged)]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(events(&merged) % 2, 0);
    let ranks: Vec<Value> = rows(&[&tar])
        .into_iter()
        .filter(|row| row["kind"] == "rank")
        .map(|row| row["rank"].clone())
        .collect();
    assert_eq!(ranks, [0, 3, 7]);
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
fn what_cannot_be_read_does_not_stop_the_others() {
    let (folder, _paths) = copied("slow_forward");
    let missing = folder.path().join("none.json");
    let output = kinetoscope(&["ranks", text(&missing), text(folder.path())]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Run: 4 of 4 ranks"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("none.json: No such file"));
    let ksum = folder.path().join("all.ksum");
    assert!(kinetoscope(&["summarize", text(folder.path()), "-o", text(&ksum)]).status.success());
    let merged = kinetoscope(&["merge", text(folder.path())]);
    assert_eq!(merged.status.code(), Some(0), "the summary was found, not named");
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

/// Many names for one large file.
#[test]
fn the_files_of_an_archive_are_bounded_in_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let zip = folder.path().join("bomb.zip");
    let large = vec![b' '; 200 << 20];
    let names =
        ["rank0.json", "rank1.json", "rank2.json", "rank3.json", "rank4.json", "rank5.json", "rank6.json"];
    zip_of(&zip, &names.map(|name| (name, large.clone())));
    let output = kinetoscope(&["ranks", text(&zip)]);
    let lines = String::from_utf8_lossy(&output.stderr);
    assert_eq!(lines.matches("unreasonably large in all").count(), 2, "{lines}");
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
    is(&["--by", "thread"], &[("thread 10", 4), ("thread 10000010", 4)]);
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
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/torch");
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
