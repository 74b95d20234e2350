//! The flight recorder: what it keeps, when it writes, its limits, and how it ends.

use crate::support::{alone, child, codes, row, rows};
use kinetoscope::files::open;
use kinetoscope::{FlightRecorder, scope, user_scope};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::fields::Value;
use kinetoscope_core::trace::table::layout::FieldPlace;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread::{self, sleep};
use std::time::Duration;

/// Returns whether a span had ended.
fn finished<'a>(trace: &'a Trace, name: &str) -> Option<Value<'a>> {
    trace.table.field_named(row(trace, name), FieldPlace::Args, "finished")
}

/// Returns the recordings in a folder, oldest first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[test]
fn a_flight_recorder_restores_the_signal_handler() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = child("signalled-after", &[folder.path()]).output().expect("the child should run");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "ready\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.signal(), Some(libc::SIGUSR1));
}

fn flight_trace(how: &str, folder: &Path) -> Trace {
    let mut running = child(how, &[folder])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child should run");
    let mut lines =
        BufReader::new(running.stdout.take().expect("a pipe")).lines().map(|line| line.expect("a line"));
    if how == "signalled" {
        assert_eq!(lines.next().as_deref(), Some("ready"));
        // SAFETY: the process is our child and is still running.
        unsafe { libc::kill(running.id() as i32, libc::SIGUSR1) };
    }
    let path = lines.next().expect("a path");
    assert!(running.wait().expect("the child should end").success());
    open(PathBuf::from(path)).expect("a trace")
}

#[test]
fn a_flight_recording_is_written_on_a_panic_and_on_a_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = flight_trace("panicked", folder.path());
    assert_eq!(codes(&trace), [Code::OpenSpan]);
    for name in ["before", "in the thread that panics"] {
        let row = row(&trace, name);
        assert_eq!(
            trace.table.field_named(row, FieldPlace::Args, "finished"),
            Some(Value::Bool(false)),
            "{name}"
        );
    }
    let trace = flight_trace("signalled", folder.path());
    assert!(!rows(&trace, "waiting").is_empty());
    assert_eq!(files(folder.path()).len(), 2);
}

#[test]
fn a_flight_recording_keeps_the_last_seconds_and_open_spans() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let flight = FlightRecorder::builder(folder.path())
        .keep(Duration::from_millis(200))
        .start()
        .expect("recording should start");
    let outer = user_scope!("outer", kind = "long");
    drop(scope!("old"));
    let begin_discarded = user_scope!("ends after its begin was discarded");
    for _ in 0..60 {
        drop(scope!("filling"));
        sleep(Duration::from_millis(10));
    }
    drop(begin_discarded);
    drop(scope!("new"));
    let trace = open(flight.dump().expect("a file")).expect("a trace");
    assert_eq!(codes(&trace), [Code::OpenSpan]);
    assert!(rows(&trace, "old").is_empty());
    assert_eq!(rows(&trace, "new").len(), 1);
    assert!((5..40).contains(&rows(&trace, "filling").len()));
    let (window, long) = (row(&trace, "Kinetoscope (0)"), row(&trace, "outer"));
    assert!(trace.table.dur(window) < 500_000_000);
    assert!(trace.table.ts(long) < trace.table.ts(window), "it began before the kept time");
    assert_eq!(
        trace.table.field_named(long, FieldPlace::Args, "kind").and_then(|v| v.as_str()),
        Some("long")
    );
    assert!(trace.table.dur(row(&trace, "ends after its begin was discarded")) > 500_000_000);
    drop(outer);
}

