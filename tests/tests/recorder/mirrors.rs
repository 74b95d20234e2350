//! Mirrors to other profilers, counters of devices, execution traces, and measurements of runs.

use crate::support;
use crate::support::alone;
use kinetoscope::Profiler;
use kinetoscope::RecordError;
use kinetoscope::Sequence;
use kinetoscope::handlers::execution_trace_handler;
use kinetoscope::metrics::{Sample, sample as sample_now};
use kinetoscope::mirror::{Mirror, emit_itt};
use kinetoscope::mirror::{itt, nvtx};
use kinetoscope::profiler::measure::{ProfileIt, driver_memory, timeit};
use kinetoscope::schedule::{Schedule, ScheduleArgs};
use kinetoscope::spans::Shape::{List, Tensor};
use kinetoscope::spans::{TensorId, operator};
use kinetoscope::{ExecutionTraceObserver, Module};
use kinetoscope::{outputs, scope, user_scope};
use kinetoscope_core::analysis::query::options::Options;
use kinetoscope_core::output::write::execution_trace::execution_trace;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::execution::nodes_of;
use kinetoscope_core::trace::table::layout::FieldPlace;
use kinetoscope_tests::files::fake;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{env, fs, thread};

#[test]
fn nvtx_receives_every_range_with_and_without_a_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let output = Command::new(env!("CARGO_BIN_EXE_recording-child"))
        .args(["mirrored"])
        .env(nvtx::LIBRARY_VARIABLE, fake("nvtx"))
        .env("NVTX_FAKE_LOG", &log)
        .output()
        .expect("the child should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written = fs::read_to_string(log).expect("a log");
    let step = "push Optimizer.step#SGD.step";
    let once = ["push outer", "push a b", "mark now", step, "pop", "pop", "pop"];
    assert_eq!(written.lines().collect::<Vec<_>>(), [once, once].concat());
}

#[test]
fn nvtx_ranges_have_sequence_numbers_and_shapes() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let output = Command::new(env!("CARGO_BIN_EXE_recording-child"))
        .arg("shapes")
        .env(nvtx::LIBRARY_VARIABLE, fake("nvtx"))
        .env("NVTX_FAKE_LOG", &log)
        .output()
        .expect("the child should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written = fs::read_to_string(log).expect("a log");
    let pushed: Vec<&str> = written.lines().filter_map(|line| line.strip_prefix("push ")).collect();
    let without = ["aten::mm, seq = 7", "aten::cat", "plain"];
    let with =
        ["aten::mm, seq = 7, sizes = [[2, 3], [3, 4]]", "aten::cat, sizes = [[[2], [4]], []]", "plain"];
    assert_eq!(pushed, [without, with, with].concat());
}

