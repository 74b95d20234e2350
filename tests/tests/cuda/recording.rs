//! Device recording from the loader to the trace, with fakes of the driver and of CUPTI.

use crate::support::{check_schema, check_track_names};
use kinetoscope::device::{CUPTI_VARIABLE, DRIVER_VARIABLE};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::files::fake;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The output of a child and its trace.
struct Run {
    output: String,
    trace: Value,
}

/// Returns the command of a child with both fakes, which writes its recording to `path`.
fn child(what: &str, path: &Path) -> Command {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cuda-child"));
    child.arg(what).arg(path);
    child.env(DRIVER_VARIABLE, fake("cuda")).env(CUPTI_VARIABLE, fake("cupti"));
    child
}

/// Runs a child and returns its output.
fn finish(child: &mut Command) -> String {
    let output = child.output().expect("the child should run");
    assert!(output.status.success(), "{child:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Runs a child with both fakes and these variables; its trace must have no diagnostics.
fn run(what: &str, variables: &[(&str, &str)]) -> Run {
    run_with(what, variables, &[])
}

/// Like [`run`], but the trace must have these diagnostics.
fn run_with(what: &str, variables: &[(&str, &str)], expected: &[Code]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    let output = finish(child(what, &path).envs(variables.iter().copied()));
    let bytes = fs::read(path).expect("a trace");
    let read = Trace::read(&bytes).expect("a trace");
    let codes: Vec<Code> = read.diagnostics.findings().iter().map(|finding| finding.code).collect();
    assert_eq!(codes, expected, "{what}: diagnostics");
    let trace: Value = serde_json::from_slice(&bytes).expect("JSON");
    check_schema(&trace);
    check_track_names(&trace);
    Run { output, trace }
}

impl Run {
    fn events(&self, category: &str) -> Vec<&Value> {
        let events = self.trace["traceEvents"].as_array().expect("events");
        events.iter().filter(|event| event["cat"] == category).collect()
    }

    fn named(&self, name: &str) -> Vec<&Value> {
        let events = self.trace["traceEvents"].as_array().expect("events");
        events.iter().filter(|event| event["name"] == name && event["ph"] != "M").collect()
    }

    fn warnings(&self) -> Vec<&str> {
        self.trace["WARNING"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

fn number(event: &Value, key: &str) -> f64 {
    event[key].as_f64().unwrap_or_else(|| panic!("{key} of {event}"))
}

/// Asserts a duration in µs. The interpolated clock is rounded to nanoseconds.
fn assert_lasts(event: &Value, duration: f64) {
    assert!((number(event, "dur") - duration).abs() < 0.0015, "{event}");
}

/// Versions of CUPTI; records differ in length between them.
const VERSIONS: [&str; 8] = ["18", "21", "24", "26", "28", "130000", "130100", "130400"];

#[test]
fn everything_is_linked_in_every_version() {
    for version in VERSIONS {
        let run = run("everything", &[("CUPTI_FAKE_VERSION", version)]);
        assert_eq!(run.warnings(), [] as [&str; 0], "{version}");
        assert_eq!(run.trace["cupti_version"].to_string(), version);
        assert_eq!(run.trace["deviceProperties"].as_array().map(Vec::len), Some(2));
        kernels_belong_to_their_operators(&run, version);
        flows_connect_calls_with_device_events(&run);
        user_annotations_appear_on_streams(&run);
        copies_have_kinetos_names_and_bandwidths(&run);
        synchronizations_have_stream_and_event(&run);
        overhead_memory_and_nvtx_ranges_are_recorded(&run);
    }
}

fn kernels_belong_to_their_operators(run: &Run, version: &str) {
    let op = run.named("aten::mm")[0];
    let id = &op["args"]["External id"];
    let kernels = run.events("kernel");
    assert_eq!(kernels.len(), 7);
    assert!(kernels.iter().all(|kernel| kernel["name"] == "saxpy(float, float*, float*)"));
    let of_op: Vec<_> = kernels.iter().filter(|kernel| &kernel["args"]["External id"] == id).collect();
    assert_eq!(of_op.len(), 2);
    // Outside of operators there is no id, even within a user annotation.
    assert_eq!(kernels.iter().filter(|kernel| kernel["args"]["External id"].is_null()).count(), 5);
    let first = of_op[0];
    assert_eq!((&first["pid"], &first["tid"]), (&json!(0), &json!(7)));
    assert_lasts(first, 10.0);
    let args = &first["args"];
    let expected = json!({
        "External id": id, "device": 0, "context": 1, "stream": 7, "correlation": args["correlation"], "queued": 0,
        "registers per thread": 32, "shared memory": 1024, "blocks per SM": 4.0, "warps per SM": 32.0,
        "grid": [320, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %": 50, "graph id": 0, "graph node id": 0,
        "channel": 3, "channel_type": 1,
    });
    let mut actual = args.clone();
    let priority = actual.as_object_mut().and_then(|args| args.remove("priority"));
    assert_eq!(actual, expected);
    assert_eq!(priority, (version == "130100" || version == "130400").then(|| json!(-2)), "{version}");
    // The call lies inside the operator, on its thread, and the kernel does not begin before the call.
    let calls = run.named("cudaLaunchKernel");
    let call = calls.iter().find(|call| call["args"]["correlation"] == args["correlation"]).expect("a call");
    assert_eq!((&call["tid"], &call["args"]["External id"]), (&op["tid"], id));
    assert!(number(call, "ts") >= number(op, "ts") && number(first, "ts") >= number(call, "ts"));
    assert!(number(call, "ts") + number(call, "dur") <= number(op, "ts") + number(op, "dur"));
    let nodes: Vec<_> = kernels.iter().filter(|kernel| kernel["args"]["graph id"] == 9).collect();
    let ids: Vec<_> = nodes.iter().map(|kernel| &kernel["args"]["graph node id"]).collect();
    assert_eq!(ids, [1, 2, 3]);
    assert!(nodes.iter().all(|n| n["args"]["correlation"] == nodes[0]["args"]["correlation"]));
}

fn flows_connect_calls_with_device_events(run: &Run) {
    let flows = run.events("ac2g");
    let ends = |ph: &str| -> Vec<&Value> { flows.iter().filter(|a| a["ph"] == ph).copied().collect() };
    let (starts, stops) = (ends("s"), ends("f"));
    let caused =
        ["kernel", "gpu_memcpy", "gpu_memset", "cuda_sync"].map(|category| run.events(category).len());
    assert_eq!(stops.len(), caused.iter().sum::<usize>());
    for stop in &stops {
        assert_eq!(starts.iter().filter(|start| start["id"] == stop["id"]).count(), 1, "{stop}");
    }
    assert!(starts.iter().all(|start| stops.iter().any(|stop| stop["id"] == start["id"])));
    // Both ends of every flow are at an event.
    let events = run.trace["traceEvents"].as_array().expect("events");
    for end in flows {
        let is_at = |e: &&Value| {
            e["ph"] == "X" && ["pid", "tid", "ts"].iter().all(|key| e[key] == end[key]) && e["cat"] != "ac2g"
        };
        assert!(events.iter().any(|event| is_at(&event)), "{end}");
    }
}

fn user_annotations_appear_on_streams(run: &Run) {
    let step = run.named("step").into_iter().find(|event| event["cat"] == "user_annotation").expect("a step");
    let seen = run.events("gpu_user_annotation");
    assert_eq!(seen.len(), 2, "one on each stream with work of the annotation");
    for range in seen {
        assert_eq!(range["name"], "step");
        assert_eq!(range["args"], json!({ "External id": step["args"]["External id"] }));
        let kernels = run.events("kernel");
        let within = kernels.iter().filter(|k| {
            let is_same_lane = k["pid"] == range["pid"] && k["tid"] == range["tid"];
            is_same_lane && number(k, "ts") < number(range, "ts") + number(range, "dur")
        });
        let expected = if range["tid"] == 7 { 5 } else { 1 };
        assert_eq!(within.clone().count(), expected);
        assert!(within.clone().all(|k| number(k, "ts") > number(range, "ts")));
    }
}

fn copies_have_kinetos_names_and_bandwidths(run: &Run) {
    let copy = run.named("Memcpy HtoD (Pageable -> Device)")[0];
    assert_eq!(
        (&copy["args"]["bytes"], &copy["args"]["memory bandwidth (GB/s)"]),
        (&json!(1_000_000), &json!(100.0))
    );
    let peer = run.named("Memcpy PtoP (Device -> Device)")[0];
    assert_eq!(peer["pid"], 1);
    let number_of = |key: &str| peer["args"][key].as_i64().expect("a number");
    assert_eq!(["fromDevice", "inDevice", "toDevice"].map(number_of), [1, 1, 0]);
    assert_eq!(["fromContext", "inContext", "toContext"].map(number_of), [2, 2, 1]);
    assert_eq!(run.named("Memset (Device)")[0]["args"]["bytes"], 4096);
    // The driver call that caused them is kept; calls that only query are not.
    assert_eq!(run.named("cuMemcpyHtoDAsync_v2")[0]["cat"], "cuda_driver");
    assert!(run.named("cuDeviceGetCount").is_empty() && run.named("cudaGetDevice").is_empty());
}

fn synchronizations_have_stream_and_event(run: &Run) {
    let wait = run.named("Stream Wait Event")[0];
    let recorded = &run.named("cudaEventRecord")[0]["args"]["correlation"];
    assert_eq!(
        (&wait["args"]["wait_on_stream"], &wait["args"]["wait_on_cuda_event_id"]),
        (&json!(7), &json!(0))
    );
    assert_eq!(&wait["args"]["wait_on_cuda_event_record_corr_id"], recorded);
    assert_eq!((&wait["pid"], &wait["tid"]), (&json!(0), &json!(13)));
    let all = run.named("Context Sync")[0];
    assert_eq!((&all["tid"], &all["args"]["stream"]), (&json!(-1), &json!(-1)));
    assert!(all["args"]["wait_on_stream"].is_null());
    assert!(run.events("cuda_event").is_empty(), "device timestamps of events are not requested");
}

fn overhead_memory_and_nvtx_ranges_are_recorded(run: &Run) {
    assert_eq!(run.named("Instrumentation")[0]["cat"], "overhead");
    let memory: Vec<&Value> =
        run.named("[memory]").into_iter().filter(|event| event["args"]["Device Type"] == 1).collect();
    assert_eq!(memory.len(), 2);
    assert_eq!((&memory[0]["args"]["Bytes"], &memory[1]["args"]["Bytes"]), (&json!(4096), &json!(-4096)));
    assert_eq!(memory[0]["args"]["Total Allocated"], 4096);
    assert_eq!(memory[0]["tid"], run.named("cudaDeviceSynchronize")[0]["tid"]);
    assert_lasts(run.named("loading")[0], 0.1);
    assert_eq!(run.named("loading")[0]["args"], json!({ "domain": "default" }));
    assert_eq!(run.named("now")[0]["ph"], "i");
}

#[test]
fn records_out_of_order_are_linked() {
    let run = run("disordered", &[]);
    let op = run.named("late")[0];
    let kernels = run.events("kernel");
    assert_eq!(kernels.len(), 1, "kernels without times or from before the recording are left out");
    assert_eq!(kernels[0]["args"]["External id"], op["args"]["External id"]);
    assert_eq!(run.events("ac2g").len(), 4);
    assert_eq!(run.named("cudaDeviceSynchronize")[0]["args"]["return value"], 700);
    let memory = run.named("[memory]");
    assert_eq!(memory.len(), 1, "the framework's records are preferred to the driver's");
    assert_eq!(memory[0]["args"]["Bytes"], 8);
    let copy = run.named("Memcpy HtoD (Pageable -> Device)")[0];
    assert_eq!((&copy["dur"], &copy["args"]["memory bandwidth (GB/s)"]), (&json!(0.0), &Value::Null));
    assert_eq!(run.trace["kinetoscope"]["devices"]["unknown"], 1);
    let warnings = run.warnings();
    assert!(warnings.contains(&"1 activity records are of unsupported kinds"), "{warnings:?}");
    assert!(warnings.contains(&"1 activity records had no timestamps"), "{warnings:?}");
}

#[test]
fn records_without_a_buffer_are_counted() {
    // From CUDA 12.9 on, a request of CUPTI for a buffer may be refused, and CUPTI drops records. Before, it gets a
    // buffer beyond the limit. There are only kernels: their launches are not recorded.
    let codes = [Code::NotRecorded, Code::KernelWithoutLaunch];
    let refused = run_with("starved", &[("CUPTI_FAKE_VERSION", "28")], &codes);
    let put: usize = refused.output.parse().expect("a number");
    assert!(put < 60_000);
    assert_eq!(refused.events("kernel").len(), put);
    assert_eq!(refused.trace["kinetoscope"]["devices"]["dropped"], 60_000 - put);
    assert!(refused.warnings().iter().any(|warning| warning.contains("dropped by CUPTI")));
    let complete = run_with("starved", &[("CUPTI_FAKE_VERSION", "26")], &codes);
    assert_eq!(complete.events("kernel").len(), 60_000);
    assert!(complete.warnings().iter().any(|warning| warning.contains("device_buffer_bytes")));
}

#[test]
fn a_second_recording_has_no_kernels_of_the_first() {
    let run = run("again", &[]);
    let kernels = run.events("kernel");
    assert_eq!(kernels.len(), 1, "kernels from before the recording are left out");
    let op = run.named("on a thread")[0];
    assert_eq!(kernels[0]["args"]["External id"], op["args"]["External id"]);
    assert_eq!(run.named("cudaLaunchKernel")[0]["tid"], op["tid"]);
}

#[test]
fn late_buffers_do_not_damage_a_recording() {
    for what in ["everything", "again"] {
        let run = run(what, &[("CUPTI_FAKE_LATE", "1")]);
        assert!(!run.events("kernel").is_empty(), "{what}");
    }
}

#[test]
fn a_flight_recording_contains_the_last_kernels() {
    let folder = tempfile::tempdir().expect("a folder");
    finish(&mut child("flight", folder.path()));
    let file = fs::read_dir(folder.path()).expect("a folder").flatten().next().expect("a file").path();
    let trace = Trace::read(&fs::read(file).expect("a recording")).expect("a trace");
    let table = &trace.table;
    let names: Vec<&str> =
        table.rows().filter(|&row| table.cat(row) == "kernel").map(|row| table.name(row)).collect();
    assert_eq!(names, ["saxpy(float, float*, float*)"]);
    assert_eq!(trace.diagnostics.findings(), []);
}

/// Returns the reason why devices are not recorded, as the probe returns it and as the trace has it.
fn reason(variables: &[(&str, &str)]) -> (String, String) {
    let run = run("probe", variables);
    assert_eq!(run.named("on the CPU").len(), 1);
    let warnings = run.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let reason = warnings[0].strip_prefix("CUDA was requested but is not recorded: ").expect("the warning");
    (run.output.clone(), reason.to_owned())
}

#[test]
fn every_failure_has_a_reason_and_the_cpu_is_still_recorded() {
    let nvtx = fake("nvtx");
    let nvtx = nvtx.to_str().expect("a path");
    for (variables, typed, message) in [
        (&[(DRIVER_VARIABLE, "/nowhere.so")][..], "NoDriver", "there is no CUDA driver: "),
        (&[(DRIVER_VARIABLE, nvtx)], "MissingSymbol", "the driver library has no function cuInit"),
        (
            &[("CUDA_FAKE_INIT", "100")],
            "Driver { call: \"cuInit\"",
            "the CUDA driver failed: cuInit returned 100",
        ),
        (&[("CUDA_FAKE_DEVICES", "0")], "NoDevice", "the CUDA driver reports no device"),
        (&[(CUPTI_VARIABLE, "/nowhere.so")], "NoCupti", "CUPTI was not found; set KINETOSCOPE_CUPTI_LIBRARY"),
        (&[(CUPTI_VARIABLE, nvtx)], "MissingSymbol", "the cupti library has no function cuptiGetVersion"),
        (&[("CUPTI_FAKE_VERSION", "17")], "OldCupti(17)", "CUPTI has version 17"),
        (
            &[("CUPTI_FAKE_FAIL", "cuptiGetVersion:999")],
            "Cupti",
            "CUPTI failed: cuptiGetVersion returned 999",
        ),
    ] {
        let (output, warning) = reason(variables);
        assert!(output.starts_with(&format!("Err({typed}")), "{output}");
        assert!(warning.starts_with(message), "{warning}");
    }
}

#[test]
fn failures_at_the_start_of_recording_are_warnings() {
    for (fails, message) in [
        ("cuptiSubscribe:39", "another profiler uses CUPTI in this process"),
        (
            "cuptiActivityRegisterCallbacks:7",
            "CUPTI failed: cuptiActivityRegisterCallbacks returned 7, CUPTI_FAKE_ERROR_7",
        ),
        ("cuptiActivityEnable:15", "CUPTI failed: cuptiActivityEnable returned 15, CUPTI_FAKE_ERROR_15"),
    ] {
        let (output, warning) = reason(&[("CUPTI_FAKE_FAIL", fails)]);
        assert_eq!((output.as_str(), warning.as_str()), ("Ok(2)", message));
    }
    let damaged = run("everything", &[("CUPTI_FAKE_FAIL", "cuptiActivityGetNextRecord:21")]);
    assert!(damaged.warnings().iter().any(|warning| warning.contains("could not be read completely")));
    let taken = run("taken", &[]);
    assert_eq!(
        taken.warnings(),
        ["CUDA was requested but is not recorded: another profiler uses CUPTI in this process"]
    );
}

#[test]
fn cupti_is_found_in_every_supported_location() {
    let root = tempfile::tempdir().expect("a folder");
    let place = |folder: &str, name: &str| {
        let folder = root.path().join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        fs::copy(fake("cupti"), folder.join(name)).expect("a copy");
    };
    place("toolkit/extras/CUPTI/lib64", "libcupti.so.13");
    place("venv12/lib/python3.11/site-packages/nvidia/cuda_cupti/lib", "libcupti.so.12");
    place("venv13/lib/python3.12/site-packages/nvidia/cu13/lib", "libcupti.so.13");
    place("bare", "libcupti.so.12");
    // A file that is not a library is skipped.
    let broken = root.path().join("broken/extras/CUPTI/lib64");
    fs::create_dir_all(&broken).expect("a folder");
    fs::write(broken.join("libcupti.so.13"), "no library").expect("a file");
    let bare = root.path().join("bare");
    let bare = [("LD_LIBRARY_PATH", bare.as_path())];
    for (what, variable, folder, others, expected) in [
        ("probe", "CUDA_HOME", "toolkit", &[][..], "Ok(2)"),
        ("probe", "CUDA_PATH", "toolkit", &[], "Ok(2)"),
        ("probe", "VIRTUAL_ENV", "venv12", &[], "Ok(2)"),
        ("probe", "CONDA_PREFIX", "venv13", &[], "Ok(2)"),
        ("probe", "LD_LIBRARY_PATH", "bare", &[], "Ok(2)"),
        ("probe", "CUDA_HOME", "broken", &bare, "Ok(2)"),
        // The library that the program has loaded, although the toolkit has a newer one.
        ("loaded", "CUDA_HOME", "toolkit", &bare, "{\"12\"}"),
    ] {
        let trace = root.path().join("trace.json");
        let mut child = child(what, &trace);
        child.env_remove(CUPTI_VARIABLE).env(variable, root.path().join(folder)).envs(others.iter().copied());
        assert_eq!(finish(&mut child), expected, "{variable}={folder}");
    }
}

#[test]
fn measurements_wait_for_the_device() {
    run("timed", &[]);
}

/// Calls of the runtime belong to both activities: without restriction of the CPU, they are exported.
#[test]
fn flows_to_work_that_is_not_exported_are_not_exported() {
    let complete = run("everything", &[]);
    // Driver calls whose copies are left out.
    let kernels = run_with("kernels", &[], &[Code::NotRecorded]);
    let count = |run: &Run, category: &str| run.events(category).len();
    for category in ["gpu_memcpy", "gpu_memset", "cuda_sync", "overhead", "gpu_user_annotation"] {
        assert!(count(&complete, category) > 0 && count(&kernels, category) == 0, "{category}");
    }
    for category in ["kernel", "cuda_runtime", "cuda_driver", "cpu_op"] {
        assert_eq!(count(&complete, category), count(&kernels, category), "{category}");
    }
    let places = |run: &Run, category: &str, ph: &str| -> Vec<(Value, Value)> {
        let events = run.events(category).into_iter().filter(|event| event["ph"] == ph);
        events.map(|event| (event["tid"].clone(), event["ts"].clone())).collect()
    };
    let (ends, work) = (places(&kernels, "ac2g", "f"), places(&kernels, "kernel", "X"));
    assert_eq!(ends.len(), work.len());
    assert!(ends.iter().all(|end| work.contains(end)));
    let launches = places(&kernels, "ac2g", "s").len();
    assert!((1..places(&complete, "ac2g", "s").len()).contains(&launches), "{launches}");
}

#[test]
fn without_fakes_there_are_devices_or_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    let output = finish(child("probe", &path).env_remove(DRIVER_VARIABLE).env_remove(CUPTI_VARIABLE));
    let trace: Value = serde_json::from_slice(&fs::read(path).expect("a trace")).expect("JSON");
    assert_eq!(output.starts_with("Ok("), trace["WARNING"].is_null(), "{output}: {}", trace["WARNING"]);
}

#[test]
fn no_warning_without_the_cuda_activity() {
    let run = run("silent", &[(DRIVER_VARIABLE, "/nowhere.so")]);
    assert_eq!(run.warnings(), [] as [&str; 0]);
    assert_eq!(run.trace["deviceProperties"], json!([]));
}

#[test]
fn without_cpu_activities_only_devices_and_their_calls_are_recorded() {
    let run = run("devices", &[]);
    assert_eq!(run.output, "XPU: this version of Kinetoscope cannot record XPU activities");
    assert_eq!(
        run.warnings(),
        ["XPU was requested but is not recorded: this version of Kinetoscope cannot record XPU activities"]
    );
    assert_eq!([run.events("kernel").len(), run.events("cuda_runtime").len()], [1, 1]);
    for category in ["cpu_op", "user_annotation", "cpu_instant_event"] {
        assert!(run.events(category).is_empty(), "{category}");
    }
    let events = run.trace["traceEvents"].as_array().expect("events");
    assert!(events.iter().all(|event| event["ph"] != "C"), "counters");
}

#[test]
fn a_recording_of_nothing_does_not_start() {
    let run = run("nothing", &[(DRIVER_VARIABLE, "/no/such/driver.so")]);
    let expected = "none of the requested activities can be recorded; \
                    HPU: this version of Kinetoscope cannot record HPU activities; CUDA: there is no CUDA driver: ";
    assert!(run.output.starts_with(expected), "{}", run.output);
    // The next recording can start.
    assert_eq!(run.events("cpu_op").len(), 1);
}

#[test]
fn devices_and_spans_are_paused_and_resumed_apart() {
    let run = run("paused", &[]);
    let names = |category| -> Vec<&str> {
        run.events(category).iter().map(|event| event["name"].as_str().expect("a name")).collect()
    };
    assert_eq!(names("cpu_op"), ["recorded", "without its kernel", "recorded again"]);
    assert_eq!(names("not_recorded"), ["not recorded: CUDA", "not recorded: CPU"]);
    assert_eq!([run.events("kernel").len(), run.events("cuda_runtime").len()], [3, 3]);
    let pause = run.events("not_recorded")[0].clone();
    let ends = |event: &Value| {
        let ts = event["ts"].as_f64().expect("a time");
        (ts, ts + event["dur"].as_f64().expect("a duration"))
    };
    let op = run.events("cpu_op")[1].clone();
    assert!(ends(&pause).0 <= ends(&op).0 && ends(&op).1 <= ends(&pause).1);
}

#[test]
fn observed_spans_have_both_ids_and_their_kernels() {
    let run = run("observed", &[]);
    let functions: Vec<&Value> =
        run.events("cpu_op").iter().map(|event| &event["args"]["Record function id"]).collect();
    assert_eq!(functions, [1, 2, 3]);
    let ids: Vec<&Value> = run.events("cpu_op").iter().map(|event| &event["args"]["External id"]).collect();
    let kernels: Vec<&Value> =
        run.events("kernel").iter().map(|event| &event["args"]["External id"]).collect();
    assert_eq!([kernels[0], kernels[kernels.len() - 1]], [ids[0], ids[2]]);
}
