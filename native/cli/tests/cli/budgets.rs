//! `check` with a file of budgets: outcomes, exit codes, mistakes in the file, formats, and files from measured traces.

use crate::support::{data, program};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn pair(name: &str) -> String {
    let data = data("");
    data.join(format!("pairs/{name}.json.gz")).display().to_string()
}

/// Runs `check` in a folder with this file of budgets.
fn check(budget: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("budget.toml"), budget).expect("a file");
    run(&folder, &[&["budget.toml"], arguments].concat())
}

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = program();
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
    let pattern = "[operator.\"aten::m*\"]\nno_significant_increase = true";
    assert_eq!(outcome(pattern, &[&larger, "--base", &base]), (Some(1), "breach".into()));
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
        ("[step]\nno_significant_increase = false", "budget.toml:2: step: there is no limit here"),
        ("[findings]\nforbid = []", "budget.toml:2: findings: there is no limit here"),
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
        md.starts_with("### Performance budgets\n\n**1 of 3 limits does not hold**, 1 cannot be decided.\n"),
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

/// Appends lines of a program that becomes slower, and prints the trend.
#[test]
fn a_history_shows_where_a_metric_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (base, sleep) = (pair("base1"), pair("host_sleep1"));
    for trace in [&base; 6].into_iter().chain([&sleep; 6]) {
        assert!(run(&folder, &[trace, "--record", "history.jsonl"]).status.success());
    }
    let lines = fs::read_to_string(folder.path().join("history.jsonl")).expect("a file");
    assert_eq!(lines.lines().count(), 12);
    let line: Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&line["schema"], &line["steps"]), (&"kinetoscope.history/1".into(), &20.into()));
    assert!(line["metrics"]["step"].as_f64().expect("a number") > 1e7);
    let trend = |arguments: &[&str]| {
        let mut command = program();
        command.arg("trend").args(arguments).current_dir(folder.path()).output().expect("a process")
    };
    let document: Value =
        serde_json::from_slice(&trend(&["history.jsonl", "--format", "json"]).stdout).expect("JSON");
    let rows = document["rows"].as_array().expect("rows");
    let step = rows.iter().find(|row| row["kind"] == "change" && row["metric"] == "step").expect("a change");
    assert_eq!(step["run"], 7);
    assert!((step["change"].as_f64().expect("a share") - 0.478).abs() < 0.01, "{step}");
    let series =
        rows.iter().find(|row| row["kind"] == "series" && row["metric"] == "step").expect("a series");
    assert_eq!(series["values"].as_array().expect("values").len(), 12);
    let text = String::from_utf8(trend(&["history.jsonl"]).stdout).expect("UTF-8");
    assert!(text.contains("Changes, the latest first") && text.contains("+47.8%"), "{text}");
    // A line that is none names its number.
    fs::write(folder.path().join("bad.jsonl"), format!("{}\n{{}}\n", lines.lines().next().expect("a line")))
        .expect("a file");
    let bad = trend(&["bad.jsonl"]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&bad.stderr)
            .contains("line 2: the schema is \"\", not kinetoscope.history/1")
    );
    assert_eq!(trend(&["absent.jsonl"]).status.code(), Some(2));
}

/// A part of a trace is no measurement.
#[test]
fn a_partial_trace_is_not_recorded_and_has_no_budgets() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = fs::read(pair("base1")).expect("a trace");
    fs::write(folder.path().join("cut.json.gz"), &bytes[..bytes.len() / 2]).expect("a file");
    let output = run(&folder, &["cut.json.gz", &pair("base1"), "--record", "history.jsonl"]);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("not recorded, because a part could not be read")
    );
    let lines = fs::read_to_string(folder.path().join("history.jsonl")).expect("a file");
    assert_eq!(lines.lines().count(), 1);
    let init = run(&folder, &["--init", "cut.json.gz"]);
    assert_eq!((init.status.code(), init.stdout.len()), (Some(2), 0));
}

/// The ranks of one run differ from each other, which is not the noise between recordings.
#[test]
fn ranks_of_one_run_are_one_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = data("runs");
    let run_of = |name: &str| data.join(name).display().to_string();
    let init = |runs: &[&str]| {
        let paths: Vec<String> = runs.iter().map(|name| run_of(name)).collect();
        let arguments: Vec<&str> = ["--init"].into_iter().chain(paths.iter().map(String::as_str)).collect();
        String::from_utf8(run(&folder, &arguments).stdout).expect("UTF-8")
    };
    let warning = "# One recording does not show the noise between recordings: measure several.";
    assert!(init(&["plain"]).contains(warning));
    assert!(!init(&["plain", "slow_forward"]).contains(warning));
}