#[test]
fn nvtx_ranges_return_their_depth() {
    for (variables, expected) in [
        (vec![], "[Some(0), Some(1), Some(1), Some(0), None]"),
        (vec![("NVTX_FAKE_NO_TOOL", "1")], "[None, None, None, None, None]"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let output = Command::new(env!("CARGO_BIN_EXE_recording-child"))
            .arg("depths")
            .env(nvtx::LIBRARY_VARIABLE, fake("nvtx"))
            .env("NVTX_FAKE_LOG", folder.path().join("log"))
            .envs(variables)
            .output()
            .expect("the child should run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected);
    }
}

#[test]
fn device_samples_are_recorded_as_counters() {
    let _alone = alone();
    let mut profiler =
        Profiler::builder().device_metrics(Duration::from_millis(5)).start().expect("recording should start");
    let sample = Sample {
        memory: Some((3 << 30, 1 << 30)),
        utilization: Some((75, 20)),
        clocks: Some((1980, 2619)),
        power: None,
        temperature: Some(41),
    };
    sample.record(1);
    let recording = profiler.stop().expect("a recording").expect("something was recorded");
    let table = &recording.trace().expect("a trace").table;
    let value = |name: &str, series: &str| {
        let row = table.rows().find(|&row| table.ph(row) == b'C' && table.name(row) == name)?;
        table.field_named(row, FieldPlace::Args, series)?.as_i64()
    };
    assert_eq!(value("GPU 1 memory (bytes)", "used"), Some(3 << 30));
    assert_eq!(value("GPU 1 memory (bytes)", "free"), Some(1 << 30));
    assert_eq!(value("GPU 1 utilization (%)", "kernels"), Some(75));
    assert_eq!(value("GPU 1 clocks (MHz)", "multiprocessors"), Some(1980));
    assert_eq!(value("GPU 1 temperature (C)", "temperature"), Some(41));
    assert_eq!(value("GPU 1 power (mW)", "power"), None);
    // Without a driver there is a warning; with one, its own samples are recorded in addition.
    let warning = "device metrics were requested but NVML is not available";
    let warnings = table.metadata.value("WARNING").map(|warnings| warnings.to_string()).unwrap_or_default();
    assert_eq!(warnings.contains(warning), sample_now(0).is_none());
}

#[test]
fn without_the_libraries_mirroring_has_no_effect() {
    let _alone = alone();
    assert!(!itt::is_available() && !nvtx::is_available());
    assert_eq!([nvtx::range_push("ignored"), itt::range_push("ignored")], [None, None]);
    assert_eq!([nvtx::range_pop(), itt::range_pop()], [None, None]);
    nvtx::mark("ignored");
    itt::mark("ignored");
    let emit = emit_itt(true).expect("recording should start");
    drop(scope!("emitted to a missing library"));
    assert!(matches!(Profiler::builder().start(), Err(RecordError::AlreadyRecording)));
    drop(emit);
    let mut profiler = Profiler::builder().mirror(Mirror::Itt).start().expect("recording should start");
    drop(scope!("recorded"));
    let recording = profiler.stop().expect("a recording").expect("a recording");
    assert_eq!(recording.events().expect("a trace").len(), 1);
}

fn attribute<'a>(node: &'a Value, name: &str) -> &'a Value {
    let attributes = node["attrs"].as_array().expect("attributes");
    &attributes.iter().find(|attribute| attribute["name"] == name).expect("the attribute")["value"]
}

#[test]
fn an_execution_trace_has_the_format_of_pytorchs() {
    let _alone = alone();
    let mut profiler = Profiler::builder().record_shapes(true).start().expect("recording should start");
    let sequence = Sequence::next();
    {
        let _step = user_scope!("step");
        let _op = scope!("aten::addmm", shapes: [&[3][..], &[2, 4], &[4, 3], &[]],
            dtypes: ["float", "float", "float", "Scalar"], concrete: ["", "", "", 1.5], sequence: sequence);
        drop(scope!("aten::t"));
    }
    thread::spawn(move || drop(scope!("AddmmBackward0", backward: sequence)))
        .join()
        .expect("the thread should not panic");
    let recording = profiler.stop().expect("a recording").expect("a recording");
    let written: Value =
        serde_json::from_str(&execution_trace(recording.trace().expect("a trace"))).expect("JSON");
    let nodes = written["nodes"].as_array().expect("nodes");
    let find =
        |name: &str| nodes.iter().find(|node| node["name"] == name).unwrap_or_else(|| panic!("{name}"));
    let (process, thread) = (
        find("[pytorch|profiler|execution_trace|process]"),
        find("[pytorch|profiler|execution_trace|thread]"),
    );
    let (step, addmm, t, backward) =
        (find("step"), find("aten::addmm"), find("aten::t"), find("AddmmBackward0"));
    assert_eq!([&thread["ctrl_deps"], &step["ctrl_deps"]], [&process["id"], &thread["id"]]);
    assert_eq!([&addmm["ctrl_deps"], &t["ctrl_deps"]], [&step["id"], &addmm["id"]]);
    assert_eq!(
        [attribute(step, "scope"), attribute(addmm, "scope"), attribute(backward, "scope")],
        [7, 0, 1]
    );
    assert_eq!(attribute(backward, "fw_parent"), &addmm["id"]);
    assert_eq!([attribute(addmm, "tid"), attribute(backward, "tid")], [1, 2]);
    let expected = json!({
        "values": [[0, 0, 0, 3, 4, "cpu"], [0, 0, 0, 8, 4, "cpu"], [0, 0, 0, 12, 4, "cpu"], 1.5],
        "shapes": [[3], [2, 4], [4, 3], []],
        "strides": [[], [], [], []],
        "types": ["Tensor(float)", "Tensor(float)", "Tensor(float)", "Double"],
    });
    assert_eq!(addmm["inputs"], expected);
    let mut ids: Vec<u64> = nodes.iter().map(|node| node["id"].as_u64().expect("an id")).collect();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count);
    // With sorted members, the schema is not before the nodes.
    let error = Trace::read(written.to_string().as_bytes()).expect_err("no times");
    assert!(error.to_string().contains("execution trace"), "{error}");
    check_keys_against_pytorch(&written);
}

