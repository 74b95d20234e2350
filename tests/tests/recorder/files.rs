//! Recordings that are written to files: existing content, several processes, large recordings, errors.

use crate::support::{alone, codes, row, rows};
use kinetoscope::schedule::{Schedule, ScheduleArgs};
use kinetoscope::tracing_layer::FlushGuard;
use kinetoscope::{Profiler, RecordError, open, scope};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::fields::Value;
use kinetoscope_core::trace::table::layout::FieldPlace;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::thread;

fn child(args: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_recording-child")).args(args).output();
    output.expect("the child should run")
}

fn start_error(path: &Path) -> (ErrorKind, String) {
    match Profiler::builder().file(path).start() {
        Err(RecordError::Io(error)) => (error.kind(), error.to_string()),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it started"),
    }
}

#[test]
fn a_file_with_content_is_refused_unless_that_was_requested() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.ktrace");
    fs::write(&path, "fn main() {}").expect("a file");
    let (kind, text) = start_error(&path);
    assert_eq!(kind, ErrorKind::AlreadyExists);
    assert!(text.starts_with(&path.display().to_string()) && text.contains("overwrite(true)"), "{text}");
    let Err(RecordError::Io(error)) = Profiler::builder().file(&path).append(true).start() else {
        panic!("a text file is no recording")
    };
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(fs::read_to_string(&path).expect("a file"), "fn main() {}");
    for round in 0..2 {
        let mut profiler =
            Profiler::builder().file(&path).overwrite(true).start().expect("recording should start");
        drop(scope!(format!("round {round}")));
        let recording = profiler.stop().expect("a recording").expect("a recording");
        assert_eq!(rows(recording.trace().expect("a trace"), &format!("round {round}")).len(), 1);
    }
    assert!(rows(&open(&path).expect("a trace"), "round 0").is_empty());
    fs::write(&path, "").expect("a file");
    let mut profiler = Profiler::builder().file(&path).start().expect("an empty file is no obstacle");
    profiler.stop().expect("a recording");
}

#[test]
fn one_profiler_at_a_time_writes_to_a_file() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.ktrace");
    let mut profiler = Profiler::builder().file(&path).start().expect("recording should start");
    let other = child(&["appended", path.to_str().expect("UTF-8"), "other"]);
    assert!(!other.status.success());
    let error = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(error.contains("another profiler writes to this file"), "{error}");
    drop(scope!("own"));
    profiler.stop().expect("a recording");
    assert!(child(&["appended", path.to_str().expect("UTF-8"), "other"]).status.success());
    let trace = open(&path).expect("a trace");
    assert_eq!([rows(&trace, "own").len(), rows(&trace, "other").len()], [1, 1]);
}

#[test]
fn appended_processes_have_their_own_windows_and_tracks() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.ktrace");
    for name in ["first", "killed", "last"] {
        let output = child(&["appended", path.to_str().expect("UTF-8"), name]);
        assert_eq!(output.status.success(), name != "killed");
    }
    let trace = open(&path).expect("a trace");
    // The killed process has not closed its recording.
    assert_eq!(codes(&trace), [Code::Unclosed]);
    let table = &trace.table;
    let pid = |row| table.names.get(table.track(row).pid).to_owned();
    let [first, killed, last] = ["first", "killed", "last"].map(|name| row(&trace, name));
    assert!(pid(first) != pid(killed) && pid(killed) != pid(last) && pid(first) != pid(last));
    assert_eq!(rows(&trace, "call").len(), 9);
    assert_eq!(rows(&trace, "Kinetoscope (0)").len(), 3);
    // The open span of the killed process ends with its process, not with the next one.
    assert_eq!(table.field_named(killed, FieldPlace::Args, "finished"), Some(Value::Bool(false)));
    assert!(table.end(killed) < table.ts(rows(&trace, "call")[6]));
    assert!(table.dur(killed) < 1_000_000_000);
    for span in [first, last] {
        assert!((20_000_000..2_000_000_000).contains(&table.dur(span)), "{}", table.dur(span));
        assert_eq!(table.field_named(span, FieldPlace::Args, "finished"), None);
    }
    let ids: Vec<i64> = rows(&trace, "call")
        .into_iter()
        .filter_map(|row| table.field_named(row, FieldPlace::Args, "External id")?.as_i64())
        .collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    let names = rows_of_metadata(&trace, "process_name");
    assert_eq!(names, 3);
}

fn rows_of_metadata(trace: &Trace, name: &str) -> usize {
    trace.table.rows().filter(|&row| trace.table.ph(row) == b'M' && trace.table.name(row) == name).count()
}

