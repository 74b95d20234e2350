//! The builder of a profiler: what it records, where it writes, and which handlers it calls.

use crate::activity::Activity;
#[cfg(feature = "analysis")]
use crate::activity::types::ActivityType;
use crate::error::RecordError;
use crate::hot::registry::CallSite;
use crate::json::Members;
use crate::mirror::Mirror;
use crate::options::{Destination, Devices, Existing, Options, SiteFilter};
use crate::profiler::handlers::Handler;
#[cfg(feature = "analysis")]
use crate::profiler::observer::ExecutionTraceObserver;
#[cfg(feature = "analysis")]
use crate::profiler::post_processing::PostProcessing;
use crate::profiler::recording::Recording;
use crate::schedule::{ProfilerAction, Schedule};
use crate::spans::value::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(crate) type ScheduleFn = Box<dyn FnMut(u64) -> ProfilerAction + Send>;

/// The options of a profiler. [`Profiler::builder`](crate::Profiler::builder) returns PyTorch's defaults.
#[must_use = "a builder records nothing until it is started"]
pub struct ProfilerBuilder {
    pub(crate) options: Options,
    pub(crate) schedule: Option<ScheduleFn>,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) metadata: Members,
    #[cfg(feature = "analysis")]
    pub(crate) observer: Option<ExecutionTraceObserver>,
    #[cfg(feature = "analysis")]
    pub(crate) post_processing: PostProcessing,
    pub(crate) accumulates: bool,
    pub(crate) is_enabled: bool,
}

impl ProfilerBuilder {
    /// Returns a builder with PyTorch's defaults.
    pub(crate) fn new() -> ProfilerBuilder {
        ProfilerBuilder {
            options: Options::default(),
            schedule: None,
            handlers: Vec::new(),
            metadata: Members::default(),
            #[cfg(feature = "analysis")]
            observer: None,
            #[cfg(feature = "analysis")]
            post_processing: PostProcessing::default(),
            accumulates: false,
            is_enabled: true,
        }
    }

    /// Sets the activities to record. The default is all [supported](crate::profiler::supported_activities) ones.
    /// Without [`Activity::Cpu`], no span, allocation, instant event or counter is recorded; CUDA's calls still are.
    ///
    /// If one cannot be recorded, the others are: the trace has a warning with the reason, and
    /// [`Profiler::unavailable`](crate::Profiler::unavailable) returns it. If none can be recorded, or the list is
    /// empty, the recording does not start.
    pub fn activities(mut self, activities: &[Activity]) -> Self {
        let is_requested = activities.contains(&Activity::Cuda);
        self.options.devices = if is_requested { Devices::Requested } else { Devices::Off };
        self.options.cpu = activities.contains(&Activity::Cpu);
        let is_other = |activity: &Activity| !matches!(activity, Activity::Cpu | Activity::Cuda);
        self.options.unsupported = activities.iter().copied().filter(is_other).collect();
        self
    }

    /// Sets whether the spans and other events of all threads are recorded, which is the default, or only those of the
    /// thread that starts the recording, by [`Profiler::start`](crate::Profiler::start) or, with a schedule, by
    /// [`Profiler::step`](crate::Profiler::step). Devices are recorded whatever thread uses them.
    pub fn profile_all_threads(mut self, is_on: bool) -> Self {
        self.options.all_threads = is_on;
        self
    }

    /// Also records the NVTX ranges that the program itself emits, on all threads. Needs CUDA, and CUPTI as NVTX's
    /// injection library: set `NVTX_INJECTION64_PATH` to the path of CUPTI before the program starts.
    pub fn nvtx_ranges(mut self, is_on: bool) -> Self {
        self.options.nvtx_ranges = is_on;
        self
    }

    /// Sets the limit of CUPTI's activity buffers that wait to be read, in bytes. Records beyond it are dropped and
    /// counted. The default is 128 MiB.
    pub fn device_buffer_bytes(mut self, bytes: usize) -> Self {
        self.options.device_buffer_bytes = bytes;
        self
    }

    /// Samples the devices at this interval and records memory, utilization, clocks, power and temperature as counters.
    /// Needs the feature `nvml` and a driver.
    pub fn device_metrics(mut self, every: Duration) -> Self {
        self.options.device_metrics = Some(every);
        self
    }

    /// Records the shapes, types and values of inputs that spans have as arguments.
    pub fn record_shapes(mut self, is_on: bool) -> Self {
        self.options.record_shapes = is_on;
        self
    }

    /// Records every allocation that is reported to [`memory`](crate::memory).
    pub fn profile_memory(mut self, is_on: bool) -> Self {
        self.options.profile_memory = is_on;
        self
    }