#[test]
fn a_slow_step_dumps_a_flight_recording_once_while_it_runs() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let flight = FlightRecorder::builder(folder.path())
        .slow_step(Duration::from_millis(100))
        .flush_interval(Duration::from_millis(20))
        .start()
        .expect("recording should start");
    for _ in 0..5 {
        flight.step();
        drop(scope!("quick"));
    }
    assert_eq!(flight.dumps(), 0);
    flight.step();
    let slow = scope!("slow");
    sleep(Duration::from_millis(300));
    assert_eq!(flight.dumps(), 1, "while it runs");
    let running = open(flight.last_dump().expect("a file")).expect("a trace");
    assert_eq!(finished(&running, "ProfilerStep#5"), Some(Value::Bool(false)));
    drop(slow);
    flight.step();
    assert_eq!((flight.dumps(), files(folder.path()).len()), (1, 1), "its end replaces the file");
    let trace = open(flight.last_dump().expect("a file")).expect("a trace");
    assert_eq!(rows(&trace, "quick").len(), 5);
    for name in ["slow", "ProfilerStep#5"] {
        assert_eq!(finished(&trace, name), None, "{name}");
        assert!(trace.table.dur(row(&trace, name)) >= 300_000_000, "{name}");
    }
    // Time between steps is not part of one.
    flight.end_step();
    sleep(Duration::from_millis(250));
    assert_eq!(flight.dumps(), 1);
    flight.step();
    assert_eq!(flight.dumps(), 1);
}

#[test]
fn a_slow_step_between_two_checks_is_written() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let builder = FlightRecorder::builder(folder.path()).flush_interval(Duration::from_secs(60));
    let flight = builder.slow_step(Duration::from_millis(20)).start().expect("recording should start");
    flight.step();
    sleep(Duration::from_millis(60));
    flight.step();
    assert_eq!(flight.dumps(), 1);
    let trace = open(flight.last_dump().expect("a file")).expect("a trace");
    assert!(trace.table.dur(row(&trace, "ProfilerStep#0")) >= 60_000_000);
}

#[test]
fn dumps_are_limited_in_number_and_rate_and_counted() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let panics = |count: usize| {
        for _ in 0..count {
            let caught = catch_unwind(AssertUnwindSafe(|| panic!("an intended panic")));
            assert!(caught.is_err());
        }
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let flight = FlightRecorder::builder(folder.path())
        .on_panic(true)
        .min_interval(Duration::ZERO)
        .max_files(5)
        .start()
        .expect("recording should start");
    panics(200);
    assert_eq!((flight.dumps(), flight.skipped(), flight.failed()), (5, 195, 0));
    assert_eq!(files(folder.path()).len(), 5);
    flight.dump().expect("a dump on request has no limit");
    drop(flight);
    let builder =
        FlightRecorder::builder(folder.path()).on_panic(true).min_interval(Duration::from_secs(600));
    let flight = builder.start().expect("recording should start");
    panics(10);
    assert_eq!((flight.dumps(), flight.skipped()), (1, 9));
    drop(flight);
    std::panic::set_hook(hook);
}

#[test]
fn failed_dumps_are_counted_and_the_folder_is_made_again() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let flights = folder.path().join("flights");
    let flight = FlightRecorder::builder(&flights).start().expect("recording should start");
    fs::remove_dir_all(&flights).expect("the folder");
    flight.dump().expect("the folder is made again");
    fs::remove_dir_all(&flights).expect("the folder");
    fs::write(&flights, "a file in the place of the folder").expect("a file");
    let error = flight.dump().expect_err("not a folder").to_string();
    assert!(error.starts_with(&flights.display().to_string()), "{error}");
    assert_eq!((flight.dumps(), flight.failed(), flight.last_error()), (1, 1, Some(error)));
}

#[test]
fn threads_that_have_ended_leave_nothing_in_memory() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let flight = FlightRecorder::builder(folder.path())
        .keep(Duration::from_millis(200))
        .flush_interval(Duration::from_millis(4))
        .start()
        .expect("recording should start");
    for _ in 0..20_000 {
        thread::spawn(|| drop(scope!("of a short thread"))).join().expect("the thread should not panic");
    }
    let (sender, receiver) = channel();
    let end = Arc::new(Barrier::new(2));
    let its_end = Arc::clone(&end);
    let living = thread::Builder::new().name("alive".into()).spawn(move || {
        drop(scope!("first"));
        sleep(Duration::from_millis(600));
        drop(scope!("last"));
        sender.send(()).expect("a receiver");
        its_end.wait();
    });
    receiver.recv().expect("the thread should not panic");
    let path = flight.dump().expect("a file");
    let size = fs::metadata(&path).expect("a file").len();
    assert!(size < 50_000, "{size} bytes");
    let trace = open(&path).expect("a trace");
    assert_eq!([rows(&trace, "first").len(), rows(&trace, "last").len()], [0, 1]);
    let tid = trace.table.names.get(trace.table.track(row(&trace, "last")).tid).to_owned();
    let name = format!("thread {tid} (alive)");
    let is_named = |row| trace.table.all_fields(row).any(|(_, value)| value.as_str() == Some(&name));
    assert!(trace.table.rows().any(is_named), "the definition of a living thread is kept");
    end.wait();
    living.expect("a thread").join().expect("the thread should not panic");
}

