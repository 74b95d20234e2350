//! A session: one recording, from its preparation to its bytes.

use crate::activity::Activity;
use crate::device::Unavailable;
use crate::device::collector::Collector;
use crate::error::RecordError;
use crate::hot::clock::Clock;
use crate::hot::local;
use crate::hot::pool::pool;
use crate::hot::registry::registry;
#[cfg(feature = "stacks")]
use crate::hot::stack;
use crate::hot::state::{CUT, IS_TAKEN, NEXT_ID, PAUSED, START, flag, left_out, set_state};
use crate::io_error::with_path;
use crate::json::Members;
#[cfg(feature = "nvml")]
use crate::metrics;
use crate::mirror;
use crate::options::{Destination, Devices, Options};
use crate::output::batch::meta;
use crate::output::content::Content;
use crate::output::document::document;
use crate::output::file;
#[cfg(unix)]
use crate::output::fork;
use crate::output::sink::Sink;
use crate::output::statistics::Statistics;
use crate::output::stream::Stream;
use crate::output::writer::{OnFlush, Writer};
#[cfg(feature = "sampling")]
use crate::sampling;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A recording that is being made.
pub(crate) struct Session {
    /// The id of the process that records. A forked child does not record.
    process: u32,
    state: u32,
    clock: Clock,
    writer: Writer,
    /// Whether spans and other events of the program are recorded.
    records_cpu: bool,
    /// The activities that were requested and are not recorded, with the reasons.
    pub(crate) unavailable: Missing,
    /// Whether devices are recorded.
    has_devices: bool,
    /// The activities that are paused, with the time of the pause in ticks.
    paused: Vec<(Activity, u64)>,
    window: (u64, u64),
    cycle: u64,
    /// The number of cut arguments before this recording.
    cut_before: u64,
    #[cfg(feature = "nvml")]
    metrics: Option<metrics::Sampler>,
    #[cfg(feature = "sampling")]
    sampler: Option<sampling::Sampler>,
    warnings: Vec<String>,
    started: Option<Instant>,
    statistics: Statistics,
}

impl Session {
    /// Prepares a recording, so that [`Session::enable`] takes little time.
    pub(crate) fn prepare(options: &Options, cycle: u64) -> Result<Session, RecordError> {
        Session::prepare_with(options, cycle, Box::new(|_| {}))
    }