/// The complete trace of a base without steps is no step.
#[test]
fn a_base_without_steps_decides_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("empty.json"), r#"{"traceEvents":[]}"#).expect("a file");
    let empty = folder.path().join("empty.json").display().to_string();
    let budget = "[step]\nmax_increase = \"5 %\"";
    let output = check(budget, &[&pair("base1"), "--base", &empty, "--format", "json"]);
    assert_eq!(output.status.code(), Some(3));
    let message = rows(&output)[0]["message"].to_string();
    assert!(message.contains("empty.json has no profiler steps"), "{message}");
}

/// A rank whose recording was killed at its start looks like another kind of file.
#[test]
fn files_of_a_run_that_are_no_traces_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = data("runs/plain");
    for run in ["a", "b"] {
        fs::create_dir(folder.path().join(run)).expect("a folder");
        for rank in 0..3 {
            let name = format!("rank{rank}.json.gz");
            fs::copy(data.join(&name), folder.path().join(run).join(&name)).expect("a copy");
        }
    }
    fs::remove_file(folder.path().join("b/rank1.json.gz")).expect("a file");
    fs::write(folder.path().join("b/rank1.json"), r#"{"schemaVersion": 1, "deviceProperties": ["#)
        .expect("a file");
    let mut command = program();
    let output = command.args(["diff", "a", "b"]).current_dir(folder.path()).output().expect("a process");
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(reported.contains("rank1.json: this is not a trace"), "{reported}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("only the first run has a trace of rank 1"), "{text}");
}

/// Runs the script of `action.yml` as a job does.
#[test]
fn the_script_of_the_action_passes_its_results_to_the_job() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ci/check-budgets.sh");
    let action = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../action.yml"))
        .expect("the action");
    assert!(action.contains("native/cli/ci/check-budgets.sh"));
    for variable in
        ["BUDGET: ${{ inputs.budget }}", "TRACES: ${{ inputs.traces }}", "BASE: ${{ inputs.base }}"]
    {
        assert!(action.contains(variable), "{variable}");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_kinetoscope")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("a path"));
    for (budget, traces, base, code, outcome) in [
        ("[step]\nmax = \"24 ms\"", pair("base1"), String::new(), 0, "pass"),
        (
            "[step]\nmax = \"24 ms\"",
            format!("{}\n{}", pair("base1"), pair("host_sleep1")),
            String::new(),
            1,
            "breach",
        ),
        ("[step]\nmax_increase = \"1 %\"", pair("host_sleep1"), pair("base*"), 1, "breach"),
        ("[memory.CPU]\nmax = \"1 GiB\"", pair("base1"), String::new(), 3, "unfit"),
        ("[stpe]", pair("base1"), String::new(), 2, "error"),
        // Files that another repository named: neither options nor standard input.
        ("[step]\nmax_increase = \"90 %\"", "-* a*.json".to_owned(), "-*".to_owned(), 0, "pass"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("budget.toml"), budget).expect("a file");
        for name in ["-", "--report=x.json", "-o evil.json", "a b\\$(touch c);.json"] {
            fs::copy(pair("base1"), folder.path().join(name)).expect("a copy");
        }
        let status = Command::new("sh")
            .arg(&script)
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("BUDGET", "budget.toml")
            .env("TRACES", traces)
            .env("BASE", base)
            .env("GITHUB_OUTPUT", "output.txt")
            .env("GITHUB_STEP_SUMMARY", "summary.md")
            .env("RUNNER_TEMP", folder.path())
            .output()
            .expect("a shell");
        assert_eq!(status.status.code(), Some(code), "{budget}: {}", String::from_utf8_lossy(&status.stderr));
        let output = fs::read_to_string(folder.path().join("output.txt")).expect("the output");
        assert!(output.starts_with(&format!("outcome={outcome}\njunit=")), "{output}");
        let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap_or_default();
        assert_eq!(summary.starts_with("### Performance budgets\n"), code != 2, "{summary}");
        assert_eq!(folder.path().join("kinetoscope/budgets.sarif").exists(), code != 2);
        assert!(["x.json", "evil.json", "c"].iter().all(|name| !folder.path().join(name).exists()));
    }
}
