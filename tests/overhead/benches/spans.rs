//! Measures the cost of a recorded span: begin and end, one after the other, on one thread and on two, compared with
//! other tracers that record the same, all in one run. The output is discarded (`/dev/null`, a sink, a reporter that
//! does nothing), so that no disk is measured; each tracer's own background thread runs at the same time.

use criterion::{Criterion, criterion_group, criterion_main};
use fastrace::collector::{Config, Reporter, SpanRecord};
use fastrace::prelude::{LocalSpan, Span, SpanContext};
use kinetoscope::Profiler;
use kinetoscope::scope;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};
use tracing_subscriber::layer::SubscriberExt;

/// The number of spans under one root, or in one frame, for tracers that need one.
const BATCH: u64 = 1000;

fn nothing(count: u64) {
    for at in 0..count {
        black_box(at);
    }
}

#[cfg(target_arch = "x86_64")]
fn counter(count: u64) {
    for _ in 0..count * 2 {
        // SAFETY: every x86-64 processor has this instruction.
        black_box(unsafe { core::arch::x86_64::_rdtsc() });
    }
}

fn instant(count: u64) {
    for _ in 0..count * 2 {
        black_box(Instant::now());
    }
}

fn kinetoscope(count: u64) {
    for at in 0..count {
        let _span = scope!("span");
        black_box(at);
    }
}

fn with_arguments(count: u64) {
    for at in 0..count {
        let _span = scope!("span", at = at, name = "a text");
        black_box(at);
    }
}

fn with_fastrace(count: u64) {
    for batch in 0..count.div_ceil(BATCH) {
        let root = Span::root("root", SpanContext::random());
        let _parent = root.set_local_parent();
        for at in 0..BATCH.min(count - batch * BATCH) {
            let _span = LocalSpan::enter_with_local_parent("span");
            black_box(at);
        }
    }
}

fn with_tracing(count: u64) {
    for at in 0..count {
        let _span = tracing::info_span!("span").entered();
        black_box(at);
    }
}

fn with_puffin(count: u64) {
    for batch in 0..count.div_ceil(BATCH) {
        puffin::GlobalProfiler::lock().new_frame();
        puffin::profile_scope!("batch");
        for at in 0..BATCH.min(count - batch * BATCH) {
            puffin::profile_scope!("span");
            black_box(at);
        }
    }
}

fn with_tracy(count: u64) {
    for at in 0..count {
        let _span = tracy_client::span!("span");
        black_box(at);
    }
}

/// Returns the time that `threads` threads take for `count` spans each.
fn on_threads(threads: usize, count: u64, run: fn(u64)) -> Duration {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let each = || {
            run(100);
            barrier.wait();
            let start = Instant::now();
            run(count);
            start.elapsed()
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(each)).collect();
        running
            .into_iter()
            .map(|thread| thread.join().expect("the thread should not panic"))
            .max()
            .unwrap_or_default()
    })
}

fn measure(criterion: &mut Criterion, name: &str, run: fn(u64)) {
    for threads in [1, 2] {
        criterion.bench_function(&format!("{name}/{threads}"), |bencher| {
            bencher.iter_custom(|count| on_threads(threads, count, run));
        });
    }
}

struct Discard;

impl Reporter for Discard {
    fn report(&mut self, _: Vec<SpanRecord>) {}
}

fn spans(criterion: &mut Criterion) {
    measure(criterion, "nothing", nothing);
    #[cfg(target_arch = "x86_64")]
    measure(criterion, "clock: 2 rdtsc", counter);
    measure(criterion, "clock: 2 Instant::now", instant);
    measure(criterion, "kinetoscope, not recording", kinetoscope);
    {
        let profiler = Profiler::builder().file("/dev/null").start().expect("recording should start");
        measure(criterion, "kinetoscope", kinetoscope);
        measure(criterion, "kinetoscope, 2 arguments", with_arguments);
        drop(profiler);
    }
    fastrace::set_reporter(Discard, Config::default());
    measure(criterion, "fastrace", with_fastrace);
    puffin::set_scopes_on(true);
    measure(criterion, "puffin", with_puffin);
    puffin::set_scopes_on(false);
    let (layer, guard) = tracing_chrome::ChromeLayerBuilder::new().writer(std::io::sink()).build();
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer))
        .expect("no subscriber should be set");
    measure(criterion, "tracing + tracing-chrome", with_tracing);
    drop(guard);
    // It keeps everything in memory until a viewer connects, so it runs briefly and last.
    let _client = tracy_client::Client::start();
    measure(criterion, "tracy-client", with_tracy);
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1000));
    targets = spans
}
criterion_main!(benches);