    /// The same as [`Session::prepare`]; `on_flush` is called after each flush of the writer.
    pub(crate) fn prepare_with(
        options: &Options,
        cycle: u64,
        on_flush: OnFlush,
    ) -> Result<Session, RecordError> {
        let deadline = Instant::now() + options.wait;
        while IS_TAKEN.swap(true, Ordering::AcqRel) {
            if Instant::now() >= deadline {
                return Err(RecordError::AlreadyRecording);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        #[cfg(unix)]
        fork::install_handlers();
        Session::prepare_taken(options, cycle, on_flush)
            .inspect_err(|_| IS_TAKEN.store(false, Ordering::Release))
    }

    /// Prepares a recording after [`IS_TAKEN`] was set.
    fn prepare_taken(options: &Options, cycle: u64, on_flush: OnFlush) -> Result<Session, RecordError> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let begun = Instant::now();
        let clock = Clock::detect();
        // Numbers repeat after a million recordings.
        let number = NEXT.fetch_add(1, Ordering::Relaxed) << flag::BITS & !flag::NAMED;
        let counter = if clock == Clock::Counter { flag::COUNTER } else { 0 };
        let mut warnings = options.warnings.clone();
        let (devices, unavailable) = devices(options)?;
        for (activity, reason) in &unavailable {
            warnings.push(format!("{activity} was requested but is not recorded: {reason}"));
        }
        let linked = if devices.is_some() { flag::DEVICES } else { 0 };
        let state = number | flag::ON | counter | linked | options.flags() | mirror::attach(&options.mirrors);
        registry().clear_threads();
        pool().prepare(options.buffer_bytes);
        let overhead_ns_per_span = local::overhead_ns(state);
        // After the measurement, whose call site a filter could leave out.
        registry().set_filter(options.filter.as_ref().map(|filter| Arc::clone(&filter.0)), state);
        let sink = match &options.destination {
            Destination::File { path, is_durable } => {
                let file = file::open(path, options.existing).map_err(with_path(path))?;
                Sink::file(file, path, *is_durable).map_err(with_path(path))?
            }
            Destination::Memory { bytes } => Sink::memory(*bytes),
            Destination::Ring { keep, bytes } => Sink::ring(*keep, *bytes),
        };
        let mut head = Vec::new();
        meta(&mut head, document(options, clock, devices.as_ref()).as_str());
        let mut stream = Stream::new(state, clock, sink, devices);
        stream.append(head);
        stream.append_clock();
        let writer = Writer::start(stream, options.flush_interval, on_flush)?;
        let statistics =
            Statistics { prepare: begun.elapsed(), overhead_ns_per_span, ..Statistics::default() };
        Ok(Session {
            process: std::process::id(),
            state,
            clock,
            writer,
            records_cpu: options.cpu,
            unavailable,
            has_devices: linked != 0,
            paused: Vec::new(),
            window: (0, 0),
            cycle,
            cut_before: CUT.load(Ordering::Relaxed),
            #[cfg(feature = "nvml")]
            metrics: device_metrics(options, &mut warnings),
            #[cfg(feature = "sampling")]
            sampler: sampler(options, state, &mut warnings),
            warnings,
            started: None,
            statistics,
        })
    }

    /// Starts recording.
    pub(crate) fn enable(&mut self) {
        let begun = Instant::now();
        self.window = (self.clock.ticks(), 0);
        self.writer.stream().write_window(self.window, self.cycle);
        local::set_starter(self.state);
        START.store(self.window.0, Ordering::SeqCst);
        set_state(self.state_of_spans());
        self.started = Some(begun);
        self.statistics.enable = begun.elapsed();
    }

    /// Returns the number of the recording, as in the state of its spans.
    #[cfg(feature = "analysis")]
    pub(crate) fn number(&self) -> u32 {
        left_out(self.state)
    }

    /// Returns whether this process made the recording, not one that forked it.
    pub(crate) fn is_own_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Returns whether [`Session::enable`] was called.
    pub(crate) fn is_started(&self) -> bool {
        self.started.is_some()
    }

    /// Returns the activities that are recorded, also while they are paused.
    pub(crate) fn activities(&self) -> Vec<Activity> {
        let cpu = self.records_cpu.then_some(Activity::Cpu);
        cpu.into_iter().chain(self.has_devices.then_some(Activity::Cuda)).collect()
    }

    /// Pauses or resumes one of the [activities](Session::activities). Has no effect if it is paused or runs already.
    pub(crate) fn toggle(&mut self, is_on: bool, activity: Activity) -> Result<(), RecordError> {
        // In a forked child, the recording is not this process's to change.
        self.with_stream(|_| ())?;
        let known = self.paused.iter().position(|paused| paused.0 == activity);
        if known.is_none() == is_on {
            return Ok(());
        }
        if activity == Activity::Cuda {
            let toggled = self.with_stream(|stream| stream.toggle_devices(is_on))?;
            toggled.map_err(|reason| RecordError::CannotRecord(vec![(activity, reason)]))?;
        }
        let now = self.clock.ticks();
        if activity == Activity::Cpu {
            self.toggle_spans(is_on, now);
        }
        let Some(at) = known else {
            self.paused.push((activity, now));
            return Ok(());
        };
        let (_, since) = self.paused.remove(at);
        self.with_stream(|stream| stream.write_pause(activity.as_str(), (since, now)))
    }

    fn toggle_spans(&self, is_on: bool, now: u64) {
        if is_on {
            START.store(now, Ordering::SeqCst);
            set_state(self.state);
            PAUSED.store(0, Ordering::SeqCst);
        } else {
            PAUSED.store(left_out(self.state), Ordering::SeqCst);
            set_state(self.state & flag::MIRROR);
        }
    }

    /// Returns the state for the spans of the program. If they are not recorded, they are still passed to mirrors.
    fn state_of_spans(&self) -> u32 {
        if self.records_cpu { self.state } else { self.state & flag::MIRROR }
    }

    /// Calls a function with the stream while the writer is locked out.
    ///
    /// # Errors
    /// Returns [`RecordError::Forked`] in a forked child, where the thread that may hold the stream's lock does not
    /// exist.
    pub(crate) fn with_stream<T>(&self, run: impl FnOnce(&mut Stream) -> T) -> Result<T, RecordError> {
        if !self.is_own_process() {
            return Err(RecordError::Forked);
        }
        Ok(local::unrecorded(|| run(&mut self.writer.stream())))
    }

    /// Stops recording and returns the content of the recording. `metadata` is added to the trace's top-level object.
    pub(crate) fn finish(mut self, metadata: &Members) -> Result<(Content, Statistics), RecordError> {
        if !self.is_own_process() {
            // The writer thread and the recording belong to the parent process.
            std::mem::forget(self);
            return Err(RecordError::Forked);
        }
        let begun = Instant::now();
        #[cfg(feature = "nvml")]
        drop(self.metrics.take());
        #[cfg(feature = "sampling")]
        if let Some(lost) = self.sampler.take().map(sampling::Sampler::end).filter(|&lost| lost > 0) {
            self.warnings
                .push(format!("{lost} samples of call stacks were lost: the recorder unwound too slowly"));
        }
        set_state(0);
        PAUSED.store(0, Ordering::SeqCst);
        // Work that was submitted to devices within the window ends within it.
        self.with_stream(|stream| stream.synchronize_devices())?;
        self.window.1 = self.clock.ticks();
        self.with_stream(Stream::stop_devices)?;
        for (activity, since) in &self.paused {
            self.with_stream(|stream| stream.write_pause(activity.as_str(), (*since, self.window.1)))?;
        }
        self.statistics.window = self.started.map_or(Duration::ZERO, |started| started.elapsed());
        let (window, cycle) = (self.window, self.cycle);
        let stream = self.writer.stop();
        IS_TAKEN.store(false, Ordering::Release);
        let mut stream = stream.ok_or(RecordError::WriterLost)?;
        self.statistics.records = stream.records;
        self.statistics.dropped = stream.dropped;
        self.statistics.cut_arguments = CUT.load(Ordering::Relaxed) - self.cut_before;
        self.statistics.bytes = stream.bytes;
        self.statistics.disable = begun.elapsed();
        stream.append_clock();
        let mut tail = Vec::new();
        let mut object = metadata.clone();
        let mut statistics = self.statistics.members();
        let mut warnings = self.warnings;
        if let Some(devices) = stream.devices() {
            statistics.json("devices", &devices.statistics().object());
            warnings.extend(devices.warnings());
        }
        object.json("kinetoscope", &statistics.object());
        if self.statistics.dropped > 0 {
            let count = self.statistics.dropped;
            warnings.push(format!("{count} spans or events were lost, because a memory limit was reached"));
        }
        if self.statistics.cut_arguments > 0 {
            let count = self.statistics.cut_arguments;
            warnings.push(format!(
                "{count} arguments were cut or left out, because those of a record exceed 64 KiB"
            ));
        }
        #[cfg(feature = "stacks")]
        if self.state & flag::STACKS != 0 && stack::take_nameless() {
            let text = "call stacks have no functions: the program has no symbols (`strip`) and no debug information";
            warnings.push(text.to_owned());
        }
        if stream.records == 0 {
            let what = if self.records_cpu { "span began or ended" } else { "device worked" };
            warnings.push(format!("nothing was recorded: no {what} in the window"));
        }
        if !warnings.is_empty() {
            object.texts("WARNING", &warnings);
        }
        meta(&mut tail, object.as_str());
        stream.append(tail);
        stream.write_window(window, cycle);
        self.statistics.bytes = stream.bytes;
        // No more spans without an id were recorded than there are records.
        NEXT_ID.fetch_add(stream.records, Ordering::Relaxed);
        pool().shrink();
        Ok((stream.into_sink().into_content()?, self.statistics))
    }
}

/// The activities that were requested and cannot be recorded, with the reasons.
type Missing = Vec<(Activity, Unavailable)>;

/// Starts to record devices if that is possible.
///
/// # Errors
/// Returns an error if nothing can be recorded.
fn devices(options: &Options) -> Result<(Option<Collector>, Missing), RecordError> {
    let unsupported =
        options.unsupported.iter().map(|&activity| (activity, Unavailable::Unsupported(activity)));
    let mut missing: Missing = unsupported.collect();
    let started = (options.devices != Devices::Off)
        .then(|| local::unrecorded(|| Collector::start(options)))
        .transpose();
    let collector = started.unwrap_or_else(|reason| {
        missing.extend((options.devices == Devices::Requested).then_some((Activity::Cuda, reason)));
        None
    });
    match (options.cpu || collector.is_some(), missing.is_empty()) {
        (true, _) => Ok((collector, missing)),
        (false, true) => Err(RecordError::NoActivities),
        (false, false) => Err(RecordError::CannotRecord(missing)),
    }
}

/// Starts to sample the devices if that was requested. Adds a warning if NVML is not available.
#[cfg(feature = "nvml")]
fn device_metrics(options: &Options, warnings: &mut Vec<String>) -> Option<metrics::Sampler> {
    let interval = options.device_metrics?;
    if !options.cpu {
        warnings.push("device metrics are not recorded without CPU activities".to_owned());
        return None;
    }
    let sampler = metrics::Sampler::start(interval);
    if sampler.is_none() {
        warnings.push("device metrics were requested but NVML is not available".to_owned());
    }
    sampler
}

/// Starts to sample call stacks if that was requested. Adds a warning if it is not possible.
#[cfg(feature = "sampling")]
fn sampler(options: &Options, state: u32, warnings: &mut Vec<String>) -> Option<sampling::Sampler> {
    if options.sampling == 0 || !options.cpu {
        return None;
    }
    let started = local::unrecorded(|| sampling::Sampler::start(state, options.sampling));
    started.inspect_err(|error| warnings.push(format!("call stacks are not sampled: {error}"))).ok()
}
