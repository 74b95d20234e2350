//! The profiler: schedules, handlers, metadata, errors.

use crate::support::{alone, check, row, rows, thread_id};
use kinetoscope::RecordError;
use kinetoscope::Recording;
use kinetoscope::device::Unavailable;
use kinetoscope::handlers::tensorboard_trace_handler;
use kinetoscope::schedule::{ProfilerAction, Schedule, ScheduleArgs};
use kinetoscope::scope;
use kinetoscope::spans::operator;
use kinetoscope::steps;
use kinetoscope::{Activity, Profiler, supported_activities};
use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::trace::table::layout::{FieldPlace, Key};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

fn tid() -> u64 {
    let link = std::fs::read_link("/proc/thread-self").expect("Linux");
    link.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok()).expect("an id")
}

fn stop(profiler: &mut Profiler) -> Recording {
    profiler.stop().expect("a recording").expect("something was recorded")
}

fn schedule(wait: i64, warmup: i64, active: i64, repeat: i64) -> Schedule {
    Schedule::new(ScheduleArgs { wait, warmup, active, repeat, ..ScheduleArgs::default() })
        .expect("a schedule")
}

#[test]
fn a_schedule_records_its_steps_and_passes_each_cycle_to_the_handler() {
    let _alone = alone();
    let (queried, delivered) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (its_queried, its_delivered) = (Arc::clone(&queried), Arc::clone(&delivered));
    let plan = schedule(1, 1, 2, 2);
    let mut profiler = Profiler::builder()
        .schedule_fn(move |step| {
            its_queried.fetch_add(1, Ordering::Relaxed);
            plan.action(step)
        })
        .on_trace_ready(move |recording: &Recording| {
            its_delivered.fetch_add(1, Ordering::Relaxed);
            let steps =
                |n: u64| rows(recording.trace().expect("a trace"), &format!("ProfilerStep#{n}")).len();
            let first = recording.step - 2;
            assert_eq!([steps(first), steps(first + 1)], [1, 1], "after step {}", recording.step);
            assert_eq!(rows(recording.trace().expect("a trace"), "work").len(), 2);
            assert_eq!(recording.trace().expect("a trace").diagnostics.findings(), []);
            Ok(())
        })
        .build();
    assert_eq!(queried.load(Ordering::Relaxed), 0);
    profiler.start().expect("recording should start");
    for step in 0..10 {
        assert_eq!(profiler.action(), Some(plan.action(step)));
        assert_eq!(profiler.step_number(), step);
        {
            let _work = scope!("work");
        }
        profiler.step().expect("a step");
    }
    profiler.stop().expect("a stop");
    assert_eq!((queried.load(Ordering::Relaxed), delivered.load(Ordering::Relaxed)), (11, 2));
}

#[test]
fn accumulated_cycles_are_in_one_recording() {
    let _alone = alone();
    for (accumulates, expected) in [(false, 2), (true, 4)] {
        let mut profiler = Profiler::builder()
            .schedule(schedule(0, 1, 2, 2))
            .accumulate(accumulates)
            .start()
            .expect("recording should start");
        for _ in 0..6 {
            drop(scope!("work"));
            profiler.step().expect("a step");
        }
        let recording = stop(&mut profiler);
        check(&recording);
        assert_eq!(rows(recording.trace().expect("a trace"), "work").len(), expected);
    }
}

#[test]
fn threads_keep_their_tracks_in_accumulated_cycles() {
    let _alone = alone();
    let mut profiler = Profiler::builder()
        .schedule(schedule(0, 1, 1, 2))
        .accumulate(true)
        .start()
        .expect("recording should start");
    let mut ids = Vec::new();
    for number in 0..4 {
        let work = thread::spawn(move || {
            let _span = operator(&format!("work {number}"));
            tid()
        });
        ids.push(work.join().expect("the thread should not panic"));
        profiler.step().expect("a step");
    }
    let recording = stop(&mut profiler);
    check(&recording);
    for number in [1, 3] {
        let row = row(recording.trace().expect("a trace"), &format!("work {number}"));
        assert_eq!(thread_id(&recording.trace().expect("a trace").table, row), ids[number]);
    }
}

#[test]
fn steps_of_several_requesters_are_counted_once() {
    let _alone = alone();
    let before = steps::current_step();
    ["Optimizer", "Loader", "ProfilerStep"].into_iter().for_each(steps::init_steps);
    steps::mark_step("Optimizer");
    steps::mark_step("Loader");
    assert_eq!(steps::current_step(), before + 1);
    let mut profiler = Profiler::builder().start().expect("recording should start");
    profiler.step().expect("a step");
    profiler.step().expect("a step");
    assert_eq!(steps::current_step(), before + 2);
    assert!(steps::erase_steps("Loader") && !steps::erase_steps("Loader"));
    profiler.stop().expect("a stop");
}

