//! Benchmarks of the steps of reading: our event reader against `serde_json` on the same bytes, and the steps after it.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kinetoscope_core::analysis::context::Analysis;
use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::analysis::torch::averages::key_averages;
use kinetoscope_core::analysis::torch::function_events::FunctionEvents;
use kinetoscope_core::trace::{TextReader, Trace};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::hint::black_box;

const EVENTS: u64 = 100_000;

/// An event that `serde_json` reads with the least work: borrowed strings, unparsed arguments.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    ph: &'a str,
    #[serde(borrow)]
    cat: Option<&'a str>,
    #[serde(borrow)]
    name: Option<&'a str>,
    #[serde(borrow)]
    ts: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow, rename = "traceEvents")]
    events: Vec<Event<'a>>,
}

fn text() -> Vec<u8> {
    let mut text = Vec::new();
    kinetoscope_tests::generator::generate(&mut text, EVENTS, 1).expect("memory");
    text
}

fn ours(text: &[u8]) -> usize {
    let mut reader = TextReader::default();
    for chunk in text.chunks(128 << 10) {
        reader.feed(chunk).expect("a trace");
    }
    reader.finish().expect("a trace").0.len()
}

fn typed(text: &[u8]) -> usize {
    let document: Document<'_> = serde_json::from_slice(text).expect("JSON");
    let used = |e: &&Event<'_>| {
        black_box((e.cat, e.name, e.ts.map(RawValue::get), e.args.map(RawValue::get)));
        !e.ph.is_empty()
    };
    document.events.iter().filter(used).count()
}

fn values(text: &[u8]) -> usize {
    let document: serde_json::Value = serde_json::from_slice(text).expect("JSON");
    document["traceEvents"].as_array().map_or(0, Vec::len)
}

fn reading(criterion: &mut Criterion) {
    let text = text();
    assert_eq!(ours(&text), typed(&text));
    let mut group = criterion.benchmark_group("reading");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(20);
    group.bench_function("kinetoscope: every field kept", |b| b.iter(|| ours(&text)));
    group.bench_function("serde_json: typed, arguments unparsed", |b| b.iter(|| typed(&text)));
    group.bench_function("serde_json: every field kept", |b| b.iter(|| values(&text)));
    group.finish();
}

fn steps(criterion: &mut Criterion) {
    let text = text();
    let trace = Trace::read(&text).expect("a trace");
    let mut group = criterion.benchmark_group("after reading");
    group.throughput(Throughput::Elements(trace.table.len() as u64)).sample_size(20);
    group.bench_function("pair, nest, link", |b| {
        b.iter_batched(
            || trace.table.clone(),
            |table| Trace::new(table, trace.diagnostics.clone()),
            criterion::BatchSize::LargeInput,
        );
    });
    group.bench_function("function events", |b| b.iter(|| FunctionEvents::new(&trace).len()));
    let events = FunctionEvents::new(&trace);
    group.bench_function("key averages", |b| {
        b.iter(|| key_averages(&events, &trace.table, GroupBy::default()).len());
    });
    group.bench_function("summary", |b| b.iter(|| Analysis::new(&trace).summary().findings.len()));
    group.finish();
}

criterion_group!(benches, reading, steps);
criterion_main!(benches);
