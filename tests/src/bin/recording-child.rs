//! A program that records and is killed, crashes or forks, for the tests of what remains: `recording-child HOW PATH…`.

use kinetoscope::Sequence;
use kinetoscope::TableOptions;
use kinetoscope::handlers::print_table;
use kinetoscope::mirror::{Mirror, emit_nvtx, nvtx};
use kinetoscope::profiler::measure::{TimeIt, timeit};
use kinetoscope::spans::Shape::{List, Tensor};
use kinetoscope::spans::named::optimizer_step;
use kinetoscope::steps::mark_step;
use kinetoscope::{
    FlightRecorder, Module, Profiler, RecordError, instant, is_recording, operator, record_function, scope,
    user_scope,
};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{env, process, thread};

#[kinetoscope::main]
fn main() {
    let args: Vec<String> = env::args().collect();
    let path = |at: usize| Path::new(&args[at]);
    match args[1].as_str() {
        "killed" => killed(path(2), path(3)),
        "aborted" => aborted(path(2)),
        "forked" => forked(path(2), path(3)),
        "panicked" => flight(path(2), |_| {
            let thread = thread::spawn(|| {
                let _span = scope!("in the thread that panics");
                panic!("an intended panic");
            });
            let _ = thread.join();
        }),
        "forked-often" => forked_often(path(2)),
        "flight-forked" => flight_forked(path(2)),
        "terminated" => ended(path(2), || thread::sleep(Duration::from_secs(60))),
        "flight-aborted" => ended(path(2), || process::abort()),
        "stormed" => stormed(path(2)),
        "stacks" => stacks::record(path(2)),
        "worked" => {
            drop(scope!("work of the program"));
            if args[2] == "panics" {
                assert!(std::panic::catch_unwind(|| panic!("an intended panic")).is_err());
            }
        }
        "mirrored" => mirrored(),
        "shapes" => shapes(),
        "durations" => durations(),
        "depths" => {
            let pushed = [nvtx::range_push("outer"), nvtx::range_push("inner")];
            let popped = [nvtx::range_pop(), nvtx::range_pop(), nvtx::range_pop()];
            println!("{:?}", [&pushed[..], &popped].concat());
        }
        "printed" => printed(),
        "attached" => attached(),
        "fork-drops" => fork_drops(path(2)),
        "appended" => appended(path(2), &args[3]),
        "unstopped" => unstopped(&args[2]),
        "signalled-after" => signalled_after(path(2)),
        "signalled" => flight(path(2), |flight| {
            println!("ready");
            while flight.dumps() == 0 {
                drop(scope!("waiting"));
                thread::sleep(Duration::from_millis(1));
            }
        }),
        other => panic!("unknown argument {other}"),
    }
}

/// Forked children drop what records in the parent while they have threads of their own.
fn fork_drops(folder: &Path) {
    use kinetoscope::control::Control;
    use std::any::Any;
    let profiler = |builder: kinetoscope::ProfilerBuilder| -> Box<dyn Any> {
        Box::new(builder.start().expect("recording should start"))
    };
    let starts: [&dyn Fn() -> Box<dyn Any>; 4] = [
        &|| profiler(Profiler::builder()),
        &|| profiler(Profiler::builder().sample_stacks(100)),
        &|| Box::new(FlightRecorder::builder(folder).start().expect("recording should start")),
        &|| Box::new(Control::builder().folder(folder.join("control")).start().expect("a socket")),
    ];
    for (number, start) in starts.iter().enumerate() {
        let mut recorder = Some(start());
        for _ in 0..5 {
            drop(scope!("of the parent"));
            // SAFETY: the child exits without returning.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let work = || thread::spawn(|| thread::sleep(Duration::from_millis(20)));
                let threads = [work(), work()];
                drop(recorder.take());
                let is_right = threads.into_iter().all(|thread| thread.join().is_ok());
                // SAFETY: ends the child at once.
                unsafe { libc::_exit(i32::from(!is_right)) };
            }
            let mut status = 0;
            // SAFETY: the status is valid for the call.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0, "recorder {number}");
        }
        drop(recorder);
    }
}

