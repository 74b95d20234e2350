//! The fitness of traces: for each rule a trace that breaks it, and one that almost does.

use kinetoscope_core::analysis::overview::fitness::ReasonCode;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::category::Category;
use kinetoscope_tests::answers::{made, rows, text};
use kinetoscope_tests::files;
use serde_json::{Value, json};

fn span(category: &str, name: &str, place: (i64, i64), time: (i64, i64), id: i64) -> Value {
    json!({
        "ph": "X", "cat": category, "name": name, "pid": place.0, "tid": place.1, "ts": time.0,
        "dur": time.1 - time.0, "args": {"correlation": id, "External id": id},
    })
}

/// Launch `id`: an operator, a call and a kernel.
fn launch(id: i64) -> [Value; 3] {
    let start = id * 100;
    [
        span("cpu_op", "aten::mm", (1, 1), (start, start + 20), id),
        span("cuda_runtime", "cudaLaunchKernel", (1, 1), (start + 5, start + 10), id),
        span("kernel", "gemm", (0, 7), (start + 15, start + 40), id),
    ]
}

fn launches(count: i64) -> Vec<Value> {
    (1..=count).flat_map(launch).collect()
}

fn step(number: i64, time: (i64, i64)) -> Value {
    span("user_annotation", &format!("ProfilerStep#{number}"), (1, 1), time, 0)
}

/// The verdict of a question, and the codes of its reasons with the number of events.
fn verdict(trace: &Trace, question: &str) -> (String, Vec<(String, i64)>) {
    let rows = rows(trace, "fitness");
    let row = rows.iter().find(|row| row["question"] == question).expect("the question");
    let reasons = row["reasons"].as_array().expect("reasons").iter();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let reasons = reasons.map(|reason| (text(&reason["code"]), reason["count"].as_i64().expect("a count")));
    (text(&row["verdict"]), reasons.collect())
}

fn is(trace: &Trace, question: &str, expected: &str, codes: &[(&str, i64)]) {
    let codes = codes.iter().map(|&(code, count)| (code.to_owned(), count)).collect();
    assert_eq!(verdict(trace, question), (expected.to_owned(), codes), "{question}");
}

#[test]
fn a_trace_answers_what_it_has_events_for() {
    let trace = made(&json!(launches(3)));
    is(&trace, "operators", "good", &[]);
    is(&trace, "device_time", "good", &[]);
    is(&trace, "idle", "good", &[]);
    is(&trace, "communication", "unfit", &[("no_communication", 0)]);
    is(&trace, "memory", "unfit", &[("no_memory", 0)]);
    is(&trace, "steps", "unfit", &[("no_steps", 0)]);
}

#[test]
fn launches_without_any_work_show_that_the_device_was_not_recorded() {
    let hosts: Vec<Value> = launches(3).into_iter().filter(|event| event["cat"] != "kernel").collect();
    is(&made(&json!(hosts)), "device_time", "unfit", &[("no_device_work", 3), ("filtered", 1)]);
    let operators: Vec<Value> = hosts.into_iter().filter(|event| event["cat"] == "cpu_op").collect();
    is(&made(&json!(operators)), "device_time", "unfit", &[("no_device", 0)]);
}

/// One of 50 launches, and one of 101.
#[test]
fn single_launches_may_be_without_work() {
    let without_last = |count: i64| {
        let mut events = launches(count);
        events.pop();
        made(&json!(events))
    };
    is(&without_last(50), "device_time", "limited", &[("launches_without_work", 1)]);
    is(&without_last(101), "device_time", "good", &[]);
}

