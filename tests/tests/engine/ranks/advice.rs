//! `tests/data/advice/truth.json`: which ranks of real runs are late, by an engineer from the raw events.

use super::{of_kind, rows, run_of};
use kinetoscope_tests::files;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of the ranks in a folder.
fn ranks(folder: &Path) -> Vec<PathBuf> {
    let mut paths = files::below(folder);
    paths.retain(|path| {
        let name = path.file_name().expect("a name").to_string_lossy();
        name.ends_with(".json.gz") && !name.contains("_et_")
    });
    paths
}

/// The folder of a row, if it is at hand.
fn folder(row: &Value) -> Option<PathBuf> {
    let path = row["path"].as_str().expect("a path");
    let folder = match path.strip_prefix("runs/") {
        Some(run) => files::shared("runs", "recorded runs")?.join(run),
        None => files::shared("traces", "real traces")?.join(path),
    };
    folder.is_dir().then_some(folder)
}

/// The late ranks that `ranks` names, with what each costs, in ns, and whether it is late all the time.
fn late(rows: &[Value]) -> BTreeMap<i64, (Option<i64>, bool)> {
    let stragglers = of_kind(rows, "straggler").map(|row| {
        let is_persistent = row["persistent"] == true;
        (row["rank"].as_i64().expect("a rank"), (row["cost_ns"].as_i64(), is_persistent))
    });
    let last = of_kind(rows, "note").filter(|row| row["code"] == "arrives_last").map(|row| {
        let mut words = row["message"].as_str().expect("a message").split(' ').skip(1);
        (words.next().and_then(|word| word.parse().ok()).expect("a rank"), (None, true))
    });
    stragglers.chain(last).collect()
}

#[test]
fn late_ranks_are_those_that_an_engineer_found() {
    let bytes = files::read(&files::data().join("advice/truth.json")).expect("the table");
    let truth: Value = serde_json::from_slice(&bytes).expect("JSON");
    let mut compared = 0;
    for row in truth["traces"].as_array().expect("traces").iter().filter(|row| row["ranks"].is_object()) {
        let Some(folder) = folder(row) else { continue };
        let read = |path: PathBuf| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, files::read(&path.with_extension("")).expect("a trace"))
        };
        let rows = rows(&run_of(ranks(&folder).into_iter().map(read)));
        let (path, expected) = (&row["path"], row["ranks"]["late"].as_array().expect("ranks"));
        let named = late(&rows);
        assert_eq!(named.len(), expected.len(), "{path}: {named:?}");
        for late in expected {
            let rank = late["rank"].as_i64().expect("a rank");
            let (cost, is_persistent) = named.get(&rank).unwrap_or_else(|| panic!("{path}: rank {rank}"));
            assert_eq!(late["persistent"], *is_persistent, "{path}: rank {rank}");
            if let (Some(ms), Some(ns)) = (late["ms_about"].as_f64(), cost) {
                let ratio = *ns as f64 / 1e6 / ms;
                assert!((1.0 / 1.5..=1.5).contains(&ratio), "{path}: rank {rank} costs {ns} ns, not {ms} ms");
            }
        }
        for note in row["ranks"]["notes"].as_array().expect("notes") {
            assert!(of_kind(&rows, "note").any(|known| known["code"] == *note), "{path}: {note}");
        }
        compared += 1;
    }
    assert!(compared == 0 || compared == 11, "{compared} runs");
}
