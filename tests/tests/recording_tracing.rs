//! Recordings of programs that are instrumented with `tracing`.

mod recorder;

use kinetoscope::Profiler;
use kinetoscope::Recording;
use kinetoscope::tracing_layer::{TracingLayer, layer};
use kinetoscope_core::diagnostics::Code;
use kinetoscope_core::table::events::Row;
use kinetoscope_core::table::fields::Value;
use kinetoscope_core::table::layout::Place;
use recorder::{alone, check, row, rows};
use std::time::Duration;
use tracing::subscriber::{set_default, with_default};
use tracing::{Instrument, error, info_span, instrument};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry;

fn record(run: impl FnOnce()) -> Recording {
    let recording = record_unchecked(run);
    check(&recording);
    recording
}

fn record_unchecked(run: impl FnOnce()) -> Recording {
    let _alone = alone();
    let (layer, guard) = layer(Profiler::builder()).expect("recording should start");
    with_default(registry().with(layer), run);
    guard.finish().expect("a recording").expect("a recording")
}

fn field<'a>(recording: &'a Recording, row: Row, key: &str) -> Option<Value<'a>> {
    recording.trace().expect("a trace").table.field_named(row, Place::Args, key)
}

#[instrument]
fn instrumented(batch: usize, name: &str) {
    error!(reason = "cold", "it failed {} times", 3);
}

#[test]
fn fields_are_arguments_and_events_are_instants() {
    let recording = record(|| {
        instrumented(3, "x");
        let span = info_span!("late", ratio = 0.5, yes = true, later = tracing::field::Empty);
        span.record("later", -7);
        drop(span.entered());
    });
    let trace = recording.trace().expect("a trace");
    let span = row(trace, "instrumented");
    assert_eq!(trace.table.cat(span), "cpu_op");
    assert_eq!(field(&recording, span, "batch"), Some(Value::Int(3)));
    assert_eq!(field(&recording, span, "name").and_then(|v| v.as_str()), Some("x"));
    let event = row(trace, "it failed 3 times");
    assert_eq!(trace.table.ph(event), b'i');
    let text = |key| field(&recording, event, key).and_then(|v| v.as_str());
    assert_eq!(
        [text("level"), text("reason"), text("target")],
        [Some("ERROR"), Some("cold"), Some("recording_tracing")]
    );
    let late = row(trace, "late");
    assert_eq!(field(&recording, late, "ratio").and_then(|v| v.as_f64()), Some(0.5));
    assert_eq!(field(&recording, late, "later"), Some(Value::Int(-7)));
    assert_eq!(field(&recording, late, "yes"), Some(Value::Bool(true)));
}

#[test]
fn spans_exited_out_of_order_have_correct_times() {
    let recording = record_unchecked(|| {
        let (a, b) = (info_span!("a"), info_span!("b"));
        let in_a = a.enter();
        let in_b = b.enter();
        drop(in_a);
        drop(info_span!("c").entered());
        drop(in_b);
    });
    let trace = recording.trace().expect("a trace");
    let table = &trace.table;
    let [a, b, c] = ["a", "b", "c"].map(|name| row(trace, name));
    assert!(table.ts(b) >= table.ts(a) && table.end(a) <= table.ts(c) && table.end(c) <= table.end(b));
    let codes: Vec<Code> = trace.diagnostics.findings().iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::OverlappingSpans, Code::EndedOutOfOrder]);
}

#[test]
fn fields_that_are_recorded_after_the_entry_are_arguments() {
    let recording = record(|| {
        let span = info_span!("request", status = tracing::field::Empty, most = u64::MAX, wide = i128::MIN);
        let entered = span.enter();
        let inner = info_span!("inner").entered();
        span.record("status", 200);
        drop(inner);
        drop(entered);
        // The second entry has the value from its begin.
        drop(span.enter());
    });
    let requests = rows(recording.trace().expect("a trace"), "request");
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert_eq!(field(&recording, request, "status"), Some(Value::Int(200)));
        assert_eq!(field(&recording, request, "most"), Some(Value::Number("18446744073709551615")));
        assert_eq!(field(&recording, request, "wide"), Some(Value::Number(&i128::MIN.to_string())));
    }
    let inner = row(recording.trace().expect("a trace"), "inner");
    assert_eq!(field(&recording, inner, "status"), None);
}

#[instrument]
fn send(message: &str) {
    error!("sent");
}