#[test]
fn files_for_tensorboard_have_its_names() {
    let _alone = alone();
    for gzip in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut profiler = Profiler::builder()
            .schedule(schedule(1, 1, 2, 2))
            .on_trace_ready(tensorboard_trace_handler(folder.path().join("logs"), Some("worker"), gzip))
            .start()
            .expect("recording should start");
        for _ in 0..10 {
            drop(scope!("work"));
            profiler.step().expect("a step");
        }
        profiler.stop().expect("a stop");
        let files: Vec<_> = std::fs::read_dir(folder.path().join("logs")).expect("a folder").collect();
        assert_eq!(files.len(), 2);
        for file in files {
            let path = file.expect("an entry").path();
            let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
            let parts: Vec<&str> = name.split('.').collect();
            let expected: &[&str] =
                if gzip { &["pt", "trace", "json", "gz"] } else { &["pt", "trace", "json"] };
            assert_eq!((parts[0], &parts[2..]), ("worker", expected), "{name}");
            assert!(parts[1].bytes().all(|b| b.is_ascii_digit()), "{name}");
            let trace = kinetoscope::files::open(&path).expect("a trace");
            assert_eq!(rows(&trace, "work").len(), 2);
        }
    }
}

#[test]
fn metadata_is_written_to_the_file() {
    let _alone = alone();
    let mut profiler = Profiler::builder().metadata("run", 7).start().expect("recording should start");
    profiler.add_metadata("test_key1", "value \"quoted\"");
    profiler.add_metadata_json("test_key2", "[1, 2, {\"a\": null}]").expect("JSON");
    let error = profiler.add_metadata_json("bad", "[1,").expect_err("invalid JSON");
    assert!(matches!(&error, RecordError::BadMetadata { key, .. } if key == "bad"), "{error}");
    drop(scope!("work"));
    let document = check(&stop(&mut profiler));
    assert_eq!(document["run"], 7);
    assert_eq!(document["test_key1"], "value \"quoted\"");
    assert_eq!(document["test_key2"], json!([1, 2, {"a": null}]));
    assert_eq!(document["kinetoscope"]["dropped"], 0);
    for key in
        ["window_ns", "prepare_ns", "enable_ns", "disable_ns", "bytes", "records", "overhead_ns_per_span"]
    {
        assert!(document["kinetoscope"][key].as_f64().is_some_and(|n| n > 0.0), "{key}");
    }
}

#[test]
fn an_empty_recording_is_written_with_a_warning() {
    let _alone = alone();
    let mut profiler = Profiler::builder()
        .activities(&[Activity::Cpu, Activity::Cuda])
        .start()
        .expect("recording should start");
    let recording = stop(&mut profiler);
    let document = check(&recording);
    let warnings: Vec<&str> =
        document["WARNING"].as_array().expect("texts").iter().filter_map(Value::as_str).collect();
    assert!(warnings.iter().any(|w| w.contains("nothing was recorded")), "{warnings:?}");
    assert!(warnings.iter().any(|w| w.contains("CUDA")), "{warnings:?}");
    assert_eq!(recording.events().expect("a trace").len(), 0);
    assert!(recording.key_averages(GroupBy::default()).expect("a trace").is_empty());
}

#[test]
fn incorrect_use_is_an_error() {
    let _alone = alone();
    let mut profiler = Profiler::builder().build();
    assert!(matches!(profiler.step(), Err(RecordError::NotStarted)));
    assert!(matches!(profiler.stop(), Err(RecordError::NotStarted)));
    profiler.start().expect("recording should start");
    assert!(matches!(profiler.start(), Err(RecordError::AlreadyStarted)));
    assert!(matches!(Profiler::builder().start(), Err(RecordError::AlreadyRecording)));
    stop(&mut profiler);
    assert!(matches!(profiler.stop(), Err(RecordError::NotStarted)));
    // A stopped profiler can start again, and dropping one allows the next to start.
    profiler.start().expect("recording should start");
    drop(profiler);
    let mut disabled = Profiler::builder().enabled(false).start().expect("recording should start");
    assert!(!kinetoscope::spans::is_recording());
    disabled.step().expect("a step");
    assert!(disabled.stop().expect("a stop").is_none());
    let mut other = Profiler::builder().file("/nowhere/at/all").build();
    assert!(matches!(other.start(), Err(RecordError::Io(_))));
    Profiler::builder().start().expect("recording should start");
}

#[test]
fn the_error_of_a_handler_is_returned_by_stop() {
    let _alone = alone();
    let fails = |_: &Recording| Err(RecordError::Handler("no more room".into()));
    let mut profiler = Profiler::builder().on_trace_ready(fails).start().expect("recording should start");
    let error = profiler.stop().expect_err("the handler fails");
    assert!(error.to_string().contains("no more room"));
    assert_eq!(ProfilerAction::Record.as_str(), "RECORD");
    assert_eq!(profiler.action(), None);
}

