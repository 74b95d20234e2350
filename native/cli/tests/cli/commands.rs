//! The command line as a user meets it: formats, exit codes, pipes, files.

use crate::support::{data, kinetoscope, program};
use kinetoscope_core::queries::QUERIES;
use std::fs;
use std::io::Write;
use std::process::Stdio;

fn gpu() -> String {
    data("healthy/small_gpu_trace.json").display().to_string()
}

fn stdout(arguments: &[&str]) -> String {
    let output = kinetoscope(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&stdout(arguments)).expect("JSON")
}

fn code(arguments: &[&str]) -> Option<i32> {
    kinetoscope(arguments).status.code()
}

#[test]
fn a_trace_without_a_command_is_summarised() {
    let text = stdout(&[&gpu()]);
    assert_eq!(text, stdout(&["summary", &gpu()]));
    for part in [
        "Small GPU",
        "rank 0 of 2",
        "GPU time",
        "aten::mm",
        "Memcpy HtoD",
        "idle, queued",
        "All 13 identities hold",
        "Fit for       operators, steps",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

/// The calls are there, their kernels are not.
#[test]
fn answers_that_a_trace_is_unfit_for_have_exit_codes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hosts.json").display().to_string();
    let call = r#"[{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":2,"args":{"correlation":1}}]"#;
    fs::write(&path, call).expect("a file");
    assert_eq!(code(&["fitness", &path]), Some(1));
    assert_eq!(code(&["fitness", &gpu()]), Some(0));
    assert_eq!(code(&["fitness", &gpu(), "--require", "memory"]), Some(1));
    assert_eq!(code(&["fitness", &gpu(), "--require", "gpu"]), Some(2));
    for command in ["summary", "idle", "breakdown", "launches"] {
        assert_eq!(code(&[command, &path, "--strict"]), Some(3), "{command}");
        assert_eq!(code(&[command, &path]), Some(0), "{command}");
        assert_eq!(code(&[command, &gpu(), "--strict"]), Some(0), "{command}");
    }
    // Operators are no part of the loss.
    assert_eq!(code(&["ops", &path, "--strict"]), Some(0));
}

/// A trace that PyTorch 2.15 wrote with stacks, in which calls of Python functions are events.
fn with_python_functions() -> String {
    data("torch/2.15/kineto/small_program/trace.json.gz").display().to_string()
}

#[test]
fn python_functions_are_rows_on_request() {
    let trace = with_python_functions();
    let count = |arguments: &[&str]| {
        let document = json(&[&["ops", &trace, "--format", "json"], arguments].concat());
        let rows = document["rows"].as_array().expect("rows").clone();
        (rows.len(), rows.iter().any(|row| row["name"] == "gen_kineto.py(867): small_program"))
    };
    assert_eq!(count(&[]), (29, false));
    assert_eq!(count(&["--include-python-functions"]), (102, true));
    assert_eq!(count(&["--torch-version", "2.13"]), (102, true));
    assert_eq!(count(&["--torch-version", "2.11", "--include-python-functions"]), (30, false));
}

#[test]
fn a_repaired_binary_trace_has_the_same_events() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("repaired.json").display().to_string();
    for file in ["healthy/recording.ktrace", "torch/2.15/cuspy/gpu_eager/trace.pftrace"] {
        let trace = data(file).display().to_string();
        stdout(&["repair", &trace, "-o", &output]);
        let events = |trace: &str| json(&["info", trace, "--format", "json"])["rows"][0]["events"].clone();
        assert_eq!(events(&output), events(&trace), "{file}");
    }
}

#[test]
fn a_truncated_trace_has_the_rules_of_the_complete_one() {
    use std::io::Read;
    let folder = tempfile::tempdir().expect("a folder");
    let cut = folder.path().join("cut.json");
    let rules = |trace: &str| json(&["info", trace, "--format", "json"])["rows"][0]["torch_rules"].clone();
    for (file, expected) in [
        ("torch/kineto/transformer_training/trace.json.gz", "2.11"),
        ("torch/2.15/compat/torch-2.13.0/payload_stack/trace.json.gz", "2.12 and 2.13"),
        ("torch/2.15/kineto/small_program/trace.json.gz", "2.15 and later"),
    ] {
        let mut text = Vec::new();
        let packed = fs::File::open(data(file)).expect(file);
        flate2::read::MultiGzDecoder::new(packed).read_to_end(&mut text).expect("gzip");
        fs::write(&cut, &text[..text.len() - 200]).expect("a file");
        assert_eq!(rules(&cut.display().to_string()), expected, "{file}");
    }
}

