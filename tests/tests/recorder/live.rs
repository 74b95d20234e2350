//! Recordings that are read while they are written, and programs whose recordings are started from outside.

use crate::support::{alone, row, rows};
use kinetoscope::control::Control;
use kinetoscope::files::{Follower, Following};
use kinetoscope::{Profiler, RecordError, open, scope};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_stream::block::{self, BlockKind};
use kinetoscope_tests::programs::Random;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(3600);
const LARGE: usize = 1 << 30;

/// The events of a trace with their times.
fn events(trace: &Trace) -> Vec<(String, i64, i64)> {
    let table = &trace.table;
    let event = |row: Row| (table.name(row).to_owned(), table.ts(row), table.dur(row));
    let mut events: Vec<_> = table.rows().filter(|&row| table.ph(row) != b'M').map(event).collect();
    events.sort();
    events
}

fn snapshot(follower: &Follower) -> Trace {
    Trace::read(&follower.snapshot().expect("a recording")).expect("a trace")
}

/// Records spans in a file until `run` returns.
fn record(path: &Path, run: impl FnOnce()) {
    let mut profiler = Profiler::builder().file(path).append(true).start().expect("recording should start");
    run();
    profiler.stop().expect("a recording");
}

#[test]
fn a_running_recording_is_followed_until_it_ends() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.ktrace");
    let mut follower = Follower::new(&path, LONG, LARGE);
    assert!(!follower.poll().expect("a missing file is no error"));
    assert_eq!((follower.state(), follower.snapshot()), (Following::Waiting, None));

    let mut profiler = Profiler::builder().file(&path).start().expect("recording should start");
    let outer = scope!("outer");
    drop(scope!("first"));
    let written = Instant::now();
    loop {
        follower.poll().expect("a file");
        if follower.snapshot().is_some() && !rows(&snapshot(&follower), "first").is_empty() {
            break;
        }
        assert!(written.elapsed() < Duration::from_secs(5), "a span is written after 20 ms");
        sleep(Duration::from_millis(1));
    }
    assert_eq!(follower.state(), Following::Recording);
    let trace = snapshot(&follower);
    let table = &trace.table;
    assert!(
        table.end(row(&trace, "outer")) >= table.end(row(&trace, "first")),
        "an open span lasts until now"
    );
    drop(outer);
    profiler.stop().expect("a recording");
    let version = follower.version();
    follower.poll().expect("a file");
    assert!(follower.version() > version);
    assert_eq!(follower.state(), Following::Ended);
    assert_eq!(events(&snapshot(&follower)), events(&open(&path).expect("a trace")));
    let version = follower.version();
    assert!(!follower.poll().expect("a file"));
    assert_eq!(follower.version(), version, "nothing was written");
}

#[test]
fn what_is_followed_does_not_depend_on_how_it_was_written() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let (complete, path) = (folder.path().join("whole.ktrace"), folder.path().join("run.ktrace"));
    for number in 0..3 {
        record(&complete, || {
            let _outer = scope!("outer", number = number);
            for _ in 0..2000 {
                drop(scope!("inner", number = number));
            }
            thread::spawn(|| drop(scope!("elsewhere"))).join().expect("a thread");
        });
    }
    let bytes = fs::read(&complete).expect("a file");
    let last = {
        let trace = open(&complete).expect("a trace");
        let all = events(&trace);
        all.iter().filter(|event| event.0 == "inner").count()
    };
    assert_eq!(last, 6000);
    for seed in 0..20 {
        let mut random = Random(seed);
        fs::write(&path, "").expect("a file");
        let mut file = OpenOptions::new().append(true).open(&path).expect("a file");
        let mut follower = Follower::new(&path, LONG, LARGE);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.len().min(1 + random.below(5000) as usize));
            file.write_all(piece).expect("a file");
            follower.poll().expect("a file");
            rest = behind;
        }
        // Of several recordings in a file, the latest is followed.
        let trace = snapshot(&follower);
        assert_eq!(rows(&trace, "inner").len(), 2000, "seed {seed}");
        let sorted_durations = |trace: &Trace| -> Vec<i64> {
            let table = &trace.table;
            let mut durations: Vec<i64> = rows(trace, "inner").iter().map(|&row| table.dur(row)).collect();
            durations.sort_unstable();
            durations
        };
        let (all, followed) =
            (sorted_durations(&open(&complete).expect("a trace")), sorted_durations(&trace));
        assert!(followed.iter().all(|duration| all.binary_search(duration).is_ok()));
        assert_eq!(follower.state(), Following::Ended);
    }
}

