//! The threads of a recording: their tracks, whenever they begin and end, and dropped records.

use crate::support::{alone, check, check_with, chrome, row, rows, thread_id};
use kinetoscope::Profiler;
use kinetoscope::Recording;
use kinetoscope::schedule::{Schedule, ScheduleArgs};
use kinetoscope::spans::record_function;
use kinetoscope::{instant, scope};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::fields::Value as Field;
use kinetoscope_core::trace::table::layout::{FieldPlace, Key};
use kinetoscope_stream::block::{self, BlockKind};
use kinetoscope_stream::record::{Tag, Word};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

fn tid() -> u64 {
    let link = std::fs::read_link("/proc/thread-self").expect("Linux");
    link.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok()).expect("an id")
}

fn stop(profiler: &mut Profiler) -> Recording {
    profiler.stop().expect("a recording").expect("something was recorded")
}

fn text<'a>(trace: &'a Trace, name: &str, key: &str) -> Option<Field<'a>> {
    trace.table.field_named(row(trace, name), FieldPlace::Args, key)
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
    check_with(&recording, &[Code::OpenSpan]);
    let trace = recording.trace().expect("a trace");
    let of = |name: &str| thread_id(&trace.table, row(trace, name));
    assert_eq!(of("in a thread from before"), before_id);
    assert_eq!(of("in a thread from inside"), inside_id);
    assert_eq!(of("in the main thread"), tid());
    assert!(rows(trace, "too early").is_empty());
    assert!(rows(trace, "too late").is_empty());
    // A span that had not ended lasts to the end of the window and is marked as unfinished.
    let open = row(trace, "outlives the recording");
    assert_eq!(trace.table.field_named(open, FieldPlace::Args, "finished"), Some(Field::Bool(false)));
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
    assert_eq!(recording.trace().expect("a trace").diagnostics.findings(), []);
    let trace = recording.trace().expect("a trace");
    assert_eq!(rows(trace, "inner").len(), 160_000);
    let at = |row| trace.table.field_named(row, FieldPlace::Args, "at").and_then(|v| v.as_i64());
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
    // Names and call sites of the other tests of this process, and metadata.
    let other_bytes =
        stop(&mut Profiler::builder().start().expect("recording should start")).statistics.bytes;
    let limit = 200_000 + other_bytes;
    let builder = Profiler::builder().memory_bytes(limit as usize).flush_interval(Duration::from_millis(4));
    let mut profiler = builder.start().expect("recording should start");
    for _ in 0..50 {
        for _ in 0..1_000 {
            let _span = scope!("span");
        }
        thread::sleep(Duration::from_millis(4));
    }
    let recording = stop(&mut profiler);
    let findings = recording.trace().expect("a trace").diagnostics.findings();
    let dropped =
        findings.iter().find(|finding| finding.code.as_str() == "dropped_record").expect("a finding");
    assert_eq!(dropped.count, recording.statistics.dropped);
    // A span is two records, and counts once if it is lost.
    assert_eq!(recording.statistics.dropped + recording.statistics.records / 2, 50_000);
    assert!(recording.statistics.dropped > 25_000);
    assert!(recording.statistics.records > 0);
    let bytes = recording.statistics.bytes;
    // Metadata, clock readings and counts of what was lost exceed the limit.
    assert!(bytes < limit + 20_000, "{bytes} bytes, {other_bytes} without records");
    let lost = format!("{} spans or events were lost", recording.statistics.dropped);
    let table = recording.table().expect("a trace");
    assert!(table.lines().last().is_some_and(|line| line.starts_with(&lost)), "{table}");
    let document = chrome(&recording);
    assert_eq!(document["WARNING"][0], format!("{lost}, because a memory limit was reached"));
    assert_eq!(document["kinetoscope"]["dropped"], recording.statistics.dropped);
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
        assert_eq!(text(recording.trace().expect("a trace"), name, "finished"), None);
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
    assert_eq!(rows(recording.trace().expect("a trace"), "second").len(), 2);
    assert_eq!(rows(recording.trace().expect("a trace"), "destroyed").len(), 2);
    for row in rows(recording.trace().expect("a trace"), "destroyed") {
        assert_eq!(
            recording.trace().expect("a trace").table.field_named(row, FieldPlace::Args, "finished"),
            None
        );
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
                {
                    let _span = scope!("worker", rows = 3);
                    instant!("worker event");
                    drop(record_function("named"));
                }
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
        let trace = recording.trace().expect("a trace");
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
    assert_eq!(
        ["own", "other", "not yet"].map(|name| rows(recording.trace().expect("a trace"), name).len()),
        [1, 0, 0]
    );
}

#[test]
fn thousands_of_living_threads_are_recorded() {
    let _alone = alone();
    const THREADS: usize = 3000;
    let mut profiler = Profiler::builder().start().expect("recording should start");
    let end = Arc::new(Barrier::new(THREADS + 1));
    let threads: Vec<_> = (0..THREADS)
        .map(|number| {
            let end = Arc::clone(&end);
            let run = move || {
                drop(scope!("of a thread", number));
                end.wait();
                drop(scope!("after all have begun", number));
            };
            thread::Builder::new().stack_size(64 << 10).spawn(run).expect("a thread")
        })
        .collect();
    end.wait();
    for thread in threads {
        thread.join().expect("the thread should not panic");
    }
    let recording = stop(&mut profiler);
    assert_eq!(recording.statistics.dropped, 0);
    let trace = recording.trace().expect("a trace");
    for name in ["of a thread", "after all have begun"] {
        assert_eq!(rows(trace, name).len(), THREADS);
    }
}

