//! Recordings of programs that are instrumented with `tracing`.
//!
//! This is one file because all tests share the subscriber that records, and its spans and events.

use crate::support::{alone, check, check_with, row, rows};
use kinetoscope::Profiler;
use kinetoscope::tracing_layer::{TracingLayer, layer};
use kinetoscope::{Recording, SpanArguments};
use kinetoscope_core::analysis::tasks::task_rows::{self, TasksBy, TasksOptions};
use kinetoscope_core::base::diagnostics::Code;
use kinetoscope_core::trace::Trace;
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_core::trace::table::fields::Value;
use kinetoscope_core::trace::table::layout::FieldPlace;
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tracing::span::{Attributes, Id};
use tracing::subscriber::{set_default, with_default};
use tracing::{Dispatch, Instrument, Subscriber, error, info_span, instrument};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, SpanRef};
use tracing_subscriber::{Layer, Registry, registry};

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
    recording.trace().expect("a trace").table.field_named(row, FieldPlace::Args, key)
}

/// The spans of threads with a name, without the events of the asynchronous span.
fn spans(trace: &Trace, name: &str) -> Vec<Row> {
    rows(trace, name).into_iter().filter(|&row| trace.table.is_span(row)).collect()
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
        [Some("ERROR"), Some("cold"), Some("recorder::tracing")]
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
    let requests = spans(recording.trace().expect("a trace"), "request");
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
    let polls = spans(recording.trace().expect("a trace"), "waiting");
    assert_eq!(
        polls.len(),
        12,
        "each task is polled twice, and its span is entered once more when it is dropped"
    );
    let waited: i64 = polls.iter().map(|&poll| table.dur(poll)).sum();
    assert!(waited < 60_000_000, "{waited} ns include the time between the polls");
    for busy in rows(recording.trace().expect("a trace"), "busy") {
        let at = tree.positions().find(|&at| tree.row(at) == busy).expect("a span");
        let parent = tree.parent(at).expect("a parent");
        assert_eq!(table.name(tree.row(parent)), "waiting");
    }
    for number in 0..4 {
        let count =
            polls.iter().filter(|&&poll| field(&recording, poll, "task") == Some(Value::Int(number))).count();
        assert_eq!(count, 3);
    }
}

/// The rows of `tasks`, each with these columns.
fn tasks(recording: &Recording, by: TasksBy, keys: &[&str]) -> Vec<serde_json::Value> {
    let trace = recording.trace().expect("a trace");
    let rows = task_rows::tasks(trace, &TasksOptions { by, row_limit: None });
    let row = |at| serde_json::from_str::<serde_json::Value>(&rows.json_row(at)).expect("JSON");
    (0..rows.rows.len()).map(row).map(|row| keys.iter().map(|key| row[*key].clone()).collect()).collect()
}

/// Records tasks of a runtime with one thread.
fn record_tasks(tasks: impl Future<Output = ()>) -> Recording {
    let _alone = alone();
    let (layer, guard) = layer(Profiler::builder()).expect("recording should start");
    let subscriber = set_default(registry().with(layer));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(tasks);
    drop((runtime, subscriber));
    let recording = guard.finish().expect("a recording").expect("a recording");
    check(&recording);
    recording
}

#[instrument]
async fn answered() {
    queried().await;
    std::thread::sleep(Duration::from_millis(3));
    tokio::spawn(computed().instrument(info_span!("computed"))).await.expect("a task");
}

#[instrument(fields(rows = 7))]
async fn queried() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

async fn computed() {
    tokio::time::sleep(Duration::from_millis(5)).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
}

#[test]
fn a_future_is_one_asynchronous_span_with_its_polls() {
    let recording = record_tasks(async { answered().await });
    let trace = recording.trace().expect("a trace");
    let (table, pairs) = (&trace.table, &trace.pairs);
    let mut names: Vec<&str> = pairs.asyncs.iter().map(|&(begin, _)| table.name(begin)).collect();
    names.sort_unstable();
    assert_eq!(names, ["answered", "computed", "queried"]);
    for &(begin, end) in &pairs.asyncs {
        let polls = spans(trace, table.name(begin));
        let (first, last) = (polls[0], polls[polls.len() - 1]);
        assert!(
            table.ts(begin) <= table.ts(first) && table.end(last) <= table.ts(end),
            "{}",
            table.name(begin)
        );
    }
    let queried = pairs.asyncs.iter().find(|pair| table.name(pair.0) == "queried").expect("a span").0;
    assert_eq!(field(&recording, queried, "rows"), Some(Value::Int(7)));
    let found = tasks(&recording, TasksBy::Name, &["name", "waited_for", "count", "polls", "blocking"]);
    // The last poll of each is the drop of its future.
    let expected =
        json!([["answered", "queried", 1, 4, 1], ["queried", null, 1, 3, 0], ["computed", null, 1, 4, 0],]);
    assert_eq!(json!(found), expected);
    let waits = tasks(&recording, TasksBy::Wait, &["name", "waited_for", "count"]);
    assert!(waits.contains(&json!(["answered", "queried", 1])), "{waits:?}");
    assert!(waits.contains(&json!(["answered", "computed", 1])), "{waits:?}");
}