/// Works until its standard input ends.
fn attached() {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            is_over.store(true, Ordering::Relaxed);
        });
        while !is_over.load(Ordering::Relaxed) {
            let _turn = scope!("turn");
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Records consecutive numbers, and logs each with the time at which its span ended.
fn killed(recording: &Path, log: &Path) {
    let mut log = File::create(log).expect("a file");
    let _profiler = Profiler::builder()
        .file(recording)
        .flush_interval(Duration::from_millis(5))
        .start()
        .expect("recording should start");
    let _whole = user_scope!("whole");
    for number in 0u64.. {
        drop(scope!("number", n = number));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as u64;
        let entry = u128::from(number) | u128::from(now) << 64;
        log.write_all(&entry.to_le_bytes()).expect("the write should succeed");
    }
}

/// Appends a recording with a span of this name. The name `killed` ends the process while the span is open.
fn appended(recording: &Path, name: &str) {
    let builder = Profiler::builder().file(recording).append(true).flush_interval(Duration::from_millis(2));
    let mut profiler = builder.start().expect("recording should start");
    for at in 0..3 {
        drop(scope!("call", at));
    }
    let span = scope!(name);
    thread::sleep(Duration::from_millis(20));
    if name == "killed" {
        process::abort();
    }
    drop(span);
    profiler.stop().expect("a recording");
}

/// Drops a profiler without stopping it.
fn unstopped(how: &str) {
    let builder = Profiler::builder();
    let builder = match how {
        "handled" => builder.on_trace_ready(|recording| {
            println!("handled {} records", recording.statistics.records);
            Ok(())
        }),
        "panicking" => builder.on_trace_ready(|_| panic!("an intended panic of a handler")),
        _ => builder,
    };
    let profiler = builder.start().expect("recording should start");
    drop(scope!("work"));
    if how == "unwinding" || how == "panicking" {
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _profiler = profiler;
            panic!("an intended panic");
        }));
        assert!(unwound.is_err());
        println!("survived");
    }
}

/// Prints the table of a recording in a handler.
fn printed() {
    let options = TableOptions::default().with_row_limit(Some(1));
    let mut profiler =
        Profiler::builder().on_trace_ready(print_table(options)).start().expect("recording should start");
    for _ in 0..3 {
        drop(operator("aten::mm"));
    }
    profiler.stop().expect("a recording");
}

/// Passes the same ranges to NVTX twice: without recording them, and while recording them.
fn mirrored() {
    let ranges = || {
        let _outer = scope!("outer");
        let _dynamic = record_function("a\0b");
        instant!("now");
        drop(optimizer_step("SGD"));
    };
    assert!(nvtx::is_available());
    let emit = emit_nvtx(false).expect("nothing is being recorded");
    assert!(!is_recording(), "emitting to NVTX does not record");
    ranges();
    drop(emit);
    ranges();
    let mut profiler = Profiler::builder().mirror(Mirror::Nvtx).start().expect("recording should start");
    ranges();
    let recording = profiler.stop().expect("a recording").expect("a recording");
    assert_eq!(recording.events().expect("a trace").len(), 3);
    ranges();
}

/// Emits operators with shapes to NVTX, without and with their shapes, and while recording.
fn shapes() {
    let operators = || {
        let sequence = Sequence { number: 7, thread: 1 };
        drop(scope!("aten::mm", shapes: [[2, 3], [3, 4]], dtype: "float", sequence: sequence));
        drop(scope!("aten::cat", shapes: [List(&[Tensor(&[2]), Tensor(&[4])]), Tensor(&[])], note = "a, b"));
        drop(scope!("plain"));
    };
    for record_shapes in [false, true] {
        let _emit = emit_nvtx(record_shapes).expect("nothing is being recorded");
        operators();
    }
    let builder = Profiler::builder().mirror(Mirror::Nvtx).record_shapes(true);
    let _profiler = builder.start().expect("recording should start");
    operators();
}

