//! Spans that OpenTelemetry exports and the recorder records, with the same ids. `cargo run --release` in this folder.
//!
//! Both layers receive the spans of `tracing`. Each recorded span has the ids of the exported one as arguments, so that a
//! slow request in a distributed trace is found in the recording. A service would export to a collector, with
//! `opentelemetry-otlp`; the example keeps the exported spans in memory and compares them with the recording.

use kinetoscope::tracing_layer::layer;
use kinetoscope::{Profiler, Recording, SpanArguments};
use kinetoscope_core::trace::table::events::Row;
use kinetoscope_core::trace::table::layout::FieldPlace;
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use std::collections::BTreeMap;
use std::error::Error;
use std::thread;
use std::time::Duration;
use tracing::{Dispatch, info_span, instrument};
use tracing_opentelemetry::get_otel_context;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

#[instrument]
fn request(number: u64) -> u64 {
    let rows = query(number);
    info_span!("render", rows).in_scope(|| thread::sleep(Duration::from_millis(1)));
    rows
}

#[instrument]
fn query(number: u64) -> u64 {
    thread::sleep(Duration::from_millis(2));
    number * 10
}

/// Adds the ids of a span to what is recorded.
fn add_ids<S: for<'a> LookupSpan<'a>>(span: &SpanRef<'_, S>, of: &Dispatch, args: &mut SpanArguments<'_>) {
    if let Some(context) = get_otel_context(&span.id(), of) {
        let ids = context.span().span_context().clone();
        args.value("trace id", ids.trace_id().to_string());
        args.value("span id", ids.span_id().to_string());
    }
}

/// The names of spans, by trace id and span id.
type Spans = BTreeMap<(String, String), String>;

fn exported(spans: &[SpanData]) -> Spans {
    let ids = |span: &SpanData| {
        let of = &span.span_context;
        ((of.trace_id().to_string(), of.span_id().to_string()), span.name.to_string())
    };
    spans.iter().map(ids).collect()
}

fn recorded(recording: &Recording) -> Result<Spans, Box<dyn Error>> {
    let table = &recording.trace()?.table;
    let text = |row: Row, key| table.field_named(row, FieldPlace::Args, key)?.as_str().map(str::to_owned);
    let ids = |row| Some(((text(row, "trace id")?, text(row, "span id")?), table.name(row).to_owned()));
    Ok(table.rows().filter(|&row| table.is_span(row)).filter_map(ids).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let opentelemetry = tracing_opentelemetry::layer().with_tracer(provider.tracer("example"));

    let (layer, guard) = layer(Profiler::builder())?;
    let subscriber = tracing_subscriber::registry().with(opentelemetry).with(layer.with_arguments(add_ids));
    tracing::subscriber::with_default(subscriber, || {
        for number in 0..3 {
            request(number);
        }
    });
    let Some(recording) = guard.finish()? else { return Ok(()) };
    provider.force_flush()?;

    let (sent, kept) = (exported(&exporter.get_finished_spans()?), recorded(&recording)?);
    for ((trace, span), name) in &sent {
        println!("trace {trace} span {span} {name}");
    }
    assert_eq!(sent.len(), 9);
    assert_eq!(sent, kept, "exported and recorded spans");
    let path = std::env::temp_dir().join("opentelemetry.ktrace");
    recording.save(&path)?;
    println!("The recording is in {}: `kinetoscope view` shows it.", path.display());
    Ok(())
}