/// Two of three kernels, and one of 101, have no launch.
#[test]
fn work_without_launches_has_no_causes_of_idle_time() {
    let without = |count: i64, removed: usize| {
        let mut events = launches(count);
        for _ in 0..removed {
            let at = events.iter().position(|event| event["cat"] == "cuda_runtime").expect("a call");
            events.remove(at);
        }
        made(&json!(events))
    };
    let both = [("work_without_launch", 2), ("before_recording", 2)];
    is(&without(3, 2), "idle", "unfit", &both);
    is(&without(10, 2), "idle", "limited", &both);
    is(&without(101, 1), "idle", "limited", &[("before_recording", 1)]);
}

/// The first of three kernels begins 300 us after its launch, or 100 us.
#[test]
fn work_from_before_the_recording_limits_causes_of_idle_time() {
    let delayed = |ns: i64| {
        let mut events = launches(3);
        for event in events.iter_mut().filter(|event| event["cat"] == "kernel") {
            event["ts"] = (event["ts"].as_i64().expect("a time") + ns).into();
        }
        made(&json!(events))
    };
    is(&delayed(300), "idle", "limited", &[("before_recording", 1)]);
    is(&delayed(100), "idle", "good", &[]);
}

/// 300 calls whose correlation ids are 100 apart, or 6 apart: CUPTI counts calls that profilers leave out, too.
#[test]
fn calls_with_most_ids_missing_between_them_are_a_sample() {
    let apart = |ids: i64| {
        let mut events = launches(300);
        for event in &mut events {
            if let Some(id) = event["args"]["correlation"].as_i64() {
                event["args"]["correlation"] = (id * ids).into();
            }
        }
        made(&json!(events))
    };
    is(&apart(100), "idle", "unfit", &[("sampled", 300)]);
    is(&apart(6), "idle", "good", &[]);
}

/// Ranges of hardware counters, for which kernels are run several times.
#[test]
fn kernels_that_are_replayed_for_counters_have_no_times() {
    let with = |category: &str| {
        let mut events = launches(3);
        events.push(span(category, "gemm", (1, 1), (0, 5), 0));
        made(&json!(events))
    };
    is(&with("cuda_profiler_range"), "device_time", "unfit", &[("profiler_replay", 1)]);
    is(&with("another_range"), "device_time", "good", &[]);
}

/// The kernel begins 1 us before its call, or with it.
#[test]
fn clocks_that_disagree_limit_causes_of_idle_time() {
    let early = |start: i64| {
        let mut events = launches(3);
        events[2]["ts"] = start.into();
        made(&json!(events))
    };
    let (found, codes) = verdict(&early(104), "idle");
    assert_eq!(found, "limited");
    assert!(codes.contains(&("clocks".to_owned(), 1)), "{codes:?}");
    is(&early(105), "idle", "good", &[]);
    // Half of the work is early: the causes cannot be found.
    let mut events = launches(2);
    events[2]["ts"] = 104.into();
    assert_eq!(verdict(&made(&json!(events)), "idle").0, "unfit");
}

/// Of ten kernels one is of a graph, or none.
#[test]
fn graphs_hide_operators() {
    let graph = |name: &str| {
        let mut events = launches(10);
        events[1]["name"] = name.into();
        made(&json!(events))
    };
    is(&graph("cudaGraphLaunch"), "operators", "limited", &[("graphs", 1)]);
    is(&graph("cudaLaunchKernelExC"), "operators", "good", &[]);
}

#[test]
fn pauses_are_named() {
    let mut events = launches(3);
    events.push(json!({"ph": "X", "cat": "not_recorded", "name": "not recorded: CUDA", "pid": "Spans", "tid": "CUDA", "ts": 30, "dur": 50}));
    is(&made(&json!(events)), "device_time", "limited", &[("paused", 1)]);
}

#[test]
fn lost_parts_limit_every_answer() {
    let text = json!(launches(3)).to_string();
    let trace = Trace::read(&text.as_bytes()[..text.len() - 5]).expect("a trace");
    let (found, codes) = verdict(&trace, "operators");
    assert_eq!((found.as_str(), codes[0].0.as_str()), ("limited", "lost"));
}

