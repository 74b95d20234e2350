//! What remains of a recording when its program is killed, aborts, forks or panics.

use crate::support::{child, codes, row, rows};
use kinetoscope::files::open;
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::fields::Value;
use kinetoscope_core::trace::table::layout::FieldPlace;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
            .filter_map(|row| trace.table.field_named(row, FieldPlace::Args, "n")?.as_i64())
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
            let span = row(&trace, "whole");
            assert_eq!(trace.table.field_named(span, FieldPlace::Args, "finished"), Some(Value::Bool(false)));
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
    let (file, child_file) = (folder.path().join("parent.ktrace"), folder.path().join("child.ktrace"));
    let output = child("forked", &[&file, &child_file]).output().expect("the child should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let trace = open(&file).expect("a trace");
    assert_eq!(codes(&trace), []);
    let count = |trace: &Trace, name: &str| rows(trace, name).len();
    assert_eq!(count(&trace, "another thread"), 50_000);
    assert_eq!([count(&trace, "before the fork"), count(&trace, "after the fork")], [1, 1]);
    assert_eq!(count(&trace, "in the child"), 0);
    let trace = open(&child_file).expect("a trace");
    assert_eq!(codes(&trace), []);
    assert_eq!(count(&trace, "in the child's own recording"), 1);
    assert_eq!(count(&trace, "before the fork"), 0);
}

#[test]
fn a_forked_child_drops_what_records_in_its_parent() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = child("fork-drops", &[folder.path()]).output().expect("the child should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn no_recorder_lock_is_held_in_a_forked_child() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = child("forked-often", &[folder.path()]).output().expect("the child should run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for number in 0..200 {
        let trace = open(folder.path().join(format!("{number}.ktrace"))).expect("a trace");
        assert_eq!(codes(&trace), []);
        let span = row(&trace, "with a stack");
        let stack = trace.table.field_named(span, FieldPlace::Args, "Call stack").expect("a stack");
        assert!(stack.as_str().is_some_and(|stack| stack.contains("lock_all")), "{stack:?}");
    }
}
