//! Samples of call stacks, counted by hand.

use kinetoscope_core::analysis::timeline::samples::{self, SampleFilter, SamplesBy, SamplesOptions};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::outline::{OutlineReader, WindowReader};
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::read::limits::Limits;
use kinetoscope_tests::exports::{exported, exported_with};
use kinetoscope_tests::files::data;
use serde_json::{Value, json};
use std::fs;

fn answer(by: SamplesBy, filter: SampleFilter, keys: &[&str]) -> Value {
    answer_of("healthy/samples.json", by, filter, keys)
}

fn read(path: &str) -> Trace {
    Trace::read(&fs::read(data().join(path)).expect("a fixture")).expect("a trace")
}

fn answer_of(path: &str, by: SamplesBy, filter: SampleFilter, keys: &[&str]) -> Value {
    let trace = read(path);
    let rows = samples::samples(&trace, &SamplesOptions { by, filter, row_limit: None });
    let row = |at| serde_json::from_str::<Value>(&rows.json_row(at)).expect("JSON");
    let pick = |row: Value| keys.iter().map(|key| row[*key].clone()).collect::<Vec<_>>();
    json!((0..rows.rows.len()).map(row).map(pick).collect::<Vec<_>>())
}

const COUNTS: [&str; 3] = ["name", "samples", "own"];

#[test]
fn a_function_counts_with_what_it_called_and_once_if_it_calls_itself() {
    let expected = json!([
        ["hash", 3, 2],
        ["memcpy", 2, 2],
        ["query", 2, 2],
        ["parse", 2, 1],
        ["poll", 1, 1],
        ["main", 5, 0],
        ["serve", 4, 0],
        ["start", 3, 0],
    ]);
    assert_eq!(answer(SamplesBy::Function, SampleFilter::default(), &COUNTS), expected);
}

#[test]
fn a_tree_has_callers_above_and_the_largest_first() {
    let expected = json!([
        ["main", 0, 5, 0],
        ["serve", 1, 4, 0],
        ["parse", 2, 2, 1],
        ["memcpy", 3, 1, 1],
        ["query", 2, 2, 1],
        ["query", 3, 1, 1],
        ["poll", 1, 1, 1],
        ["start", 0, 3, 0],
        ["hash", 1, 3, 2],
        ["memcpy", 2, 1, 1],
    ]);
    let found = answer(SamplesBy::Tree, SampleFilter::default(), &["name", "depth", "samples", "own"]);
    assert_eq!(found, expected);
}

#[test]
fn threads_have_their_samples_and_those_outside_of_spans() {
    let found = answer(SamplesBy::Thread, SampleFilter::default(), &["name", "thread", "samples", "own"]);
    assert_eq!(found, json!([["main", "1", 5, 1], ["worker", "2", 3, 3]]));
}

#[test]
fn filters_select_spans_gaps_threads_and_times() {
    let names = |filter| answer(SamplesBy::Function, filter, &["name", "own", "own_share"]);
    let filter = |span: &str| SampleFilter { span: Some(span.into()), ..SampleFilter::default() };
    assert_eq!(
        names(filter("parse")),
        json!([["parse", 1, 0.5], ["memcpy", 1, 0.5], ["main", 0, 0], ["serve", 0, 0]])
    );
    assert_eq!(names(filter("request")).as_array().map(Vec::len), Some(5));
    assert_eq!(names(filter("other")), json!([]));
    let between = SampleFilter { between: true, ..SampleFilter::default() };
    assert_eq!(
        answer(SamplesBy::Thread, between.clone(), &["name", "samples"]),
        json!([["worker", 3], ["main", 1]])
    );
    let both = SampleFilter { thread: Some("1".into()), ..between };
    assert_eq!(names(both), json!([["poll", 1, 1], ["main", 0, 0]]));
    // The recording begins with its first event.
    let time = SampleFilter { time: Some((2_000_000, 2_500_000)), ..SampleFilter::default() };
    assert_eq!(names(time), json!([["hash", 1, 1], ["start", 0, 0]]));
}

fn counts_of(path: &str) -> Value {
    answer_of(path, SamplesBy::Function, SampleFilter::default(), &COUNTS)
}

fn tree_of(path: &str) -> Value {
    answer_of(path, SamplesBy::Tree, SampleFilter::default(), &["name", "depth", "samples", "own"])
}

fn threads_of(path: &str) -> Value {
    answer_of(path, SamplesBy::Thread, SampleFilter::default(), &["name", "thread", "samples", "own"])
}