/// Of five collectives the first takes 80 % of the time, or 79 %.
#[test]
fn one_collective_with_all_the_time_waited_for_other_ranks() {
    let trace = |first: i64| {
        let mut events = launches(5);
        let lengths = [first, 5, 5, 5, 5];
        for (at, length) in lengths.into_iter().enumerate() {
            let kernel = &mut events[at * 3 + 2];
            kernel["name"] = "ncclDevKernel_AllReduce_Sum_f32".into();
            kernel["dur"] = length.into();
        }
        made(&json!(events))
    };
    let others = [("other_ranks", 5), ("unnamed_groups", 5)];
    is(&trace(80), "communication", "limited", &[&[("one_collective", 1)], &others[..]].concat());
    is(&trace(79), "communication", "limited", &others);
}

#[test]
fn a_rank_of_several_does_not_show_who_was_late() {
    let trace = |ranks: Option<i64>| {
        let mut events = launches(2);
        events[2]["name"] = "ncclDevKernel_AllReduce_Sum_f32".into();
        events[2]["args"]["Collective name"] = "allreduce".into();
        made(&json!({"traceEvents": events, "distributedInfo": {"rank": 0, "world_size": ranks}}))
    };
    let is_communication = |ranks, expected: &str, codes: &[&str]| {
        let (verdict, reasons) = verdict(&trace(ranks), "communication");
        let reasons: Vec<String> =
            reasons.into_iter().map(|reason| reason.0).filter(|code| code != "validator").collect();
        assert_eq!(reasons, codes, "{ranks:?}");
        assert!(reasons.is_empty() || verdict == expected, "{ranks:?}: {verdict}");
    };
    is_communication(Some(2), "limited", &["other_ranks"]);
    is_communication(None, "limited", &["other_ranks"]);
    is_communication(Some(1), "good", &[]);
}

/// Without arguments, nothing shows which ranks a collective is of.
#[test]
fn collectives_without_arguments_have_unknown_groups() {
    let mut events = launches(2);
    events[2]["name"] = "ncclDevKernel_AllReduce_Sum_f32".into();
    is(&made(&json!(events)), "communication", "limited", &[("other_ranks", 1), ("unnamed_groups", 1)]);
    let alone = json!({"traceEvents": events, "distributedInfo": {"rank": 0, "world_size": 1}});
    is(&made(&alone), "communication", "good", &[]);
}

/// A collective of Gloo is on the host.
#[test]
fn collectives_of_the_host_are_communication() {
    let gloo = span("user_annotation", "gloo:all_reduce", (1, 2), (0, 40), 0);
    let trace = made(&json!([launch(1)[0], gloo]));
    is(&trace, "communication", "limited", &[("other_ranks", 1), ("unnamed_groups", 1)]);
    is(&trace, "device_time", "unfit", &[("no_device", 0)]);
}

/// Memory events of the CPU do not show the memory of the device that was used.
#[test]
fn memory_of_the_cpu_is_not_that_of_devices() {
    let memory = |device: i64| {
        json!({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 105, "s": "t",
            "args": {"Device Type": device, "Device Id": 0, "Addr": 1, "Bytes": 64, "Total Allocated": 64}})
    };
    let trace = |device| made(&json!([&launches(1)[..], &[memory(device)]].concat()));
    is(&trace(0), "memory", "limited", &[("host_memory_only", 1)]);
    is(&trace(1), "memory", "good", &[]);
}

/// What is captured into a graph does not run yet, so that its calls lack no work.
#[test]
fn captured_launches_lack_no_work() {
    let trace = |begin: &str| {
        let mut events = launches(2);
        for id in 3..9 {
            events.push(span("cuda_runtime", "cudaLaunchKernel", (1, 1), (id * 100, id * 100 + 5), id));
        }
        events.push(span("cuda_runtime", begin, (1, 1), (290, 295), 20));
        events.push(span("cuda_runtime", "cudaStreamEndCapture", (1, 1), (890, 895), 21));
        made(&json!(events))
    };
    is(&trace("cudaStreamBeginCapture"), "device_time", "good", &[]);
    is(&trace("cudaStreamQuery"), "device_time", "limited", &[("launches_without_work", 6)]);
}