#[test]
fn a_field_named_message_does_not_replace_the_name_of_a_span() {
    let recording = record(|| send("hello world"));
    let span = row(recording.trace().expect("a trace"), "send");
    assert_eq!(field(&recording, span, "message").and_then(|v| v.as_str()), Some("hello world"));
    assert_eq!(rows(recording.trace().expect("a trace"), "sent").len(), 1);
}

#[instrument(fields(task = number))]
async fn waiting(number: usize) {
    busy();
    tokio::time::sleep(Duration::from_millis(20)).await;
    busy();
}

#[instrument]
fn busy() {
    std::thread::sleep(Duration::from_millis(2));
}

#[test]
fn each_poll_of_an_async_function_is_a_span() {
    let _alone = alone();
    let (layer, guard) = layer(Profiler::builder()).expect("recording should start");
    let subscriber = set_default(registry().with(layer));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let tasks = (0..4).map(|number| tokio::spawn(waiting(number).instrument(info_span!("outer"))));
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("the task should not panic");
        }
    });
    drop(subscriber);
    let recording = guard.finish().expect("a recording").expect("a recording");
    check(&recording);
    let (table, tree) =
        (&recording.trace().expect("a trace").table, &recording.trace().expect("a trace").tree);
    let polls = rows(recording.trace().expect("a trace"), "waiting");
    assert_eq!(
        polls.len(),
        12,
        "each task is polled twice, and its span is entered once more when it is dropped"
    );
    let waited: i64 = polls.iter().map(|&poll| table.dur(poll)).sum();
    assert!(waited < 60_000_000, "{waited} ns include the time between the polls");
    for busy in rows(recording.trace().expect("a trace"), "busy") {
        let at = tree.positions().find(|&at| tree.row(at) == busy).expect("a span");
        let around = tree.parent(at).expect("a parent");
        assert_eq!(table.name(tree.row(around)), "waiting");
    }
    for number in 0..4 {
        let own =
            polls.iter().filter(|&&poll| field(&recording, poll, "task") == Some(Value::Int(number))).count();
        assert_eq!(own, 3);
    }
}

#[test]
fn every_thread_of_a_runtime_has_its_own_track() {
    let _alone = alone();
    let (layer, guard) = layer(Profiler::builder()).expect("recording should start");
    let dispatch = tracing::Dispatch::new(registry().with(layer));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(3)
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let tasks = (0..20).map(|number| {
            use tracing::instrument::WithSubscriber;
            tokio::spawn(waiting(number).with_subscriber(dispatch.clone()))
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("the task should not panic");
        }
    });
    drop(runtime);
    let recording = guard.finish().expect("a recording").expect("a recording");
    check(&recording);
    assert_eq!(rows(recording.trace().expect("a trace"), "waiting").len(), 60);
    assert_eq!(rows(recording.trace().expect("a trace"), "busy").len(), 40);
}

#[test]
fn a_span_that_was_entered_before_the_recording_is_recorded_from_its_start() {
    let _alone = alone();
    with_default(registry().with(TracingLayer), || {
        let older = info_span!("older").entered();
        let mut profiler = Profiler::builder().start().expect("recording should start");
        drop(info_span!("inside").entered());
        drop(older);
        let recording = profiler.stop().expect("a recording").expect("a recording");
        check(&recording);
        let table = &recording.trace().expect("a trace").table;
        let (older, window) = (
            row(recording.trace().expect("a trace"), "older"),
            row(recording.trace().expect("a trace"), "Kinetoscope (0)"),
        );
        assert_eq!(table.ts(older), table.ts(window));
        assert_eq!(field(&recording, older, "begun"), Some(Value::Bool(false)));
        assert!(table.end(older) >= table.end(row(recording.trace().expect("a trace"), "inside")));
    });
}

#[test]
fn a_span_that_is_exited_in_another_order_during_a_pause_ends_there() {
    let _alone = alone();
    with_default(registry().with(TracingLayer), || {
        let mut profiler = Profiler::builder().start().expect("recording should start");
        let (first, second) = (info_span!("first"), info_span!("second"));
        let (first, second) = (first.entered(), second.entered());
        profiler.pause().expect("a pause");
        drop(first);
        profiler.resume().expect("a resumption");
        drop(info_span!("after").entered());
        drop(second);
        let recording = profiler.stop().expect("a recording").expect("a recording");
        let trace = recording.trace().expect("a trace");
        let table = &trace.table;
        let [pause, first, second, after] =
            ["not recorded: CPU", "first", "second", "after"].map(|name| row(trace, name));
        assert!((table.ts(pause)..=table.end(pause)).contains(&table.end(first)));
        assert!(table.end(second) >= table.end(after));
    });
}