/// The diagnostics of a trace with their counts.
fn diagnostics_of(path: &str) -> Value {
    let codes = read(path).diagnostics;
    codes.findings().iter().map(|finding| json!([finding.code.as_str(), finding.count])).collect()
}

#[test]
fn the_member_samples_has_stacks_in_a_dictionary() {
    let path = "healthy/samples_of_hermes.json";
    assert_eq!(counts_of(path), json!([["work", 2, 2], ["[root]", 4, 1], ["idle", 1, 1]]));
    assert_eq!(tree_of(path), json!([["[root]", 0, 4, 1], ["work", 1, 2, 2], ["idle", 1, 1, 1]]));
    assert_eq!(threads_of(path), json!([["thread 12", "12", 4, 4]]));
    let time = SampleFilter { time: Some((1_000_000, 3_000_000)), ..SampleFilter::default() };
    let found = answer_of(path, SamplesBy::Function, time, &COUNTS);
    assert_eq!(found, json!([["work", 1, 1], ["idle", 1, 1], ["[root]", 2, 0]]));
}

#[test]
fn events_of_the_phase_p_are_samples_and_stacks_of_spans_are_not() {
    let path = "healthy/samples_of_phase_p.json";
    assert_eq!(counts_of(path), json!([["work", 2, 1], ["leaf", 1, 1], ["main", 2, 0]]));
    let inside = SampleFilter { span: Some("slice".into()), ..SampleFilter::default() };
    assert_eq!(answer_of(path, SamplesBy::Thread, inside, &["samples"]), json!([[2]]));
    assert_eq!(diagnostics_of(path), json!([]));
}

#[test]
fn chunks_of_v8_have_the_thread_and_the_start_of_their_profile() {
    let path = "healthy/samples_of_v8.json";
    let expected =
        json!([["(root)", 0, 6, 1], ["main", 1, 4, 2], ["(anonymous) a.js:5", 2, 2, 2], ["other", 1, 1, 1],]);
    assert_eq!(tree_of(path), expected);
    assert_eq!(threads_of(path), json!([["main thread", "10", 5, 2], ["thread 20", "20", 1, 1]]));
    // The times are 1.1, 1.15, 1.2, 1.18 and 1.25 ms, and the span is from 1.09 to 1.19 ms.
    let inside = SampleFilter { span: Some("task".into()), ..SampleFilter::default() };
    let found = answer_of(path, SamplesBy::Function, inside, &COUNTS);
    assert_eq!(found, json!([["(root)", 3, 1], ["main", 2, 1], ["(anonymous) a.js:5", 1, 1]]));
    assert_eq!(diagnostics_of(path), json!([]));
}

#[test]
fn stacks_of_events_count_where_no_samples_are() {
    let path = "healthy/stacks_of_events.json";
    let expected = json!([["main", 0, 5, 1], ["load", 1, 3, 1], ["read", 2, 2, 2], ["save", 1, 1, 1]]);
    assert_eq!(tree_of(path), expected);
    assert_eq!(diagnostics_of(path), json!([["event_stack", 5]]));
}

#[test]
fn json_lines_have_samples() {
    let path = "healthy/samples_in_lines.json";
    assert_eq!(tree_of(path), json!([["main", 0, 3, 1], ["work", 1, 2, 1], ["leaf", 2, 1, 1]]));
}

#[test]
fn damaged_parts_of_profiles_are_counted() {
    let path = "malformed/damaged_samples_of_v8.json";
    let expected = json!([
        ["main", 1, 1],
        ["orphan", 1, 1],
        ["[unknown]", 1, 1],
        ["a", 1, 1],
        ["(root)", 1, 0],
        ["b", 1, 0]
    ]);
    assert_eq!(counts_of(path), expected);
    // Two samples without a Profile; a missing parent, a cycle and an unknown node; three samples without a time.
    assert_eq!(diagnostics_of(path), json!([["lost_sample", 2], ["sample_stack", 3], ["sample_time", 3]]));
    let from = SampleFilter { time: Some((0, i64::MAX)), ..SampleFilter::default() };
    assert_eq!(answer_of(path, SamplesBy::Thread, from, &["samples"]), json!([[1]]));
}

