//! Samples of call stacks, counted by hand.

use kinetoscope_core::analysis::timeline::samples::{SampleFilter, SamplesBy};
use kinetoscope_core::queries::analyses;
use kinetoscope_core::queries::answer_options::SamplesOptions;
use kinetoscope_core::trace::Trace;
use kinetoscope_tests::files::data;
use serde_json::{Value, json};
use std::fs;

fn answer(by: SamplesBy, filter: SampleFilter, keys: &[&str]) -> Value {
    let trace = fs::read(data().join("healthy/samples.json")).expect("a fixture");
    let trace = Trace::read(&trace).expect("a trace");
    let rows = analyses::samples(&trace, &SamplesOptions { by, filter, row_limit: None });
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