#[test]
fn execution_traces_have_outputs_and_tensor_ids() {
    let _alone = alone();
    let mut profiler = Profiler::builder().record_shapes(true).start().expect("recording should start");
    {
        let weights = TensorId { tensor: 8, storage: 9, offset: 64, device: "cuda:0" };
        let _mm = scope!("aten::mm", shapes: [[2, 3], [3, 4]], dtype: "float", tensors: [6.into(), weights]);
        {
            let _inner = scope!("aten::empty", shapes: [[]; 2], concrete: [7, ""], tensors: [0, 5]);
            outputs!(shapes: [[2, 4]], dtype: "double", tensors: [10]);
        }
        outputs!(shapes: [&[2, 4][..], &[]], dtypes: ["float", "long int"], strides: [&[4, 1][..], &[]], tensors: [10, 11]);
    }
    drop(scope!("aten::cat", shapes: [List(&[Tensor(&[2]), Tensor(&[3])])], dtypes: ["float"]));
    let recording = profiler.stop().expect("a recording").expect("a recording");
    support::check(&recording);
    let written: Value =
        serde_json::from_str(&execution_trace(recording.trace().expect("a trace"))).expect("JSON");
    let nodes = written["nodes"].as_array().expect("nodes");
    let find = |name: &str| nodes.iter().find(|node| node["name"] == name).expect("the node");
    let mm = find("aten::mm");
    assert_eq!(mm["inputs"]["values"], json!([[6, 0, 0, 6, 4, "cpu"], [8, 9, 64, 12, 4, "cuda:0"]]));
    let expected = json!({
        "values": [[10, 0, 0, 8, 4, "cpu"], [11, 0, 0, 1, 8, "cpu"]],
        "shapes": [[2, 4], []],
        "strides": [[4, 1], []],
        "types": ["Tensor(float)", "Tensor(long int)"],
    });
    assert_eq!(mm["outputs"], expected);
    let inner = find("aten::empty");
    assert_eq!(inner["inputs"]["values"], json!([7, [5, 0, 0, 1, 4, "cpu"]]));
    assert_eq!(inner["outputs"]["values"], json!([[10, 0, 0, 8, 8, "cpu"]]));
    let list = &find("aten::cat")["inputs"];
    assert_eq!(list["types"], json!(["GenericList[Tensor(float),Tensor(float)]"]));
    assert_eq!(list["values"], json!([[[0, 0, 0, 2, 4, "cpu"], [0, 0, 0, 3, 4, "cpu"]]]));
    // Without shapes there are no outputs.
    let mut profiler = Profiler::builder().start().expect("recording should start");
    {
        let _mm = scope!("aten::mm", tensors: [1]);
        outputs!(shapes: [[2, 4]]);
    }
    let recording = profiler.stop().expect("a recording").expect("a recording");
    assert_eq!(recording.statistics.records, 2);
}

/// Returns the `rf_id` and the name of each node of a file, except those of the process and of threads.
fn nodes(path: &Path) -> Vec<(i64, String)> {
    let written: Value = serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON");
    let nodes = written["nodes"].as_array().expect("nodes").iter();
    let id = |node: &Value| attribute(node, "rf_id").as_i64().expect("an id");
    let named = nodes.map(|node| (id(node), node["name"].as_str().expect("a name").to_owned()));
    named.filter(|(_, name)| !name.starts_with("[pytorch|")).collect()
}

