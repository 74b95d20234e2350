//! A program that uses the CUDA fakes, for the tests that check its recording: `cuda-child WHAT OUT`. The recorder's
//! environment variables name the fake libraries.

use kinetoscope::ExecutionTraceObserver;
use kinetoscope::FlightRecorder;
use kinetoscope::ProfilerBuilder;
use kinetoscope::Recording;
use kinetoscope::device::decode::decode;
use kinetoscope::device::decoded::Decoded;
use kinetoscope::device::{CUPTI_VARIABLE, DRIVER_VARIABLE, probe};
use kinetoscope::memory::{Device, record_alloc};
use kinetoscope::spans::{is_recording, operator};
use kinetoscope::{Activity, ActivityType, ProfileIt, Profiler, TimeIt, supported_activities};
use kinetoscope::{counter, instant, scope, user_scope};
use kinetoscope_tests::cupti_records::{Bytes, Stream, Writer};
use libloading::Library;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::env;
use std::ffi::{CStr, c_void};
use std::path::Path;
use std::thread::{self, sleep};
use std::time::Duration;

fn main() {
    let args: Vec<String> = env::args().collect();
    let recording = match args[1].as_str() {
        "step" => return iterate(Path::new(&args[2])),
        "probe" => {
            println!("{:?}", probe().map(<[_]>::len));
            assert_eq!(supported_activities().contains(&Activity::Cuda), probe().is_ok());
            cpu_only(Profiler::builder().activities(&[Activity::Cpu, Activity::Cuda]))
        }
        "flight" => return flight(Path::new(&args[2])),
        "loaded" => {
            // SAFETY: loading the fake runs no code.
            let library = unsafe { Library::new("libcupti.so.12") }.expect("a library");
            assert!(probe().is_ok());
            let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
            let loaded: BTreeSet<&str> =
                maps.lines().filter_map(|line| line.rsplit_once("libcupti.so.")).map(|l| l.1).collect();
            println!("{loaded:?}");
            drop(library);
            cpu_only(both())
        }
        "devices" => {
            let profiler = Profiler::builder().activities(&[Activity::Cuda, Activity::Xpu]).start();
            devices_only(profiler.expect("recording should start"))
        }
        "paused" => paused(both()),
        "observed" => {
            let observer = ExecutionTraceObserver::new(Path::new(&args[2]).with_extension("et.json"));
            paused(both().execution_trace_observer(&observer))
        }
        "nothing" => {
            let error = Profiler::builder().activities(&[Activity::Cuda, Activity::Hpu]).start().err();
            println!("{}", error.expect("an error"));
            cpu_only(Profiler::builder())
        }
        "silent" => cpu_only(Profiler::builder()),
        "everything" => everything(both()),
        "kernels" => everything(both().activity_types(Activity::Cuda, &[ActivityType::ConcurrentKernel])),
        "timed" => timed(),
        "file" => everything(both().file(&args[2])),
        "disordered" => disordered(),
        "starved" => starved(),
        "again" => again(),
        "taken" => taken(),
        other => panic!("unknown argument {other}"),
    };
    if args[1] != "file" {
        recording.export_chrome_trace(Path::new(&args[2])).expect("a file");
    }
}