#[test]
fn repeated_recordings_do_not_leak_memory() {
    let _alone = alone();
    let resident = || -> u64 {
        let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
        text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("pages") * 4096
    };
    let round = || {
        let mut profiler = Profiler::builder().record_shapes(true).start().expect("recording should start");
        for at in 0..2000 {
            let _span = scope!("span", shapes: [[1, 2]], at = at);
        }
        stop(&mut profiler);
    };
    (0..10).for_each(|_| round());
    let before = resident();
    (0..50).for_each(|_| round());
    let after = resident();
    assert!(after < before + (4 << 20), "memory grew from {before} to {after} bytes");
}

#[test]
fn a_handler_prints_torchs_table() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_recording-child")).arg("printed").output();
    let output = output.expect("the child should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |start: &str| text.lines().find(|line| line.trim_start().starts_with(start)).expect(start);
    assert!(line("Name").contains("Self CPU %") && line("Name").contains("# of Calls"), "{text}");
    assert_eq!(line("aten::mm").split_whitespace().last(), Some("3"), "{text}");
    line("Self CPU time total:");
}

#[test]
fn ids_of_spans_are_unique_over_the_recordings_of_a_process() {
    let _alone = alone();
    let mut ids = Vec::new();
    let mut recorded = 0;
    for round in 0..3 {
        let older = scope!("older");
        let mut profiler = Profiler::builder().start().expect("recording should start");
        drop(older);
        for _ in 0..50 + round {
            let _outer = scope!("outer");
            drop(scope!("inner", argument = 1));
        }
        let recording = stop(&mut profiler);
        let table = &recording.trace().expect("a trace").table;
        let spans = table.rows().filter(|&row| table.cat(row) == "cpu_op");
        ids.extend(spans.map(|row| table.int(row, Key::ExternalId).expect("an id")));
        recorded += 2 * (50 + round) + 1;
        for row in rows(recording.trace().expect("a trace"), "outer") {
            let function = table.field_named(row, FieldPlace::Args, "Record function id");
            assert_eq!(function.and_then(|id| id.as_i64()), Some(0));
        }
        assert_eq!(recording.trace().expect("a trace").diagnostics.findings(), []);
    }
    assert_eq!(ids.len(), recorded);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), recorded);
}

#[test]
fn accumulated_recordings_keep_their_ids_apart() {
    let _alone = alone();
    let mut profiler = Profiler::builder()
        .schedule(schedule(0, 1, 2, 2))
        .accumulate(true)
        .start()
        .expect("recording should start");
    for _ in 0..6 {
        drop(scope!("work"));
        profiler.step().expect("a step");
    }
    let recording = stop(&mut profiler);
    let table = &recording.trace().expect("a trace").table;
    let ids: HashSet<_> = rows(recording.trace().expect("a trace"), "work")
        .iter()
        .filter_map(|&row| table.int(row, Key::ExternalId))
        .collect();
    assert_eq!(ids.len(), 4);
}

#[test]
fn activities_that_cannot_be_recorded_are_reported_with_the_reason() {
    let _alone = alone();
    let unsupported = [Activity::Xpu, Activity::Mtia, Activity::Hpu, Activity::PrivateUse1];
    for activity in unsupported {
        assert_eq!(activity.check(), Err(Unavailable::Unsupported(activity)));
        assert!(!supported_activities().contains(&activity));
        let activities = [Activity::Cpu, activity];
        let mut profiler = Profiler::builder().activities(&activities).start().expect("a start");
        drop(scope!("work"));
        assert_eq!(profiler.unavailable(), [(activity, Unavailable::Unsupported(activity))]);
        let document = check(&stop(&mut profiler));
        let warning = document["WARNING"][0].as_str().expect("a warning");
        assert!(warning.starts_with(&format!("{activity} was requested but is not recorded")), "{warning}");
    }
    assert_eq!(Activity::Cpu.check(), Ok(()));
    let error = Profiler::builder().activities(&unsupported).start().err();
    assert!(matches!(error, Some(RecordError::CannotRecord(reasons)) if reasons.len() == 4));
    let error = Profiler::builder().activities(&[]).start().err();
    assert!(matches!(error, Some(RecordError::NoActivities)));
}

#[test]
fn a_start_waits_for_its_turn_on_request() {
    let _alone = alone();
    let mut first = Profiler::builder().start().expect("recording should start");
    let refused = Profiler::builder().wait(std::time::Duration::from_millis(20)).start();
    assert!(matches!(refused, Err(RecordError::AlreadyRecording)));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let mut profiler = Profiler::builder().wait(std::time::Duration::from_secs(20)).start()?;
            drop(scope!("in the second"));
            profiler.stop()
        });
        thread::sleep(std::time::Duration::from_millis(30));
        drop(scope!("in the first"));
        let recording = stop(&mut first);
        assert_eq!(rows(recording.trace().expect("a trace"), "in the first").len(), 1);
        let second = waiting.join().expect("the thread should not panic");
        let second = second.expect("a recording").expect("a recording");
        assert_eq!(rows(second.trace().expect("a trace"), "in the second").len(), 1);
        assert!(rows(second.trace().expect("a trace"), "in the first").is_empty());
    });
}
