//! The names that a program gives its threads in recordings.

use crate::support::{alone, check, row, thread_id};
use kinetoscope::{FlightRecorder, Profiler, Recording, name_thread, scope};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::layout::Key;
use kinetoscope_stream::block::{self, BlockKind};
use kinetoscope_stream::record::{Tag, Word};
use std::sync::mpsc::channel;
use std::thread;

const LONG: &str = "a name of more than the 15 bytes that Linux keeps: Bilddekodierer für Größe";

fn start() -> Profiler {
    Profiler::builder().start().expect("recording should start")
}

fn stop(profiler: &mut Profiler) -> Recording {
    profiler.stop().expect("a recording").expect("something was recorded")
}

/// Runs a function on a thread whose name in Rust is `name`.
fn on_thread(name: &str, run: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().name(name.into()).spawn(run).expect("a thread");
    thread.join().expect("the thread should not panic");
}

/// The names of the tracks of threads, without the id.
fn names(trace: &Trace) -> Vec<String> {
    let rows = trace.table.rows().filter(|&row| trace.table.name(row) == "thread_name");
    let names = rows.filter_map(|row| trace.table.field(row, Key::Name).and_then(|name| name.as_str()));
    names.filter_map(|name| Some(name.split_once(" (")?.1.strip_suffix(')')?.to_owned())).collect()
}

fn names_of(recording: &Recording) -> Vec<String> {
    check(recording);
    names(recording.trace().expect("a trace"))
}

#[test]
fn a_name_replaces_that_of_the_system_before_and_after_the_first_span() {
    let _alone = alone();
    let mut profiler = start();
    on_thread("before", || {
        name_thread(LONG);
        drop(scope!("span"));
    });
    on_thread("after", || {
        drop(scope!("span"));
        name_thread(format_args!("worker {} of the pool", 7));
        drop(scope!("span"));
    });
    on_thread("replaced", || {
        drop(scope!("span"));
        ["first", "second", "third and last"].into_iter().for_each(name_thread);
    });
    on_thread("restored", || {
        name_thread("not for long");
        drop(scope!("span"));
        name_thread("");
    });
    on_thread("never recorded", || name_thread("of a thread without a span"));
    assert_eq!(names_of(&stop(&mut profiler)), [LONG, "worker 7 of the pool", "third and last", "restored"]);
}

#[test]
fn a_name_applies_to_all_recordings_of_its_thread() {
    let _alone = alone();
    let (to_thread, requests) = channel::<Option<&str>>();
    let (to_main, answers) = channel();
    let worker = thread::spawn(move || {
        name_thread("named before any recording");
        for name in requests {
            name.into_iter().for_each(name_thread);
            drop(scope!("span"));
            to_main.send(()).expect("a receiver");
        }
    });
    let record = |name: Option<&'static str>| {
        let mut profiler = start();
        to_thread.send(name).expect("a receiver");
        answers.recv().expect("an answer");
        names_of(&stop(&mut profiler))
    };
    assert_eq!(record(None), ["named before any recording"]);
    assert_eq!(record(None), ["named before any recording"]);
    assert_eq!(record(Some("another name")), ["another name"]);
    assert_eq!(record(None), ["another name"]);
    drop(to_thread);
    worker.join().expect("the thread should not panic");
}

#[test]
fn a_name_that_is_given_between_two_recordings_is_not_part_of_the_first() {
    let _alone = alone();
    on_thread("of the system", || {
        let mut profiler = start();
        drop(scope!("span"));
        let first = stop(&mut profiler);
        name_thread("later");
        let mut profiler = start();
        drop(scope!("span"));
        assert_eq!(names_of(&first), ["of the system"]);
        assert_eq!(names_of(&stop(&mut profiler)), ["later"]);
    });
}

#[test]
fn a_file_with_several_recordings_has_the_last_name() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.ktrace");
    let path = file.clone();
    on_thread("of the system", move || {
        for name in ["first", "last"] {
            let builder = Profiler::builder().file(&path).append(true);
            let mut profiler = builder.start().expect("recording should start");
            name_thread(name);
            drop(scope!("span"));
            profiler.stop().expect("a recording");
        }
    });
    let trace = Trace::read(&std::fs::read(&file).expect("a file")).expect("a trace");
    assert_eq!(names(&trace), ["last"]);
}

#[test]
fn a_name_that_is_given_while_the_recording_is_paused_is_kept() {
    let _alone = alone();
    on_thread("of the system", || {
        let mut profiler = start();
        drop(scope!("span"));
        profiler.pause().expect("a pause");
        name_thread("given in the pause");
        profiler.resume().expect("a resumption");
        drop(scope!("span"));
        assert_eq!(names_of(&stop(&mut profiler)), ["given in the pause"]);
    });
}

