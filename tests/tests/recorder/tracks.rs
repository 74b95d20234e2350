//! Tracks whose spans have times that the program supplies.

use crate::support::{alone, check, check_with, record, row, rows};
use kinetoscope::{DeviceClock, FlightRecorder, Profiler, Track, now_ns, scope};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_core::trace::table::fields::Value;
use kinetoscope_core::trace::table::layout::{FieldPlace, Key};
use kinetoscope_stream::block::{self, BlockKind};
use kinetoscope_stream::record::{Tag, Word, key};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The begin in ns since 1970, and the duration in ns.
fn times(trace: &Trace, row: Row) -> (i64, i64) {
    (trace.table.ts(row) + trace.table.metadata.base_ns, trace.table.dur(row))
}

/// The names of tracks that are not threads.
fn track_names(trace: &Trace) -> Vec<&str> {
    let rows = trace.table.rows().filter(|&row| trace.table.name(row) == "thread_name");
    let names = rows.filter_map(|row| trace.table.field(row, Key::Name)?.as_str());
    names.filter(|name| !name.starts_with("thread ")).collect()
}

#[test]
fn spans_have_the_times_that_the_program_supplied() {
    let _alone = alone();
    let start = now_ns();
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as i64;
    assert!((unix - start).abs() < 1_000_000_000);
    let recording = record(|| {
        let queue = Track::new("wgpu queue");
        queue.span("frame", start..start + 1_000_000);
        // A span inside, recorded after a later one, with arguments.
        queue.span("later", start + 2_000_000..start + 2_000_001);
        queue.span_with("pass", start + 1_000..start + 400_000, |args| {
            args.value("groups", [8, 8, 1]);
            args.value("label", "blur");
        });
        // Another object for the same track, on another thread.
        std::thread::spawn(move || {
            Track::new("wgpu queue").span("of a thread", start + 3_000_000..start + 3_000_500);
        })
        .join()
        .expect("the thread should not panic");
        Track::new("\"copy\" queue").span("copy", start + 10..start + 20);
        Track::new("wgpu queue").span("", start + 4_000_000..start + 4_000_000);
    });
    check(&recording);
    assert_eq!(recording.statistics.records, 6);
    let trace = recording.trace().expect("a trace");
    let expected = [
        ("frame", 0, 1_000_000),
        ("later", 2_000_000, 1),
        ("pass", 1_000, 399_000),
        ("of a thread", 3_000_000, 500),
        ("copy", 10, 10),
        ("Track::span", 4_000_000, 0),
    ];
    for (name, after, dur) in expected {
        assert_eq!(times(trace, row(trace, name)), (start + after, dur), "{name}");
        assert_eq!(trace.table.cat(row(trace, name)), "track_span");
    }
    assert_eq!(track_names(trace), ["wgpu queue", "\"copy\" queue"]);
    let track = |name| trace.table.track_id(row(trace, name));
    assert!(["later", "pass", "of a thread"].iter().all(|name| track(name) == track("frame")));
    assert_ne!(track("copy"), track("frame"));
    let argument = |key| trace.table.field_named(row(trace, "pass"), FieldPlace::Args, key);
    assert_eq!(argument("label").and_then(|value| value.as_str()), Some("blur"));
    assert_eq!(argument("groups"), Some(Value::Json("[8,8,1]")));
    let at =
        |name| trace.tree.positions().find(|&at| trace.tree.row(at) == row(trace, name)).expect("a span");
    assert_eq!(trace.tree.parent(at("pass")), Some(at("frame")));
}

#[test]
fn spans_of_threads_and_tracks_share_one_clock() {
    let _alone = alone();
    let recording = record(|| {
        let track = Track::new("queue");
        for _ in 0..50 {
            let before = now_ns();
            {
                let _span = scope!("of the thread");
                let begin = now_ns();
                std::thread::sleep(Duration::from_micros(300));
                track.span("of the track", begin..now_ns());
            }
            track.span("around", before..now_ns());
        }
    });
    check(&recording);
    let trace = recording.trace().expect("a trace");
    let of = |name| rows(trace, name).into_iter().map(|row| (trace.table.ts(row), trace.table.end(row)));
    for ((outer, thread), inner) in of("around").zip(of("of the thread")).zip(of("of the track")) {
        // The times of the thread are interpolated between readings of the clock, whose error is below this.
        let slack = 20_000;
        assert!(outer.0 <= thread.0 + slack && thread.1 <= outer.1 + slack, "{outer:?} {thread:?}");
        assert!(thread.0 <= inner.0 + slack && inner.1 <= thread.1 + slack, "{thread:?} {inner:?}");
    }
}

#[test]
fn a_clock_of_a_device_is_converted_with_one_pair_of_times() {
    let clock = DeviceClock::at(5_000, 1_700_000_000_000_000_000);
    assert_eq!([4_300, 5_000, -1].map(|ns| clock.ns(ns) - 1_700_000_000_000_000_000), [-700, 0, -5_001]);
    let (before, clock, after) = (now_ns(), DeviceClock::now(77), now_ns());
    assert!((before..=after).contains(&clock.ns(77)));
    let extreme = DeviceClock::at(i64::MIN, i64::MAX);
    assert_eq!([extreme.ns(i64::MAX), extreme.ns(i64::MIN)], [i64::MAX; 2]);
    assert_eq!(DeviceClock::at(i64::MAX, i64::MIN).ns(i64::MIN), i64::MIN);
}