#[test]
fn forked_children_neither_wait_for_the_parent_nor_write_its_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = child("flight-forked", &[folder.path()]).output().expect("the child should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let parent = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let others: Vec<PathBuf> = files(folder.path())
        .into_iter()
        .filter(|file| {
            !file.file_name().is_some_and(|name| name.to_string_lossy().contains(&format!("_{parent}.")))
        })
        .collect();
    assert!(others.is_empty(), "{others:?}");
}

/// Runs a child that a signal ends, and returns how it ended.
fn ended(how: &str, folder: &Path, signal: Option<i32>) -> ExitStatus {
    let mut running =
        child(how, &[folder]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a child");
    let mut lines = BufReader::new(running.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next().expect("a line").expect("a line"), "ready");
    if let Some(signal) = signal {
        // SAFETY: the process is our child and is still running.
        unsafe { libc::kill(running.id() as i32, signal) };
    }
    running.wait().expect("the child should end")
}

#[test]
fn a_flight_recording_is_written_before_a_signal_ends_the_process() {
    for (how, sent, signal) in
        [("terminated", Some(libc::SIGTERM), libc::SIGTERM), ("flight-aborted", None, libc::SIGABRT)]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let status = ended(how, folder.path(), sent);
        assert_eq!(status.signal(), Some(signal), "{how}");
        let files = files(folder.path());
        assert_eq!(files.len(), 1, "{how}: {files:?}");
        let trace = open(&files[0]).expect("a trace");
        assert_eq!(rows(&trace, "before the end").len(), 1, "{how}");
        let open_span = row(&trace, "open at the end");
        assert_eq!(
            trace.table.field_named(open_span, FieldPlace::Args, "finished"),
            Some(Value::Bool(false))
        );
    }
}

#[test]
fn storms_of_signals_leave_a_program_running() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = child("stormed", &[folder.path()]).output().expect("the child should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = files(folder.path());
    assert!((1..=20).contains(&files.len()), "{}", files.len());
    for file in files {
        let trace = open(&file).expect("a trace");
        assert!(
            codes(&trace).iter().all(|code| *code == Code::OpenSpan),
            "{:?}",
            trace.diagnostics.findings()
        );
    }
}

/// Returns a line of the status of this process, in bytes.
fn memory(line: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|known| known.starts_with(line)).expect("the line");
    let kilobytes: u64 =
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number");
    kilobytes << 10
}

#[test]
fn a_dump_takes_no_copy_of_what_is_kept() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let flight = FlightRecorder::builder(folder.path())
        .keep(Duration::from_secs(600))
        .bytes(64 << 20)
        .buffer_bytes(8 << 20)
        .flush_interval(Duration::from_millis(4))
        .start()
        .expect("recording should start");
    for _ in 0..6_000_000 {
        drop(scope!("span"));
    }
    sleep(Duration::from_millis(50));
    // Sets the peak to the memory in use.
    fs::write("/proc/self/clear_refs", "5").expect("Linux");
    let before = memory("VmRSS:");
    let path = flight.dump().expect("a file");
    let grown = memory("VmHWM:").saturating_sub(before);
    let size = fs::metadata(path).expect("a file").len();
    assert!((50 << 20..80 << 20).contains(&size), "{size} bytes");
    assert!(grown < 8 << 20, "{grown} bytes for a file of {size} bytes");
}