/// Makes a real CUPTI iterate over a buffer of records, and decodes each.
fn iterate(library: &Path) {
    // SAFETY: loading CUPTI runs no code of its own.
    let library = unsafe { Library::new(library) }.expect("a library");
    let mut version = 0u32;
    // SAFETY: the symbol has this type; the pointer is to a local variable.
    unsafe {
        let get = library
            .get::<unsafe extern "C" fn(*mut u32) -> u32>(b"cuptiGetVersion")
            .expect("the function should exist");
        assert_eq!(get(&raw mut version), 0);
    }
    let writer = Writer::new(version);
    let (span, stream) = ((5, 9), (1, 2, 7));
    let records = [
        writer.kernel(NAME, span, stream, 1, [2, 64]),
        writer.copy(64, span, stream, 2),
        writer.peer_copy(64, span, stream, [(0, 1), (1, 2)], 3),
        writer.memset(64, span, stream, 4),
        writer.call(false, 211, span, 77, 5, 0),
        writer.call(true, 307, span, 77, 6, 0),
        writer.external(3, 9, 5),
        writer.sync(3, span, (2, 7), u32::MAX, 7),
        writer.event(5, 0, (2, 7), 8),
        writer.overhead(2 << 16, span),
        writer.memory(false, 0x7000, 64, 9, 1, 9),
        writer.marker(2, 1, 9, 77, Some(c"range")),
    ];
    // Like CUPTI's own buffers: aligned to words, and longer than the bytes in use.
    let bytes: Vec<u8> = records.iter().flat_map(|record| record.0.iter().copied()).collect();
    let mut buffer = vec![0u64; 1 << 16];
    // SAFETY: the symbol has this type; the buffer is longer than the records, which lie within it.
    let found: Vec<Decoded> = unsafe {
        let start = buffer.as_mut_ptr().cast::<u8>();
        start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        let next = library
            .get::<unsafe extern "C" fn(*mut u8, usize, *mut *mut u8) -> u32>(b"cuptiActivityGetNextRecord")
            .expect("the function should exist");
        let mut record = std::ptr::null_mut();
        std::iter::from_fn(|| {
            let is_there = next(start, bytes.len(), &raw mut record) == 0;
            is_there.then(|| {
                let at = record.offset_from(start) as usize;
                decode(&bytes[at..], version)
            })
        })
        .collect()
    };
    let expected: Vec<Decoded> = records.iter().map(|record| decode(&record.0, version)).collect();
    assert_eq!(found, expected, "CUPTI {version}");
    println!("{version}");
}

fn stop(mut profiler: Profiler) -> Recording {
    profiler.stop().expect("a recording").expect("something was recorded")
}

fn cpu_only(builder: ProfilerBuilder) -> Recording {
    let profiler = builder.start().expect("recording should start");
    drop(scope!("on the CPU"));
    stop(profiler)
}

fn both() -> ProfilerBuilder {
    Profiler::builder().activities(&[Activity::Cpu, Activity::Cuda]).profile_memory(true).nvtx_ranges(true)
}

/// The fakes, loaded by the recorded program itself.
struct Gpu {
    cupti: Library,
    writer: Writer,
    correlation: Cell<u32>,
}

const STREAM: Stream = (0, 1, 7);
const SECOND: Stream = (0, 1, 13);
const OTHER_DEVICE: Stream = (1, 2, 7);
const NAME: &CStr = c"_Z5saxpyfPfS_";

impl Gpu {
    fn new() -> Gpu {
        let path = env::var_os(CUPTI_VARIABLE).expect("a fake library");
        let version = env::var("CUPTI_FAKE_VERSION").ok().and_then(|text| text.parse().ok());
        Gpu {
            // SAFETY: loading the fake runs no code.
            cupti: unsafe { Library::new(path) }.expect("a library"),
            writer: Writer::new(version.unwrap_or(130_000)),
            correlation: Cell::new(0),
        }
    }

    /// Returns the time on CUPTI's clock, in ns.
    fn now(&self) -> u64 {
        let mut time = 0u64;
        // SAFETY: the symbol has this type; the pointer is to a local variable.
        unsafe {
            let get = self
                .cupti
                .get::<unsafe extern "C" fn(*mut u64) -> u32>(b"cuptiGetTimestamp")
                .expect("the function should exist");
            get(&raw mut time);
        }
        time
    }

    fn put(&self, bytes: &Bytes) -> bool {
        // SAFETY: the symbol has this type; the pointer is valid for the length of the slice.
        unsafe {
            let put = self
                .cupti
                .get::<unsafe extern "C" fn(*const u8, usize) -> bool>(b"cupti_fake_put")
                .expect("the function should exist");
            put(bytes.0.as_ptr(), bytes.0.len())
        }
    }

