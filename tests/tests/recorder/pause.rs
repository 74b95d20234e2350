//! Recordings that are paused and resumed.

use crate::support::{alone, check, row, rows};
use kinetoscope::spans::{is_recording, record_function};
use kinetoscope::{Activity, Profiler, RecordError, Recording, async_scope, instant, scope};
use kinetoscope_core::trace::table::fields::Value;
use kinetoscope_core::trace::table::layout::FieldPlace;
use std::thread;
use std::time::Duration;

fn stop(profiler: &mut Profiler) -> Recording {
    profiler.stop().expect("a recording").expect("something was recorded")
}

fn field<'a>(recording: &'a Recording, name: &str, key: &str) -> Option<Value<'a>> {
    recording.trace().expect("a trace").table.field_named(
        row(recording.trace().expect("a trace"), name),
        FieldPlace::Args,
        key,
    )
}

/// Returns the begin and the end of the only row with a name, in ns.
fn times(recording: &Recording, name: &str) -> (i64, i64) {
    let row = row(recording.trace().expect("a trace"), name);
    (recording.trace().expect("a trace").table.ts(row), recording.trace().expect("a trace").table.end(row))
}

#[test]
fn nothing_is_recorded_while_the_cpu_is_paused_and_the_trace_states_it() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("recording should start");
    drop(scope!("before"));
    let across = scope!("across");
    let ends_inside = scope!("ends inside");
    let request = async_scope!("request");
    profiler.toggle(false, &[Activity::Cpu]).expect("a pause");
    assert!(!is_recording());
    profiler.pause().expect("a pause that has no effect");
    thread::sleep(Duration::from_millis(3));
    drop(request);
    drop(scope!("inside"));
    instant!("inside event");
    let begins_inside = record_function("begins inside");
    drop(ends_inside);
    thread::sleep(Duration::from_millis(3));
    profiler.resume().expect("a resumption");
    assert!(is_recording());
    drop(scope!("after"));
    drop(begins_inside);
    drop(across);
    let recording = stop(&mut profiler);
    check(&recording);
    let trace = recording.trace().expect("a trace");
    assert!(rows(trace, "inside").is_empty() && rows(trace, "inside event").is_empty());
    let pause = times(&recording, "not recorded: CPU");
    assert!(pause.1 - pause.0 >= 6_000_000, "{pause:?}");
    assert_eq!(trace.table.cat(row(trace, "not recorded: CPU")), "not_recorded");
    let (before, after) = (times(&recording, "before"), times(&recording, "after"));
    assert!(before.1 <= pause.0 && after.0 >= pause.1);
    let across = times(&recording, "across");
    assert!(across.0 < pause.0 && across.1 > pause.1);
    let ends = times(&recording, "ends inside");
    assert!(ends.0 < pause.0 && (pause.0 + 3_000_000..pause.1).contains(&ends.1), "{ends:?} in {pause:?}");
    assert_eq!(
        [field(&recording, "across", "finished"), field(&recording, "ends inside", "finished")],
        [None, None]
    );
    let begins = times(&recording, "begins inside");
    assert!(begins.0 == pause.1 && begins.1 >= after.1, "{begins:?}");
    assert_eq!(field(&recording, "begins inside", "begun"), Some(Value::Bool(false)));
    assert_eq!(trace.pairs.asyncs.len(), 1);
}

#[test]
fn a_pause_that_lasts_to_the_end_is_stated() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.ktrace");
    let mut profiler = Profiler::builder().file(&path).start().expect("recording should start");
    for _ in 0..2 {
        profiler.pause().expect("a pause");
        profiler.resume().expect("a resumption");
    }
    profiler.pause().expect("a pause");
    let open = scope!("open at the end");
    let recording = stop(&mut profiler);
    drop(open);
    check(&recording);
    assert_eq!(rows(recording.trace().expect("a trace"), "not recorded: CPU").len(), 3);
    let window = times(&recording, "Kinetoscope (0)");
    let last = rows(recording.trace().expect("a trace"), "not recorded: CPU")[2];
    assert_eq!(recording.trace().expect("a trace").table.end(last), window.1);
    // The next recording runs.
    let mut profiler = Profiler::builder().start().expect("recording should start");
    drop(scope!("recorded"));
    let recording = stop(&mut profiler);
    assert_eq!(rows(recording.trace().expect("a trace"), "recorded").len(), 1);
    assert!(rows(recording.trace().expect("a trace"), "not recorded: CPU").is_empty());
}

#[test]
fn activities_that_are_not_recorded_cannot_be_toggled() {
    let _alone = alone();
    let mut profiler = Profiler::builder().activities(&[Activity::Cpu]).build();
    assert!(matches!(profiler.pause(), Err(RecordError::NotStarted)));
    profiler.start().expect("recording should start");
    for other in [Activity::Cuda, Activity::Xpu] {
        let error = profiler.toggle(false, &[Activity::Cpu, other]).err();
        assert!(matches!(error, Some(RecordError::NotRecorded(activity)) if activity == other));
        assert!(is_recording(), "nothing is changed");
    }
    let recording = stop(&mut profiler);
    assert!(rows(recording.trace().expect("a trace"), "not recorded: CPU").is_empty());
    assert!(matches!(profiler.toggle(true, &[]), Err(RecordError::NotStarted)));
}

#[test]
fn a_paused_recording_of_scheduled_steps_goes_on_with_the_next_step() {
    let _alone = alone();
    let mut profiler = Profiler::builder()
        .schedule_fn(|_| kinetoscope::ProfilerAction::Record)
        .start()
        .expect("recording should start");
    profiler.step().expect("a step");
    profiler.pause().expect("a pause");
    profiler.step().expect("a step");
    profiler.resume().expect("a resumption");
    profiler.step().expect("a step");
    let recording = stop(&mut profiler);
    check(&recording);
    let steps =
        (0..4).map(|step| rows(recording.trace().expect("a trace"), &format!("ProfilerStep#{step}")).len());
    assert_eq!(steps.collect::<Vec<_>>(), [1, 1, 0, 1]);
}
