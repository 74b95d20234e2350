//! Options of a recording: what is recorded and where it is written.

use crate::activity::Activity;
use crate::hot::registry::Filter;
use crate::hot::state::flag;
use crate::mirror::Mirror;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The destination of a recording.
#[derive(Clone, Debug)]
pub(crate) enum Destination {
    /// Memory, up to `bytes`.
    Memory { bytes: usize },
    /// A file. If `is_durable`, each write waits for the disk.
    File { path: PathBuf, is_durable: bool },
    /// A ring buffer in memory, which keeps the last seconds (`keep`) and at most `bytes` of records.
    Ring { keep: Duration, bytes: usize },
}

/// A function that selects call sites.
#[derive(Clone)]
pub(crate) struct SiteFilter(pub(crate) Arc<Filter>);

impl fmt::Debug for SiteFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SiteFilter")
    }
}

/// What happens to a file that exists and is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    /// The recording does not start.
    Refuse,
    /// Its content is removed.
    Overwrite,
    /// The recording is appended to those in it.
    Append,
}

/// The options of a recording; see the methods of [`ProfilerBuilder`](crate::ProfilerBuilder).
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) record_shapes: bool,
    pub(crate) profile_memory: bool,
    pub(crate) with_stack: bool,
    pub(crate) with_flops: bool,
    pub(crate) with_modules: bool,
    pub(crate) destination: Destination,
    pub(crate) existing: Existing,
    /// How long a start waits for another recording of the process to end.
    pub(crate) wait: Duration,
    pub(crate) flush_interval: Duration,
    pub(crate) buffer_bytes: usize,
    pub(crate) mirrors: Vec<Mirror>,
    /// Whether spans, allocations and other events of this program are recorded.
    pub(crate) cpu: bool,
    /// Whether all threads are recorded, or only the one that starts the recording.
    pub(crate) all_threads: bool,
    /// Whether an execution trace observer is attached.
    pub(crate) observer: bool,
    pub(crate) devices: Devices,
    /// Requested activities that are not supported.
    pub(crate) unsupported: Vec<Activity>,
    /// Whether the program's own NVTX ranges are recorded.
    pub(crate) nvtx_ranges: bool,
    /// The limit of CUPTI's activity buffers that wait to be read, in bytes.
    pub(crate) device_buffer_bytes: usize,
    /// The interval at which memory, utilization and clocks of the devices are sampled.
    pub(crate) device_metrics: Option<Duration>,
    /// The number of samples of call stacks for each second of CPU time; 0 for none.
    #[cfg(feature = "sampling")]
    pub(crate) sampling: u32,
    pub(crate) warnings: Vec<String>,
    /// Selects the call sites that are recorded.
    pub(crate) filter: Option<SiteFilter>,
}

/// Whether CUDA devices are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Devices {
    /// Not recorded.
    Off,
    /// Recorded if they are available.
    IfAvailable,
    /// Requested by the program: the trace has a warning if they cannot be recorded.
    Requested,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            record_shapes: false,
            profile_memory: false,
            with_stack: false,
            with_flops: false,
            with_modules: false,
            destination: Destination::Memory { bytes: 1 << 30 },
            existing: Existing::Refuse,
            wait: Duration::ZERO,
            flush_interval: Duration::from_millis(20),
            buffer_bytes: 64 << 20,
            mirrors: Vec::new(),
            cpu: true,
            all_threads: true,
            observer: false,
            devices: Devices::IfAvailable,
            unsupported: Vec::new(),
            nvtx_ranges: false,
            device_buffer_bytes: 128 << 20,
            device_metrics: None,
            #[cfg(feature = "sampling")]
            sampling: 0,
            warnings: Vec::new(),
            filter: None,
        }
    }
}

impl Options {
    /// Selects the activities to record.
    pub(crate) fn record(&mut self, activities: &[Activity]) {
        let is_requested = activities.contains(&Activity::Cuda);
        self.devices = if is_requested { Devices::Requested } else { Devices::Off };
        self.cpu = activities.contains(&Activity::Cpu);
        let is_other = |activity: &Activity| !matches!(activity, Activity::Cpu | Activity::Cuda);
        self.unsupported = activities.iter().copied().filter(is_other).collect();
    }

    pub(crate) fn shapes(&self) -> bool {
        self.record_shapes || self.with_flops || self.observer
    }

    pub(crate) fn flags(&self) -> u32 {
        [
            (self.shapes(), flag::SHAPES),
            (self.profile_memory, flag::MEMORY),
            (self.with_stack, flag::STACKS),
            (self.with_modules, flag::MODULES),
            (self.with_flops, flag::FLOPS),
            (!self.all_threads, flag::ONE_THREAD),
            (self.observer, flag::OBSERVER),
        ]
        .into_iter()
        .filter(|(is_on, _)| *is_on)
        .fold(0, |flags, (_, flag)| flags | flag)
    }

    /// The options under PyTorch's names, for the trace's metadata.
    pub(crate) fn named_flags(&self) -> [(&'static str, bool); 5] {
        [
            ("record_shapes", self.shapes()),
            ("profile_memory", self.profile_memory),
            ("with_stack", self.with_stack),
            ("with_flops", self.with_flops),
            ("with_modules", self.with_modules),
        ]
    }
}