#[test]
fn only_the_last_seconds_are_kept_and_open_spans_have_their_begins() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.ktrace");
    let mut by_time = Follower::new(&path, Duration::from_millis(150), LARGE);
    let mut by_size = Follower::new(&path, LONG, 20_000);
    let mut late = Follower::new(&path, Duration::from_millis(150), LARGE);
    record(&path, || {
        let _outer = scope!("outer");
        for number in 0..600u64 {
            let _span = scope!("turn", number = number);
            sleep(Duration::from_millis(1));
            if number % 50 == 0 {
                by_time.poll().expect("a file");
                by_size.poll().expect("a file");
            }
        }
    });
    let all = open(&path).expect("a trace");
    let truth: Vec<i64> = rows(&all, "turn").iter().map(|&row| all.table.dur(row)).collect();
    for (follower, most) in [(&mut by_time, 300), (&mut by_size, 500), (&mut late, 300)] {
        follower.poll().expect("a file");
        let trace = snapshot(follower);
        let turns = rows(&trace, "turn");
        assert!((10..most).contains(&turns.len()), "{}", turns.len());
        let durations: Vec<i64> = turns.iter().map(|&row| trace.table.dur(row)).collect();
        // Before the first reading of the clock that is kept, times follow the next two. Under load their rate differs by a
        // few ppm: some ns of a span of a millisecond.
        let is_near = |(left, right): (&i64, &i64)| (left - right).abs() <= 20;
        // The first one may have begun before what is kept.
        let known = &truth[truth.len() - durations.len()..];
        assert!(durations.iter().zip(known).skip(1).all(is_near), "{durations:?} {known:?}");
        let outer = [trace.table.dur(row(&trace, "outer")), all.table.dur(row(&all, "outer"))];
        assert!((outer[0] - outer[1]).abs() < 10_000, "the begin is not forgotten: {outer:?}");
        assert!(trace.diagnostics.findings().is_empty(), "{:?}", trace.diagnostics.findings());
    }
}

#[test]
fn a_file_that_is_replaced_or_shortened_is_read_again() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let (path, other) = (folder.path().join("run.ktrace"), folder.path().join("other.ktrace"));
    record(&path, || drop(scope!("before")));
    let mut follower = Follower::new(&path, LONG, LARGE);
    follower.poll().expect("a file");
    assert_eq!(rows(&snapshot(&follower), "before").len(), 1);
    record(&other, || (0..100).for_each(|_| drop(scope!("after"))));
    fs::rename(&other, &path).expect("a file");
    follower.poll().expect("a file");
    assert!(rows(&snapshot(&follower), "before").is_empty());
    assert_eq!(rows(&snapshot(&follower), "after").len(), 100);
    fs::write(&path, "").expect("a file");
    follower.poll().expect("a file");
    assert_eq!(follower.state(), Following::Waiting);

    // Between two polls, a longer recording takes the place of a shorter one.
    record(&path, || drop(scope!("short")));
    follower.poll().expect("a file");
    let mut profiler =
        Profiler::builder().file(&path).overwrite(true).start().expect("recording should start");
    (0..1000).for_each(|_| drop(scope!("long")));
    profiler.stop().expect("a recording");
    follower.poll().expect("a file");
    let trace = snapshot(&follower);
    assert_eq!((rows(&trace, "short").len(), rows(&trace, "long").len()), (0, 1000));
    assert_eq!(events(&trace), events(&open(&path).expect("a trace")));
}

/// Opening a pipe waits for its other end.
#[test]
#[cfg(unix)]
fn a_file_that_becomes_a_pipe_is_an_error() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.ktrace");
    record(&path, || drop(scope!("span")));
    let mut follower = Follower::new(&path, LONG, LARGE);
    follower.poll().expect("a file");
    fs::remove_file(&path).expect("no file");
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
    let error = follower.poll().expect_err("an error").to_string();
    assert!(error.contains("a.ktrace") && error.contains("not a regular file"), "{error}");
}

