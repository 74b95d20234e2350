//! Recorded pairs: a change that is known is the first row, two recordings of the same program have no change.

use super::{diff, int, profile, significant};
use kinetoscope_core::runs::compare::profile::Profile;
use kinetoscope_tests::files;
use kinetoscope_tests::programs::Random;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The profiles of all recorded programs of one rank: those of the repository, and more where they are at hand.
fn profiles() -> BTreeMap<String, Profile> {
    let mut paths: BTreeMap<String, PathBuf> = BTreeMap::new();
    for name in ["base1", "base2", "host_sleep1", "op_slow1", "fused1"] {
        paths.insert(name.into(), files::data().join(format!("pairs/{name}.json.gz")));
    }
    if let Some(folder) = files::shared("runs", "more recorded pairs") {
        for entry in folder.read_dir().expect("a folder") {
            let entry = entry.expect("an entry");
            let trace = entry.path().join("trace.json.gz");
            if trace.exists() {
                paths.insert(entry.file_name().to_string_lossy().into_owned(), trace);
            }
        }
    }
    let read = |path: PathBuf| profile(&std::fs::read(path).expect("a trace"));
    paths.into_iter().map(|(name, path)| (name, read(path))).collect()
}

/// The programs without the number of the recording.
fn program(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

#[test]
fn recordings_of_one_program_have_no_change() {
    let all = profiles();
    let mut pairs = 0;
    for (name, base) in &all {
        for (other, new) in all.iter().filter(|(other, _)| *other != name && program(other) == program(name))
        {
            let rows = diff(base, new);
            assert_eq!(significant(&rows), Vec::<&Value>::new(), "{name} and {other}");
            pairs += 1;
        }
    }
    assert!(pairs >= 2, "{pairs} pairs");
}

fn total(rows: &[Value]) -> &Value {
    rows.iter().find(|row| row["kind"] == "total" && row["name"] == "wall").expect("a total")
}

/// One recording of a program was 1.24 times as long as the other, evenly: that can be the machine. What the program certainly
/// does more is not.
#[test]
fn a_total_that_the_machine_explains_is_not_decided() {
    let all = profiles();
    let rows = diff(&all["base1"], &all["base2"]);
    let same = total(&rows);
    assert_eq!((&same["significant"], &same["cause"]), (&Value::Null, &"machine".into()), "{same}");
    assert!(same["message"].as_str().is_some_and(|text| text.contains("times as long")), "{same}");
    for changed in ["host_sleep1", "batch2x1", "bf161"] {
        let Some(new) = all.get(changed) else { continue };
        let rows = diff(&all["base1"], new);
        assert_eq!(total(&rows)["significant"], true, "{changed}: {}", total(&rows));
    }
}

/// What the first row of a pair is about: names of which it has one, and the change.
const CHANGES: [(&str, &str, &[&str], &[&str]); 9] = [
    ("base", "host_sleep", &["host_work"], &["new"]),
    ("base", "op_slow", &["aten::mm"], &["slower"]),
    ("base", "op_twice", &["aten::addmm", "aten::linear"], &["more_calls"]),
    ("base", "loader_work", &["enumerate(DataLoader)"], &["slower"]),
    ("base", "copies", &["aten::copy_", "aten::clone"], &["more_calls"]),
    ("base", "bf16", &["aten::mm"], &["faster"]),
    ("base", "batch2x", &["aten::mm"], &["slower"]),
    ("base_mem", "mem_retain", &["peak of CPU"], &["more"]),
    ("base_stack", "host_sleep_stack", &["<built-in function sleep>"], &["new"]),
];

#[test]
fn a_known_change_is_the_first_row() {
    let all = profiles();
    let (mut found, mut hidden) = (0, Vec::new());
    for (name, base) in &all {
        for (base_program, changed, names, changes) in CHANGES {
            let number = &name[program(name).len()..];
            let Some(new) = all.get(&format!("{changed}{number}")).filter(|_| program(name) == base_program)
            else {
                continue;
            };
            let rows = diff(base, new);
            let Some(first) = significant(&rows).first().copied().cloned() else {
                hidden.push(format!("{name} → {changed}{number}"));
                continue;
            };
            let text = first["name"].as_str().expect("a name");
            assert!(names.iter().any(|name| text.starts_with(name)), "{name} → {changed}{number}: {first}");
            assert!(
                changes.iter().any(|change| first["change"] == *change),
                "{name} → {changed}{number}: {first}"
            );
            found += 1;
        }
    }
    assert!(found >= 2, "{found} pairs");
    assert_eq!(hidden, Vec::<String>::new());
}

#[test]
fn contributions_agree_with_what_the_program_measured() {
    let all = profiles();
    // The program slept 5 ms a step, and measured 5.17 ms; it sorted for 4 ms, and measured 4.02 ms.
    let measured =
        [("host_sleep1", "host_work", 5_171_116, 0.03), ("host_sleep2", "host_work", 5_171_116, 0.03)];
    let loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    let measured = measured
        .into_iter()
        .chain([("loader_work1", loader, 4_018_304, 0.06), ("loader_work2", loader, 4_018_304, 0.06)]);
    let mut checked = 0;
    for (changed, name, ns, tolerance) in measured {
        let Some(new) = all.get(changed) else { continue };
        let rows = diff(&all[&format!("base{}", &changed[program(changed).len()..])], new);
        let row = rows.iter().find(|row| row["name"] == name).expect("a row");
        let share = int(&row["contribution_ns"]) as f64 / f64::from(ns);
        assert!((share - 1.0).abs() < tolerance, "{changed}: {share}");
        checked += 1;
    }
    assert!(checked >= 1);
    // A multiplication with 1.3 times the work: 1.39 ms, without what made the whole recording slower.
    let rows = diff(&all["base1"], &all["op_slow1"]);
    let row = rows.iter().find(|row| row["cause"] == "shapes" && row["name"] == "aten::mm").expect("a row");
    let share = int(&row["equal_speed_ns"]) as f64 / 1_391_647.0;
    assert!((share - 1.0).abs() < 0.1, "{share}");
}

#[test]
fn fused_operators_are_recognised() {
    let all = profiles();
    let rows = diff(&all["base1"], &all["fused1"]);
    let fused = rows.iter().find(|row| row["change"] == "fused").expect("a row");
    let names: Vec<&str> =
        fused["names_a"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
    assert_eq!(names, ["aten::transpose", "aten::matmul", "aten::div", "aten::softmax", "aten::matmul"]);
    assert_eq!(fused["names_b"], serde_json::json!(["aten::scaled_dot_product_attention"]));
    assert_eq!(fused["message"], "5 operators became 1");
}

/// Steps of one recording, split in two at random.
#[test]
fn halves_of_one_recording_have_no_change() {
    let all = profiles();
    for (name, profile) in
        all.iter().filter(|(name, _)| ["base1", "host_sleep1", "op_slow1"].contains(&name.as_str()))
    {
        let mut random = Random(11);
        let silent = (0..100).filter(|_| {
            let mut order: Vec<usize> = (0..profile.len()).collect();
            for at in (1..order.len()).rev() {
                order.swap(at, random.below(at as u64 + 1) as usize);
            }
            let (left, right) = order.split_at(order.len() / 2);
            let rows = diff(&profile.with_steps(left), &profile.with_steps(right));
            !rows.iter().any(|row| row["significant"] == true)
        });
        assert!(silent.count() >= 99, "{name}");
    }
}
