//! What a profiler is to record, where to, and what is done with it.

use crate::error::RecordError;
use crate::mirror::Mirror;
use crate::options::{Activity, Destination, Devices, Options};
use crate::output::document::Member;
use crate::profiler::handlers::Handler;
use crate::profiler::recording::Recording;
use crate::schedule::{ProfilerAction, Schedule};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) type ScheduleFn = Box<dyn FnMut(u64) -> ProfilerAction + Send>;

/// What a profiler is to record; [`Profiler::builder`](crate::Profiler::builder) gives torch's defaults.
#[must_use = "a builder records nothing until it is started"]
pub struct ProfilerBuilder {
    pub(crate) options: Options,
    pub(crate) schedule: Option<ScheduleFn>,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) metadata: Vec<Member>,
    pub(crate) accumulates: bool,
    pub(crate) is_enabled: bool,
}

impl ProfilerBuilder {
    /// torch's defaults.
    pub(crate) fn new() -> ProfilerBuilder {
        ProfilerBuilder {
            options: Options::default(),
            schedule: None,
            handlers: Vec::new(),
            metadata: Vec::new(),
            accumulates: false,
            is_enabled: true,
        }
    }

    /// What is looked at: all that [can be](crate::profiler::supported_activities), if nothing is said. CUDA, where there is
    /// none, is a warning in the trace that has the reason, and the rest goes on.
    pub fn activities(mut self, activities: &[Activity]) -> Self {
        let is_asked = activities.contains(&Activity::Cuda);
        self.options.devices = if is_asked { Devices::Asked } else { Devices::No };
        self
    }

    /// Also records the ranges that the program tells NVTX of, on any of its threads. CUPTI has to be NVTX's listener: set
    /// `NVTX_INJECTION64_PATH` to its file before the program starts. Needs CUDA.
    pub fn nvtx_ranges(mut self, is_on: bool) -> Self {
        self.options.nvtx_ranges = is_on;
        self
    }

    /// How many bytes of CUPTI's records may wait to be read; what finds no room is dropped and counted. 128 MiB if not said.
    pub fn device_buffer_bytes(mut self, bytes: usize) -> Self {
        self.options.device_buffer_bytes = bytes;
        self
    }

    /// Asks the devices this often how much memory is in use, how busy they are, and at which clocks: counters in the trace.
    /// Needs the feature `nvml`, and a driver.
    pub fn device_metrics(mut self, every: Duration) -> Self {
        self.options.device_metrics = Some(every);
        self
    }

    /// Records the shapes, types and values that spans tell of their inputs.
    pub fn record_shapes(mut self, is_on: bool) -> Self {
        self.options.record_shapes = is_on;
        self
    }

    /// Records every allocation that [`memory`](crate::memory) hears of.
    pub fn profile_memory(mut self, is_on: bool) -> Self {
        self.options.profile_memory = is_on;
        self
    }

    /// Records the call stack of every span.
    pub fn with_stack(mut self, is_on: bool) -> Self {
        self.options.with_stack = is_on;
        self
    }

    /// Records floating point operations, and shapes, from which those of torch's operators are computed.
    pub fn with_flops(mut self, is_on: bool) -> Self {
        self.options.with_flops = is_on;
        self
    }

    /// Records calls of [modules](crate::Module).
    pub fn with_modules(mut self, is_on: bool) -> Self {
        self.options.with_modules = is_on;
        self
    }

    /// Also tells another profiler of every span.
    pub fn mirror(mut self, mirror: Mirror) -> Self {
        self.options.mirrors.push(mirror);
        self
    }

    /// Which steps are recorded; without a schedule, all from `start` to `stop`.
    pub fn schedule(self, schedule: Schedule) -> Self {
        let warning = schedule.warning();
        let mut builder = self.schedule_fn(move |step| schedule.action(step));
        builder.options.warnings.extend(warning.map(str::to_owned));
        builder
    }

    /// The same by a function of the step, which is called once for each.
    pub fn schedule_fn(mut self, schedule: impl FnMut(u64) -> ProfilerAction + Send + 'static) -> Self {
        self.schedule = Some(Box::new(schedule));
        self
    }

    /// What is done with each recording: one of [`handlers`](crate::handlers), or a function of one's own. Several are
    /// called in turn.
    pub fn on_trace_ready(
        mut self,
        handler: impl FnMut(&Recording) -> Result<(), RecordError> + Send + 'static,
    ) -> Self {
        self.handlers.push(Box::new(handler));
        self
    }

    /// A key of the trace's top-level object.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.push((key.into(), value.into()));
        self
    }

    /// Each recording also holds those of the cycles before it: torch's `acc_events`.
    pub fn accumulate(mut self, is_on: bool) -> Self {
        self.accumulates = is_on;
        self
    }

    /// A profiler that is not enabled does nothing, and its `stop` gives nothing.
    pub fn enabled(mut self, is_on: bool) -> Self {
        self.is_enabled = is_on;
        self
    }

    /// Appends to a file while recording, so that what was recorded is there even when the program is killed. Without
    /// one, the recording is kept in memory.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.destination = Destination::File { path: path.into(), is_durable: false };
        self
    }

    /// The same, and waits after each write until the disk has it: for power loss, not for a killed program.
    pub fn durable_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.options.destination = Destination::File { path: path.into(), is_durable: true };
        self
    }

    /// How often what was recorded is written; what is younger is lost when the program is killed. 20 ms if not said.
    pub fn flush_interval(mut self, interval: Duration) -> Self {
        self.options.flush_interval = interval.max(Duration::from_millis(1));
        self
    }

    /// How many bytes may wait to be written; what finds no room is dropped and counted. 64 MiB if not said.
    pub fn buffer_bytes(mut self, bytes: usize) -> Self {
        self.options.buffer_bytes = bytes;
        self
    }

    /// Keeps the recording in memory, in at most so many bytes; what finds no room is dropped and counted. 1 GiB if nothing
    /// is said.
    pub fn memory_bytes(mut self, bytes: usize) -> Self {
        self.options.destination = Destination::Memory { bytes };
        self
    }
}