/// Memsets without device work: 1 of 100 us of work, and far more.
#[test]
fn memsets_that_were_left_out_are_short() {
    let trace = |memsets: i64| {
        let mut events = launches(60);
        for id in 0..memsets {
            let start = 10_000 + id * 10;
            events.push(span("cuda_runtime", "cudaMemsetAsync", (1, 1), (start, start + 5), 100 + id));
        }
        made(&json!(events))
    };
    // 60 kernels of 25 us are 1,500 us; 3 memsets would take 15.
    is(&trace(3), "device_time", "good", &[]);
    is(&trace(4), "device_time", "limited", &[("launches_without_work", 4), ("filtered", 1)]);
}

/// Four steps of 200 us with two launches each.
fn steps(numbers: [i64; 4]) -> Vec<Value> {
    let mut events = launches(8);
    for (at, number) in (0..).zip(numbers) {
        events.push(step(number, (100 + at * 200, 300 + at * 200)));
    }
    events
}

#[test]
fn steps_are_complete_and_alike() {
    is(&made(&json!(steps([3, 4, 5, 6]))), "steps", "good", &[]);
    is(&made(&json!(steps([3, 4, 6, 7]))), "steps", "limited", &[("missing_steps", 1)]);
    // 3 and 4 of 1 to 5; 3 to 8 of 1 to 9, in any order.
    is(&made(&json!(steps([1, 2, 2, 5]))), "steps", "limited", &[("missing_steps", 2)]);
    is(&made(&json!(steps([1, 2, 10, 9]))), "steps", "limited", &[("missing_steps", 6)]);
    // The last step has none of its two launches; then one of two.
    let without = |removed: usize| {
        let mut events = steps([3, 4, 5, 6]);
        for id in 0..removed {
            events.retain(|event| event["args"]["correlation"] != json!(8 - id));
        }
        made(&json!(events))
    };
    is(&without(2), "steps", "limited", &[("cut_step", 1)]);
    is(&without(1), "steps", "good", &[]);
    // The first step begins earlier: it takes 300 us, or 299.
    let cold = |start: i64| {
        let mut events = steps([3, 4, 5, 6]);
        events[24] = step(3, (start, 300));
        made(&json!(events))
    };
    is(&cold(0), "steps", "limited", &[("cold_step", 1)]);
    is(&cold(1), "steps", "good", &[]);
}

/// Two backward functions share a sequence number, or one function has it twice.
#[test]
fn rules_of_the_trace_validator_count() {
    let backward = |other: &str| {
        let mut events = launches(2);
        for (at, name) in [(0, "MmBackward0"), (3, other)] {
            events[at]["name"] = format!("autograd::engine::evaluate_function: {name}").into();
            events[at]["args"]["Sequence number"] = 7.into();
        }
        made(&json!(events))
    };
    is(&backward("AddBackward0"), "operators", "limited", &[("validator", 1)]);
    is(&backward("MmBackward0"), "operators", "good", &[]);
}

#[test]
fn properties_of_a_device_must_be_possible() {
    let trace =
        |properties: Value| made(&json!({"traceEvents": launches(3), "deviceProperties": [properties]}));
    let limited = [("device_properties", 1)];
    is(&trace(json!({"id": 0, "maxThreadsPerMultiprocessor": 132})), "device_time", "limited", &limited);
    is(
        &trace(json!({"id": 0, "maxThreadsPerMultiprocessor": 2048, "numSms": 132})),
        "device_time",
        "good",
        &[],
    );
    is(&trace(json!({"id": 0})), "device_time", "good", &[]);
}

