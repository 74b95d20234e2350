//! Measures the cost of a recorded span, begin and end one after the other, on one thread and on two, compared with other
//! tracers that record the same. Prints a table of medians, minima, and ratios to `scope!`.
//!
//! Every round measures all tracers one after the other, so that each ratio is of one moment. The output is discarded
//! (`/dev/null`, a sink, a reporter that does nothing), so that no disk is measured; each tracer's own background thread
//! runs at the same time. The loop itself is subtracted.

use fastrace::collector::{Config, Reporter, SpanRecord};
use fastrace::prelude::{LocalSpan, Span, SpanContext};
use kinetoscope::{FlightRecorder, Profiler, ProfilerBuilder, ProfilingAllocator, scope, tracing_layer};
use std::alloc::{GlobalAlloc, Layout, System};
use std::any::Any;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tracing_subscriber::layer::SubscriberExt;

const ROUNDS: usize = 15;

/// The number of spans of a measurement; fewer for tracers that take microseconds.
const COUNT: u64 = 200_000;

/// The number of spans under one root of fastrace, and in one outer scope of puffin, which sends its data at the end of
/// each outer scope.
const BATCH: u64 = 1000;

/// What is measured: its name, what starts it, and the loop of this many spans.
struct Case {
    name: &'static str,
    start: fn() -> Box<dyn Any>,
    run: fn(u64),
    count: u64,
}

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

#[cfg(not(target_arch = "x86_64"))]
fn counter(count: u64) {
    instant(count);
}

fn instant(count: u64) {
    for _ in 0..count * 2 {
        black_box(Instant::now());
    }
}