#[test]
fn the_rules_are_those_of_the_version_unless_another_is_given() {
    let trace = with_python_functions();
    let rules = |arguments: &[&str]| {
        json(&[&["info", "--format", "json"], arguments].concat())["rows"][0]["torch_rules"].clone()
    };
    assert_eq!(rules(&[&trace]), "2.15 and later");
    assert_eq!(rules(&[&trace, "--torch-version", "2.12.1"]), "2.12 and 2.13");
    let older = data("torch/kineto/mlp_plain/trace.json.gz").display().to_string();
    assert_eq!(rules(&[&older]), "2.11");
    let doubt = |arguments: &[&str]| {
        json(&[&["info", "--format", "json"], arguments].concat())["rows"][0]["torch_rules_doubt"].clone()
    };
    assert!(doubt(&[&older]).as_str().is_some_and(|doubt| doubt.contains("2.6 to 2.10")));
    assert_eq!(doubt(&[&trace]), serde_json::Value::Null);
    let recording = data("healthy/recording.ktrace").display().to_string();
    assert_eq!(rules(&[&recording]), serde_json::Value::Null);
    let refused = kinetoscope(&["ops", &trace, "--torch-version", "newest"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("expected a version of PyTorch, such as 2.15"));
}

#[test]
fn rules_for_the_categories_of_kernels_can_be_given() {
    let folder = tempfile::tempdir().expect("a folder");
    let rules = folder.path().join("rules.csv").display().to_string();
    let category = |arguments: &[&str]| {
        json(&[&["kernels", &gpu(), "--format", "json"], arguments].concat())["rows"][0]["category"].clone()
    };
    assert_eq!(category(&[]), "gemm");
    fs::write(&rules, "# mine\nmoe_gemm,^ampere\n").expect("a file");
    assert_eq!(category(&["--kernel-rules", &rules]), "moe_gemm");
    fs::write(&rules, "# mine\nmoo,^ampere\n").expect("a file");
    let refused = kinetoscope(&["summary", &gpu(), "--kernel-rules", &rules]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("line 2 is `moo,^ampere`"));
    assert_eq!(kinetoscope(&["kernels", &gpu(), "--kernel-rules", "absent.csv"]).status.code(), Some(2));
}

#[test]
fn every_query_prints_json_csv_and_markdown() {
    for query in QUERIES.iter().map(|v| v.name) {
        let document = json(&[query, &gpu(), "--format", "json"]);
        assert_eq!(document["schema"], format!("kinetoscope.{query}/1"));
        // An answer about a run has a list of recordings.
        let trace = document["trace"].get(0).unwrap_or(&document["trace"]);
        assert_eq!(trace["events"], 12, "{query}");
        assert!(document["diagnostics"].is_array() && document["rows"].is_array(), "{query}");
        let rows = document["rows"].as_array().expect("rows");
        let csv = stdout(&[query, &gpu(), "--format", "csv"]);
        assert_eq!(csv.lines().count(), rows.len() + 1, "{query}");
        let columns: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
        for row in rows {
            let keys: Vec<&str> = row.as_object().expect("a row").keys().map(String::as_str).collect();
            assert!(keys.iter().all(|key| columns.contains(key)), "{query}: {keys:?} in {columns:?}");
        }
        assert!(query == "stacks" || stdout(&[query, &gpu(), "--format", "md"]).contains("| ---"), "{query}");
    }
    let kernels = json(&["kernels", &gpu(), "--format", "json"]);
    assert_eq!(kernels["rows"][0]["name"], "ampere_sgemm");
    assert_eq!(kernels["rows"][0]["sum_ns"], 12_000);
    assert_eq!(kernels["rows"][0]["op"], "aten::mm");
    assert_eq!(json(&["info", &gpu(), "--format", "json"])["rows"][0]["kernels"], 2);
    let codes = json(&["check", &gpu(), "--format", "json"])["diagnostics"].to_string();
    assert!(codes.contains("kernel_without_launch") && codes.contains("launch_without_kernel"), "{codes}");
}

#[test]
fn ops_prints_torchs_table() {
    let table = stdout(&[
        "ops",
        &gpu(),
        "--sort-by",
        "self_cuda_time_total",
        "--row-limit",
        "2",
        "--time-unit",
        "us",
    ]);
    let rows: Vec<&str> = table.lines().filter(|l| l.contains("us ")).collect();
    assert_eq!(rows.len(), 2, "{table}");
    assert!(table.contains("Self CUDA time total: 30.000us"), "{table}");
    let shaped = json(&["ops", &gpu(), "--group-by", "shape,stack:5,overload", "--format", "json"]);
    let mm =
        shaped["rows"].as_array().expect("rows").iter().find(|r| r["name"] == "aten::mm").expect("aten::mm");
    assert_eq!(mm["input_shapes"], serde_json::json!([[4, 5], [5, 6]]));
    assert_eq!(mm["cpu_time_total_ns"], 20_000);
    assert_eq!(mm["self_cpu_time_total_ns"], 15_000);
    assert_eq!(mm["device_time_total_ns"], 12_000);
    assert_eq!(mm["device_type"], "CPU");
    assert_eq!(code(&["ops", &gpu(), "--sort-by", "no_such_column"]), Some(2));
    assert_eq!(code(&["ops", &gpu(), "--group-by", "colour"]), Some(2));
}

#[test]
fn exit_codes_distinguish_outcomes() {
    let cut = data("malformed/gzip_cut_off.json.gz").display().to_string();
    assert_eq!(code(&["info", &cut]), Some(0));
    assert_eq!(code(&["info", &cut, "--strict"]), Some(3));
    assert_eq!(code(&["export", "chrome", &cut, "--strict"]), Some(3));
    assert_eq!(code(&["redact", "--audit", &cut, "--strict"]), Some(3));
    assert_eq!(code(&["check", &gpu()]), Some(0));
    assert_eq!(code(&[]), Some(2));
    assert_eq!(code(&["summary"]), Some(2));
    assert_eq!(code(&["info", "no/such/file.json"]), Some(2));
    let mistyped = kinetoscope(&["sumary", &gpu()]);
    assert_eq!(mistyped.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&mistyped.stderr).contains("sumary is neither a command nor a file"));
    let output = kinetoscope(&["info", &data("refused/runs-code.pickle").display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("pickle"));
    assert!(output.stdout.is_empty());
}

#[test]
fn a_trace_is_read_from_standard_input() {
    let bytes = fs::read(data("healthy/gzip_members.json.gz")).expect("a fixture");
    let mut child = program()
        .args(["info", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    child.stdin.take().expect("a pipe").write_all(&bytes).expect("a pipe");
    let output = child.wait_with_output().expect("an answer");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["trace"]["events"], 40);
}

#[test]
fn every_trace_of_a_folder_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.json", "b.json", "notes.txt"] {
        fs::copy(gpu(), folder.path().join(name)).expect("a copy");
    }
    let path = folder.path().display().to_string();
    let document = json(&["kernels", &path, "--format", "json"]);
    assert_eq!(document["trace"].as_array().map(Vec::len), Some(2));
    assert_eq!(document["rows"].as_array().map(Vec::len), Some(6));
    assert_eq!(document["rows"][0]["trace"], "a.json");
    let csv = stdout(&["kernels", &path, "--format", "csv"]);
    assert_eq!(csv.lines().count(), 7);
    assert!(csv.starts_with("trace,name,"));
}