#[test]
fn damage_is_left_out_and_a_killed_program_is_recognized() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.ktrace");
    let mut bytes = b"KTS1 is not a block".to_vec();
    // No system has a process with this id.
    block::write(
        &mut bytes,
        BlockKind::Meta,
        0,
        br#""recorder": "0.1", "clock": "counter", "pid": 4294967295"#,
    );
    block::write(&mut bytes, BlockKind::Window, 0, &[1u64, 0, 0, 1].map(u64::to_le_bytes).concat());
    fs::write(&path, &bytes).expect("a file");
    let mut follower = Follower::new(&path, LONG, LARGE);
    // The program was killed while it wrote a block.
    bytes.extend_from_slice(&block::head(BlockKind::Names, 0, [&[0; 5000], &[]]));
    bytes.extend_from_slice(&[7; 100]);
    fs::write(&path, &bytes).expect("a file");
    follower.poll().expect("a file");
    let expected = if cfg!(target_os = "linux") { Following::Killed } else { Following::Recording };
    assert_eq!(follower.state(), expected);
    assert!(follower.snapshot().is_some());
    let _alone = alone();
    record(&path, || drop(scope!("after a restart")));
    follower.poll().expect("a file");
    assert_eq!(rows(&snapshot(&follower), "after a restart").len(), 1);
    assert_eq!(follower.state(), Following::Ended);
}

/// Sends a line to a socket or a port, and returns the answer; null if there is none.
fn send(stream: &mut (impl Read + Write), line: &str) -> Value {
    let mut answer = String::new();
    let sent = stream.write_all(line.as_bytes());
    let received = sent.and_then(|()| BufReader::new(stream).read_line(&mut answer));
    received.ok().and_then(|_| serde_json::from_str(&answer).ok()).unwrap_or(Value::Null)
}

/// The port of a program and its secret, from the file that only its user can read.
fn port_of(control: &Control) -> (String, String) {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs::metadata(control.address()).expect("a file").permissions();
    assert_eq!(permissions.mode() & 0o777, 0o600);
    let line = fs::read_to_string(control.address()).expect("a file");
    let (address, secret) = line.trim().split_once('/').expect("a secret");
    assert!(secret.len() == 32 && !control.address().contains(secret));
    (address.to_owned(), secret.to_owned())
}

#[test]
fn clients_start_and_stop_recordings() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let builder = Control::builder().folder(folder.path().join("live")).port(0);
    // The last two options are ignored: the recorder's own thread starts the recording, and must not wait.
    let profiler =
        || Profiler::builder().record_shapes(true).profile_all_threads(false).wait(Duration::from_secs(60));
    let control = builder.profiler(profiler).start().expect("a port");
    let (address, secret) = &port_of(&control);
    let command = |line: &str| send(&mut TcpStream::connect(address).expect("a port"), line);

    for wrong in [format!("{} status\n", "0".repeat(32)), "- start\n".into(), "\n".into(), " \n".into()] {
        assert_eq!(command(&wrong)["error"], "the secret is wrong", "{wrong}");
    }
    assert_eq!(command(&format!("{secret} status\n"))["state"], "idle");
    assert!(command(&format!("{secret} erase\n"))["error"].is_string());
    assert_eq!(command(&format!("{secret} stop\n"))["state"], "idle", "there is nothing to stop");

    for round in 1..3 {
        let started = command(&format!("{secret} start\n"));
        assert_eq!((&started["state"], &started["error"]), (&"recording".into(), &Value::Null));
        drop(scope!("work", shapes: [[2, 3]]));
        assert!(command(&format!("{secret} start\n"))["error"].is_string(), "it is started already");
        let stopped = command(&format!("{secret} stop\n"));
        assert_eq!((&stopped["state"], &stopped["file"]), (&"idle".into(), &started["file"]));
        let file = stopped["file"].as_str().expect("a file");
        assert!(file.ends_with(&format!(".{round}.ktrace")), "{file}");
        let trace = open(file).expect("a trace");
        assert_eq!(rows(&trace, "work").len(), 1);
    }

    drop(control);
    let builder = Control::builder().folder(folder.path().join("live")).port(0);
    let control = builder.profiler(|| panic!("an intended panic")).start().expect("a port");
    let (address, secret) = &port_of(&control);
    let command = |line: &str| send(&mut TcpStream::connect(address).expect("a port"), line);
    let failed = command(&format!("{secret} start\n"));
    assert_eq!((&failed["state"], failed["error"].is_string()), (&"idle".into(), true));
    drop(control);

    let control = Control::builder().folder(folder.path().join("live")).port(0).start().expect("a port");
    let (address, secret) = &port_of(&control);
    let command = |line: &str| send(&mut TcpStream::connect(address).expect("a port"), line);
    let mut profiler = Profiler::builder().start().expect("recording should start");
    let refused = command(&format!("{secret} start\n"));
    assert_eq!(refused["error"], RecordError::AlreadyRecording.to_string());
    profiler.stop().expect("a recording");

    // Clients that say nothing, too much, or go away.
    drop(TcpStream::connect(address).expect("a port"));
    assert_eq!(send(&mut TcpStream::connect(address).expect("a port"), &"x".repeat(100_000)), Value::Null);
    assert_eq!(command(&format!("{secret} status\n"))["state"], "idle");
    let running = command(&format!("{secret} start\n"));
    drop(scope!("last"));
    let address = address.to_owned();
    drop(control);
    // A client that is being answered keeps the port open until it is.
    let end = Instant::now() + Duration::from_secs(2);
    while TcpStream::connect(&address).is_ok() {
        assert!(Instant::now() < end, "the port is still open");
        sleep(Duration::from_millis(10));
    }
    let trace = open(running["file"].as_str().expect("a file")).expect("a trace");
    assert_eq!(rows(&trace, "last").len(), 1);
    assert!(trace.diagnostics.findings().is_empty(), "the recording was ended");
}