#[test]
fn an_observer_writes_the_operators_that_begin_while_it_runs() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("et.json");
    let observer = ExecutionTraceObserver::new(&path);
    assert!(matches!(observer.start(), Err(RecordError::NotStarted)));
    let mut last = 0;
    for _ in 0..2 {
        let builder = Profiler::builder().execution_trace_observer(&observer).with_modules(true);
        let mut profiler = builder.start().expect("recording should start");
        assert!(observer.is_running());
        let module = Module::new("Net", "net").scope();
        let step = user_scope!("step");
        drop(scope!("aten::mm", shapes: [[2, 3], [3, 4]], dtype: "float"));
        observer.pause().expect("a pause");
        assert!(!observer.is_running());
        drop(scope!("aten::relu"));
        observer.start().expect("a start");
        thread::scope(|scope| {
            scope.spawn(|| drop(operator("aten::add")));
        });
        observer.stop().expect("a stop");
        drop(scope!("aten::mul"));
        assert!(matches!(observer.start(), Err(RecordError::NotStarted)), "until the next recording");
        drop((step, module));
        let recording = profiler.stop().expect("a recording").expect("a recording");
        assert!(!observer.is_running());
        support::check(&recording);
        let trace = recording.trace().expect("a trace");
        let id = |name: &str| {
            let id =
                trace.table.field_named(support::row(trace, name), FieldPlace::Args, "Record function id");
            id.and_then(|id| id.as_i64()).expect("an id")
        };
        assert_eq!([id("aten::relu"), id("aten::mul")], [0, 0]);
        let seen = ["step", "aten::mm", "aten::add"].map(|name| (id(name), name.to_owned()));
        assert_eq!(nodes(&path), seen);
        assert!(seen.iter().all(|(id, _)| *id > last), "ids are unique in the process: {seen:?}");
        last = seen.iter().map(|(id, _)| *id).max().expect("three ids");
        let mm = trace.table.field_named(support::row(trace, "aten::mm"), FieldPlace::Args, "Input Dims");
        assert_eq!(mm.and_then(|dims| dims.as_json()), Some("[[2,3],[3,4]]"), "the observer records shapes");
    }
}

#[test]
fn an_observer_that_saw_nothing_writes_no_operators() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("et.json");
    let observer = ExecutionTraceObserver::new(&path);
    let mut profiler = Profiler::builder().execution_trace_observer(&observer).start().expect("a start");
    observer.pause().expect("a pause");
    drop(scope!("not seen"));
    profiler.stop().expect("a stop");
    assert_eq!(nodes(&path), []);
    let missing = ExecutionTraceObserver::new(folder.path().join("no folder/et.json"));
    let mut profiler = Profiler::builder().execution_trace_observer(&missing).start().expect("a start");
    let error = profiler.stop().expect_err("there is no such folder");
    assert!(error.to_string().contains("no folder/et.json"), "{error}");
}

#[test]
fn an_observer_writes_a_file_for_each_cycle() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let observer = ExecutionTraceObserver::new(folder.path().join("et.json"));
    let args = ScheduleArgs { wait: 1, warmup: 1, active: 1, repeat: 2, ..ScheduleArgs::default() };
    let mut profiler = Profiler::builder()
        .schedule(Schedule::new(args).expect("a schedule"))
        .execution_trace_observer(&observer)
        .start()
        .expect("recording should start");
    for step in 0..6 {
        assert_eq!(observer.is_running(), step % 3 == 2);
        drop(operator(&format!("work {step}")));
        profiler.step().expect("a step");
    }
    profiler.stop().expect("a stop");
    let names = |file: &str| -> Vec<String> {
        nodes(&folder.path().join(file)).into_iter().map(|(_, name)| name).collect()
    };
    assert_eq!(names("et.json"), ["ProfilerStep#2", "work 2"]);
    assert_eq!(names("et.6.json"), ["ProfilerStep#5", "work 5"]);
}