/// Required questions decide about the exit code; without them, those that the trace has events for.
#[test]
fn a_question_that_counts_and_cannot_be_answered_is_a_failure() {
    use kinetoscope_core::analysis::query::options::Options;
    use kinetoscope_core::queries::{Request, query};
    let fails = |trace: &Trace, require: Value| {
        let query = query("fitness").expect("a query");
        let options = Options::from_json(query.options, &json!({"require": require})).expect("options");
        query.answer(trace, Request::new(&options)).map(|answer| answer.failed)
    };
    let trace = made(&json!(launches(3)));
    assert_eq!(fails(&trace, json!([])), Ok(false));
    assert_eq!(fails(&trace, json!(["idle", "device-time"])), Ok(false));
    assert_eq!(fails(&trace, json!(["memory"])), Ok(true));
    let error = fails(&trace, json!(["gpu"])).expect_err("no question").to_string();
    assert!(error.contains("\"gpu\" is none of operators, device-time"), "{error}");
    let hosts: Vec<Value> = launches(3).into_iter().filter(|event| event["cat"] != "kernel").collect();
    assert_eq!(fails(&made(&json!(hosts)), json!([])), Ok(true));
}

#[test]
fn every_reason_is_documented() {
    let page = include_str!("../../../docs/src/reference/fitness.md");
    for code in ReasonCode::ALL.map(ReasonCode::as_str) {
        assert!(page.contains(&format!("| `{code}` |")), "{code}");
    }
}

/// Real traces: one with operators or device work is fit for questions about them, unless launches show a loss.
#[test]
fn real_traces_are_fit_for_what_they_recorded() {
    let Some(folder) = files::shared("traces", "the corpus of real traces") else { return };
    let mut read = 0;
    for path in files::below(&folder) {
        let Some(Ok(trace)) = files::read(&path).map(|bytes| Trace::read(&bytes)) else { continue };
        let rows = rows(&trace, "fitness");
        assert_eq!(rows.len(), 6, "{}", path.display());
        read += 1;
        let has = |is: &dyn Fn(Category) -> bool| {
            let mut spans = trace.table.rows().filter(|&row| trace.table.is_span(row));
            spans.any(|row| is(trace.table.category(row)))
        };
        let is_fit = |question: &str| verdict(&trace, question).0 != "unfit";
        let operators = has(&|category| category == Category::CpuOp);
        assert_eq!(is_fit("operators"), operators, "{}", path.display());
        assert_eq!(is_fit("device_time"), has(&Category::is_device_work), "{}", path.display());
    }
    assert!(read > 100, "{read}");
}

/// Two processes run the same four steps at the same time, as in merged ranks: a launch belongs to the step of its own process.
#[test]
fn steps_of_two_processes_have_their_own_launches() {
    let mut events = Vec::new();
    for process in [1, 2] {
        // The steps of the second process begin later.
        let late = (process - 1) * 10;
        for number in 0..4 {
            let start = number * 1000 + late;
            let mut annotation = step(number, (start, start + 900));
            annotation["pid"] = json!(process);
            events.push(annotation);
            for at in 0..5 {
                let id = process * 100 + number * 10 + at;
                let time = start + 20 + at * 100;
                let call = span("cuda_runtime", "cudaLaunchKernel", (process, 1), (time, time + 5), id);
                let kernel = span("kernel", "gemm", (10 + process, 7), (time + 15, time + 40), id);
                events.extend([call, kernel]);
            }
        }
    }
    let trace = made(&json!(events));
    let launched: Vec<i64> =
        rows(&trace, "steps").iter().filter_map(|row| row["launched"].as_i64()).collect();
    assert_eq!(launched, [5; 8]);
    is(&trace, "steps", "good", &[]);
    let text = text(&trace, "summary");
    assert!(text.contains("Steps: 8 of 2 processes from ProfilerStep#0"), "{text}");
}