/// Uses everything of the recorder that takes a lock.
fn lock_all(name: &str) {
    let _module = Module::new(name, "field");
    mark_step(name);
    let _span = tracing::info_span!("span of tracing").entered();
    drop(scope!("with a stack"));
}

/// Forks repeatedly while other threads use every lock of the recorder; each child uses them too, within a time limit.
fn forked_often(folder: &Path) {
    use tracing_subscriber::layer::SubscriberExt;
    let (layer, guard) = kinetoscope::tracing_layer::layer(Profiler::builder().with_stack(true))
        .expect("recording should start");
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer))
        .expect("no subscriber should be set");
    let is_over = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    lock_all("of the parent");
                }
            })
        })
        .collect();
    for number in 0..200 {
        // SAFETY: the child uses only what the recorder restores after a fork, and exits without returning.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends a child that waits forever.
            unsafe { libc::alarm(20) };
            let file = folder.join(format!("{number}.ktrace"));
            let mut recorder = Profiler::builder()
                .with_stack(true)
                .file(file)
                .start()
                .expect("the child should record on its own");
            lock_all("of the child");
            recorder.stop().expect("a recording");
            // SAFETY: exits the process without running the parent's exit handlers.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: the child is ours; the pointer is to a local integer.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0, "child {number} failed");
    }
    is_over.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().expect("the thread should not panic");
    }
    guard.finish().expect("a recording");
}

static HANDLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

/// Checks that the handler of `SIGUSR1` from before a flight recorder runs while the recorder exists, and again after
/// it.
fn signalled_after(folder: &Path) {
    let start = || FlightRecorder::builder(folder).on_signal(true).start().expect("recording should start");
    // SAFETY: the process signals itself; the handler only counts.
    let raise = || unsafe { libc::raise(libc::SIGUSR1) };
    let handler: extern "C" fn(libc::c_int) = count;
    // SAFETY: as above.
    let default = unsafe { libc::signal(libc::SIGUSR1, handler as usize) };
    for _ in 0..3 {
        let flight = start();
        raise();
        while flight.dumps() == 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
    raise();
    assert_eq!(HANDLED.load(Ordering::Relaxed), 4);
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGUSR1, default) };
    drop(start());
    println!("ready");
    raise();
    println!("still there");
}

fn aborted(recording: &Path) {
    let _profiler = Profiler::builder().file(recording).start().expect("recording should start");
    drop(scope!("before"));
    thread::sleep(Duration::from_millis(100));
    process::abort();
}

fn forked(recording: &Path, of_child: &Path) {
    let mut profiler = Profiler::builder().file(recording).start().expect("recording should start");
    let busy = thread::spawn(|| (0..50_000).for_each(|_| drop(scope!("another thread"))));
    drop(scope!("before the fork"));
    // SAFETY: the child uses nothing that another thread may have locked.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(scope!("in the child"));
        assert!(matches!(profiler.stop(), Err(RecordError::Forked)));
        let mut recorder =
            Profiler::builder().file(of_child).start().expect("the child should record on its own");
        drop(scope!("in the child's own recording"));
        recorder.stop().expect("a recording");
        // SAFETY: exits the process without running the parent's exit handlers.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: the child is ours; the pointer is to a local integer.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0, "the child failed");
    drop(scope!("after the fork"));
    busy.join().expect("the thread should not panic");
    profiler.stop().expect("a recording");
}