    /// Asserts that this number of kinds is enabled.
    fn assert_on(&self, kinds: usize) {
        // SAFETY: the symbol has this type.
        let on = unsafe {
            self.cupti
                .get::<unsafe extern "C" fn() -> usize>(b"cupti_fake_kinds")
                .expect("the function should exist")()
        };
        assert_eq!(on, kinds);
    }

    fn is_off(&self, is_driver: bool, cbid: u32) -> bool {
        // SAFETY: the symbol has this type.
        unsafe {
            let is_off = self.cupti.get::<unsafe extern "C" fn(bool, u32) -> bool>(b"cupti_fake_is_off");
            is_off.expect("the function should exist")(is_driver, cbid)
        }
    }

    /// Returns the current span of this thread, as passed to CUPTI; 0 if there is none.
    fn span(&self, kind: u32) -> u64 {
        // SAFETY: the symbol has this type.
        unsafe {
            let span = self.cupti.get::<unsafe extern "C" fn(u32) -> u64>(b"cupti_fake_span");
            span.expect("the function should exist")(kind)
        }
    }

    /// Puts records of the current spans of this thread.
    fn put_spans(&self, correlation: u32) {
        for kind in [3, 4] {
            let id = self.span(kind);
            if id != 0 {
                self.put(&self.writer.external(kind, id, correlation));
            }
        }
    }

    /// Puts a call of 20 µs; returns its correlation id and its end.
    fn call(&self, is_driver: bool, cbid: u32) -> (u32, u64) {
        self.correlation.set(self.correlation.get() + 1);
        let correlation = self.correlation.get();
        let start = self.now();
        sleep(Duration::from_micros(20));
        let end = self.now();
        self.put_spans(correlation);
        self.put(&self.writer.call(is_driver, cbid, (start, end), thread_id(), correlation, 0));
        (correlation, end)
    }

    /// Puts a launch of a kernel that runs for 10 µs, and waits for its end: a recording does not end before the work that
    /// was submitted.
    fn launch(&self, stream: Stream) -> u32 {
        let (correlation, end) = self.call(false, 211);
        while self.now() < end + 11_000 {
            std::hint::spin_loop();
        }
        self.put(&self.writer.kernel(NAME, (end + 1000, end + 11_000), stream, correlation, [320, 256]));
        correlation
    }
}

/// Measures with a device: each measurement begins and ends when the device has finished its work.
fn timed() -> Recording {
    let gpu = Gpu::new();
    assert!(probe().is_ok());
    let before = synchronized();
    let mut timer = TimeIt::start().log(false);
    assert_eq!(synchronized(), before + 1);
    timer.reset();
    timer.stop();
    assert_eq!(synchronized(), before + 3);
    ProfileIt::default().run(|| ());
    assert_eq!(synchronized(), before + 3, "no device is measured");
    ProfileIt::on_device(0).run(|| assert_eq!(synchronized(), before + 4));
    assert_eq!(synchronized(), before + 5);
    drop(gpu);
    cpu_only(both())
}

/// Returns the number of context synchronizations.
fn synchronized() -> u32 {
    let path = env::var_os(DRIVER_VARIABLE).expect("a fake library");
    // SAFETY: the fake is already loaded; the symbol has this type.
    unsafe {
        let driver = Library::new(path).expect("a library");
        driver
            .get::<unsafe extern "C" fn() -> u32>(b"cuda_fake_synchronized")
            .expect("the function should exist")()
    }
}

fn thread_id() -> u32 {
    // SAFETY: the call has no preconditions.
    unsafe { libc::gettid() as u32 }
}

/// Records a program that has spans of every kind, without CPU activities.
fn devices_only(profiler: Profiler) -> Recording {
    let missing: Vec<String> =
        profiler.unavailable().iter().map(|(activity, reason)| format!("{activity}: {reason}")).collect();
    println!("{}", missing.join(" "));
    assert!(!is_recording());
    let gpu = Gpu::new();
    let _step = user_scope!("step");
    let _op = scope!("op", rows = 3);
    instant!("now");
    counter!("queue", 3);
    record_alloc(Device::Cpu, 0x1000, 64);
    gpu.launch(STREAM);
    stop(profiler)
}