#[test]
fn the_times_of_tasks_are_those_that_were_measured() {
    let recording = record_tasks(async { answered().await });
    let times =
        tasks(&recording, TasksBy::Name, &["name", "life_ns", "busy_ns", "waiting_ns", "poll_max_ns"]);
    for row in times {
        let [life, busy, waiting, longest] = [1, 2, 3, 4].map(|at| row[at].as_i64().expect("a time"));
        let least = |ms: i64| ms * 1_000_000;
        assert_eq!(life, busy + waiting, "{row}");
        match row[0].as_str() {
            Some("answered") => {
                assert!(waiting >= least(30) && longest >= least(3) && longest < waiting, "{row}");
            }
            Some("queried") => assert!(waiting >= least(20) && busy < waiting, "{row}"),
            _ => assert!(waiting >= least(10) && busy < waiting, "{row}"),
        }
    }
}

#[test]
fn a_span_that_is_entered_once_is_not_asynchronous() {
    let recording = record(|| {
        instrumented(1, "x");
        let never_entered = info_span!("never");
        drop(never_entered);
        drop(info_span!("once").entered());
    });
    let trace = recording.trace().expect("a trace");
    assert!(
        trace.pairs.asyncs.is_empty() && trace.pairs.flows.is_empty() && trace.pairs.incomplete.is_empty()
    );
}

