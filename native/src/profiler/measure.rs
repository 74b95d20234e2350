//! Measures time and peak memory over several runs: `torch_geometric`'s `profileit` and `timeit`.

pub use super::stats::{DeviceMemory, RunStats, StatsSummary, summarize};
use crate::memory::Device;
use std::time::{Duration, Instant};

/// Runs a function. Returns its result, and its duration divided by `avg_time_divisor`; a divisor of 0 counts as 1.
pub fn timeit<T>(avg_time_divisor: u32, run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed() / avg_time_divisor.max(1))
}

/// Measures several runs of the same work.
///
/// Memory peaks are those of [`memory`](crate::memory): of the host, if the global allocator is a
/// [`ProfilingAllocator`](crate::ProfilingAllocator); of the device, as far as a framework reports allocations. Free
/// and used memory of the device are the driver's and need the feature `nvml`.
///
/// ```
/// use kinetoscope::ProfileIt;
///
/// let mut profile = ProfileIt::default();
/// for _ in 0..3 {
///     profile.run(|| (0..1000).sum::<u64>());
/// }
/// let summary = profile.summary().expect("three runs");
/// assert_eq!(summary.runs, 3);
/// println!("{}", profile.csv());
/// ```
#[derive(Clone, Debug, Default)]
pub struct ProfileIt {
    /// The ordinal of the CUDA device that is measured.
    device: Option<u8>,
    runs: Vec<RunStats>,
}

impl ProfileIt {
    /// Returns a `ProfileIt` that also measures the memory of a CUDA device.
    pub fn on_device(ordinal: u8) -> ProfileIt {
        ProfileIt { device: Some(ordinal), runs: Vec::new() }
    }

    /// Runs and measures a function.
    pub fn run<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let device = self.device.map(Device::Cuda);
        for memory in [Some(Device::Cpu), device].into_iter().flatten() {
            memory.reset_peak();
        }
        let before = Device::Cpu.allocated();
        let (result, took) = timeit(1, run);
        let host_peak = (Device::Cpu.peak() - before).max(0);
        self.runs.push(RunStats {
            time_ns: took.as_nanos() as i64,
            host_max_allocated: Some(host_peak),
            device: self.device.map(memory_of),
        });
        result
    }

    /// Returns the measurements of all runs, in order.
    pub fn runs(&self) -> &[RunStats] {
        &self.runs
    }

    /// Returns the summary of all runs; `None` if there were none.
    pub fn summary(&self) -> Option<StatsSummary> {
        summarize(&self.runs)
    }

    /// Returns the summary as CSV, a line of names and a line of values; empty if there were no runs.
    pub fn csv(&self) -> String {
        self.summary().map(|summary| summary.to_csv()).unwrap_or_default()
    }
}

fn memory_of(ordinal: u8) -> DeviceMemory {
    let device = Device::Cuda(ordinal);
    let (free, used) = driver_memory(ordinal).unwrap_or((0, 0));
    DeviceMemory {
        max_allocated: device.peak(),
        max_reserved: device.reserved(),
        max_active: device.peak(),
        free,
        used,
    }
}

/// Returns free and used memory of a CUDA device, over all processes, in bytes, as the driver reports them. Returns
/// `None` if there is no driver, no such device or no feature `nvml`.
pub fn driver_memory(ordinal: u8) -> Option<(i64, i64)> {
    #[cfg(feature = "nvml")]
    {
        let (used, free) = crate::metrics::sample(u32::from(ordinal))?.memory?;
        Some((free as i64, used as i64))
    }
    #[cfg(not(feature = "nvml"))]
    {
        let _ = ordinal;
        None
    }
}