/// Pauses the recording of devices, then that of spans.
fn paused(builder: ProfilerBuilder) -> Recording {
    let gpu = Gpu::new();
    let mut profiler = builder.start().expect("recording should start");
    let launch = |name| {
        let _op = operator(name);
        gpu.launch(STREAM);
    };
    launch("recorded");
    let before = synchronized();
    profiler.toggle(false, &[Activity::Cuda]).expect("a pause");
    assert!(synchronized() > before, "submitted work is completed");
    gpu.assert_on(0);
    launch("without its kernel");
    profiler.toggle(true, &[Activity::Cuda]).expect("a resumption");
    gpu.assert_on(12);
    assert!(gpu.is_off(false, 17), "calls that are left out stay so");
    profiler.toggle(false, &[Activity::Cpu]).expect("a pause");
    launch("not recorded");
    profiler.resume().expect("a resumption");
    launch("recorded again");
    stop(profiler)
}

/// Puts records of every kind, once or twice.
fn everything(builder: ProfilerBuilder) -> Recording {
    let gpu = Gpu::new();
    let writer = gpu.writer;
    let profiler = builder.start().expect("recording should start");
    gpu.assert_on(12);
    let is_off = [(false, 17), (true, 4), (false, 211), (true, 307)]
        .map(|(is_driver, cbid)| gpu.is_off(is_driver, cbid));
    assert_eq!(is_off, [true, true, false, false]);
    {
        let _step = user_scope!("step");
        {
            let _op = scope!("aten::mm");
            gpu.launch(STREAM);
            gpu.launch(SECOND);
        }
        gpu.call(false, 17);
        gpu.call(true, 4);
        gpu.launch(STREAM);
        let (graph, end) = gpu.call(false, 311);
        for node in 1..=3 {
            let start = end + node * 2000;
            let kernel = writer.kernel(NAME, (start, start + 1000), STREAM, graph, [80, 128]);
            gpu.put(&Writer::in_graph(kernel, 9, node));
        }
    }
    let (copy, end) = gpu.call(true, 277);
    gpu.put(&writer.copy(1_000_000, (end, end + 10_000), STREAM, copy));
    gpu.put(&writer.memset(4096, (end + 10_000, end + 11_000), STREAM, copy));
    gpu.put(&writer.peer_copy(2_000_000, (end, end + 10_000), OTHER_DEVICE, [(1, 2), (0, 1)], copy));
    gpu.launch(OTHER_DEVICE);
    let recorded = gpu.call(false, 135).0;
    gpu.put(&writer.event(0, 0, (1, 7), recorded));
    let (wait, end) = gpu.call(false, 165);
    gpu.put(&writer.sync(2, (end - 5000, end - 4000), (1, 13), 0, wait));
    gpu.put(&writer.sync(4, (end - 3000, end - 1000), (1, u32::MAX), u32::MAX, wait));
    gpu.put(&writer.overhead(2 << 16, (end - 900, end - 800)));
    gpu.put(&writer.memory(false, 0x7000, 4096, end - 700, 0, wait));
    gpu.put(&writer.memory(true, 0x7000, 4096, end - 600, 0, wait));
    gpu.put(&writer.marker(2, 1, end - 500, thread_id(), Some(c"loading")));
    gpu.put(&writer.marker(4, 1, end - 400, thread_id(), None));
    gpu.put(&writer.marker(1, 2, end - 300, thread_id(), Some(c"now")));
    sleep(Duration::from_millis(1));
    let recording = stop(profiler);
    gpu.assert_on(0);
    assert_eq!(
        synchronized(),
        1,
        "the device that has a context is synchronized once, and its context is released"
    );
    recording
}

