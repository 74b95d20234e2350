//! The threads of a recording: their tracks, whenever they begin and end, and dropped records.

mod recorder;

use kinetoscope::Profiler;
use kinetoscope::Recording;
use kinetoscope::schedule::{Schedule, ScheduleArgs};
use kinetoscope::spans::record_function;
use kinetoscope::{instant, scope};
use kinetoscope_core::table::fields::Value as Field;
use kinetoscope_core::table::layout::{Key, Place};
use kinetoscope_core::trace::Trace;
use recorder::{alone, check, row, rows, thread_id};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;

fn tid() -> u64 {
    let link = std::fs::read_link("/proc/thread-self").expect("Linux");
    link.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok()).expect("an id")
}

fn stop(profiler: &mut Profiler) -> Recording {
    profiler.stop().expect("a recording").expect("something was recorded")
}

fn text<'a>(trace: &'a Trace, name: &str, key: &str) -> Option<Field<'a>> {
    trace.table.field_named(row(trace, name), Place::Args, key)
}

#[test]
fn every_thread_has_its_own_track_whenever_it_begins_and_ends() {
    let _alone = alone();
    let (started, go, end) =
        (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (barriers, (sender, receiver)) = ([&started, &go, &end].map(Arc::clone), channel());
    let before = thread::Builder::new().name("before".into()).spawn(move || {
        let [started, go, end] = barriers;
        let _too_early = scope!("too early");
        started.wait();
        go.wait();
        {
            let _span = scope!("in a thread from before");
        }
        let outliving = scope!("outlives the recording");
        sender.send(tid()).expect("the receiver should exist");
        end.wait();
        drop(outliving);
        let _late = scope!("too late");
    });
    started.wait();
    let mut profiler = Profiler::builder().start().expect("recording should start");
    go.wait();
    let before_id = receiver.recv().expect("the id");
    let inside = thread::spawn(|| {
        let _span = scope!("in a thread from inside");
        tid()
    });
    let inside_id = inside.join().expect("the thread should not panic");
    {
        let _span = scope!("in the main thread");
    }
    let recording = stop(&mut profiler);
    end.wait();
    before.expect("a thread").join().expect("the thread should not panic");
    check(&recording);
    let trace = &recording.trace;
    let of = |name: &str| thread_id(&trace.table, row(trace, name));
    assert_eq!(of("in a thread from before"), before_id);
    assert_eq!(of("in a thread from inside"), inside_id);
    assert_eq!(of("in the main thread"), tid());
    assert!(rows(trace, "too early").is_empty());
    assert!(rows(trace, "too late").is_empty());
    // A span that had not ended lasts to the end of the window and is marked as unfinished.
    let open = row(trace, "outlives the recording");
    assert_eq!(trace.table.field_named(open, Place::Args, "finished"), Some(Field::Bool(false)));
    let window = row(trace, "Kinetoscope (0)");
    assert!((trace.table.end(open) - trace.table.end(window)).abs() <= 1);
    let names: Vec<String> = trace
        .table
        .rows()
        .filter(|&row| trace.table.name(row) == "thread_name")
        .filter_map(|row| trace.table.field(row, Key::Name).and_then(|v| v.as_str()).map(str::to_owned))
        .collect();
    assert!(names.contains(&format!("thread {before_id} (before)")), "{names:?}");
}

#[test]
fn no_record_of_many_threads_is_lost() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("recording should start");
    let threads: Vec<_> = (0..8)
        .map(|number| {
            thread::spawn(move || {
                for at in 0..20_000 {
                    let _span = scope!("span", thread = number, at = at);
                    let _inner = scope!("inner");
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("the thread should not panic");
    }
    let recording = stop(&mut profiler);
    assert_eq!(recording.statistics.dropped, 0);
    assert_eq!(recording.statistics.records, 8 * 20_000 * 4);
    assert_eq!(recording.trace.diagnostics.findings(), []);
    let trace = &recording.trace;
    assert_eq!(rows(trace, "inner").len(), 160_000);
    let at = |row| trace.table.field_named(row, Place::Args, "at").and_then(|v| v.as_i64());
    for spans in rows(trace, "span").chunk_by(|&a, &b| trace.table.track_id(a) == trace.table.track_id(b)) {
        assert!(spans.windows(2).all(|pair| at(pair[0]) != at(pair[1])));
    }
    let mut all: Vec<i64> = rows(trace, "span").into_iter().filter_map(at).collect();
    all.sort_unstable();
    assert!(all.chunks(8).enumerate().all(|(number, same)| same.iter().all(|&at| at == number as i64)));
}

#[test]
fn records_beyond_the_memory_limit_are_counted() {
    let _alone = alone();
    let mut profiler = Profiler::builder().memory_bytes(200_000).start().expect("recording should start");
    for _ in 0..50_000 {
        let _span = scope!("span");
    }
    let recording = stop(&mut profiler);
    let findings = recording.trace.diagnostics.findings();
    let dropped =
        findings.iter().find(|finding| finding.code.as_str() == "dropped_record").expect("a finding");
    assert_eq!(dropped.count, recording.statistics.dropped);
    assert_eq!(recording.statistics.dropped + recording.statistics.records, 100_000);
    assert!(recording.statistics.dropped > 50_000);
}

#[test]
fn a_panic_ends_the_spans_that_it_unwinds() {
    let _alone = alone();
    let mut profiler = Profiler::builder().start().expect("recording should start");
    {
        let _outer = scope!("outer");
        let caught = std::panic::catch_unwind(|| {
            let _inner = scope!("inner");
            std::panic::resume_unwind(Box::new("no message"));
        });
        assert!(caught.is_err());
    }
    let recording = stop(&mut profiler);
    check(&recording);
    for name in ["outer", "inner"] {
        assert_eq!(text(&recording.trace, name, "finished"), None);
    }
}

#[test]
fn threads_can_record_while_their_thread_locals_are_destroyed() {
    let _alone = alone();
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            let _span = scope!("destroyed");
        }
    }
    thread_local! { static LAST: Last = const { Last }; }
    let mut profiler = Profiler::builder().start().expect("recording should start");
    for records_first in [true, false] {
        thread::spawn(move || {
            if records_first {
                drop(scope!("first"));
            }
            LAST.with(|_| {});
            drop(scope!("second"));
        })
        .join()
        .expect("the thread should not panic");
    }
    let recording = stop(&mut profiler);
    check(&recording);
    assert_eq!(rows(&recording.trace, "second").len(), 2);
    assert_eq!(rows(&recording.trace, "destroyed").len(), 2);
    for row in rows(&recording.trace, "destroyed") {
        assert_eq!(recording.trace.table.field_named(row, Place::Args, "finished"), None);
    }
}

#[test]
fn only_the_thread_that_starts_the_recording_is_recorded_on_request() {
    let _alone = alone();
    for (all, expected) in [(true, 1), (false, 0)] {
        let (to_worker, requests) = channel::<()>();
        let (to_main, answers) = channel::<()>();
        let worker = thread::spawn(move || {
            for () in requests {
                let _span = scope!("worker", rows = 3);
                instant!("worker event");
                drop(record_function("named"));
                to_main.send(()).expect("a receiver");
            }
        });
        let builder = Profiler::builder().profile_all_threads(all);
        let mut profiler = builder.start().expect("recording should start");
        to_worker.send(()).expect("a receiver");
        answers.recv().expect("an answer");
        drop(scope!("main"));
        let recording = profiler.stop().expect("a recording").expect("a recording");
        drop(to_worker);
        worker.join().expect("the thread should not panic");
        let trace = &recording.trace;
        assert_eq!(rows(trace, "main").len(), 1);
        for name in ["worker", "worker event", "named"] {
            assert_eq!(rows(trace, name).len(), expected, "{name}");
        }
        assert_eq!(recording.statistics.dropped, 0);
        assert_eq!(trace.diagnostics.findings(), []);
    }
}

#[test]
fn the_thread_that_starts_the_recorded_step_is_recorded() {
    let _alone = alone();
    let args = ScheduleArgs { wait: 1, active: 1, repeat: 1, ..ScheduleArgs::default() };
    let schedule = Schedule::new(args).expect("a schedule");
    let builder =
        Profiler::builder().schedule_fn(move |step| schedule.action(step)).profile_all_threads(false);
    let mut profiler = builder.start().expect("recording should start");
    drop(scope!("not yet"));
    profiler.step().expect("a step");
    thread::scope(|scope| {
        scope.spawn(|| drop(scope!("other")));
    });
    drop(scope!("own"));
    let recording = profiler.stop().expect("a recording").expect("a recording");
    assert_eq!(["own", "other", "not yet"].map(|name| rows(&recording.trace, name).len()), [1, 0, 0]);
}
