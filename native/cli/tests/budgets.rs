//! `check` with a file of budgets: outcomes, exit codes, mistakes in the file, formats, and files from measured traces.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn pair(name: &str) -> String {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    data.join(format!("pairs/{name}.json.gz")).display().to_string()
}

/// Runs `check` in a folder with this file of budgets.
fn check(budget: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("budget.toml"), budget).expect("a file");
    run(&folder, &[&["budget.toml"], arguments].concat())
}

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kinetoscope"));
    command.arg("check").args(arguments).current_dir(folder.path()).output().expect("a process")
}

fn rows(output: &Output) -> Vec<Value> {
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["schema"], "kinetoscope.budgets/1");
    document["rows"].as_array().expect("rows").clone()
}

fn outcome(budget: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = check(budget, &[arguments, &["--format", "json"]].concat());
    let rows = rows(&output);
    assert_eq!(rows.len(), 1, "{rows:?}");
    (output.status.code(), rows[0]["outcome"].as_str().expect("an outcome").to_owned())
}

#[test]
fn absolute_limits_pass_or_are_breached() {
    let (base, sleep) = (pair("base1"), pair("host_sleep1"));
    for (budget, on_base, on_sleep) in [
        ("[step]\nmax = \"24 ms\"", 0, 1),
        ("[range.host_work]\nmax = \"5 ms\"\noptional = true", 0, 1),
        ("[operator.\"aten::*mm\"]\nmax = \"20 ms\"", 0, 0),
        ("[operator.\"aten::*mm\"]\nmax = \"2000 us\"", 1, 1),
        ("[recompilations]\nmax = 0", 0, 0),
        ("[findings]\nforbid = [\"garbage_collection\"]", 0, 0),
    ] {
        let word = |code: i32| if code == 0 { "pass" } else { "breach" }.to_owned();
        assert_eq!(outcome(budget, &[&base]), (Some(on_base), word(on_base)), "{budget}");
        assert_eq!(outcome(budget, &[&sleep]), (Some(on_sleep), word(on_sleep)), "{budget}");
    }
}

#[test]
fn limits_on_changes_compare_with_the_base() {
    let (base, again, larger) = (pair("base1"), pair("base2"), pair("op_slow1"));
    let significant = "[operator.\"aten::mm\"]\nno_significant_increase = true";
    assert_eq!(outcome(significant, &[&larger, "--base", &base]), (Some(1), "breach".into()));
    assert_eq!(outcome(significant, &[&again, "--base", &base]), (Some(0), "pass".into()));
    // The other recording of the base is slower as a whole.
    let share = "[step]\nmax_increase = \"10 %\"";
    assert_eq!(outcome(share, &[&larger, "--base", &base]), (Some(1), "breach".into()));
    assert_eq!(outcome(share, &[&larger, "--base", &base, &again]), (Some(0), "pass".into()));
    assert_eq!(
        outcome("[step]\nmax_increase = \"1 s\"", &[&larger, "--base", &base]),
        (Some(0), "pass".into())
    );
}

#[test]
fn what_a_trace_cannot_decide_is_no_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = pair("base1");
    assert_eq!(outcome("[memory.CPU]\nmax = \"1 GiB\"", &[&base]), (Some(3), "unfit".into()));
    assert_eq!(outcome("[device_busy]\nmax = \"1 s\"", &[&base]), (Some(3), "unfit".into()));
    // Half of the file: what was lost could be over the limit.
    let cut = folder.path().join("cut.json.gz").display().to_string();
    let bytes = fs::read(&base).expect("a trace");
    fs::write(&cut, &bytes[..bytes.len() / 2]).expect("a file");
    assert_eq!(outcome("[step]\nmax = \"1 s\"", &[&cut]), (Some(3), "unfit".into()));
    assert_eq!(
        outcome("[step]\nmax_increase = \"1 s\"", &[&base, "--base", &cut]),
        (Some(3), "unfit".into())
    );
    // A base of another program.
    let other = format!("{}/../../tests/data/healthy/small_gpu_trace.json", env!("CARGO_MANIFEST_DIR"));
    let output = check("[step]\nmax_increase = \"1 s\"", &[&base, "--base", &other, "--format", "json"]);
    assert_eq!(output.status.code(), Some(3));
    let rows = rows(&output);
    let message = rows[0]["message"].as_str().expect("a message");
    assert!(message.contains("could be aligned: they may be of different programs"), "{message}");
}