#[test]
fn lost_spans_of_too_many_threads_are_counted_everywhere() {
    let _alone = alone();
    let mut profiler = Profiler::builder().buffer_bytes(64 << 10).start().expect("recording should start");
    let end = Arc::new(Barrier::new(41));
    let threads: Vec<_> = (0..40)
        .map(|_| {
            let end = Arc::clone(&end);
            thread::spawn(move || {
                drop(scope!("of a thread"));
                end.wait();
            })
        })
        .collect();
    end.wait();
    for thread in threads {
        thread.join().expect("the thread should not panic");
    }
    let recording = stop(&mut profiler);
    let kept = rows(recording.trace().expect("a trace"), "of a thread").len() as u64;
    assert!(kept >= 8, "{kept}");
    assert_eq!(kept + recording.statistics.dropped, 40);
    let dropped = recording.trace().expect("a trace").diagnostics.count(Code::DroppedRecord);
    assert_eq!(dropped, recording.statistics.dropped);
}

#[test]
fn hundreds_of_ends_that_were_lost_do_not_change_other_durations() {
    let _alone = alone();
    fn down(depth: usize, then: &mut dyn FnMut()) {
        let _span = scope!("down", depth);
        if depth > 0 { down(depth - 1, then) } else { then() }
    }
    let mut profiler =
        Profiler::builder().buffer_bytes(1).flush_interval(Duration::from_secs(5)).start().expect("a start");
    let outer = scope!("outer");
    for _ in 0..40 {
        // Fills every buffer, so that the ends of the spans are lost.
        down(300, &mut || (0..40_000).for_each(|_| drop(scope!("filling"))));
        thread::sleep(Duration::from_millis(2));
        let inner = scope!("a whole span");
        thread::sleep(Duration::from_millis(1));
        drop(inner);
    }
    drop(outer);
    let recording = stop(&mut profiler);
    let dropped = recording.statistics.dropped;
    // How many are lost depends on how fast the machine writes.
    assert!(dropped > 1_000, "{dropped}");
    let trace = recording.trace().expect("a trace");
    let is_marked = |row| {
        ["finished", "begun"].iter().any(|key| trace.table.field_named(row, FieldPlace::Args, key).is_some())
    };
    for span in rows(trace, "a whole span").into_iter().filter(|&row| !is_marked(row)) {
        let took = trace.table.dur(span);
        assert!((1_000_000..200_000_000).contains(&took), "{took} ns");
    }
    for filling in rows(trace, "filling").into_iter().filter(|&row| !is_marked(row)) {
        assert!(trace.table.dur(filling) < 100_000_000, "{} ns", trace.table.dur(filling));
    }
}

/// Returns a recording in which two threads have the same id of the operating system.
fn with_a_reused_id() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut add = |kind, thread, payload: &[u8]| block::write(&mut bytes, kind, thread, payload);
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    add(
        BlockKind::Meta,
        0,
        br#""recorder": "test", "pid": 7, "clock": "monotonic", "baseTimeNanoseconds": 0"#,
    );
    add(BlockKind::Clock, 0, &words(&[0, 0, 1000, 1000]));
    add(BlockKind::Window, 0, &words(&[0, 1000, 0, 1]));
    for (number, name) in [(0, "first"), (1, "second")] {
        add(BlockKind::Thread, number, &[&77u64.to_le_bytes()[..], name.as_bytes()].concat());
        let (begin, end) = (Word::pack(Tag::Begin, 0, 0, 1), Word::pack(Tag::End, 0, 0, 1));
        let at = u64::from(number) * 100;
        add(BlockKind::Records, number, &words(&[0, begin, at + 10, end, at + 20]));
    }
    bytes
}

#[test]
fn threads_with_a_reused_id_have_tracks_of_their_own() {
    let trace = Trace::read(&with_a_reused_id()).expect("a trace");
    let tracks: Vec<&str> = trace
        .table
        .rows()
        .filter(|&row| trace.table.is_span(row) && trace.table.cat(row) == "cpu_op")
        .map(|row| trace.table.names.get(trace.table.track(row).tid))
        .collect();
    assert_eq!(tracks, ["77", &(77 + (1u64 << 32)).to_string()]);
    let names: Vec<&str> = trace
        .table
        .rows()
        .filter(|&row| trace.table.name(row) == "thread_name")
        .filter_map(|row| trace.table.field(row, Key::Name).and_then(|v| v.as_str()))
        .collect();
    assert_eq!(names, ["thread 77 (first)", "thread 77 (second)"]);
}

#[test]
fn long_names_of_threads_are_kept() {
    let _alone = alone();
    let name = "a-name-of-more-than-fifteen-bytes";
    let mut profiler = Profiler::builder().start().expect("recording should start");
    let thread = thread::Builder::new().name(name.into()).spawn(|| drop(scope!("span"))).expect("a thread");
    thread.join().expect("the thread should not panic");
    let document = chrome(&stop(&mut profiler));
    assert!(document.to_string().contains(&format!("({name})")));
}