/// Puts records out of order, of unknown kinds, without times, and from before the recording.
fn disordered() -> Recording {
    let gpu = Gpu::new();
    let writer = gpu.writer;
    let before = gpu.now();
    sleep(Duration::from_millis(1));
    let profiler = both().start().expect("recording should start");
    // `start` is read within the span, so that the call below lies inside it however late this thread runs.
    let (id, start) = {
        let _op = scope!("late");
        let (id, start) = (gpu.span(3), gpu.now());
        sleep(Duration::from_millis(1));
        (id, start)
    };
    gpu.put(&writer.kernel(NAME, (start + 500_000, start + 600_000), STREAM, 70, [1, 32]));
    gpu.put(&writer.unknown());
    // Longer than the flush interval, so that records that belong together are read separately.
    sleep(Duration::from_millis(30));
    gpu.put(&writer.call(false, 211, (start + 100_000, start + 200_000), thread_id(), 70, 0));
    gpu.put(&writer.external(3, id, 70));
    gpu.put(&writer.kernel(NAME, (0, 0), STREAM, 71, [1, 32]));
    gpu.put(&writer.kernel(NAME, (before, before + 10), STREAM, 72, [1, 32]));
    let failed = gpu.call(false, 135).0;
    gpu.put(&writer.call(false, 165, (start + 300_000, start + 400_000), thread_id() + 1, failed + 1, 700));
    record_alloc(Device::Cuda(0), 1, 8);
    let now = gpu.now();
    gpu.put(&writer.memory(false, 0x7000, 4096, now, 0, failed));
    gpu.put(&writer.copy(0, (now, now), STREAM, failed));
    sleep(Duration::from_millis(1));
    stop(profiler)
}

/// Puts more records than there are buffers, before any is read.
fn starved() -> Recording {
    let gpu = Gpu::new();
    let builder = both().device_buffer_bytes(8 << 20).flush_interval(Duration::from_secs(60));
    let profiler = builder.start().expect("recording should start");
    let start = gpu.now();
    let put = (0..60_000u64).filter(|&number| {
        let span = (start + number, start + number + 1);
        gpu.put(&gpu.writer.kernel(NAME, span, STREAM, 1, [1, 32]))
    });
    println!("{}", put.count());
    sleep(Duration::from_millis(1));
    stop(profiler)
}

/// Records a second time, while buffers of the first recording still arrive, and uses the device on another thread.
fn again() -> Recording {
    let first = both().start().expect("recording should start");
    let gpu = Gpu::new();
    gpu.launch(STREAM);
    sleep(Duration::from_millis(1));
    let table = stop(first).trace().expect("a trace").table.clone();
    assert!(table.rows().any(|row| table.name(row) == "saxpy(float, float*, float*)"));
    // Nothing is recorded, and no buffer is released to CUPTI, so it uses the buffers that it has.
    gpu.launch(STREAM);
    sleep(Duration::from_millis(30));
    let second = both().start().expect("recording should start");
    thread::spawn(|| {
        let _op = scope!("on a thread");
        Gpu::new().launch(SECOND);
    })
    .join()
    .expect("the thread should not panic");
    sleep(Duration::from_millis(1));
    stop(second)
}

/// Dumps a flight recording at once, which makes CUPTI flush its records.
fn flight(folder: &Path) {
    let flight = FlightRecorder::builder(folder).start().expect("recording should start");
    let gpu = Gpu::new();
    {
        let _op = scope!("before the trouble");
        gpu.launch(STREAM);
    }
    sleep(Duration::from_millis(1));
    flight.dump().expect("a file");
}

/// Subscribes to CUPTI before the recorder does.
fn taken() -> Recording {
    let gpu = Gpu::new();
    assert!(env::var_os(DRIVER_VARIABLE).is_some());
    let mut handle: *mut c_void = std::ptr::null_mut();
    // SAFETY: the function's type; the place is ours.
    unsafe {
        let subscribe = gpu
            .cupti
            .get::<unsafe extern "C" fn(*mut *mut c_void, *const c_void, *mut c_void) -> u32>(
                b"cuptiSubscribe",
            )
            .expect("the function should exist");
        assert_eq!(subscribe(&raw mut handle, std::ptr::null(), std::ptr::null_mut()), 0);
    }
    cpu_only(both())
}
