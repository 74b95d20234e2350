//! One recording, from the moment it is made ready to its bytes.

use super::clock::Clock;
use super::cuda::collector::Collector;
#[cfg(feature = "nvml")]
use super::cuda::metrics::Sampler;
use super::cuda::unavailable::Unavailable;
use super::error::RecordError;
use super::fork;
use super::local::{self, STATE, flag};
use super::mirror;
use super::options::{Destination, Devices, Options};
use super::pool::pool;
use super::registry::registry;
use super::ring::Ring;
use super::sink::{Sink, meta};
use super::writer::{Look, Stream, Writer};
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A key of the trace's top-level object, and its value.
pub(super) type Member = (String, Value);

/// A recording is being made: there is one at a time.
pub(super) static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Three months, by which the base of all times is rounded down, so that the ranks of a run share it.
const BASE_NS: i64 = 7_889_238 * 1_000_000_000;

/// What the recorder tells about itself. Durations are wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// How long was recorded.
    pub window: Duration,
    /// How long it took to make recording ready, to switch it on, and to switch it off and write the rest.
    pub prepare: Duration,
    /// See [`Statistics::prepare`].
    pub enable: Duration,
    /// See [`Statistics::prepare`].
    pub disable: Duration,
    /// Records: a span is two.
    pub records: u64,
    /// Records that found no room.
    pub dropped: u64,
    /// Bytes of the recording.
    pub bytes: u64,
    /// What a span without arguments costs, begin and end, measured before the recording, in ns.
    pub overhead_ns_per_span: f64,
}

impl Statistics {
    /// An estimate of how long the program recorded instead of doing its work, over all threads: half a span for each
    /// record.
    pub fn overhead(&self) -> Duration {
        Duration::from_nanos((self.records as f64 * self.overhead_ns_per_span / 2.0) as u64)
    }

    fn to_json(self) -> Value {
        json!({
            "window_ns": self.window.as_nanos() as u64,
            "prepare_ns": self.prepare.as_nanos() as u64,
            "enable_ns": self.enable.as_nanos() as u64,
            "disable_ns": self.disable.as_nanos() as u64,
            "records": self.records,
            "dropped": self.dropped,
            "bytes": self.bytes,
            "overhead_ns_per_span": self.overhead_ns_per_span,
            "overhead_ns": self.overhead().as_nanos() as u64,
        })
    }
}

/// A recording in the making.
pub(super) struct Session {
    /// The process that records: a child that it forks does not.
    process: u32,
    state: u32,
    clock: Clock,
    writer: Writer,
    window: (u64, u64),
    cycle: u64,
    #[cfg(feature = "nvml")]
    sampler: Option<Sampler>,
    warnings: Vec<String>,
    started: Option<Instant>,
    statistics: Statistics,
}

impl Session {
    /// Makes everything ready, so that switching on takes no time.
    pub(super) fn prepare(options: &Options, cycle: u64) -> Result<Session, RecordError> {
        Session::prepare_with(options, cycle, Box::new(|_| {}))
    }

    /// The same; `look` is called after each time that something was written.
    pub(super) fn prepare_with(options: &Options, cycle: u64, look: Look) -> Result<Session, RecordError> {
        if IS_TAKEN.swap(true, Ordering::AcqRel) {
            return Err(RecordError::AlreadyRecording);
        }
        fork::watch();
        Session::prepare_alone(options, cycle, look).inspect_err(|_| IS_TAKEN.store(false, Ordering::Release))
    }

