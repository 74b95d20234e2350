//! `sql`, `export parquet` and `export arrow` as commands.

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::tempdir;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
}

fn kinetoscope(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kinetoscope"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn output(command: &mut Command) -> Output {
    command.output().expect("a process")
}

/// Lines of CSV end with CR and LF.
fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8").replace("\r\n", "\n")
}

/// The standard output of a command that succeeds.
fn printed(command: &mut Command) -> String {
    let output = output(command);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The error of a command that fails with exit code 2.
fn refused(command: &mut Command) -> String {
    let output = output(command);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    let error = text(&output.stderr);
    assert!(error.starts_with("kinetoscope: ") && error.trim_end().lines().count() == 1, "{error}");
    error
}

fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn a_query_prints_each_format() {
    let trace = data("healthy/small_gpu_trace.json");
    let sql = "SELECT name, sum(dur_ns) AS sum_ns, count(*) AS n FROM kernels GROUP BY name ORDER BY sum_ns DESC LIMIT 1";
    let table = printed(&mut kinetoscope(&["sql", sql, path(&trace)]));
    assert!(table.starts_with("name") && table.contains("us") && table.ends_with("(1 row)\n"), "{table}");
    let json = printed(&mut kinetoscope(&["sql", sql, path(&trace), "--format", "json"]));
    let document: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(document["schema"], "kinetoscope.sql/1");
    let sum = document["rows"][0]["sum_ns"].as_i64().expect("an integer");
    let csv = printed(&mut kinetoscope(&["sql", sql, path(&trace), "--format", "csv"]));
    assert!(csv.starts_with("name,sum_ns,n\n") && csv.contains(&format!(",{sum},")), "{csv}");
    let md = printed(&mut kinetoscope(&["sql", sql, path(&trace), "--format", "md"]));
    assert!(md.starts_with("| name |"), "{md}");
}

#[test]
fn queries_come_from_standard_input_and_from_the_library() {
    let trace = data("healthy/small_gpu_trace.json");
    let mut child = kinetoscope(&["sql", path(&trace), "--format", "csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    child.stdin.take().expect("an input").write_all(b"SELECT 1 AS one").expect("written");
    assert_eq!(text(&child.wait_with_output().expect("an output").stdout), "one\n1\n");
    let list = printed(&mut kinetoscope(&["sql", "--list"]));
    assert!(list.lines().any(|line| line.starts_with("stragglers")), "{list}");
    let idle = printed(&mut kinetoscope(&["sql", "--run", "idle", path(&trace), "--format", "csv"]));
    assert!(idle.starts_with("run_id,rank,device,cause,time_ns\nsmall_gpu_trace,0,"), "{idle}");
    let error = refused(&mut kinetoscope(&["sql", "--run", "idl", path(&trace)]));
    assert!(error.contains("the queries are breakdown"), "{error}");
}

#[test]
fn a_data_set_of_ranks_is_queried_like_its_traces() {
    let (run, folder) = (data("runs/slow_forward"), tempdir().expect("a folder"));
    let tables = folder.path().join("tables");
    let export = ["export", "parquet", path(&run), "-o", path(&tables)];
    let report = text(&output(&mut kinetoscope(&export)).stderr);
    assert!(report.contains("4 traces"), "{report}");
    let ask = |source: &Path| {
        printed(&mut kinetoscope(&["sql", "--run", "stragglers", path(source), "--format", "csv"]))
    };
    let (of_files, of_traces) = (ask(&tables), ask(&run));
    assert_eq!(of_files, of_traces);
    assert!(of_files.lines().count() > 2, "{of_files}");
    let ids = printed(&mut kinetoscope(&[
        "sql",
        "SELECT DISTINCT run_id FROM traces",
        path(&tables),
        "--format",
        "csv",
    ]));
    assert_eq!(ids, "run_id\nslow_forward\n");
}

#[test]
fn traces_of_the_same_run_and_rank_are_refused() {
    let trace = data("healthy/small_gpu_trace.json");
    let error =
        refused(&mut kinetoscope(&["sql", "SELECT 1", path(&trace), path(&trace), "--run-id", "same"]));
    assert!(error.contains("two traces are rank 0 of the run \"same\""), "{error}");
    let error = refused(&mut kinetoscope(&["sql", "SELECT 1", path(&trace), "--run-id", "../x"]));
    assert!(error.contains("the id of a run has letters"), "{error}");
}

#[test]
fn mistakes_are_explained() {
    let (trace, folder) = (data("healthy/small_gpu_trace.json"), tempdir().expect("a folder"));
    let error = refused(&mut kinetoscope(&["sql", "SELECT dur FROM events", path(&trace)]));
    assert!(error.contains("there is no column \"dur\"; did you mean `dur_ns`"), "{error}");
    let error = refused(&mut kinetoscope(&["sql", "SELECT 1"]));
    assert!(error.contains("name a trace"), "{error}");
    let missing = folder.path().join("missing.json");
    let error = refused(&mut kinetoscope(&["sql", "SELECT 1 AS one", path(&missing)]));
    assert!(error.contains("missing.json"), "{error}");
    fs::write(folder.path().join("mine.txt"), "mine").expect("a file");
    let error = refused(&mut kinetoscope(&["export", "parquet", path(&trace), "-o", path(folder.path())]));
    assert!(error.contains("is not a data set"), "{error}");
    let copy = format!("COPY (SELECT 1) TO '{}'", folder.path().join("out.csv").display());
    refused(&mut kinetoscope(&["sql", &copy, path(&trace)]));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn tables_have_the_operators_of_captures_and_the_sources_of_files() {
    let folder = tempdir().expect("a folder");
    let example = |name: &str| data("../../docs/traces").join(name);
    let products = "SELECT count(*) AS n FROM kernels WHERE operator = 'aten::mm'";
    let count = |arguments: &[&str]| {
        let trace = example("serving.json.gz");
        let all = [&["sql", products, path(&trace), "--format", "csv"], arguments].concat();
        printed(&mut kinetoscope(&all))
    };
    assert_eq!(count(&[]), "n\n48\n");
    assert_eq!(count(&["--capture", path(&example("serving-capture.json.gz"))]), "n\n336\n");
    let annotations = data("inductor/annotations");
    let file = |name: &str| annotations.join(name);
    let tables = folder.path().join("tables");
    let written = kinetoscope(&["export", "parquet", path(&file("input.trace.json")), "-o", path(&tables)])
        .args(["--provenance", path(&file("annotations.as_json.json"))])
        .args(["--provenance", path(&file("py_stacks.json.gz"))])
        .status();
    assert!(written.expect("a process").success());
    let sources = "SELECT annotation, source, source_by FROM kernels WHERE source IS NOT NULL";
    let found = printed(&mut kinetoscope(&["sql", sources, path(&tables), "--format", "csv"]));
    assert_eq!(found, "annotation,source,source_by\nattention,/home/me/train.py:12,graph_node\n");
}

#[test]
fn a_stream_of_arrow_begins_with_its_schema() {
    let trace = data("healthy/small_gpu_trace.json");
    let output = output(&mut kinetoscope(&["export", "arrow", path(&trace), "--table", "kernels"]));
    assert!(output.status.success() && output.stdout.starts_with(&[0xff, 0xff, 0xff, 0xff]));
    let names = ["run_id", "rank", "occupancy_percent"];
    let bytes = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(names.iter().all(|name| bytes.contains(name)));
}

#[test]
fn a_query_may_begin_with_a_comment() {
    let trace = data("healthy/small_gpu_trace.json");
    let sql = "-- the number of traces\nSELECT count(*) AS n FROM traces";
    assert_eq!(printed(&mut kinetoscope(&["sql", sql, path(&trace), "--format", "csv"])), "n\n1\n");
}

#[test]
fn numbers_that_json_lacks_are_printed() {
    let trace = data("healthy/small_gpu_trace.json");
    let sql = "SELECT CAST('NaN' AS DOUBLE) AS share, CAST(18446744073709551615 AS BIGINT UNSIGNED) AS most";
    for (format, expected) in
        [("csv", "18446744073709551615"), ("md", "NaN"), ("table", "18446744073709551615"), ("json", "null")]
    {
        let text = printed(&mut kinetoscope(&["sql", sql, path(&trace), "--format", format]));
        assert!(text.contains(expected), "{format}: {text}");
    }
}
