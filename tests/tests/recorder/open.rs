//! Spans that are open when a recording starts.

use crate::support::{alone, check, row, rows};
use kinetoscope::spans::named::optimizer_step;
use kinetoscope::spans::{Scope, operator, record_function};
use kinetoscope::{Module, Profiler, Recording, async_scope, scope, user_scope};
use kinetoscope_core::trace::table::fields::Value;
use kinetoscope_core::trace::table::layout::FieldPlace;
use std::thread;
use std::time::Duration;

fn start() -> Profiler {
    Profiler::builder().with_modules(true).start().expect("recording should start")
}

fn stop(mut profiler: Profiler) -> Recording {
    profiler.stop().expect("a recording").expect("something was recorded")
}

/// Checks that a span begins at the start of the window, is marked, and returns its end.
fn check_older(recording: &Recording, name: &str) -> i64 {
    let trace = recording.trace().expect("a trace");
    let (row, window) = (row(trace, name), row(trace, "Kinetoscope (0)"));
    assert_eq!(trace.table.ts(row), trace.table.ts(window), "{name}");
    assert_eq!(trace.table.field_named(row, FieldPlace::Args, "begun"), Some(Value::Bool(false)), "{name}");
    trace.table.end(row)
}

#[test]
fn spans_that_are_open_at_the_start_are_recorded_when_they_end() {
    let _alone = alone();
    let module = Module::new("Older", "older");
    let request = async_scope!("older request");
    let outer = record_function("older epoch");
    let still_open = scope!("still open");
    let middle = scope!("older middle", argument = 3);
    let inner = user_scope!("older inner");
    let call = module.scope();
    let step = optimizer_step("SGD");
    drop(scope!("ended before"));
    let profiler = start();
    drop(scope!("recorded"));
    drop(step);
    drop(call);
    thread::sleep(Duration::from_millis(2));
    drop(inner);
    drop(middle);
    drop(request);
    let ended = scope!("after");
    drop(ended);
    drop(outer);
    let recording = stop(profiler);
    drop(still_open);
    check(&recording);
    let names = ["older inner", "older middle", "older epoch"];
    let ends = names.map(|name| check_older(&recording, name));
    assert!(ends.is_sorted() && ends[0] > 2_000_000, "{ends:?}");
    check_older(&recording, "nn.Module: Older_0");
    check_older(&recording, "Optimizer.step");
    let trace = recording.trace().expect("a trace");
    assert!(rows(trace, "still open").is_empty() && rows(trace, "ended before").is_empty());
    let begun = trace.table.field_named(row(trace, "recorded"), FieldPlace::Args, "begun");
    assert_eq!(begun, None);
    let category = |name| trace.table.cat(row(trace, name));
    assert_eq!(["older epoch", "older middle"].map(category), ["user_annotation", "cpu_op"]);
    let (begin, end) = trace.pairs.asyncs[0];
    let window = row(trace, "Kinetoscope (0)");
    assert_eq!((trace.table.name(begin), trace.table.ts(begin)), ("older request", trace.table.ts(window)));
    assert!(trace.table.ts(end) > ends[0]);
    // The recorded span nests in those that were open.
    let parents: Vec<&str> = trace
        .tree
        .ancestors(position(&recording, "recorded"))
        .map(|at| trace.table.name(trace.tree.row(at)))
        .collect();
    assert_eq!(parents.first(), Some(&"Optimizer.step"));
    assert_eq!(parents.last(), Some(&"older epoch"));
}

fn position(recording: &Recording, name: &str) -> kinetoscope_core::trace::tree::Position {
    let trace = recording.trace().expect("a trace");
    trace.tree.positions().find(|&at| trace.table.name(trace.tree.row(at)) == name).expect("a span")
}

#[test]
fn a_span_of_an_earlier_recording_is_recorded_again_from_the_start_of_the_next() {
    let _alone = alone();
    let first = start();
    let kept: Vec<Scope> = vec![scope!("kept open"), operator("named kept open")];
    let recording = stop(first);
    let trace = recording.trace().expect("a trace");
    let finished = trace.table.field_named(row(trace, "kept open"), FieldPlace::Args, "finished");
    assert_eq!(finished, Some(Value::Bool(false)));
    let second = start();
    kept.into_iter().rev().for_each(drop);
    let recording = stop(second);
    check(&recording);
    let window = row(recording.trace().expect("a trace"), "Kinetoscope (0)");
    let kept = row(recording.trace().expect("a trace"), "kept open");
    assert_eq!(
        recording.trace().expect("a trace").table.ts(kept),
        recording.trace().expect("a trace").table.ts(window)
    );
}

#[test]
fn spans_that_a_recording_leaves_out_do_not_appear_when_they_end() {
    let _alone = alone();
    let module = Module::new("LeftOut", "left_out");
    let mut profiler = Profiler::builder().start().expect("recording should start");
    drop(module.scope());
    let recording = profiler.stop().expect("a recording").expect("a recording");
    assert!(rows(recording.trace().expect("a trace"), "nn.Module: LeftOut_0").is_empty());
    // Begun before a recording that leaves out modules.
    let call = module.scope();
    let mut profiler = Profiler::builder().start().expect("recording should start");
    drop(call);
    let recording = profiler.stop().expect("a recording").expect("a recording");
    assert!(rows(recording.trace().expect("a trace"), "nn.Module: LeftOut_0").is_empty());
    assert_eq!(recording.statistics.records, 0);
}