#[test]
fn written_files_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let events = |path: &str| json(&["info", path, "--format", "json"])["trace"]["events"].clone();
    stdout(&["export", "chrome", &gpu(), "-o", &file("copy.json.gz")]);
    assert_eq!(events(&file("copy.json.gz")), 12);
    assert_eq!(fs::read(file("copy.json.gz")).expect("a file")[..2], [0x1f, 0x8b]);
    stdout(&["export", "csv", &gpu(), "-o", &file("all.csv")]);
    assert_eq!(fs::read_to_string(file("all.csv")).expect("a file").lines().count(), 13);
    stdout(&["export", "folded", &gpu(), "--lanes", "-o", &file("lanes.folded")]);
    assert!(fs::read_to_string(file("lanes.folded")).expect("a file").contains("ProfilerStep#3;aten::mm 15"));
    let malformed = data("malformed/interleaved_writers.json").display().to_string();
    stdout(&["repair", &malformed, "-o", &file("clean.json")]);
    assert_eq!(events(&file("clean.json")), 3);
    serde_json::from_slice::<serde_json::Value>(&fs::read(file("clean.json")).expect("a file"))
        .expect("JSON");
    stdout(&["slice", &gpu(), "--time", "35us..60us", "-o", &file("part.json")]);
    // The copy's operator and call, and the copy itself, which began later but was launched within.
    assert_eq!(events(&file("part.json")), 3);
    stdout(&["slice", &gpu(), "--steps", "3", "-o", &file("step.json")]);
    assert_eq!(events(&file("step.json")), 12);
    assert_eq!(code(&["slice", &gpu(), "--steps", "9", "-o", &file("none.json")]), Some(2));
    let below_zero = kinetoscope(&["slice", &gpu(), "--steps", "-1-2"]);
    assert!(String::from_utf8_lossy(&below_zero.stderr).ends_with("the trace has no step from -1 to 2\n"));
    assert_eq!(code(&["slice", &gpu(), "--ranks", "5", "-o", &file("none.json")]), Some(2));
    stdout(&["shrink", &gpu(), "--min-duration", "6us", "--drop", "ac2g", "-o", &file("small.json")]);
    assert_eq!(events(&file("small.json")), 7);
}

