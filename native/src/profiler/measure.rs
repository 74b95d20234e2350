//! How long something takes and how much memory it needs, several times over: `torch_geometric`'s `profileit` and `timeit`.

pub use super::stats::{DeviceMemory, RunStats, StatsSummary, summarize};
use crate::memory::Device;
use std::time::{Duration, Instant};

/// Runs something and tells how long it took; divided, where it covers several rounds. 0 and 1 leave it as it is.
pub fn timeit<T>(avg_time_divisor: u32, run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed() / avg_time_divisor.max(1))
}

/// Measures runs of the same work.
///
/// Peaks are those of what [`memory`](crate::memory) hears of: of the host, where its allocator is the global one; of the
/// device, what the framework told. What the driver says of the device needs the feature `nvml`.
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
    /// The ordinal of the CUDA device that is looked at.
    device: Option<u8>,
    runs: Vec<RunStats>,
}

impl ProfileIt {
    /// Measures a CUDA device too.
    pub fn on_device(ordinal: u8) -> ProfileIt {
        ProfileIt { device: Some(ordinal), runs: Vec::new() }
    }

    /// Runs something and measures it.
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

    /// What each run came to, in order.
    pub fn runs(&self) -> &[RunStats] {
        &self.runs
    }

    /// All runs together; nothing where there was none.
    pub fn summary(&self) -> Option<StatsSummary> {
        summarize(&self.runs)
    }

    /// The summary as CSV: a line of names and one of values.
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

/// What the driver says is free and in use on a CUDA device, by anyone, in bytes; nothing where there is no driver, no such
/// device, or the feature `nvml` is off.
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
