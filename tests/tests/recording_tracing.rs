//! Recordings of programs that are instrumented with `tracing`.

mod recorder;

use kinetoscope::Profiler;
use kinetoscope::Recording;
use kinetoscope::tracing_layer::{TracingLayer, layer};
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
    let _alone = alone();
    let (layer, guard) = layer(Profiler::builder()).expect("recording should start");
    with_default(registry().with(layer), run);
    let recording = guard.finish().expect("a recording").expect("a recording");
    check(&recording);
    recording
}

fn field<'a>(recording: &'a Recording, row: Row, key: &str) -> Option<Value<'a>> {
    recording.trace.table.field_named(row, Place::Args, key)
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
    let trace = &recording.trace;
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
    let recording = record(|| {
        let (a, b) = (info_span!("a"), info_span!("b"));
        let in_a = a.enter();
        let in_b = b.enter();
        drop(in_a);
        drop(info_span!("c").entered());
        drop(in_b);
    });
    let trace = &recording.trace;
    let (a, b, c) = (row(trace, "a"), rows(trace, "b"), row(trace, "c"));
    assert_eq!(b.len(), 2, "b is split at the exit of a");
    assert!(trace.table.end(a) <= trace.table.ts(b[1]) && trace.table.end(b[0]) <= trace.table.end(a));
    assert!(trace.table.ts(c) >= trace.table.ts(b[1]) && trace.table.end(c) <= trace.table.end(b[1]));
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
    let (table, tree) = (&recording.trace.table, &recording.trace.tree);
    let polls = rows(&recording.trace, "waiting");
    assert_eq!(
        polls.len(),
        12,
        "each task is polled twice, and its span is entered once more when it is dropped"
    );
    let waited: i64 = polls.iter().map(|&poll| table.dur(poll)).sum();
    assert!(waited < 60_000_000, "{waited} ns include the time between the polls");
    for busy in rows(&recording.trace, "busy") {
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
    assert_eq!(rows(&recording.trace, "waiting").len(), 60);
    assert_eq!(rows(&recording.trace, "busy").len(), 40);
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
        let table = &recording.trace.table;
        let (older, window) = (row(&recording.trace, "older"), row(&recording.trace, "Kinetoscope (0)"));
        assert_eq!(table.ts(older), table.ts(window));
        assert_eq!(field(&recording, older, "begun"), Some(Value::Bool(false)));
        assert!(table.end(older) >= table.end(row(&recording.trace, "inside")));
    });
}

#[test]
fn spans_that_are_exited_in_another_order_during_a_pause_end_there() {
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
        check(&recording);
        let table = &recording.trace.table;
        let pause = row(&recording.trace, "not recorded: CPU");
        for name in ["first", "second"] {
            let row = row(&recording.trace, name);
            assert!((table.ts(pause)..=table.end(pause)).contains(&table.end(row)), "{name}");
        }
    });
}