#[test]
fn mistakes_name_the_line_and_the_nearest_word() {
    let base = pair("base1");
    for (budget, message) in [
        (
            "# Limits\n[stpe]\nmax = \"1 ms\"",
            "budget.toml:3: stpe.max: unknown metric stpe; did you mean step?",
        ),
        (
            "[step]\nmax = \"1 ms\"\nmaxx = \"1 ms\"",
            "budget.toml:3: step.maxx: unknown key maxx; did you mean max?",
        ),
        (
            "[step]\nmax = \"1 GiB\"",
            "budget.toml:2: step.max: expected a time with its unit, such as \"25 ms\", not \"1 GiB\"",
        ),
        (
            "[step]\nmax = 25",
            "budget.toml:2: step.max: expected a time with its unit, such as \"25 ms\", not 25",
        ),
        (
            "[step]\nmax = \"1 s\"\n\n[operator.\"aten::adddmm\"]\nmax = \"1 ms\"",
            "budget.toml:5: operator.aten::adddmm: the trace has no operator aten::adddmm; did you mean aten::addmm?",
        ),
        ("[step\nmax = 1", "budget.toml:1: "),
        ("", "budget.toml:1: there are no budgets in this file"),
        ("[step]", "budget.toml:1: step: expected [step] with its limits"),
        (
            "[step]\nmax_increase = \"5 %\"",
            "the file of budgets has limits on changes: name traces with --base",
        ),
        ("[findings]\nforbid = [\"slow\"]", "budget.toml:2: findings.forbid: unknown finding slow"),
    ] {
        let output = check(budget, &[&base]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{budget}: {error}");
        assert!(error.starts_with(&format!("kinetoscope: {message}")), "{budget}: {error}");
        assert!(output.stdout.is_empty());
    }
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(run(&folder, &["absent.toml", &base]).status.code(), Some(2));
    assert_eq!(run(&folder, &[&base, "--base", &base]).status.code(), Some(2));
    assert_eq!(run(&folder, &[&base, "--format", "junit"]).status.code(), Some(2));
}

#[test]
fn budgets_from_measured_traces_hold_for_them_and_not_for_a_regression() {
    let folder = tempfile::tempdir().expect("a folder");
    let (base, again, sleep) = (pair("base1"), pair("base2"), pair("host_sleep1"));
    assert!(run(&folder, &["--init", &base, &again, "-o", "two.toml"]).status.success());
    for trace in [&base, &again] {
        let output = run(&folder, &["two.toml", trace]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    // The tolerance of one recording is the noise of its steps.
    assert!(run(&folder, &["--init", &base, "-o", "one.toml"]).status.success());
    assert!(run(&folder, &["one.toml", &base]).status.success());
    assert_eq!(run(&folder, &["one.toml", &sleep]).status.code(), Some(1));
    let text = fs::read_to_string(folder.path().join("one.toml")).expect("a file");
    assert!(text.contains("[operator.\"aten::mm\"]\nmax = \""), "{text}");
}

#[test]
fn every_format_has_the_same_outcomes() {
    let budget = "[step]\nmax = \"1 ms\"\n[memory.\"a<b\"]\nmax = \"1 GiB\"\n[recompilations]\nmax = 0";
    let base = pair("base1");
    let text = |format: &str| {
        let output = check(budget, &[&base, "--format", format]);
        assert_eq!(output.status.code(), Some(1), "{format}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let junit = text("junit");
    assert!(
        junit.contains("<testsuites name=\"kinetoscope\" tests=\"3\" failures=\"1\" errors=\"1\">"),
        "{junit}"
    );
    assert!(junit.contains("name=\"memory a&lt;b: max\"><error message="), "{junit}");
    let sarif: Value = serde_json::from_str(&text("sarif")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let line = |at: usize| results[at]["locations"][0]["physicalLocation"]["region"]["startLine"].clone();
    assert_eq!((results.len(), line(0), line(1)), (2, 2.into(), 4.into()));
    assert_eq!((&results[0]["level"], &results[1]["level"]), (&"error".into(), &"warning".into()));
    let md = text("md");
    assert!(
        md.starts_with("### Performance budgets\n\n**1 of 3 limits do not hold**, 1 cannot be decided.\n"),
        "{md}"
    );
    assert!(text("table").contains("breach"));
    assert_eq!(text("csv").lines().count(), 4);
    let rows = rows(&check(budget, &[&base, "--format", "json"]));
    assert_eq!(
        rows.iter().map(|row| row["outcome"].as_str().expect("a word")).collect::<Vec<_>>(),
        ["breach", "unfit", "pass"]
    );
}

/// Without a file of budgets, `check` is about identities.
#[test]
fn identities_are_checked_without_budgets() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(&folder, &[&pair("base1"), "--format", "json"]);
    assert!(output.status.success());
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["schema"], "kinetoscope.check/1");
}