    fn prepare_alone(options: &Options, cycle: u64, look: Look) -> Result<Session, RecordError> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let begun = Instant::now();
        let clock = Clock::of_machine();
        // Numbers come again after 8 million recordings.
        let number = NEXT.fetch_add(1, Ordering::Relaxed) << flag::BITS;
        let counter = if clock == Clock::Counter { flag::COUNTER } else { 0 };
        let mut warnings = options.warnings.clone();
        let devices = devices(options, &mut warnings);
        let linked = if devices.is_some() { flag::DEVICES } else { 0 };
        let state = number | flag::ON | counter | linked | options.flags() | mirror::tell(&options.mirrors);
        registry().clear_threads();
        pool().prepare(options.buffer_bytes);
        let overhead_ns_per_span = local::overhead_ns(state);
        let sink = match &options.destination {
            Destination::File { path, is_durable } => {
                let file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
                Sink::file(file, *is_durable)?
            }
            Destination::Memory { bytes } => Sink::memory(*bytes),
            Destination::Ring { keep, bytes } => Sink::Ring(Ring::new(*keep, *bytes)),
        };
        let mut head = Vec::new();
        meta(&mut head, &members(&document(options, clock, devices.as_ref())));
        let mut stream = Stream::new(state, clock, sink, devices);
        stream.append(head);
        stream.append_clock();
        let writer = Writer::start(stream, options.flush_interval, look)?;
        let statistics =
            Statistics { prepare: begun.elapsed(), overhead_ns_per_span, ..Statistics::default() };
        Ok(Session {
            process: std::process::id(),
            state,
            clock,
            writer,
            window: (0, 0),
            cycle,
            #[cfg(feature = "nvml")]
            sampler: sampler(options, &mut warnings),
            warnings,
            started: None,
            statistics,
        })
    }

    /// Switches recording on.
    pub(super) fn enable(&mut self) {
        let begun = Instant::now();
        self.window = (self.clock.ticks(), 0);
        self.writer.stream().tell_window(self.window, self.cycle);
        STATE.store(self.state, Ordering::SeqCst);
        self.started = Some(begun);
        self.statistics.enable = begun.elapsed();
    }

    /// Does something with what was written, while nothing else is.
    pub(super) fn with_stream<T>(&self, run: impl FnOnce(&mut Stream) -> T) -> T {
        local::unrecorded(|| run(&mut self.writer.stream()))
    }

    /// Switches recording off and gives what was recorded. Members are added to the trace's top-level object.
    pub(super) fn finish(mut self, metadata: &[Member]) -> Result<(Vec<u8>, Statistics), RecordError> {
        if self.process != std::process::id() {
            // The writer's thread is the parent's, and so is the recording.
            std::mem::forget(self);
            return Err(RecordError::Forked);
        }
        let begun = Instant::now();
        #[cfg(feature = "nvml")]
        drop(self.sampler.take());
        STATE.store(0, Ordering::SeqCst);
        // What was asked of devices within the window is within it.
        self.with_stream(|stream| stream.synchronize_devices());
        self.window.1 = self.clock.ticks();
        self.with_stream(Stream::stop_devices);
        self.statistics.window = self.started.map_or(Duration::ZERO, |started| started.elapsed());
        let (window, cycle) = (self.window, self.cycle);
        let stream = self.writer.stop();
        IS_TAKEN.store(false, Ordering::Release);
        let mut stream = stream.ok_or(RecordError::WriterLost)?;
        self.statistics.records = stream.records;
        self.statistics.dropped = stream.dropped;
        self.statistics.bytes = stream.bytes;
        self.statistics.disable = begun.elapsed();
        stream.append_clock();
        let mut tail = Vec::new();
        let mut object = metadata.to_vec();
        let mut statistics = self.statistics.to_json();
        let mut warnings = self.warnings;
        if let Some(devices) = stream.devices() {
            statistics["devices"] = devices.told();
            warnings.extend(devices.warnings());
        }
        object.push(("kinetoscope".to_owned(), statistics));
        if stream.records == 0 {
            warnings.push("nothing was recorded: no span began or ended in the window".to_owned());
        }
        if !warnings.is_empty() {
            object.push(("WARNING".to_owned(), json!(warnings)));
        }
        meta(&mut tail, &members(&object));
        stream.append(tail);
        stream.tell_window(window, cycle);
        pool().shrink();
        Ok((stream.into_sink().into_bytes()?, self.statistics))
    }
}

/// The devices, where they can be recorded; a warning where they were asked for and cannot.
fn devices(options: &Options, warnings: &mut Vec<String>) -> Option<Collector> {
    if options.devices == Devices::No {
        return None;
    }
    let started = local::unrecorded(|| Collector::start(options));
    let tell =
        |reason: &Unavailable| warnings.push(format!("CUDA was asked for and is not recorded: {reason}"));
    if options.devices == Devices::Asked {
        return started.inspect_err(tell).ok();
    }
    started.ok()
}

/// What asks the devices what they are at.
#[cfg(feature = "nvml")]
fn sampler(options: &Options, warnings: &mut Vec<String>) -> Option<Sampler> {
    let sampler = Sampler::start(options.device_metrics?);
    if sampler.is_none() {
        warnings.push("device metrics were asked for and NVML is not there".to_owned());
    }
    sampler
}

/// The members of an object, without its braces.
fn members(object: &[Member]) -> String {
    let member = |(key, value): &Member| format!("{}: {value}", Value::from(key.as_str()));
    object.iter().map(member).collect::<Vec<_>>().join(", ")
}

/// What stands at the top of the trace, as Kineto's writer has it.
fn document(options: &Options, clock: Clock, devices: Option<&Collector>) -> Vec<Member> {
    let mut document = Vec::new();
    let mut put = |key: &str, value: Value| document.push((key.to_owned(), value));
    put("schemaVersion", json!(1));
    match devices {
        Some(devices) => devices.members().into_iter().for_each(|(key, value)| put(key, value)),
        None => put("deviceProperties", json!([])),
    }
    for (key, is_on) in options.told() {
        if is_on {
            put(key, json!(1));
        }
    }
    put("displayTimeUnit", json!("ms"));
    let (_, now) = clock.reading();
    put("baseTimeNanoseconds", json!(now - now.rem_euclid(BASE_NS)));
    put("recorder", json!(concat!("Kinetoscope ", env!("CARGO_PKG_VERSION"))));
    put("pid", json!(std::process::id()));
    put("process_name", json!(process_name()));
    put("clock", json!(clock.as_str()));
    put("host_name", json!(host_name()));
    for key in ["PT_PROFILER_JOB_NAME", "PT_PROFILER_JOB_VERSION", "PT_PROFILER_JOB_ATTEMPT_INDEX"] {
        if let Ok(value) = std::env::var(key) {
            put(key, json!(value));
        }
    }
    document
}

fn process_name() -> String {
    let program = std::env::current_exe().ok();
    program.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())).unwrap_or_default()
}

/// The name of this machine.
pub(super) fn host_name() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}
