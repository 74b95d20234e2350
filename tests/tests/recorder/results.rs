//! What a recording leaves out of its results on request, its errors, and the operators that take most of its time.

use crate::support::{alone, check, chrome};
use kinetoscope::profiler::measure::{ProfileData, rename_profile_file, torch_profile};
use kinetoscope::{
    Activity, ActivityType, GroupBy, Metric, Module, Profiler, ProfilerBuilder, RecordError, Recording,
    Sequence, instant, scope, user_scope,
};
use kinetoscope_core::analysis::torch::function_events::FunctionEvents;
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// Records one event of each type that needs no device, and a forward and a backward operator.
fn record(builder: ProfilerBuilder) -> Recording {
    let mut profiler = builder.with_modules(true).start().expect("recording should start");
    {
        let _module = Module::new("Net", "net").scope();
        let _step = user_scope!("step");
        let sequence = Sequence::next();
        drop(scope!("aten::mul", sequence: sequence));
        drop(scope!("MulBackward0", backward: sequence));
        instant!("now");
    }
    profiler.stop().expect("a recording").expect("a recording")
}

/// Returns the categories of a Chrome trace, except the profiler's own.
fn categories(trace: &Value) -> BTreeSet<String> {
    let events = trace["traceEvents"].as_array().expect("events").iter();
    let named = events.filter_map(|event| event["cat"].as_str()).filter(|&cat| cat != "Trace");
    named.map(str::to_owned).collect()
}

fn set<const N: usize>(of: [&str; N]) -> BTreeSet<String> {
    of.map(str::to_owned).into()
}

#[test]
fn stacks_of_a_recording_without_stacks_are_an_error() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stacks.txt");
    let error = record(Profiler::builder()).export_stacks(&path, Metric::SelfCpuTime).expect_err("no stacks");
    assert!(matches!(error, RecordError::NoStacks));
    assert!(error.to_string().contains("with_stack(true)"), "{error}");
    assert!(!path.exists());
}

#[test]
fn arrows_are_left_out_of_exported_traces_only() {
    let _alone = alone();
    let all = set(["cpu_instant_event", "cpu_op", "fwdbwd", "python_function", "user_annotation"]);
    assert_eq!(categories(&check(&record(Profiler::builder()))), all);
    let recording = record(Profiler::builder().forward_backward_arrows(false));
    let mut others = all;
    others.remove("fwdbwd");
    assert_eq!(categories(&chrome(&recording)), others);
    assert_eq!(recording.trace().expect("a trace").links.forward_of.len(), 1);
}

#[test]
fn activity_types_are_left_out_of_exported_traces_only() {
    use ActivityType::{ConcurrentKernel, CpuInstantEvent, CpuOp, PythonFunction, UserAnnotation};
    let _alone = alone();
    let cases: [(&[ActivityType], _); 6] = [
        (&[CpuOp], set(["cpu_op", "fwdbwd"])),
        (&[CpuInstantEvent], set(["cpu_instant_event"])),
        (&[UserAnnotation], set(["user_annotation"])),
        (&[PythonFunction], set(["python_function"])),
        // The type of another activity.
        (&[ConcurrentKernel], set([])),
        (&[], set([])),
    ];
    for (types, expected) in cases {
        // The second list replaces the first one.
        let builder = Profiler::builder().activity_types(Activity::Cpu, &[UserAnnotation]);
        let recording = record(builder.activity_types(Activity::Cpu, types));
        let exported = chrome(&recording);
        assert_eq!(categories(&exported), expected, "{types:?}");
        let names = exported["traceEvents"].as_array().expect("events").iter().map(|event| &event["name"]);
        assert_eq!(names.filter(|&name| name == "thread_name").count(), 1, "{types:?}");
        let averages = recording.key_averages(GroupBy::default()).expect("averages");
        let mut keys: Vec<&str> = averages.iter().map(|average| average.key.as_str()).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["MulBackward0", "aten::mul", "step"]);
    }
}

#[test]
fn a_timeout_cuts_the_events_but_not_the_trace() {
    let _alone = alone();
    let builder = || Profiler::builder().profile_memory(true);
    let complete = record(builder());
    let count = complete.events().expect("events").len();
    assert_eq!(count, 3);
    let late = record(builder().post_processing_timeout(Duration::from_secs(60)));
    assert_eq!(late.events().expect("events").len(), count);
    let recording = record(builder().post_processing_timeout(Duration::ZERO));
    assert!(recording.events().expect("events").is_empty());
    assert!(recording.key_averages(GroupBy::default()).expect("averages").is_empty());
    let trace = recording.trace().expect("a trace");
    assert_eq!(categories(&check(&recording)), categories(&chrome(&complete)));
    // The earliest events come first.
    let left = Cell::new(2);
    let events = FunctionEvents::new_until(trace, || left.replace(left.get() - 1) <= 0);
    let names: Vec<&str> = events.events().map(|event| events.name(event)).collect();
    assert_eq!(names, ["step", "aten::mul"]);
}

#[test]
fn profile_data_has_the_five_longest_operators_of_each_recording() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let mut data = ProfileData::default();
    let (result, recording) = torch_profile(Some(folder.path()), || {
        let _outer = scope!("outer, all");
        for _ in 0..2 {
            let _span = scope!("long");
            sleep(Duration::from_millis(20));
        }
        for name in ["a", "b", "c", "d"] {
            drop(kinetoscope::record_function(name));
        }
        7
    })
    .expect("a recording");
    assert_eq!(result, 7);
    data.add(&recording).expect("averages");
    let ((), without) = torch_profile(None, || drop(scope!("other"))).expect("a recording");
    data.add(&without).expect("averages");
    assert_eq!(data.rows().len(), 6);
    let long = &data.rows()[0];
    assert_eq!((long.name.as_str(), long.calls, long.device), ("long", 2, None));
    assert!(long.self_cpu_ns >= 40_000_000 && long.self_cpu_percent.is_some_and(|share| share > 50.0));
    let outer = data.rows().iter().find(|row| row.name == "outer, all").expect("the operator");
    assert!(outer.cpu_total_ns >= long.cpu_total_ns && outer.self_cpu_ns < long.self_cpu_ns);
    assert!(outer.cpu_total_percent.is_some_and(|share| (99.0..=100.0).contains(&share)), "{outer:?}");
    let csv = data.to_csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "NAME,SELF CPU %,SELF CPU,CPU TOTAL %,CPU TOTAL,CPU TIME AVG,# OF CALLS");
    assert_eq!(lines.len(), 7);
    assert!(lines[1].starts_with("long,") && lines[1].ends_with(",2"), "{csv}");
    assert!(lines.iter().any(|line| line.starts_with("\"outer, all\",")), "{csv}");
    // The timeline is that of the run with a folder.
    let renamed = rename_profile_file(folder.path(), &["GCN"]).expect("a timeline");
    let trace: Value = serde_json::from_slice(&fs::read(renamed).expect("a file")).expect("JSON");
    assert!(categories(&trace).contains("cpu_op"));
}
