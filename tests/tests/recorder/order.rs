//! Guards that end in another order than the reverse of their creation: every span keeps its own times.

use crate::support;
use crate::support::{alone, record, row, rows};
use kinetoscope::{FlightRecorder, Scope, args, scope};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_core::trace::table::fields::Value;
use kinetoscope_core::trace::table::layout::FieldPlace;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Keeps the thread busy, and returns the time.
fn spin(microseconds: u64) -> Instant {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(microseconds) {}
    Instant::now()
}

/// The maximum time that a preempted thread loses between a reading of the clock and the span, in ns.
const TOLERANCE: i64 = 50_000_000;

fn assert_lasts(trace: &Trace, row: Row, from: Instant, to: Instant) {
    let (recorded, measured) = (trace.table.dur(row), (to - from).as_nanos() as i64);
    assert!(
        (recorded - measured).abs() < TOLERANCE.min(measured / 4),
        "{recorded} ns, measured {measured} ns"
    );
}

fn codes(trace: &Trace) -> Vec<(Code, u64)> {
    trace.diagnostics.findings().iter().map(|finding| (finding.code, finding.count)).collect()
}

#[test]
fn a_span_that_ends_before_an_inner_one_keeps_its_times() {
    let _alone = alone();
    let mut times = [Instant::now(); 4];
    let recording = record(|| {
        times[0] = Instant::now();
        let a = scope!("a");
        times[1] = spin(2000);
        let b = scope!("b");
        times[2] = spin(2000);
        drop(a);
        times[3] = spin(4000);
        drop(b);
        drop(scope!("after"));
    });
    let trace = recording.trace().expect("a trace");
    assert_lasts(trace, row(trace, "a"), times[0], times[2]);
    assert_lasts(trace, row(trace, "b"), times[1], times[3]);
    assert_eq!(codes(trace), [(Code::OverlappingSpans, 1), (Code::EndedOutOfOrder, 1)]);
    let after = row(trace, "after");
    assert!(trace.table.ts(after) >= trace.table.end(row(trace, "b")));
    assert_eq!(trace.table.field_named(after, FieldPlace::Args, "finished"), None);
}

#[test]
fn guards_of_one_call_site_in_collections_keep_their_times() {
    let _alone = alone();
    let begin = |number: u64| scope!("job", number);
    let mut ends = Vec::new();
    let recording = record(|| {
        let mut queue: VecDeque<(Instant, Scope)> = VecDeque::new();
        for number in 0..5 {
            queue.push_back((Instant::now(), begin(number)));
            spin(1000);
        }
        while let Some((began, job)) = queue.pop_front() {
            drop(job);
            ends.push((began, Instant::now()));
            spin(1000);
        }
        let _tuple = (scope!("first"), scope!("second"));
        drop(vec![scope!("third"), scope!("fourth"), scope!("fifth")]);
    });
    let trace = recording.trace().expect("a trace");
    let jobs = rows(trace, "job");
    assert_eq!(jobs.len(), 5);
    for (number, job) in jobs.into_iter().enumerate() {
        let recorded = trace.table.field_named(job, FieldPlace::Args, "number").and_then(|v| v.as_i64());
        assert_eq!(recorded, Some(number as i64));
        assert_lasts(trace, job, ends[number].0, ends[number].1);
    }
    let ended = codes(trace).into_iter().find(|(code, _)| *code == Code::EndedOutOfOrder);
    assert_eq!(ended, Some((Code::EndedOutOfOrder, 4 + 1 + 2)));
    assert_eq!(recording.statistics.dropped, 0);
}

/// A future that keeps a guard over its await points.
async fn guarded(number: u64, polls: usize) {
    let _span = scope!("task", number);
    for _ in 0..polls {
        spin(1000);
        let mut is_first = true;
        std::future::poll_fn(|_| if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) })
            .await;
    }
}

#[test]
fn guards_over_await_points_of_joined_futures_keep_their_times() {
    let _alone = alone();
    let mut measured = [Duration::ZERO; 4];
    let recording = record(|| {
        let start = Instant::now();
        let mut tasks: Vec<Option<Pin<Box<dyn Future<Output = ()>>>>> =
            (0..4).map(|number| Some(Box::pin(guarded(number, number as usize + 1)) as _)).collect();
        let mut context = Context::from_waker(Waker::noop());
        let mut began = [start; 4];
        let mut round = 0;
        while tasks.iter().any(Option::is_some) {
            for (number, slot) in tasks.iter_mut().enumerate() {
                if round == 0 {
                    began[number] = Instant::now();
                }
                if slot.as_mut().is_some_and(|task| pin!(task).poll(&mut context).is_ready()) {
                    measured[number] = began[number].elapsed();
                    *slot = None;
                }
            }
            round += 1;
        }
    });
    let trace = recording.trace().expect("a trace");
    for (task, measured) in rows(trace, "task").into_iter().zip(measured) {
        let difference = (trace.table.dur(task) - measured.as_nanos() as i64).abs();
        assert!(difference < 1_000_000, "{} ns, measured {measured:?}", trace.table.dur(task));
    }
}