/// Forks children that panic while other threads of the parent record and dump. Prints the id of the parent.
fn flight_forked(folder: &Path) {
    let flight = FlightRecorder::builder(folder)
        .on_panic(true)
        .flush_interval(Duration::from_millis(1))
        .max_files(1_000_000)
        .start()
        .expect("recording should start");
    println!("{}", process::id());
    let (flight, is_over) = (Arc::new(flight), Arc::new(AtomicBool::new(false)));
    let (its_flight, its_end) = (Arc::clone(&flight), Arc::clone(&is_over));
    let busy = thread::spawn(move || {
        while !its_end.load(Ordering::Relaxed) {
            drop(scope!("of the parent"));
            let _ = its_flight.dump();
        }
    });
    for number in 0..40 {
        // SAFETY: the child uses only what the recorder restores after a fork, and exits without returning.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends a child that waits forever.
            unsafe { libc::alarm(20) };
            let panicked = std::panic::catch_unwind(|| panic!("an intended panic in a child"));
            let is_right = panicked.is_err() && matches!(flight.dump(), Err(RecordError::Forked));
            // SAFETY: exits the process without running the parent's exit handlers.
            unsafe { libc::_exit(i32::from(!is_right)) };
        }
        let mut status = 0;
        // SAFETY: the child is ours; the pointer is to a local integer.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0, "child {number} failed");
    }
    is_over.store(true, Ordering::Relaxed);
    busy.join().expect("the thread should not panic");
}

mod stacks {
    use super::{Path, Profiler, scope};

    #[inline(never)]
    pub(super) fn record(recording: &Path) {
        let builder = Profiler::builder().with_stack(true).file(recording);
        let mut profiler = builder.start().expect("recording should start");
        middle(3);
        profiler.stop().expect("a recording");
    }

    #[inline(never)]
    fn middle(count: u32) {
        for number in 0..count {
            std::hint::black_box(leaf(number));
        }
    }

    #[inline(never)]
    fn leaf(number: u32) -> u32 {
        let _span = scope!("with a stack");
        std::hint::black_box(number)
    }
}

/// Ends by a signal while a flight recorder records.
fn ended(folder: &Path, end: impl FnOnce()) {
    let _flight = FlightRecorder::builder(folder).on_end(true).start().expect("recording should start");
    drop(scope!("before the end"));
    let _open = scope!("open at the end");
    println!("ready");
    end();
}

/// Receives a hundred storms of signals while four threads record.
fn stormed(folder: &Path) {
    let flight = FlightRecorder::builder(folder)
        .on_signal(true)
        .keep(Duration::from_millis(20))
        .flush_interval(Duration::from_millis(4))
        .min_interval(Duration::ZERO)
        .max_files(20)
        .start()
        .expect("recording should start");
    let is_over = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let _outer = scope!("outer", n = 1);
                    drop(scope!("inner"));
                    thread::sleep(Duration::from_micros(20));
                }
            })
        })
        .collect();
    for _ in 0..100 {
        for _ in 0..100 {
            // SAFETY: the process signals itself.
            unsafe { libc::kill(libc::getpid(), libc::SIGUSR1) };
        }
        thread::sleep(Duration::from_millis(2));
    }
    is_over.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().expect("the thread should not panic");
    }
    assert!(flight.dumps() > 0);
}

fn flight(folder: &Path, go_wrong: impl FnOnce(&FlightRecorder)) {
    let flight = FlightRecorder::builder(folder)
        .on_panic(true)
        .on_signal(true)
        .start()
        .expect("recording should start");
    {
        let _span = scope!("before");
        go_wrong(&flight);
    }
    println!("{}", flight.last_dump().expect("a file").display());
}

/// Prints four durations: two of one scope, one of a scope that ends by itself, and one of a function.
fn durations() {
    let pause = || thread::sleep(Duration::from_millis(5));
    let mut timer = TimeIt::start().avg_time_divisor(5);
    assert_eq!(timer.duration(), None);
    pause();
    let first = timer.reset();
    assert_eq!(timer.duration(), Some(first));
    assert!((Duration::from_millis(1)..Duration::from_millis(100)).contains(&first), "{first:?}");
    let second = timer.stop();
    assert!(second < first, "a new measurement begins at the reset: {second:?}");
    drop(TimeIt::start());
    timeit(0, pause);
    let mut silent = TimeIt::start().log(false);
    silent.reset();
    drop(silent);
}