#[test]
fn cycles_of_a_schedule_follow_each_other_in_one_file() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.ktrace");
    let args = ScheduleArgs { active: 1, wait: 1, repeat: 3, ..ScheduleArgs::default() };
    let schedule = Schedule::new(args).expect("a schedule");
    for accumulates in [false, true] {
        let builder = Profiler::builder().file(&path).overwrite(true).accumulate(accumulates);
        let mut profiler = builder.schedule(schedule).start().expect("recording should start");
        for step in 0..6 {
            drop(scope!(format!("in step {step}")));
            profiler.step().expect("a step");
        }
        let last = profiler.stop().expect("a stop").expect("a recording");
        let trace = last.trace().expect("a trace");
        let found = [1, 3, 5].map(|step| rows(trace, &format!("in step {step}")).len());
        assert_eq!(found, if accumulates { [1, 1, 1] } else { [0, 0, 1] });
        assert_eq!(
            last.bytes().expect("bytes").len() as u64,
            if accumulates { fs::metadata(&path).expect("a file").len() } else { last.statistics.bytes }
        );
    }
    let trace = open(&path).expect("a trace");
    assert_eq!(codes(&trace), []);
    assert_eq!([1, 3, 5].map(|step| rows(&trace, &format!("in step {step}")).len()), [1, 1, 1]);
    assert_eq!([0, 1, 2].map(|cycle| rows(&trace, &format!("Kinetoscope ({cycle})")).len()), [1, 1, 1]);
    assert_eq!(rows_of_metadata(&trace, "thread_name"), 1);
}

/// Returns the peak of the memory in use by this process, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("the peak");
    let kilobytes: u64 =
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number");
    kilobytes << 10
}

#[test]
fn the_end_of_a_large_recording_in_a_file_takes_constant_memory() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.ktrace");
    let mut profiler = Profiler::builder().file(&path).start().expect("recording should start");
    for at in 0..2_000_000u64 {
        drop(scope!("span", at));
    }
    let before = peak();
    let recording = profiler.stop().expect("a recording").expect("a recording");
    let copy = folder.path().join("copy.ktrace");
    recording.save(&copy).expect("a file");
    // The kernel's count is approximate, and can fall.
    let grown = peak().saturating_sub(before);
    let size = fs::metadata(&path).expect("a file").len();
    assert!(size > 60 << 20, "{size} bytes");
    assert!(grown < 8 << 20, "{grown} bytes for a file of {size} bytes");
    assert_eq!(fs::metadata(&copy).expect("a file").len(), size);
    assert_eq!(recording.statistics.bytes, size);
}

#[test]
fn errors_name_the_file_and_leave_no_half_of_one() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("no such folder/run.ktrace");
    let (kind, text) = start_error(&missing);
    assert!(kind == ErrorKind::NotFound && text.starts_with(&missing.display().to_string()), "{text}");
    let mut profiler = Profiler::builder().start().expect("recording should start");
    drop(scope!("span"));
    let recording = profiler.stop().expect("a recording").expect("a recording");
    let named = |error: RecordError| {
        let text = error.to_string();
        assert!(text.starts_with(&missing.display().to_string()), "{text}");
        assert_eq!(text.matches("run.ktrace").count(), 1, "{text}");
    };
    named(recording.save(&missing).expect_err("no folder"));
    named(recording.export_chrome_trace(&missing).expect_err("no folder"));
    // A full disk.
    for path in ["/dev/full", "/dev/full.gz"].map(Path::new).into_iter().filter(|path| path.exists()) {
        for error in [recording.export_chrome_trace(path), recording.save(path)] {
            let error = error.expect_err("a full disk").to_string();
            assert!(error.starts_with("/dev/full: ") && error.contains("No space left"), "{error}");
        }
    }
    // The previous file stays, also its permissions, and a link stays a link.
    let (file, link) = (folder.path().join("trace.json"), folder.path().join("link.json"));
    fs::write(&file, "before").expect("a file");
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    recording.export_chrome_trace(&link).expect("a file");
    assert!(link.is_symlink() && fs::read(&file).expect("a file").starts_with(b"{"));
    let left: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("unfinished")), "{left:?}");
}

#[test]
fn a_recording_is_for_its_owner_whatever_the_umask_is() {
    use std::os::unix::fs::PermissionsExt;
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let permissions = |name| fs::metadata(path(name)).expect("a file").permissions().mode() & 0o777;
    // SAFETY: the function has no preconditions.
    let before = unsafe { libc::umask(0) };
    let mut profiler = Profiler::builder().file(path("run.ktrace")).start().expect("recording should start");
    drop(scope!("span"));
    let recording = profiler.stop().expect("a recording").expect("a recording");
    recording.save(path("saved.ktrace")).expect("a file");
    recording.export_chrome_trace(path("trace.json")).expect("a file");
    // SAFETY: as above.
    unsafe { libc::umask(before) };
    assert_eq!(["run.ktrace", "saved.ktrace", "trace.json"].map(permissions), [0o600, 0o600, 0o666]);
}