#[test]
fn names_are_cut_to_4_kib_and_can_have_any_character() {
    let _alone = alone();
    let mut profiler = start();
    on_thread("long", || {
        name_thread("é".repeat(3000));
        drop(scope!("span"));
    });
    on_thread("strange", || {
        name_thread("\"quoted\"\n\0\u{1f980}");
        drop(scope!("span"));
    });
    assert_eq!(names_of(&stop(&mut profiler)), [&"é".repeat(2048), "\"quoted\"\n\0\u{1f980}"]);
}

#[test]
fn a_flight_recording_has_the_last_name() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let recorder = FlightRecorder::builder(folder.path()).start().expect("recording should start");
    let file = thread::scope(|scope| {
        let run = || {
            name_thread("first name of a worker");
            drop(scope!("span"));
            name_thread("last name of a worker");
            recorder.dump().expect("a file")
        };
        scope.spawn(run).join().expect("the thread should not panic")
    });
    let trace = Trace::read(&std::fs::read(file).expect("a file")).expect("a trace");
    assert_eq!(names(&trace), ["last name of a worker"]);
}

/// A recording in which two threads have the same id of the operating system, and both get another name.
fn with_a_reused_id() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut add = |kind, thread, payload: &[u8]| block::write(&mut bytes, kind, thread, payload);
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let thread = |name: &str| [&77u64.to_le_bytes()[..], name.as_bytes()].concat();
    add(
        BlockKind::Meta,
        0,
        br#""recorder": "test", "pid": 7, "clock": "monotonic", "baseTimeNanoseconds": 0"#,
    );
    add(BlockKind::Clock, 0, &words(&[0, 0, 1000, 1000]));
    add(BlockKind::Window, 0, &words(&[0, 1000, 0, 1]));
    for (number, at) in [(0, 10), (1, 110)] {
        add(BlockKind::Thread, number, &thread("system"));
        let (begin, end) = (Word::pack(Tag::Begin, 0, 0, 1), Word::pack(Tag::End, 0, 0, 1));
        add(BlockKind::Records, number, &words(&[0, begin, at, end, at + 10]));
    }
    add(BlockKind::Thread, 1, &thread("second"));
    add(BlockKind::Thread, 0, &thread("first"));
    bytes
}

#[test]
fn threads_with_the_same_id_are_named_separately() {
    let trace = Trace::read(&with_a_reused_id()).expect("a trace");
    assert_eq!(names(&trace), ["first", "second"]);
}

#[test]
fn the_name_of_a_thread_that_ended_is_not_that_of_a_later_one_with_its_id() {
    let _alone = alone();
    // Linux uses an id again only after all others; without sampling, a thread's name is found without its id.
    let mut profiler = start();
    for at in 0..200 {
        on_thread("system", move || {
            if at % 2 == 0 {
                name_thread(format_args!("thread {at}"));
            }
            drop(scope!("span"));
        });
    }
    let names = names_of(&stop(&mut profiler));
    for (at, name) in names.iter().enumerate() {
        let expected = if at % 2 == 0 { format!("thread {at}") } else { "system".into() };
        assert_eq!(*name, expected);
    }
    assert_eq!(names.len(), 200);
}

#[test]
fn threads_of_rayon_and_tokio_have_the_names_that_their_hooks_give() {
    let _alone = alone();
    let mut profiler = start();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(|index| name_thread(format_args!("image decoder of the pool {index}")))
        .build()
        .expect("a pool");
    pool.broadcast(|_| drop(scope!("decode")));
    drop(pool);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .on_thread_start(|| name_thread("runtime of the public interface"))
        .build()
        .expect("a runtime");
    let task = runtime.spawn(async { drop(scope!("answer")) });
    runtime.block_on(task).expect("the task should not panic");
    drop(runtime);
    let recording = stop(&mut profiler);
    let mut names = names_of(&recording);
    names.sort();
    let expected =
        ["image decoder of the pool 0", "image decoder of the pool 1", "runtime of the public interface"];
    assert_eq!(names, expected);
    let trace = recording.trace().expect("a trace");
    let expected_name = format!("thread {} ({})", thread_id(&trace.table, row(trace, "answer")), expected[2]);
    let all = trace.table.rows().filter_map(|row| trace.table.field(row, Key::Name)?.as_str());
    assert_eq!(all.filter(|name| **name == expected_name).count(), 1);
}