#[test]
fn impossible_times_are_clamped_and_counted() {
    let _alone = alone();
    let now = now_ns();
    let recording = record(|| {
        let track = Track::new("queue");
        track.span("backwards", now..now - 5);
        let (least, most) = (i64::MIN, i64::MAX);
        track.span("extreme", least..most);
        track.span("extreme", most..least);
        track.span("extreme", i64::MAX..i64::MAX);
        drop(scope!("span"));
    });
    let trace = recording.trace().expect("a trace");
    assert_eq!(times(trace, row(trace, "backwards")), (now, 0));
    assert_eq!(rows(trace, "extreme").len(), 3);
    let count = |code| trace.diagnostics.count(code);
    assert_eq!(count(Code::NegativeDuration), 2);
    assert!(count(Code::TimeOutOfRange) >= 2, "{:?}", trace.diagnostics.findings());
    assert!(trace.table.rows().all(|row| trace.table.dur(row) <= 1 << 53));
    assert!(trace.table.dur(row(trace, "span")) < 1_000_000_000);
}

#[test]
fn overlapping_spans_of_a_track_keep_their_times() {
    let _alone = alone();
    let now = now_ns();
    let recording = record(|| {
        let track = Track::new("queue");
        track.span("first", now..now + 100);
        track.span("second", now + 50..now + 150);
    });
    let trace = recording.trace().expect("a trace");
    assert_eq!(times(trace, row(trace, "second")), (now + 50, 100));
    assert_eq!(trace.diagnostics.count(Code::OverlappingSpans), 1);
}

#[test]
fn nothing_is_recorded_without_a_profiler_and_what_is_too_long_is_cut() {
    let _alone = alone();
    let track = Track::new("é".repeat(3000));
    track.span_with("too early", 0..1, |_| panic!("nothing records"));
    let now = now_ns();
    let recording = record(|| {
        track.span_with("span", now..now + 1, |args| {
            args.value("long", "x".repeat(100_000));
            args.value("number", 7);
        });
    });
    check_with(&recording, &[Code::CutArgument]);
    let trace = recording.trace().expect("a trace");
    assert_eq!(track_names(trace), ["é".repeat(2048)]);
    let cut = trace.table.field_named(row(trace, "span"), FieldPlace::Args, "cut arguments");
    assert!(cut.and_then(|count| count.as_i64()).is_some_and(|count| count >= 1), "{cut:?}");
    assert!(recording.statistics.cut_arguments >= 1);
}

#[test]
fn damaged_records_are_counted() {
    let read = |slots: &[[u64; 2]]| {
        let mut bytes = Vec::new();
        let mut add = |kind, payload: &[u8]| block::write(&mut bytes, kind, 0, payload);
        let meta = br#""recorder": "test", "pid": 7, "clock": "monotonic", "baseTimeNanoseconds": 0"#;
        add(BlockKind::Meta, meta);
        let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        add(BlockKind::Clock, &words(&[0, 0, 1000, 1000]));
        add(BlockKind::Window, &words(&[0, 1000, 0, 1]));
        let head = [0, Word::pack(Tag::TrackSpan, slots.len() as u16, 0, 1), 500];
        add(BlockKind::Records, &words(&[&head, slots.as_flattened()].concat()));
        Trace::read(&bytes).expect("a trace")
    };
    let time = |at| [Word::pack(Tag::Int, 0, 0, key::VALUE), at];
    for slots in [&[][..], &[time(3)], &[time(3), [Word::pack(Tag::Bool, 0, 0, key::VALUE), 4]]] {
        assert_eq!(read(slots).diagnostics.count(Code::DamagedEvent), 1, "{slots:?}");
    }
    // Without the name of a track, and with one that is longer than the record.
    for slots in
        [vec![time(3), time(4)], vec![time(3), time(4), [Word::pack(Tag::Text, 9, 0, key::VALUE), 99]]]
    {
        let trace = read(&slots);
        assert_eq!(trace.table.rows().filter(|&row| trace.table.cat(row) == "track_span").count(), 1);
        assert_eq!(track_names(&trace), [""]);
    }
}

#[test]
fn several_recordings_and_a_flight_recording_have_the_track() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let (file, track) = (folder.path().join("run.ktrace"), Track::new("queue"));
    for number in 0..2 {
        let builder = Profiler::builder().file(&file).append(true);
        let mut profiler = builder.start().expect("recording should start");
        let now = now_ns();
        track.span_with("span", now..now + 7, |args| args.value("number", number));
        profiler.stop().expect("a recording");
    }
    let trace = Trace::read(&std::fs::read(&file).expect("a file")).expect("a trace");
    assert_eq!(rows(&trace, "span").len(), 2);
    assert!(rows(&trace, "span").iter().all(|&row| trace.table.dur(row) == 7));
    assert_eq!(track_names(&trace), ["queue"]);
    assert_eq!(trace.diagnostics.findings(), []);

    let recorder = FlightRecorder::builder(folder.path().join("flights")).start().expect("a recorder");
    let now = now_ns();
    track.span("span", now..now + 7);
    let dump = recorder.dump().expect("a file");
    let trace = Trace::read(&std::fs::read(dump).expect("a file")).expect("a trace");
    assert_eq!(times(&trace, row(&trace, "span")), (now, 7));
}