/// Checks that the keys of every level are those of a trace that PyTorch wrote.
fn check_keys_against_pytorch(written: &Value) {
    let folder = kinetoscope_tests::files::data().join("torch/2.15/kineto/execution_trace_training");
    let path = folder.join("execution_trace.json.gz");
    let file = fs::File::open(path).expect("a trace");
    let real: Value = serde_json::from_reader(flate2::read::GzDecoder::new(file)).expect("JSON");
    let keys = |value: &Value| {
        let mut keys: Vec<String> = value.as_object().expect("an object").keys().cloned().collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(written), keys(&real));
    assert_eq!(written["schema"], real["schema"]);
    let (ours, theirs) = (&written["nodes"][2], &real["nodes"][2]);
    assert_eq!(keys(ours), keys(theirs));
    let attributes = |node: &Value| -> Vec<(Value, Value)> {
        node["attrs"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|a| (a["name"].clone(), a["type"].clone()))
            .collect()
    };
    assert_eq!(attributes(ours), attributes(theirs));
}

#[test]
fn execution_traces_are_written_for_scheduled_steps() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let args = ScheduleArgs { warmup: 1, active: 1, repeat: 2, ..ScheduleArgs::default() };
    let mut profiler = Profiler::builder()
        .schedule(Schedule::new(args).expect("a schedule"))
        .on_trace_ready(execution_trace_handler(folder.path().join("et.json")))
        .start()
        .expect("recording should start");
    for _ in 0..6 {
        drop(scope!("work"));
        profiler.step().expect("a step");
    }
    profiler.stop().expect("a stop");
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
    names.sort();
    assert_eq!(names, ["et.4.json", "et.json"]);
}

/// Operators in modules have their modules, and `nodes` shows them. PyTorch's execution traces have no modules.
#[test]
fn nodes_have_the_modules_around_them() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("et.json");
    let observer = ExecutionTraceObserver::new(&path);
    let (net, linear) = (Module::new("Net", "net"), Module::new("Linear", "fc"));
    for with_modules in [true, false] {
        let builder = Profiler::builder().execution_trace_observer(&observer).with_modules(with_modules);
        let mut profiler = builder.start().expect("recording should start");
        {
            let _net = net.scope();
            drop(scope!("aten::relu"));
            let _linear = linear.scope();
            let _addmm = scope!("aten::addmm");
            drop(user_scope!("step"));
        }
        drop(scope!("aten::add"));
        profiler.stop().expect("a stop");
        let trace = Trace::read(&fs::read(&path).expect("a file")).expect("an execution trace");
        let hierarchies: Vec<Option<String>> =
            nodes_of(&trace.table).expect("nodes").skip(2).map(|node| node.modules()).collect();
        let expected = ["TOP(Net)::forward.", "TOP(Net)::forward.fc(Linear)::forward."];
        let [relu, addmm] = expected.map(|text| with_modules.then(|| text.to_owned()));
        assert_eq!(hierarchies, [relu, addmm.clone(), None, None]);
        let answer = trace.ask("nodes", &Options::default()).expect("an answer");
        let row: Value = serde_json::from_str(&answer.json_row(3)).expect("JSON");
        assert_eq!(row["module_hierarchy"], json!(addmm));
    }
}

/// In a process of its own, because the standard output of tests is shared.
#[test]
fn durations_are_printed_unless_the_log_is_off() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_recording-child"));
    let output = child.arg("durations").output().expect("a child");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let times: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("Time: ")).collect();
    assert_eq!(times.len(), 4, "{text}");
    for time in times {
        let (seconds, decimals) = time.strip_suffix('s').and_then(|t| t.split_once('.')).expect("a time");
        assert!(seconds == "0" && decimals.len() == 8, "{time}");
    }
}

#[test]
fn runs_are_timed_and_summarized() {
    let _alone = alone();
    let (result, took) = timeit(10, || {
        thread::sleep(Duration::from_millis(20));
        7
    });
    assert_eq!(result, 7);
    assert!((Duration::from_millis(2)..Duration::from_millis(200)).contains(&took), "{took:?}");
    let mut profile = ProfileIt::on_device(40);
    for pause in [5, 15] {
        profile.run(|| thread::sleep(Duration::from_millis(pause)));
    }
    assert_eq!(profile.runs().len(), 2);
    let summary = profile.summary().expect("two runs");
    assert!(summary.time_mean_ns >= 1e7 && summary.time_std_ns.is_some_and(|std| std > 1e6));
    // There is no device with this number, and none reports memory.
    assert_eq!(driver_memory(40), None);
    let csv = profile.csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("runs,time_mean_ns,time_std_ns,host_max_allocated_bytes"), "{csv}");
}
