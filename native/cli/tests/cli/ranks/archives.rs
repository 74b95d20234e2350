//! Runs that come as folders, archives and patterns, with damaged and foreign files among them.

use super::{copied, rows, small_trace, text};
use crate::support::kinetoscope;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The rows without those whose text depends on paths.
fn facts(rows: &[Value]) -> Vec<&Value> {
    rows.iter().filter(|row| row["kind"] != "note" && row["kind"] != "rank").collect()
}

fn notes(rows: &[Value]) -> Vec<(String, String)> {
    let notes = rows.iter().filter(|row| row["kind"] == "note");
    let text = |row: &Value, key: &str| row[key].as_str().expect("a text").to_owned();
    notes.map(|row| (text(row, "code"), text(row, "message"))).collect()
}

fn events(path: &Path) -> u64 {
    let output = kinetoscope(&["info", text(path), "--format", "json"]);
    let info: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    info["rows"][0]["events"].as_u64().expect("a number")
}

pub(crate) fn tar_of(path: &Path, files: &[(&str, Vec<u8>)], compress: bool) {
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