#[test]
fn damaged_frames_and_samples_are_counted() {
    let path = "malformed/samples_of_frames.json";
    // A frame that is no object, a missing parent, a cycle; two samples without a known frame.
    let expected = json!([["lost_sample", 1], ["sample_stack", 5], ["sample_time", 1], ["sample_weight", 1]]);
    assert_eq!(diagnostics_of(path), expected);
    assert_eq!(threads_of(path), json!([["main", "7", 4, 3], ["thread 8", "8", 1, 1]]));
}

#[test]
fn deep_stacks_take_linear_time() {
    let frames: Vec<String> =
        (1..50_000).map(|at| format!(r#""{at}":{{"name":"f{}","parent":{}}}"#, at % 7, at - 1)).collect();
    let samples: Vec<String> = (0..50_000).map(|at| format!(r#"{{"ts":{at},"tid":1,"sf":{at}}}"#)).collect();
    let text = format!(
        r#"{{"traceEvents":[],"stackFrames":{{"0":{{"name":"root"}},{}}},"samples":[{}]}}"#,
        frames.join(","),
        samples.join(",")
    );
    let trace = Trace::read(text.as_bytes()).expect("a trace");
    assert_eq!(trace.diagnostics.count(Code::SampleStack), 0);
    let rows = samples::samples(&trace, &SamplesOptions::default());
    let first: Value = serde_json::from_str(&rows.json_row(0)).expect("JSON");
    // The names repeat, so all but the outermost of each are recursive.
    assert_eq!((rows.rows.len(), &first["own"]), (8, &json!(7143)));
}

/// A window has the samples of the member `samples` inside of it, and none of V8 if chunks can be missing.
/// Every form of samples except the stacks of events, and those of the phase `P`, which are events.
const FORMS: [&str; 4] =
    ["samples_of_hermes.json", "samples_of_v8.json", "samples_of_phase_p.json", "samples_in_lines.json"];

fn functions(trace: &Trace, time: Option<(i64, i64)>) -> Value {
    let filter = SampleFilter { time, ..SampleFilter::default() };
    let options = SamplesOptions { by: SamplesBy::Function, filter, row_limit: None };
    let rows = samples::samples(trace, &options);
    let row = |at| serde_json::from_str::<Value>(&rows.json_row(at)).expect("JSON");
    (0..rows.rows.len()).map(row).map(|row| json!([row["name"], row["samples"], row["own"]])).collect()
}

fn window_of(text: &[u8], time: (i64, i64)) -> Trace {
    let mut outline = OutlineReader::default();
    outline.feed(text).expect("a trace");
    let outline = outline.finish().expect("a trace").0;
    // Both ends of a window belong to it.
    let mut reader = WindowReader::new(&outline, (time.0, time.1 - 1), Limits::default());
    reader.feed(text).expect("a trace");
    let (table, diagnostics) = reader.finish().expect("a trace");
    Trace::new(table, diagnostics)
}

/// The parts of a V8 profile are in every window, because their samples are at other times.
#[test]
fn a_window_has_the_samples_of_its_time() {
    let mut outside = 0;
    for form in FORMS {
        let text = fs::read(data().join("healthy").join(form)).expect("a fixture");
        let trace = Trace::read(&text).expect("a trace");
        for start in [0, 40_000, 60_000, 500_000, 1_000_000] {
            for length in [30_000, 60_000, 500_000, 2_000_000] {
                let window = window_of(&text, (start, start + length));
                assert_eq!(window.diagnostics.count(Code::LostSample), 0);
                outside += window.diagnostics.count(Code::OutsideWindow);
                let expected = functions(&trace, Some((start, start + length)));
                assert_eq!(functions(&window, None), expected, "{form} {start} {length}");
            }
        }
    }
    assert!(outside > 50, "{outside}");
}

#[test]
fn a_slice_has_the_samples_of_its_time() {
    let mut found = 0;
    for form in FORMS {
        let trace = read(&format!("healthy/{form}"));
        for start in [0, 40_000, 60_000, 500_000, 1_000_000] {
            for length in [30_000, 60_000, 1_000_000, 2_000_000] {
                let time = (start, start + length);
                let options = json!({"time": format!("{}ns..{}ns", time.0, time.1)});
                let sliced = Trace::read(&exported_with(&trace, "slice", &options, b"")).expect("a trace");
                let expected = functions(&trace, Some(time));
                assert_eq!(functions(&sliced, None), expected, "{form} {time:?}");
                found += expected.as_array().map_or(0, Vec::len);
            }
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn samples_in_nanoseconds_are_exported_in_microseconds() {
    let start = 1_780_000_000_000_000_000_i64;
    let sample = |at: i64| json!({"pid": 1, "tid": 1, "ts": (start + at).to_string(), "sf": 1, "cpu": 2});
    let document = json!({
        "traceEvents": [{"ph": "X", "name": "run", "pid": 1, "tid": 1, "ts": start, "dur": 9_000}],
        "stackFrames": {"1": {"name": "work"}},
        "samples": [sample(1), sample(2_001), sample(8_999)],
    });
    let trace = Trace::read(document.to_string().as_bytes()).expect("a trace");
    let again = Trace::read(&exported(&trace, "chrome", b"")).expect("a trace");
    for time in [(0, 2_000), (2_000, 3_000), (3_000, 9_000)] {
        let expected = json!([["work", 1, 1]]);
        assert_eq!(functions(&trace, Some(time)), expected, "{time:?}");
        assert_eq!(functions(&again, Some(time)), expected, "{time:?}");
    }
}

/// The numbers of samples of all functions, whatever their names.
fn numbers(trace: &Trace) -> Vec<(i64, i64)> {
    let rows = functions(trace, None);
    let rows = rows.as_array().expect("rows").iter();
    let mut numbers: Vec<(i64, i64)> =
        rows.map(|row| (row[1].as_i64().expect("samples"), row[2].as_i64().expect("own"))).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn redaction_keeps_samples_without_their_names() {
    for form in FORMS {
        let trace = read(&format!("healthy/{form}"));
        let redacted = exported(&trace, "redact", b"salt");
        assert_eq!(numbers(&Trace::read(&redacted).expect("a trace")), numbers(&trace), "{form}");
        let text = String::from_utf8(redacted).expect("UTF-8");
        for row in functions(&trace, None).as_array().expect("rows") {
            let name = row[0].as_str().expect("a name");
            assert!(!text.contains(&format!("\"{name}\"")), "{form}: {name}");
        }
    }
}

/// Two sessions of the profiler: the second one uses the id and the nodes' ids again.
#[test]
fn a_second_profile_with_the_same_id_is_another_one() {
    let part = |name: &str, ts: i64, data: Value| json!({"ph": "P", "cat": "disabled-by-default-v8", "name": name, "id": "0x1", "pid": 1, "tid": 1, "ts": ts, "args": {"data": data}});
    let chunk = |ts: i64, function: &str, deltas: &[i64]| {
        let nodes = json!([{"id": 1, "callFrame": {"functionName": function}}]);
        let samples = vec![1; deltas.len()];
        part(
            "ProfileChunk",
            ts,
            json!({"cpuProfile": {"nodes": nodes, "samples": samples}, "timeDeltas": deltas}),
        )
    };
    let events = json!([
        part("Profile", 0, json!({"startTime": 0})),
        chunk(1, "alpha", &[10, 10, 10]),
        part("Profile", 1000, json!({"startTime": 1000})),
        chunk(1001, "beta", &[10, 10]),
    ]);
    let trace = Trace::read(events.to_string().as_bytes()).expect("a trace");
    assert_eq!(functions(&trace, None), json!([["alpha", 3, 3], ["beta", 2, 2]]));
    assert_eq!(functions(&trace, Some((1_010_000, 1_020_001))), json!([["beta", 2, 2]]));
}

/// In JSON Lines, samples can follow the events. They move to the document when it is edited.
#[test]
fn samples_after_the_lines_of_events_are_cut_and_start_the_recording() {
    let text = concat!(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":10}"#,
        "\n",
        r#"{"ph":"X","name":"b","pid":1,"tid":1,"ts":1020,"dur":10}"#,
        "\n",
        r#"{"stackFrames":{"1":{"name":"early"},"2":{"name":"late"}}}"#,
        "\n",
        r#"{"samples":[{"pid":1,"tid":1,"ts":500,"sf":1},{"pid":1,"tid":1,"ts":1025,"sf":2}]}"#,
        "\n",
    );
    let trace = Trace::read(text.as_bytes()).expect("a trace");
    assert_eq!(trace.diagnostics.count(Code::MissingPhase), 0);
    assert_eq!(functions(&trace, Some((0, 1))), json!([["early", 1, 1]]));
    let sliced = exported_with(&trace, "slice", &json!({"time": "515us..600us"}), b"");
    let sliced = Trace::read(&sliced).expect("a trace");
    assert_eq!(functions(&sliced, None), json!([["late", 1, 1]]));
}