    /// Records the call stack of every span, which costs 1 µs to 4 µs for a span. The first one reads the symbols of the
    /// program, which can take some 100 ms.
    ///
    /// Frames are `file(line): function` if the program has line tables, which the release profile has with
    /// `debug = "line-tables-only"`; otherwise they are the functions of the symbol table, without inlined ones. If the
    /// program has no symbols either, stacks are empty and the trace has a warning. Needs the feature `stacks`.
    #[cfg(feature = "stacks")]
    pub fn with_stack(mut self, is_on: bool) -> Self {
        self.options.with_stack = is_on;
        self
    }

    /// Samples the call stacks of threads that run: this many times for each second of CPU time of the process, at most
    /// 1000, and not more often than the system's clock ticks (100 to 1000 Hz). 99 is a usual number. `kinetoscope
    /// samples` shows where the time went, also between spans.
    ///
    /// A sample copies the top of the sampled thread's stack, and a thread of the recorder unwinds the copy. Frame pointers
    /// and line tables are not necessary; the functions are those of the symbol table, and inlined ones if there are line
    /// tables.
    /// At most 32 KiB of a stack are unwound. Threads that wait are not sampled, nor is the recorder itself.
    ///
    /// On Linux with x86-64 or `AArch64`. Elsewhere, and if the program itself handles `SIGPROF`, which the sampler uses,
    /// the trace has a warning. A program that replaces itself by `exec` while it is sampled has to ignore `SIGPROF`.
    #[cfg(feature = "sampling")]
    pub fn sample_stacks(mut self, frequency: u32) -> Self {
        self.options.sampling = frequency;
        self
    }

    /// Records floating point operations (FLOPs), and shapes, from which the FLOPs of PyTorch's operators are computed.
    pub fn with_flops(mut self, is_on: bool) -> Self {
        self.options.with_flops = is_on;
        self
    }

    /// Records calls of [modules](crate::Module).
    pub fn with_modules(mut self, is_on: bool) -> Self {
        self.options.with_modules = is_on;
        self
    }

    /// Also emits every span to another profiler.
    pub fn mirror(mut self, mirror: Mirror) -> Self {
        self.options.mirrors.push(mirror);
        self
    }

    /// Sets which steps are recorded. Without a schedule, everything from `start` to `stop` is.
    pub fn schedule(self, schedule: Schedule) -> Self {
        let warning = schedule.warning();
        let mut builder = self.schedule_fn(move |step| schedule.action(step));
        builder.options.warnings.extend(warning.map(str::to_owned));
        builder
    }

    /// Sets which steps are recorded, by a function that is called once for each step with its number.
    pub fn schedule_fn(mut self, schedule: impl FnMut(u64) -> ProfilerAction + Send + 'static) -> Self {
        self.schedule = Some(Box::new(schedule));
        self
    }

    /// Adds a handler for each recording: one of [`handlers`](crate::handlers), or any function. Handlers are called in
    /// the order in which they were added.
    pub fn on_trace_ready(
        mut self,
        handler: impl FnMut(&Recording) -> Result<(), RecordError> + Send + 'static,
    ) -> Self {
        self.handlers.push(Box::new(handler));
        self
    }

    /// Attaches an observer, which starts and stops with the recordings of the profiler and writes an execution trace of
    /// each, before the handlers that are added later. Shapes are recorded as with
    /// [`record_shapes`](Self::record_shapes). A profiler has one observer.
    #[cfg(feature = "analysis")]
    pub fn execution_trace_observer(mut self, observer: &ExecutionTraceObserver) -> Self {
        self.options.observer = true;
        self.observer = Some(observer.clone());
        self.on_trace_ready(observer.handler())
    }

    /// Sets whether exported Chrome traces have flows from forward to backward operators, which is the default. The
    /// recording, its events and `.ktrace` files are the same.
    #[cfg(feature = "analysis")]
    pub fn forward_backward_arrows(mut self, is_on: bool) -> Self {
        self.post_processing.has_arrows = is_on;
        self
    }

    /// Exports only these types of an activity's events to Chrome traces; an empty list exports none. The recording, its
    /// events, averages and `.ktrace` files are complete, as in PyTorch. By default an activity is exported with all
    /// types. Types of other activities have no effect; calls of CUDA's runtime and driver are left out only if both
    /// [`Activity::Cpu`] and [`Activity::Cuda`] leave them out. What PyTorch has no type for, such as counters and
    /// asynchronous spans, is always exported.
    ///
    /// ```
    /// use kinetoscope::{Activity, ActivityType, Profiler};
    ///
    /// let builder = Profiler::builder().activity_types(Activity::Cpu, &[ActivityType::CpuOp]);
    /// ```
    #[cfg(feature = "analysis")]
    pub fn activity_types(mut self, activity: Activity, types: &[ActivityType]) -> Self {
        self.post_processing.restrict(activity, types);
        self
    }