#[test]
fn outputs_of_several_traces_do_not_collide() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    for rank in ["run/rank0", "run/rank1", "other/rank1"] {
        fs::create_dir_all(path(rank)).expect("a folder");
        fs::copy(gpu(), path(&format!("{rank}/trace.json"))).expect("a copy");
    }
    for command in ["repair", "redact"] {
        stdout(&[command, &path("run"), "-o", &path(command)]);
        for rank in ["rank0", "rank1"] {
            assert!(fs::exists(path(&format!("{command}/{rank}/trace.json"))).expect("an answer"));
        }
        let colliding =
            [command, &path("run/rank0/trace.json"), &path("run/rank1/trace.json"), "-o", &path("no")];
        let refused = kinetoscope(&colliding);
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("two traces would be written to"));
        assert_eq!(code(&[command, &path("run"), &path("other"), "-o", &path("no")]), Some(2));
    }
    assert!(!fs::exists(path("no")).expect("an answer"));
}

#[test]
fn an_unreadable_trace_does_not_stop_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::copy(gpu(), path("good.JSON.ZST")).expect("a copy");
    let recording = data("healthy/recording.ktrace").display().to_string();
    for command in ["repair", "redact"] {
        let output = kinetoscope(&[
            command,
            &path("missing.json"),
            &path("good.JSON.ZST"),
            &recording,
            "-o",
            &path(command),
        ]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("missing.json: No such file"));
        for name in ["good.JSON", "recording.json"] {
            assert!(fs::exists(path(&format!("{command}/{name}"))).expect("an answer"), "{command} {name}");
        }
    }
    let sliced = kinetoscope(&["slice", &recording, &gpu(), "--steps", "3", "-o", &path("slice")]);
    assert_eq!(sliced.status.code(), Some(2));
    assert_eq!(fs::read_dir(path("slice")).expect("a folder").count(), 1);
}

#[test]
fn an_input_is_never_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    fs::copy(gpu(), &path).expect("a copy");
    let (before, path) = (fs::read(&path).expect("a file"), path.display().to_string());
    for command in ["repair", "redact", "summary"] {
        let refused = kinetoscope(&[command, &path, "-o", &path]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("would overwrite its input"));
        assert_eq!(fs::read(&path).expect("a file"), before);
    }
    let link = folder.path().join("link.json").display().to_string();
    fs::hard_link(&path, &link).expect("a link");
    assert_eq!(code(&["repair", &path, "-o", &link]), Some(2));
    assert_eq!(fs::read(&path).expect("a file"), before);
    let refused = kinetoscope(&["repair", &path, "-o", &format!("{path}.zst")]);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(message.contains("trace.json.zst: zstd is read, but not written"), "{message}");
}

/// Private texts in the places where a rule by prefix keeps them.
const HOSTILE: &str = r#"{"host_name": "builder-17", "job": "process_falcon", "host_address": "10.1.2.3", "traceEvents": [
    {"ph":"X","cat":"user_annotation","name":"project falcon","pid":1,"tid":2,"ts":1,"dur":9,"args":{"External id":1,"falcon":7}},
    {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":2,"ts":2,"dur":3,"args":{"Call stack":"process_data.py(12): train;/home/ada/falcon.py(40): main;"}},
    {"ph":"X","cat":"cpu_op","name":"autograd::FalconBackward","pid":1,"tid":2,"ts":6,"dur":1,"args":{"job":"thread_falcon","address":"10.1.2.3"}},
    {"ph":"X","cat":"kernel","name":"void at::native::vectorized_elementwise_kernel<4, falcon::Train>(int)","pid":0,"tid":7,"ts":6,"dur":1},
    {"ph":"X","cat":"python_function","name":"/home/ada/falcon.py(40): main","pid":1,"tid":2,"ts":1,"dur":8}]}"#;

const PRIVATE: [&str; 8] = ["falcon", "ada", "builder", "train", "main", "10.1.2", "data", "job"];

