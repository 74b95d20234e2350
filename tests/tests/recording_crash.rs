//! What remains of a recording when its program is killed, aborts, forks or panics.

mod recorder;

use kinetoscope::FlightRecorder;
use kinetoscope::files::open;
use kinetoscope::{scope, user_scope};
use kinetoscope_core::diagnostics::Code;
use kinetoscope_core::table::fields::Value;
use kinetoscope_core::table::layout::Place;
use kinetoscope_core::trace::Trace;
use recorder::{alone, row, rows};
use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn child(how: &str, paths: &[&Path]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recording-child"));
    command.arg(how).args(paths);
    command
}

fn codes(trace: &Trace) -> Vec<Code> {
    trace.diagnostics.findings().iter().map(|finding| finding.code).collect()
}

/// Returns the numbers that a killed child recorded, with the time after each, in ns.
fn logged(path: &Path) -> Vec<(u64, u64)> {
    let bytes = fs::read(path).unwrap_or_default();
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    bytes.chunks_exact(16).map(|entry| (number(&entry[..8]), number(&entry[8..]))).collect()
}

/// The flush interval of the child, in ns.
const FLUSH_INTERVAL: u64 = 5_000_000;

/// The flush interval and the time until the system schedules the writer when all processors are busy, in ns.
const OLDEST_LOSS: u64 = FLUSH_INTERVAL + 95_000_000;

#[test]
fn recordings_of_200_killed_programs_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut seed, mut ages, mut total) = (0x2545_f491_4f6c_dd1du64, Vec::new(), 0);
    for round in 0..200 {
        let (file, log) = (folder.path().join(format!("{round}.ktrace")), folder.path().join("log"));
        let _ = fs::remove_file(&log);
        let mut running = child("killed", &[&file, &log]).spawn().expect("the child should run");
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        sleep(Duration::from_micros(2000 + (seed >> 33) % 60_000));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as u64;
        running.kill().expect("the child should be running");
        running.wait().expect("the child should end");
        let log = logged(&log);
        if log.is_empty() {
            continue;
        }
        let trace = open(&file).expect("a trace");
        // The file may be truncated within the last write.
        let is_expected = |code: &Code| matches!(code, Code::Unclosed | Code::Truncated);
        assert!(codes(&trace).iter().all(is_expected), "{:?}", trace.diagnostics.findings());
        let recorded: HashSet<i64> = rows(&trace, "number")
            .into_iter()
            .filter_map(|row| trace.table.field_named(row, Place::Args, "n")?.as_i64())
            .collect();
        total += recorded.len();
        let lost = log.iter().find(|(number, _)| !recorded.contains(&(*number as i64)));
        let age = lost.map_or(0, |(_, time)| now.saturating_sub(*time));
        ages.push(age);
        assert!(
            age <= OLDEST_LOSS,
            "round {round}: an event from {} ms before the kill is lost",
            age / 1_000_000
        );
        if !recorded.is_empty() {
            let whole = row(&trace, "whole");
            assert_eq!(trace.table.field_named(whole, Place::Args, "finished"), Some(Value::Bool(false)));
        }
    }
    ages.sort_unstable();
    let (worst, in_time) =
        (ages.last().copied().unwrap_or(0), ages.partition_point(|age| *age <= FLUSH_INTERVAL));
    println!(
        "{total} events; the oldest lost event was {} µs old; {in_time} of {} files within the interval",
        worst / 1000,
        ages.len()
    );
    assert!(
        in_time * 10 >= ages.len() * 9,
        "only {in_time} of {} files lost nothing older than the interval",
        ages.len()
    );
    assert!(total > 10_000);
}

#[test]
fn the_recording_of_an_aborted_program_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.ktrace");
    let ended = child("aborted", &[&file]).status().expect("the child should run");
    assert!(!ended.success());
    let trace = open(&file).expect("a trace");
    assert_eq!(codes(&trace), [Code::Unclosed]);
    assert_eq!(rows(&trace, "before").len(), 1);
}

#[test]
fn a_forked_child_does_not_record_for_its_parent_and_can_record_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, own) = (folder.path().join("parent.ktrace"), folder.path().join("child.ktrace"));
    let output = child("forked", &[&file, &own]).output().expect("the child should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = open(&file).expect("a trace");
    assert_eq!(codes(&trace), []);
    let count = |trace: &Trace, name: &str| rows(trace, name).len();
    assert_eq!(count(&trace, "another thread"), 50_000);
    assert_eq!([count(&trace, "before the fork"), count(&trace, "after the fork")], [1, 1]);
    assert_eq!(count(&trace, "in the child"), 0);
    let trace = open(&own).expect("a trace");
    assert_eq!(codes(&trace), []);
    assert_eq!(count(&trace, "in the child's own recording"), 1);
    assert_eq!(count(&trace, "before the fork"), 0);
}

#[test]
fn no_recorder_lock_is_held_in_a_forked_child() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = child("forked-often", &[folder.path()]).output().expect("the child should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for number in 0..40 {
        let trace = open(folder.path().join(format!("{number}.ktrace"))).expect("a trace");
        assert_eq!(codes(&trace), []);
        let span = row(&trace, "with a stack");
        let stack = trace.table.field_named(span, Place::Args, "Call stack").expect("a stack");
        assert!(stack.as_str().is_some_and(|stack| stack.contains("lock_all")), "{stack:?}");
    }
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
        assert_eq!(trace.table.field_named(row, Place::Args, "finished"), Some(Value::Bool(false)), "{name}");
    }
    let trace = flight_trace("signalled", folder.path());
    assert!(!rows(&trace, "waiting").is_empty());
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
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
    assert_eq!(trace.table.field_named(long, Place::Args, "kind").and_then(|v| v.as_str()), Some("long"));
    assert!(trace.table.dur(row(&trace, "ends after its begin was discarded")) > 500_000_000);
    drop(outer);
}

#[test]
fn a_slow_step_dumps_a_flight_recording_once_while_it_runs() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let flight = FlightRecorder::builder(folder.path())
        .slow_step(Duration::from_millis(100))
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
    drop(slow);
    flight.step();
    assert_eq!(flight.dumps(), 1);
    let trace = open(flight.last_dump().expect("a file")).expect("a trace");
    assert_eq!(rows(&trace, "quick").len(), 5);
    assert_eq!(rows(&trace, "slow").len(), 1);
}