#[test]
fn polls_on_several_threads_are_of_one_span() {
    let recording = record(|| {
        let span = info_span!("moved");
        span.in_scope(|| std::thread::sleep(Duration::from_millis(1)));
        for _ in 0..3 {
            let (span, dispatch) = (span.clone(), tracing::dispatcher::get_default(Clone::clone));
            let run = move || tracing::dispatcher::with_default(&dispatch, || span.in_scope(|| ()));
            std::thread::spawn(run).join().expect("a thread");
        }
    });
    let trace = recording.trace().expect("a trace");
    let table = &trace.table;
    let polls = spans(trace, "moved");
    let flow = |ph: u8| {
        let is_flow = |row: &Row| table.ph(*row) == ph && table.cat(*row) == "async_poll";
        table.rows().filter(is_flow).map(|row| table.track_id(row)).collect::<Vec<_>>()
    };
    let tracks: Vec<_> = polls.iter().map(|&row| table.track_id(row)).collect();
    assert_eq!(
        [flow(b's'), flow(b't'), flow(b'f')].concat(),
        tracks,
        "each event is on the track of its poll"
    );
    assert_eq!(tracks.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    assert_eq!(tasks(&recording, TasksBy::Task, &["name", "polls"]), [json!(["moved", 4])]);
}

#[test]
fn follows_from_is_a_flow_between_the_spans() {
    let recording = record(|| {
        let cause = info_span!("cause");
        cause.in_scope(|| ());
        let effect = info_span!("effect");
        effect.follows_from(&cause);
        effect.in_scope(|| ());
        // The other span has not been entered.
        let unknown = info_span!("unknown");
        let second = info_span!("second");
        second.follows_from(&unknown);
        second.in_scope(|| ());
    });
    let trace = recording.trace().expect("a trace");
    let table = &trace.table;
    let flows: Vec<_> =
        trace.pairs.flows.iter().filter(|pair| table.cat(pair.0) == "follows_from").copied().collect();
    assert_eq!(flows.len(), 2);
    let at = |row| (table.ts(row), table.track_id(row));
    let inside = |row: Row, name: &str| {
        let span = spans(trace, name)[0];
        table.ts(span) <= at(row).0 && at(row).0 <= table.end(span) && table.track_id(span) == at(row).1
    };
    assert!(inside(flows[0].0, "cause") && inside(flows[0].1, "effect"));
    assert!(inside(flows[1].1, "second"));
}

#[test]
fn tasks_of_tokio_have_their_names_or_the_places_where_they_were_spawned() {
    let recording = record(|| {
        for (name, line) in [("", 12), ("listener", 13)] {
            // As tokio 1.48 makes them with its feature `tracing`.
            let span = tracing::trace_span!(
                target: "tokio::task", parent: None, "runtime.spawn", kind = %"task", task.name = %name,
                task.id = 7u64, loc.file = "src/main.rs", loc.line = line, loc.col = 5,
            );
            span.in_scope(|| ());
            span.in_scope(|| ());
        }
    });
    let trace = recording.trace().expect("a trace");
    assert_eq!(spans(trace, "task src/main.rs:12").len(), 2);
    assert_eq!(spans(trace, "listener").len(), 2);
    let named = tasks(&recording, TasksBy::Name, &["name", "polls"]);
    assert!(
        named.contains(&json!(["task src/main.rs:12", 2])) && named.contains(&json!(["listener", 2])),
        "{named:?}"
    );
}

#[test]
fn a_span_of_an_earlier_recording_begins_with_the_next_one() {
    let _alone = alone();
    with_default(registry().with(TracingLayer), || {
        let span = info_span!("longer");
        let record = |enter: &dyn Fn()| {
            let mut profiler = Profiler::builder().start().expect("recording should start");
            enter();
            let recording = profiler.stop().expect("a recording").expect("a recording");
            recording.trace().expect("a trace").clone()
        };
        let twice = || (0..2).for_each(|_| span.in_scope(|| ()));
        let first = record(&twice);
        assert_eq!((first.pairs.asyncs.len(), first.pairs.incomplete.len()), (0, 1), "it is open at the end");
        let second = record(&|| {
            twice();
            drop(span.clone());
        });
        let begin = second.pairs.incomplete[0];
        let window = row(&second, "Kinetoscope (0)");
        assert_eq!(second.table.ts(begin), second.table.ts(window));
        assert_eq!(spans(&second, "longer").len(), 2);
    });
}

#[test]
fn every_thread_of_a_runtime_has_its_own_track() {
    let _alone = alone();
    let (layer, guard) = layer(Profiler::builder()).expect("recording should start");
    let dispatch = Dispatch::new(registry().with(layer));
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
    assert_eq!(spans(recording.trace().expect("a trace"), "waiting").len(), 60);
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

/// What another layer keeps with a span, as that of OpenTelemetry does.
struct Ids {
    trace: u128,
    span: u64,
}

/// A layer that gives each span ids: a new trace for a span without a parent.
struct IdLayer(AtomicU64);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for IdLayer {
    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).expect("a span");
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        let parent = span.parent().and_then(|parent| Some(parent.extensions().get::<Ids>()?.trace));
        span.extensions_mut()
            .insert(Ids { trace: parent.unwrap_or(u128::from(number) << 64 | 1), span: number });
    }
}

fn add_ids<S: for<'a> LookupSpan<'a>>(span: &SpanRef<'_, S>, _: &Dispatch, args: &mut SpanArguments<'_>) {
    if let Some(Ids { trace, span }) = span.extensions().get::<Ids>() {
        args.value("trace id", format!("{trace:032x}"));
        args.value("span id", *span);
    }
}

/// Records with both layers, the one with ids first or last.
fn record_with_ids(is_first: bool, run: impl FnOnce()) -> Recording {
    let _alone = alone();
    let (layer, guard) = layer(Profiler::builder()).expect("recording should start");
    let ids = IdLayer(AtomicU64::new(5));
    if is_first {
        with_default(registry().with(ids).with(layer.with_arguments(add_ids)), run);
    } else {
        with_default(registry().with(layer.with_arguments(add_ids)).with(ids), run);
    }
    let recording = guard.finish().expect("a recording").expect("a recording");
    check(&recording);
    recording
}