fn with_scope(count: u64) {
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

fn with_name(count: u64) {
    for at in 0..count {
        let _span = kinetoscope::record_function("a name");
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

/// Returns the time of a loop on each of some threads in ns for each span: the longest of the threads.
fn measured(threads: usize, count: u64, run: fn(u64)) -> f64 {
    let barrier = Barrier::new(threads);
    let dispatch = tracing::dispatcher::get_default(Clone::clone);
    let longest = thread::scope(|scope| {
        let each = || {
            let _default = tracing::dispatcher::set_default(&dispatch);
            run(100);
            barrier.wait();
            let start = Instant::now();
            run(count);
            start.elapsed()
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(each)).collect();
        let ended = running.into_iter().map(|thread| thread.join().expect("the thread should not panic"));
        ended.max().unwrap_or_default()
    });
    longest.as_nanos() as f64 / count as f64
}

struct Discard;

impl Reporter for Discard {
    fn report(&mut self, _: Vec<SpanRecord>) {}
}

/// A profiler whose output is discarded.
fn recording(builder: ProfilerBuilder) -> Box<dyn Any> {
    Box::new(builder.file("/dev/null").start().expect("recording should start"))
}

/// A thread that ends a frame of puffin every 16 ms, as a game does, until this is dropped.
struct Frames(Option<thread::JoinHandle<()>>);

static FRAMES: AtomicBool = AtomicBool::new(false);

impl Frames {
    fn start() -> Frames {
        puffin::set_scopes_on(true);
        FRAMES.store(true, Ordering::Relaxed);
        let frames = || {
            while FRAMES.load(Ordering::Relaxed) {
                puffin::GlobalProfiler::lock().new_frame();
                thread::sleep(Duration::from_millis(16));
            }
        };
        Frames(Some(thread::spawn(frames)))
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        FRAMES.store(false, Ordering::Relaxed);
        let _ = self.0.take().map(thread::JoinHandle::join);
        puffin::set_scopes_on(false);
    }
}

fn layer() -> Box<dyn Any> {
    let (layer, guard) =
        tracing_layer::layer(Profiler::builder().file("/dev/null")).expect("recording should start");
    let default = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    Box::new((default, guard))
}

fn chrome() -> Box<dyn Any> {
    let (layer, guard) = tracing_chrome::ChromeLayerBuilder::new().writer(std::io::sink()).build();
    let default = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    Box::new((default, guard))
}

fn fastrace() -> Box<dyn Any> {
    fastrace::set_reporter(Discard, Config::default());
    Box::new(())
}

fn flight() -> Box<dyn Any> {
    let folder = std::env::temp_dir().join("kinetoscope-overhead");
    Box::new(FlightRecorder::builder(folder).start().expect("recording should start"))
}

const SCOPE: &str = "`scope!`, recording";

fn cases() -> Vec<Case> {
    let none: fn() -> Box<dyn Any> = || Box::new(());
    let plain: fn() -> Box<dyn Any> = || recording(Profiler::builder());
    let case = |name, start, run, count| Case { name, start, run, count };
    vec![
        case("two readings of the time stamp counter", none, counter, COUNT),
        case("two `Instant::now()`", none, instant, COUNT),
        case("`scope!`, not recording", none, with_scope, COUNT),
        case(SCOPE, plain, with_scope, COUNT),
        case("`scope!`, flight recorder", flight, with_scope, COUNT),
        case("`scope!` with two arguments, one of them a text", plain, with_arguments, COUNT),
        case("`record_function`", plain, with_name, COUNT),
        case(
            "`scope!` with call stacks",
            || recording(Profiler::builder().with_stack(true)),
            with_scope,
            COUNT / 20,
        ),
        case("puffin 0.20", || Box::new(Frames::start()), with_puffin, COUNT),
        case("fastrace 0.7", fastrace, with_fastrace, COUNT),
        case("tracing with `TracingLayer`", layer, with_tracing, COUNT / 4),
        case("tracing with tracing-chrome 0.7", chrome, with_tracing, COUNT / 20),
    ]
}

/// The measurements of a case: for one thread and for two, one of each round.
type Rounds = [Vec<f64>; 2];

fn measure(cases: &[Case]) -> Vec<Rounds> {
    let mut all: Vec<Rounds> = cases.iter().map(|_| Rounds::default()).collect();
    for _ in 0..ROUNDS {
        let empty = [1, 2].map(|threads| measured(threads, COUNT, nothing));
        for (case, rounds) in cases.iter().zip(&mut all) {
            let running = (case.start)();
            for threads in [1, 2] {
                let took = measured(threads, case.count, case.run) - empty[threads - 1];
                rounds[threads - 1].push(took.max(0.0));
            }
            drop(running);
        }
    }
    all
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn print_row(name: &str, rounds: &Rounds, base: &Rounds) {
    let cells = rounds.iter().zip(base).map(|(values, base)| {
        let ratios: Vec<f64> = values.iter().zip(base).map(|(value, base)| value / base).collect();
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        format!("{:.1} | {least:.1} | {:.2}", median(values), median(&ratios))
    });
    println!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
}

fn print_spans() {
    println!("| | 1 thread: median | minimum | ratio | 2 threads: median | minimum | ratio |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let cases = cases();
    let measured = measure(&cases);
    let base = cases.iter().position(|case| case.name == SCOPE).map(|at| &measured[at]).expect("the case");
    for (case, rounds) in cases.iter().zip(&measured) {
        print_row(case.name, rounds, base);
    }
    // Its client cannot be stopped, so it is measured last, in rounds with `scope!` alone.
    let _client = tracy_client::Client::start();
    let last = [
        Case { name: SCOPE, start: || recording(Profiler::builder()), run: with_scope, count: COUNT },
        Case {
            name: "tracy-client 0.19, not connected",
            start: || Box::new(()),
            run: with_tracy,
            count: COUNT,
        },
    ];
    let measured_last = measure(&last);
    print_row(last[1].name, &measured_last[1], &measured_last[0]);
}

fn allocate<A: GlobalAlloc>(allocator: &A, count: u64) {
    let layout = Layout::from_size_align(64, 8).expect("a layout");
    for _ in 0..count {
        // SAFETY: the layout is not empty; the memory is freed with the same allocator and layout.
        unsafe {
            let memory = allocator.alloc(layout);
            black_box(memory);
            allocator.dealloc(memory, layout);
        }
    }
}

fn print_allocations() {
    static PROFILING: ProfilingAllocator = ProfilingAllocator::system();
    let none: fn() -> Box<dyn Any> = || Box::new(());
    let profiling: fn(u64) = |count| allocate(&PROFILING, count);
    let cases = [
        Case {
            name: "the system's allocator",
            start: none,
            run: |count| allocate(&System, count),
            count: COUNT,
        },
        Case { name: "`ProfilingAllocator`, not recording", start: none, run: profiling, count: COUNT },
        Case {
            name: "`ProfilingAllocator`, recording",
            start: || recording(Profiler::builder().profile_memory(true)),
            run: profiling,
            count: COUNT,
        },
    ];
    println!(
        "\n| allocation and free of 64 bytes | 1 thread: median | minimum | ratio | 2 threads: median | minimum | ratio |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let measured = measure(&cases);
    for (case, rounds) in cases.iter().zip(&measured) {
        print_row(case.name, rounds, &measured[0]);
    }
}

/// The processor time of all threads of this process, in ns. Linux only; 0 elsewhere.
fn processor_ns() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let used = |path: std::path::PathBuf| -> Option<u64> {
        std::fs::read_to_string(path.join("schedstat")).ok()?.split_whitespace().next()?.parse().ok()
    };
    tasks.filter_map(|task| used(task.path())).sum()
}

/// Prints what a flight recorder with all of its conditions takes of a processor while the program waits.
fn print_idle() {
    let folder = std::env::temp_dir().join("kinetoscope-overhead");
    let builder = FlightRecorder::builder(folder).on_panic(true).slow_step(Duration::from_secs(3600));
    #[cfg(unix)]
    let builder = builder.on_signal(true).on_end(true);
    let _flight = builder.start().expect("recording should start");
    let (start, before) = (Instant::now(), processor_ns());
    thread::sleep(Duration::from_secs(10));
    let share = (processor_ns() - before) as f64 / start.elapsed().as_nanos() as f64;
    println!("\nAn idle flight recorder takes {:.3} % of a processor.", share * 100.0);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test` runs benchmarks without this argument.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let parts: [(&str, fn()); 3] =
        [("spans", print_spans), ("allocations", print_allocations), ("idle", print_idle)];
    let is_chosen = |name: &str| arguments.iter().any(|argument| argument == name);
    let has_choice = parts.iter().any(|(name, _)| is_chosen(name));
    for (name, print) in parts {
        if !has_choice || is_chosen(name) {
            print();
        }
    }
}