#[cfg(unix)]
#[test]
fn a_socket_is_for_its_user_only() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("live");
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    let control = Control::builder().folder(&place).start().expect("a socket");
    let socket = Path::new(control.address()).to_owned();
    assert_eq!((mode(&place), mode(&socket)), (0o700, 0o600));
    let status = send(&mut UnixStream::connect(&socket).expect("a socket"), "- status\n");
    assert_eq!(status["pid"], std::process::id());
    let twice = Control::builder().folder(&place).start().err().expect("an error").to_string();
    assert!(twice.contains("already"), "{twice}");
    // Clients that say nothing do not keep others waiting.
    let idle: Vec<_> = (0..8).map(|_| UnixStream::connect(&socket).expect("a socket")).collect();
    let begun = Instant::now();
    let status = send(&mut UnixStream::connect(&socket).expect("a socket"), "- status\n");
    assert_eq!(status["state"], "idle");
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    drop(idle);
    // Something else has removed the socket.
    fs::remove_file(&socket).expect("a socket");
    drop(control);
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let control = Control::builder().folder(&place).start().expect("a socket");
    assert!(socket.exists());
    drop(control);
    assert!(!socket.exists());

    fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).expect("a folder");
    let refused = Control::builder().folder(&place).start().err().expect("an error").to_string();
    assert!(refused.contains("other users can write"), "{refused}");
}

#[cfg(unix)]
#[test]
fn a_program_is_attached_to_by_the_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = |pid: u32| folder.path().join(format!("{pid}.sock"));
    let mut child = Command::new(env!("CARGO_BIN_EXE_recording-child"));
    child.args(["attached"]).env("KINETOSCOPE", format!("{},attach,shapes", folder.path().display()));
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .expect("a folder");
    let mut child = child.stdin(Stdio::piped()).spawn().expect("a child");
    let begun = Instant::now();
    let mut stream = loop {
        match std::os::unix::net::UnixStream::connect(socket(child.id())) {
            Ok(stream) => break stream,
            Err(_) => assert!(begun.elapsed() < Duration::from_secs(10), "no socket"),
        }
        sleep(Duration::from_millis(5));
    };
    let started = send(&mut stream, "- start\n");
    assert_eq!(started["state"], "recording", "{started}");
    sleep(Duration::from_millis(100));
    // The program ends in the middle of its recording, which its guard ends.
    drop(child.stdin.take());
    assert!(child.wait().expect("an end").success());
    let trace = open(started["file"].as_str().expect("a file")).expect("a trace");
    assert!(rows(&trace, "turn").len() > 10);
    assert!(trace.diagnostics.findings().is_empty());
}
