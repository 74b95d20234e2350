//! What profilers and flight recorders record. Both builders have these setters.

/// Implements the setters of what is recorded, for a builder with `options: Options`.
macro_rules! setters {
    ($builder:ident) => {
        /// What is recorded.
        impl $builder {
            /// Sets the activities to record. The default is all [supported](crate::profiler::supported_activities) ones.
            /// Without [`Activity::Cpu`](crate::activity::Activity::Cpu), no span, allocation, instant event or counter is recorded; CUDA's calls still are.
            ///
            /// If one cannot be recorded, the others are: the trace has a warning with the reason, and
            /// [`Profiler::unavailable`](crate::profiler::Profiler::unavailable) returns it. If none can be recorded, or the list is
            /// empty, the recording does not start.
            pub fn activities(mut self, activities: &[crate::activity::Activity]) -> Self {
                self.options.record(activities);
                self
            }

            /// Sets whether the spans and other events of all threads are recorded, which is the default, or only those of the
            /// thread that starts the recording, by [`Profiler::start`](crate::profiler::Profiler::start) or, with a schedule, by
            /// [`Profiler::step`](crate::profiler::Profiler::step). Devices are recorded whatever thread uses them.
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
            pub fn device_metrics(mut self, every: std::time::Duration) -> Self {
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

            /// Records calls of [modules](crate::spans::module::Module).
            pub fn with_modules(mut self, is_on: bool) -> Self {
                self.options.with_modules = is_on;
                self
            }

            /// Also emits every span to another profiler.
            pub fn mirror(mut self, mirror: crate::mirror::Mirror) -> Self {
                self.options.mirrors.push(mirror);
                self
            }

            /// Sets how long a start waits until another profiler of the process has ended. The default is 0: the start fails with
            /// [`RecordError::AlreadyRecording`](crate::error::RecordError::AlreadyRecording). Profilers that wait start in any order.
            pub fn wait(mut self, timeout: std::time::Duration) -> Self {
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
            /// let profiler = builder.start()?;
            /// drop(scope!("noise"));
            /// drop(scope!("work"));
            /// let recording = profiler.finish()?;
            /// assert_eq!(recording.statistics.records, 2);
            /// # Ok::<(), kinetoscope::RecordError>(())
            /// ```
            pub fn filter(
                mut self,
                filter: impl Fn(&crate::hot::registry::CallSite) -> bool + Send + Sync + 'static,
            ) -> Self {
                self.options.filter = Some(crate::options::SiteFilter(std::sync::Arc::new(filter)));
                self
            }

            /// Sets the interval at which records are collected and, of a profiler, written: records younger than this are lost if
            /// the program is killed. The default is 20 ms, the minimum 1 ms. A flight recorder checks its conditions four times in
            /// it, and has a default of 200 ms; its dumps are complete whatever the interval.
            pub fn flush_interval(mut self, interval: std::time::Duration) -> Self {
                self.options.flush_interval = interval.max(std::time::Duration::from_millis(1));
                self
            }

            /// Sets the limit of records that wait in buffers of the threads, in bytes. Records beyond it are dropped and counted. The
            /// default is 64 MiB.
            pub fn buffer_bytes(mut self, bytes: usize) -> Self {
                self.options.buffer_bytes = bytes;
                self
            }
        }
    };
}

pub(super) use setters;
