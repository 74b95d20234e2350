//! A program that records and comes to a bad end, for the tests that look at what is left: `recording-child HOW PATH…`.

use kinetoscope::TableOptions;
use kinetoscope::handlers::print_table;
use kinetoscope::mirror::{Mirror, emit_nvtx, nvtx};
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
                panic!("as it should");
            });
            let _ = thread.join();
        }),
        "forked-often" => forked_often(path(2)),
        "mirrored" => mirrored(),
        "printed" => printed(),
        "signalled-after" => signalled_after(path(2)),
        "signalled" => flight(path(2), |flight| {
            println!("ready");
            while flight.dumps() == 0 {
                drop(scope!("waiting"));
                thread::sleep(Duration::from_millis(1));
            }
        }),
        other => panic!("{other} is not known"),
    }
}

/// Records number after number, and logs each with the time when its span was over.
fn killed(recording: &Path, log: &Path) {
    let mut log = File::create(log).expect("a file");
    let _profiler = Profiler::builder()
        .file(recording)
        .flush_interval(Duration::from_millis(5))
        .start()
        .expect("a start");
    let _whole = user_scope!("whole");
    for number in 0u64.. {
        drop(scope!("number", n = number));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as u64;
        let entry = u128::from(number) | u128::from(now) << 64;
        log.write_all(&entry.to_le_bytes()).expect("a write");
    }
}

/// Has a handler print the table of a recording.
fn printed() {
    let options = TableOptions::default().with_row_limit(Some(1));
    let mut profiler = Profiler::builder().on_trace_ready(print_table(options)).start().expect("a start");
    for _ in 0..3 {
        drop(operator("aten::mm"));
    }
    profiler.stop().expect("a recording");
}

/// Tells NVTX of the same ranges twice: instead of recording them, and besides.
fn mirrored() {
    let ranges = || {
        let _outer = scope!("outer");
        let _dynamic = record_function("a\0b");
        instant!("now");
        drop(optimizer_step("SGD"));
    };
    assert!(nvtx::is_available());
    let emit = emit_nvtx().expect("nobody records");
    assert!(!is_recording(), "emitting is not recording");
    ranges();
    drop(emit);
    ranges();
    let mut profiler = Profiler::builder().mirror(Mirror::Nvtx).start().expect("a start");
    ranges();
    let recording = profiler.stop().expect("a recording").expect("a recording");
    assert_eq!(recording.events().len(), 3);
    ranges();
}

/// Everything of the recorder that locks something.
fn lock_all(name: &str) {
    let _module = Module::new(name, "field");
    mark_step(name);
    let _span = tracing::info_span!("span of tracing").entered();
    drop(scope!("with a stack"));
}

/// Forks again and again while other threads use every lock of the recorder; each child uses them too, in time.
fn forked_often(folder: &Path) {
    use tracing_subscriber::layer::SubscriberExt;
    let (layer, guard) =
        kinetoscope::tracing_layer::layer(Profiler::builder().with_stack(true)).expect("a start");
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).expect("the first");
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
    for number in 0..40 {
        // SAFETY: the child uses what the recorder has put in order, and ends without going back.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: ends a child that waits for ever.
            unsafe { libc::alarm(20) };
            let file = folder.join(format!("{number}.ktrace"));
            let mut own =
                Profiler::builder().with_stack(true).file(file).start().expect("a start of its own");
            lock_all("of the child");
            own.stop().expect("a recording");
            // SAFETY: ends the process without what the parent wants to do at its end.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: the child is ours, the pointer is to an integer of ours.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0, "child {number} failed");
    }
    is_over.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().expect("no panic");
    }
    guard.finish().expect("a recording");
}

static HANDLED: AtomicU32 = AtomicU32::new(0);

extern "C" fn count(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

/// What handled `SIGUSR1` before a flight recorder does while it runs, and does again after it.
fn signalled_after(folder: &Path) {
    let start = || FlightRecorder::builder(folder).on_signal(true).start().expect("a start");
    // SAFETY: signals of this process to itself, and a handler that counts.
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
    let _profiler = Profiler::builder().file(recording).start().expect("a start");
    drop(scope!("before"));
    thread::sleep(Duration::from_millis(100));
    process::abort();
}

fn forked(recording: &Path, of_child: &Path) {
    let mut profiler = Profiler::builder().file(recording).start().expect("a start");
    let busy = thread::spawn(|| (0..50_000).for_each(|_| drop(scope!("another thread"))));
    drop(scope!("before the fork"));
    // SAFETY: the child uses nothing that another thread may hold.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(scope!("in the child"));
        assert!(matches!(profiler.stop(), Err(RecordError::Forked)));
        let mut own = Profiler::builder().file(of_child).start().expect("a start of its own");
        drop(scope!("in the child's own recording"));
        own.stop().expect("a recording");
        // SAFETY: ends the process without what the parent wants to do at its end.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: the child is ours, the pointer is to an integer of ours.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0, "the child failed");
    drop(scope!("after the fork"));
    busy.join().expect("no panic");
    profiler.stop().expect("a recording");
}

fn flight(folder: &Path, go_wrong: impl FnOnce(&FlightRecorder)) {
    let flight = FlightRecorder::builder(folder).on_panic(true).on_signal(true).start().expect("a start");
    {
        let _span = scope!("before");
        go_wrong(&flight);
    }
    println!("{}", flight.last_dump().expect("a file").display());
}