    /// Limits the time in which the events of a recording are collected: PyTorch's `post_processing_timeout_s`.
    /// [`Recording::events`], and averages and tables of them, have the events up to then, the earliest first; none with a
    /// timeout of 0. The time begins when the recording has been read. It does not include the tree, shapes and stacks
    /// of the events that were collected, nor has it an effect on [`Recording::trace`] and exported traces, which are
    /// complete.
    #[cfg(feature = "analysis")]
    pub fn post_processing_timeout(mut self, timeout: Duration) -> Self {
        self.post_processing.timeout = Some(timeout);
        self
    }

    /// Adds a member to the trace's top-level object.
    pub fn metadata(mut self, key: impl AsRef<str>, value: impl Value) -> Self {
        self.metadata.value(key.as_ref(), |json| value.append_json(json));
        self
    }

    /// Sets whether each recording also contains those of earlier cycles: PyTorch's `acc_events`.
    pub fn accumulate(mut self, is_on: bool) -> Self {
        self.accumulates = is_on;
        self
    }

    /// Sets whether the profiler is enabled. If not, it does nothing, and its `stop` returns `None`.
    pub fn enabled(mut self, is_on: bool) -> Self {
        self.is_enabled = is_on;
        self
    }

    /// Writes to a file while recording, so that everything that was written can be read after the program is killed.
    /// The default is to keep the recording in memory. A new file can be read by its owner only, whatever the umask is: it shows
    /// paths, arguments and names of the program.
    ///
    /// The recording does not start if the file exists and is not empty, unless [`overwrite`](Self::overwrite) or
    /// [`append`](Self::append) is set, or if another profiler, of any process, writes to it. The later recordings of a
    /// schedule are appended to the first one.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.destination = Destination::File { path: path.into(), is_durable: false };
        self
    }

    /// The same as [`file`](Self::file), and syncs the file to the disk after each write, which protects against power
    /// loss.
    pub fn durable_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.destination = Destination::File { path: path.into(), is_durable: true };
        self
    }

    /// Removes the content of an existing [`file`](Self::file).
    pub fn overwrite(mut self, is_on: bool) -> Self {
        self.options.existing = if is_on { Existing::Overwrite } else { Existing::Refuse };
        self
    }

    /// Appends to the recordings in an existing [`file`](Self::file). Each is a window of the trace, and each process has
    /// its own id.
    pub fn append(mut self, is_on: bool) -> Self {
        self.options.existing = if is_on { Existing::Append } else { Existing::Refuse };
        self
    }

    /// Sets how long a start waits until another profiler of the process has ended. The default is 0: the start fails with
    /// [`RecordError::AlreadyRecording`]. Profilers that wait start in any order.
    pub fn wait(mut self, timeout: Duration) -> Self {
        self.options.wait = timeout;
        self
    }

    /// Selects the call sites that are recorded: spans, instant events, counters and flows of the macros, and spans and
    /// events of `tracing`. The function is called once for each call site in a recording; a call site that is left out
    /// costs a few ns. Without a filter, all are recorded.
    ///
    /// ```
    /// use kinetoscope::{Profiler, scope};
    ///
    /// let builder = Profiler::builder().filter(|site| site.name != "noise" && site.level != Some("TRACE"));
    /// let mut profiler = builder.start()?;
    /// drop(scope!("noise"));
    /// drop(scope!("work"));
    /// let recording = profiler.stop()?.expect("recording was enabled");
    /// assert_eq!(recording.statistics.records, 2);
    /// # Ok::<(), kinetoscope::RecordError>(())
    /// ```
    pub fn filter(mut self, filter: impl Fn(&CallSite) -> bool + Send + Sync + 'static) -> Self {
        self.options.filter = Some(SiteFilter(Arc::new(filter)));
        self
    }

    /// Sets the interval at which records are written. Records younger than this are lost if the program is killed. The
    /// default is 20 ms, the minimum 1 ms.
    pub fn flush_interval(mut self, interval: Duration) -> Self {
        self.options.flush_interval = interval.max(Duration::from_millis(1));
        self
    }

    /// Sets the limit of records that wait to be written, in bytes. Records beyond it are dropped and counted. The
    /// default is 64 MiB.
    pub fn buffer_bytes(mut self, bytes: usize) -> Self {
        self.options.buffer_bytes = bytes;
        self
    }

    /// Keeps the recording in memory, with this limit in bytes. Records beyond it are dropped and counted. The default
    /// is 1 GiB.
    pub fn memory_bytes(mut self, bytes: usize) -> Self {
        self.options.destination = Destination::Memory { bytes };
        self
    }
}