#[test]
fn redaction_keeps_structure_and_removes_private_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().join("secret.json");
    fs::write(&secret, HOSTILE).expect("a file");
    let out = folder.path().join("out.json").display().to_string();
    stdout(&["redact", &secret.display().to_string(), "--salt", "s", "-o", &out]);
    let redacted = fs::read_to_string(&out).expect("a file");
    for word in PRIVATE {
        assert!(!redacted.to_lowercase().contains(word), "{word} is in\n{redacted}");
    }
    let document: serde_json::Value = serde_json::from_str(&redacted).expect("JSON");
    let events = document["traceEvents"].as_array().expect("events");
    assert_eq!(events[1]["name"], "aten::mm");
    let kernel = events[3]["name"].as_str().expect("a name");
    assert!(kernel.starts_with("void at::native::vectorized_elementwise_kernel<4, x"), "{kernel}");
    // The same frame has the same pseudonym wherever it is.
    let frame = events[4]["name"].as_str().expect("a name");
    assert!(frame.contains(".py(40): x"), "{frame}");
    let stack = events[1]["args"]["Call stack"].as_str().expect("a stack");
    assert!(stack.ends_with(&format!("{frame};")), "{stack}");
    assert_eq!(events[0]["ts"], 1.0);
}

#[test]
fn pseudonyms_differ_between_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().join("secret.json");
    fs::write(&secret, HOSTILE).expect("a file");
    let secret = secret.display().to_string();
    assert_ne!(stdout(&["redact", &secret]), stdout(&["redact", &secret]));
    assert_eq!(stdout(&["redact", &secret, "--salt", "s"]), stdout(&["redact", &secret, "--salt", "s"]));
}

#[test]
fn an_audit_lists_what_redaction_keeps() {
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().join("secret.json");
    fs::write(&secret, HOSTILE).expect("a file");
    let secret = secret.display().to_string();
    let out = folder.path().join("out.json");
    let table = stdout(&["redact", &secret, "--audit"]);
    assert!(table.contains("void at::native::vectorized_elementwise_kernel<4, …::…>(int)"), "{table}");
    let column = table.find("Text").expect("a column of texts");
    let texts: Vec<String> = table.lines().map(|line| line.chars().skip(column).collect()).collect();
    for word in PRIVATE {
        assert!(!texts.join("\n").to_lowercase().contains(word), "{word} is in\n{table}");
    }
    let document =
        json(&["redact", &secret, "--audit", "--format", "json", "-o", &out.display().to_string()]);
    assert_eq!(document["schema"], "kinetoscope.redact-audit/1");
    let row = |field: &str, kept: bool| {
        let rows = document["rows"].as_array().expect("rows");
        rows.iter().find(|r| r["field"] == field && r["kept"] == kept).cloned().unwrap_or_default()
    };
    assert_eq!(row("name", false)["count"], 2);
    assert_eq!(row("name", true)["rule"], "frame");
    assert_eq!(row("metadata.host_name", false)["rule"], "no rule");
    assert!(fs::read_to_string(&out).expect("a file").contains("aten::mm"));
    assert!(stdout(&["redact", "--help"]).contains("pseudonym"));
}

#[test]
fn help_completions_and_man_page_are_printed() {
    assert!(stdout(&["--help"]).contains("Examples:"));
    for command in ["ops", "tree", "repair", "slice", "shrink"] {
        let help = stdout(&[command, "-h"]);
        assert!(help.contains("Examples:"), "{command}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&["completions", shell]).contains("kinetoscope"), "{shell}");
    }
    assert!(stdout(&["man"]).contains(".TH kinetoscope"));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    for arguments in [&["completions", "zsh"][..], &["man"], &["events", &gpu()]] {
        let mut child = program()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("an end");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn programs_and_files_that_cannot_be_followed_are_errors() {
    let gpu = gpu();
    for (arguments, expected) in [
        (&["attach", "/nowhere/7.sock", "--status"][..], "/nowhere/7.sock: "),
        (&["attach", "192.168.0.1:80/secret"], "only loopback addresses are allowed"),
        (&["attach", "127.0.0.1:80/0123"], "other users see the arguments"),
        (&["attach", "127.0.0.1:80"], "needs its secret"),
        (&["attach", "4294967295"], "4294967295.sock: "),
        (&["attach", "a.sock", "--start", "--stop"], "cannot be used with"),
        (&["view", "--no-open", "--follow", &gpu], "is not a recording (.ktrace)"),
        (&["view", "--no-open", "--follow", &gpu, &gpu], "--follow needs one file"),
        (&["view", "--no-open", "--follow", "-"], "--follow needs one file"),
        (&["view", "--no-open", "--follow", "a.ktrace", "--keep", "0"], "--keep needs a number"),
    ] {
        let output = kinetoscope(arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}