#[test]
fn each_span_has_the_arguments_that_are_computed_from_its_extensions() {
    for is_first in [true, false] {
        let recording = record_with_ids(is_first, || {
            let outer = info_span!("outer", field = 3);
            outer.in_scope(|| {
                let inner = info_span!("inner");
                inner.in_scope(|| ());
                inner.in_scope(|| inner.record("none", 1));
            });
            drop(info_span!("other").entered());
            error!("an event");
        });
        let trace = recording.trace().expect("a trace");
        let text = |row, key| field(&recording, row, key).and_then(|v| v.as_str()).map(str::to_owned);
        let outer = row(trace, "outer");
        let first = format!("{:032x}", 5u128 << 64 | 1);
        assert_eq!(text(outer, "trace id").as_deref(), Some(&*first));
        assert_eq!(field(&recording, outer, "span id"), Some(Value::Int(5)));
        assert_eq!(field(&recording, outer, "field"), Some(Value::Int(3)));
        // Each entry, and the asynchronous span of both.
        let inner = rows(trace, "inner");
        let of_span = inner.iter().filter(|&&row| field(&recording, row, "span id") == Some(Value::Int(6)));
        assert_eq!(of_span.count(), 3, "{}", inner.len());
        assert_eq!(spans(trace, "inner").len(), 2);
        assert_eq!(text(spans(trace, "inner")[1], "trace id").as_deref(), Some(&*first));
        assert_eq!(field(&recording, row(trace, "other"), "span id"), Some(Value::Int(7)));
        assert_eq!(field(&recording, row(trace, "an event"), "span id"), None);
    }
}

#[test]
fn arguments_are_computed_at_each_entry_and_only_while_recording() {
    let _alone = alone();
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let layer = TracingLayer.with_arguments(|span, subscriber, args| {
        assert!(subscriber.downcast_ref::<Registry>().is_some());
        // The lock of the extensions is free, and spans of the function are not recorded.
        span.extensions_mut().replace(CALLS.fetch_add(1, Ordering::Relaxed));
        drop(info_span!("of the function").entered());
        error!("event of the function");
        args.value("call", CALLS.load(Ordering::Relaxed));
    });
    with_default(registry().with(layer), || {
        let span = info_span!("span");
        span.in_scope(|| ());
        assert_eq!(CALLS.load(Ordering::Relaxed), 0);
        let mut profiler = Profiler::builder().start().expect("recording should start");
        span.in_scope(|| ());
        span.in_scope(|| ());
        let recording = profiler.stop().expect("a recording").expect("a recording");
        let trace = recording.trace().expect("a trace");
        let calls = spans(trace, "span").into_iter().map(|row| field(&recording, row, "call"));
        assert_eq!(calls.collect::<Vec<_>>(), [Some(Value::Int(1)), Some(Value::Int(2))]);
        assert!(rows(trace, "of the function").is_empty() && rows(trace, "event of the function").is_empty());
        span.in_scope(|| ());
        assert_eq!(CALLS.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn arguments_that_do_not_fit_are_counted_as_cut() {
    let _alone = alone();
    let (layer, guard) = layer(Profiler::builder()).expect("recording should start");
    let layer = layer.with_arguments(|_, _, args| {
        args.value("long", "x".repeat(60_000));
        args.value("short", 7);
    });
    with_default(registry().with(layer), || {
        drop(info_span!("span", text = "y".repeat(30_000)).entered());
    });
    let recording = guard.finish().expect("a recording").expect("a recording");
    check_with(&recording, &[Code::CutArgument]);
    assert_eq!(recording.statistics.cut_arguments, 1);
    let span = row(recording.trace().expect("a trace"), "span");
    assert_eq!(field(&recording, span, "long"), None);
    assert_eq!(field(&recording, span, "short"), Some(Value::Int(7)));
}

#[test]
fn records_of_the_crate_log_are_instant_events() {
    let recording = record(|| {
        // The logger is that of the process.
        tracing_log::LogTracer::init().expect("no other logger");
        let _span = info_span!("request").entered();
        log::warn!(target: "cache", "{} entries are old", 3);
        log::info!("read");
    });
    let trace = recording.trace().expect("a trace");
    let (warning, read) = (row(trace, "3 entries are old"), row(trace, "read"));
    let text = |row, key| field(&recording, row, key).and_then(|v| v.as_str());
    for row in [warning, read] {
        assert_eq!((trace.table.ph(row), trace.table.cat(row)), (b'i', "cpu_instant_event"));
        assert_eq!(trace.table.track_id(row), trace.table.track_id(spans(trace, "request")[0]));
        assert!(text(row, "log.file").is_some_and(|file| file.ends_with("recorder/tracing.rs")));
        assert!(field(&recording, row, "log.line").is_some());
    }
    assert_eq!([text(warning, "level"), text(warning, "target")], [Some("WARN"), Some("cache")]);
    assert_eq!([text(read, "level"), text(read, "target")], [Some("INFO"), Some("recorder::tracing")]);
}
