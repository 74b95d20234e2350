//! The builder of a profiler: what it records, where it writes, and which handlers it calls.

#[cfg(feature = "analysis")]
use crate::activity::{Activity, types::ActivityType};
use crate::error::RecordError;
use crate::json::Members;
use crate::options::{Destination, Existing, Options};
use crate::profiler::handlers::Handler;
#[cfg(feature = "analysis")]
use crate::profiler::observer::ExecutionTraceObserver;
#[cfg(feature = "analysis")]
use crate::profiler::post_processing::PostProcessing;
use crate::profiler::recording::Recording;
use crate::profiler::setters::setters;
use crate::schedule::{ProfilerAction, Schedule};
use crate::spans::value::Value;
use std::path::PathBuf;
#[cfg(feature = "analysis")]
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

setters!(ProfilerBuilder);

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

    /// Keeps the recording in memory, with this limit in bytes. Records beyond it are dropped and counted. The default
    /// is 1 GiB.
    pub fn memory_bytes(mut self, bytes: usize) -> Self {
        self.options.destination = Destination::Memory { bytes };
        self
    }
}