#[test]
fn thousands_of_guards_in_any_order_leave_the_thread_balanced() {
    let _alone = alone();
    let recording = record(|| {
        let _outer = scope!("outer");
        for round in 0..200u64 {
            let mut guards: Vec<Option<Scope>> = (0..40u64).map(|at| Some(scope!("many", at))).collect();
            let mut seed = round;
            while guards.iter().any(Option::is_some) {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                guards[(seed >> 33) as usize % 40] = None;
            }
            drop(scope!("between"));
        }
    });
    let trace = recording.trace().expect("a trace");
    assert_eq!([rows(trace, "many").len(), rows(trace, "between").len()], [8000, 200]);
    let outer = row(trace, "outer");
    for row in trace.table.rows().filter(|&row| trace.table.cat(row) == "cpu_op") {
        assert_eq!(trace.table.field_named(row, FieldPlace::Args, "finished"), None);
        assert_eq!(trace.table.field_named(row, FieldPlace::Args, "begun"), None);
        assert!(
            trace.table.ts(row) >= trace.table.ts(outer) && trace.table.end(row) <= trace.table.end(outer)
        );
    }
    for between in rows(trace, "between") {
        let at = trace.table.ts(between);
        let is_open = |row: &Row| trace.table.ts(*row) < at && trace.table.end(*row) > at;
        assert!(!rows(trace, "many").iter().any(is_open), "every guard had ended");
    }
}

#[test]
fn a_forgotten_guard_is_reported_as_an_open_span() {
    let _alone = alone();
    let recording = record(|| {
        {
            let _outer = scope!("outer");
            std::mem::forget(scope!("forgotten"));
        }
        drop(scope!("later"));
    });
    let trace = recording.trace().expect("a trace");
    let finished = |name| trace.table.field_named(row(trace, name), FieldPlace::Args, "finished");
    assert_eq!(["outer", "forgotten", "later"].map(finished), [None, Some(Value::Bool(false)), None]);
    let found = codes(trace);
    assert!(found.contains(&(Code::OpenSpan, 1)) && found.contains(&(Code::EndedOutOfOrder, 1)), "{found:?}");
}

#[test]
fn arguments_can_be_added_to_an_open_span() {
    let _alone = alone();
    let recording = record(|| {
        let request = scope!("request", path = "/a");
        {
            let _inner = scope!("inner", kept = 1);
            args!(request, status = 200);
        }
        args!(&request, text = "a text that is longer than sixteen bytes", ratio = 0.5);
        drop(scope!("next", own = 2));
    });
    let trace = recording.trace().expect("a trace");
    let document = support::check(&recording);
    let events = document["traceEvents"].as_array().expect("events");
    let args = |name: &str| {
        let mut args = events.iter().find(|event| event["name"] == name).expect("the event")["args"].clone();
        args.as_object_mut().expect("args").remove("External id");
        args.as_object_mut().expect("args").remove("Record function id");
        args
    };
    let expected = serde_json::json!({
        "path": "/a", "status": 200, "text": "a text that is longer than sixteen bytes", "ratio": 0.5,
    });
    assert_eq!(args("request"), expected);
    assert_eq!(
        [args("inner"), args("next")],
        [serde_json::json!({"kept": 1}), serde_json::json!({"own": 2})]
    );
    assert_eq!(trace.table.field_named(row(trace, "next"), FieldPlace::Args, "status"), None);
}

#[test]
fn a_flight_recording_has_spans_whose_begins_left_the_ring_out_of_order() {
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a folder");
    let flight = FlightRecorder::builder(folder.path())
        .keep(Duration::from_millis(50))
        .start()
        .expect("recording should start");
    let (ended_early, outer) = (scope!("ended early"), scope!("outer", kind = "long"));
    args!(outer, added = "later");
    let inner = scope!("inner");
    drop(ended_early);
    for _ in 0..40 {
        drop(scope!("filling"));
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(outer);
    let last = scope!("last");
    let trace = kinetoscope::open(flight.dump().expect("a file")).expect("a trace");
    drop((inner, last));
    assert!(rows(&trace, "ended early").is_empty());
    let outer = row(&trace, "outer");
    assert!(trace.table.dur(outer) > 200_000_000);
    for (key, value) in [("kind", "long"), ("added", "later")] {
        assert_eq!(
            trace.table.field_named(outer, FieldPlace::Args, key).and_then(|v| v.as_str()),
            Some(value)
        );
    }
    let finished = |name| trace.table.field_named(row(&trace, name), FieldPlace::Args, "finished");
    assert_eq!(
        [finished("outer"), finished("inner"), finished("last")],
        [None, Some(Value::Bool(false)), Some(Value::Bool(false))]
    );
    assert!(rows(&trace, "unknown").is_empty());
    assert_eq!(trace.diagnostics.count(Code::UnmatchedEnd), 0);
}