#[test]
fn a_recording_to_a_device_ends_without_an_error_and_has_no_trace() {
    let _alone = alone();
    let mut profiler = Profiler::builder().file("/dev/null").start().expect("recording should start");
    drop(scope!("span"));
    let recording = profiler.stop().expect("a recording").expect("a recording");
    assert_eq!(recording.statistics.records, 2);
    assert!(matches!(recording.trace(), Err(RecordError::Trace(_))));
}

#[test]
fn a_file_that_is_removed_while_recording_is_an_error() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.ktrace");
    let mut profiler = Profiler::builder().file(&path).start().expect("recording should start");
    fs::remove_file(&path).expect("the file");
    let error = profiler.stop().expect_err("the file was removed").to_string();
    assert!(error.starts_with(&path.display().to_string()), "{error}");
}

#[test]
fn a_profiler_can_be_stopped_on_another_thread() {
    let _alone = alone();
    fn is_send<T: Send>() {}
    is_send::<Profiler>();
    is_send::<FlushGuard>();
    static PROFILER: Mutex<Option<Profiler>> = Mutex::new(None);
    let schedule =
        Schedule::new(ScheduleArgs { active: 4, repeat: 1, ..ScheduleArgs::default() }).expect("a schedule");
    let profiler = Profiler::builder().schedule(schedule).start().expect("recording should start");
    *PROFILER.lock().expect("no panic") = Some(profiler);
    let mut began = std::time::Instant::now();
    let mut lasted = Vec::new();
    for _ in 0..3 {
        thread::sleep(std::time::Duration::from_millis(10));
        thread::spawn(|| {
            PROFILER.lock().expect("no panic").as_mut().expect("a profiler").step().expect("a step");
        })
        .join()
        .expect("the thread should not panic");
        lasted.push(began.elapsed());
        began = std::time::Instant::now();
    }
    let stopped =
        thread::spawn(|| PROFILER.lock().expect("no panic").take().expect("a profiler").stop()).join();
    let recording = stopped.expect("no panic").expect("a recording").expect("a recording");
    let trace = recording.trace().expect("a trace");
    assert_eq!(codes(trace), []);
    for (number, lasted) in lasted.into_iter().enumerate() {
        let step = row(trace, &format!("ProfilerStep#{number}"));
        assert_eq!(trace.table.field_named(step, FieldPlace::Args, "finished"), None);
        let difference = (trace.table.dur(step) - lasted.as_nanos() as i64).abs();
        assert!(difference < 5_000_000, "{} ns, measured {lasted:?}", trace.table.dur(step));
    }
}

#[test]
fn a_profiler_that_is_dropped_calls_its_handlers_or_reports_the_loss() {
    let unstopped = |how: &str| {
        let output = child(&["unstopped", how]);
        assert!(output.status.success(), "{how}: {}", String::from_utf8_lossy(&output.stderr));
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned())
    };
    assert_eq!(unstopped("handled"), ["handled 2 records\n".to_owned(), String::new()]);
    let [_, error] = unstopped("plain");
    assert_eq!(error, "kinetoscope: a recording was lost: its profiler was dropped without `stop`\n");
    let [output, error] = unstopped("unwinding");
    assert!(output == "survived\n" && error.contains("dropped without `stop`"), "{error}");
    let [output, error] = unstopped("panicking");
    assert!(output == "survived\n" && error.contains("its handler panicked"), "{error}");
}

#[test]
fn a_handler_that_fails_does_not_cost_the_next_cycle() {
    let _alone = alone();
    let schedule =
        Schedule::new(ScheduleArgs { active: 2, repeat: 3, ..ScheduleArgs::default() }).expect("a schedule");
    let delivered = std::sync::Arc::new(Mutex::new(Vec::new()));
    let (mut calls, its_delivered) = (0, std::sync::Arc::clone(&delivered));
    let mut profiler = Profiler::builder()
        .schedule(schedule)
        .on_trace_ready(move |_| {
            calls += 1;
            if calls == 1 { Err(RecordError::Handler("the first call".into())) } else { Ok(()) }
        })
        .on_trace_ready(move |recording| {
            let trace = recording.trace()?;
            let names =
                trace.table.rows().map(|row| trace.table.name(row)).filter(|name| name.starts_with("work "));
            its_delivered.lock().expect("no panic").push(names.map(str::to_owned).collect::<Vec<_>>());
            Ok(())
        })
        .start()
        .expect("recording should start");
    let mut errors = Vec::new();
    for step in 0..6 {
        drop(scope!(format!("work {step}")));
        errors.extend(profiler.step().err().map(|error| (step, error.to_string())));
    }
    profiler.stop().expect("a stop");
    assert_eq!(errors, [(1, "the trace handler failed: the first call".to_owned())]);
    let expected = [["work 0", "work 1"], ["work 2", "work 3"], ["work 4", "work 5"]];
    assert_eq!(*delivered.lock().expect("no panic"), expected);
}
