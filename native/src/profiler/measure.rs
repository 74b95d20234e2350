//! Measures time and peak memory over several runs: `torch_geometric`'s `profileit`, `timeit`, `log`,
//! `rename_profile_file`, `torch_profile` and `save_profile_data`.

use super::handlers::TIMELINE;
#[cfg(feature = "analysis")]
pub use super::profile_data::{DeviceTimes, ProfileData, ProfileRow};
pub use super::stats::{DeviceMemory, RunStats, StatsSummary, summarize};
pub use super::time_it::{TimeIt, timeit};
use crate::device::synchronize;
use crate::memory::Device;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;
#[cfg(feature = "analysis")]
use {
    crate::error::RecordError,
    crate::profiler::Profiler,
    crate::profiler::handlers::{print_time_total, timeline_handler},
    crate::profiler::recording::Recording,
};

/// A value of a line of [`log`].
#[derive(Clone, Debug, PartialEq)]
pub enum LogValue {
    /// An integer, written with at least three digits.
    Int(i64),
    /// A number, written with four decimals.
    Float(f64),
    /// A text, written as it is.
    Text(String),
}

/// Returns a line such as `Epoch: 007, Loss: 0.1234`, as `torch_geometric`'s `log` prints it.
///
/// ```
/// use kinetoscope::profiler::measure::{LogValue, log};
///
/// let line = log(&[("Epoch", LogValue::Int(7)), ("Loss", LogValue::Float(0.12345))]);
/// assert_eq!(line, "Epoch: 007, Loss: 0.1235");
/// ```
pub fn log(values: &[(&str, LogValue)]) -> String {
    let mut line = String::new();
    for (at, (name, value)) in values.iter().enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        // Writing to a `String` cannot fail.
        let _ = match value {
            LogValue::Int(number) => write!(line, "{comma}{name}: {number:03}"),
            LogValue::Float(number) => write!(line, "{comma}{name}: {number:.4}"),
            LogValue::Text(text) => write!(line, "{comma}{name}: {text}"),
        };
    }
    line
}

/// Renames `timeline.json` in a folder to `profile-PART-PART….json`, as `torch_geometric`'s `rename_profile_file` does in
/// the working folder. Returns the new path.
///
/// # Errors
/// Returns the error of the system, for example if the folder has no `timeline.json`. An existing file of the new name is
/// not replaced.
pub fn rename_profile_file(folder: impl AsRef<Path>, parts: &[&str]) -> io::Result<PathBuf> {
    let folder = folder.as_ref();
    let name: String = ["profile"].iter().chain(parts).copied().collect::<Vec<_>>().join("-");
    let to = folder.join(name + ".json");
    if to.exists() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("{} exists", to.display())));
    }
    std::fs::rename(folder.join(TIMELINE), &to)?;
    Ok(to)
}

/// Records the CPU, and CUDA devices if they are available, while a function runs, and prints the table of its
/// operators: `torch_geometric`'s `torch_profile`. With a folder, the Chrome trace is written to its `timeline.json`.
/// [`ProfileData`] has what `torch_geometric` then saves as CSV.
///
/// # Errors
/// Returns the errors of [`Profiler::start`], before the function runs, and those of the recording and its files
/// afterwards.
#[cfg(feature = "analysis")]
pub fn torch_profile<T>(
    folder: Option<&Path>,
    run: impl FnOnce() -> T,
) -> Result<(T, Recording), RecordError> {
    let builder = Profiler::builder().on_trace_ready(match folder {
        Some(folder) => timeline_handler(folder),
        None => print_time_total(),
    });
    let profiler = builder.start()?;
    let result = run();
    Ok((result, profiler.finish()?))
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

    /// Runs and measures a function. With a device, the time ends when the devices have finished the work that the
    /// function submitted, if they can be recorded.
    pub fn run<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let device = self.device.map(Device::Cuda);
        for memory in [Some(Device::Cpu), device].into_iter().flatten() {
            memory.reset_peak();
        }
        let before = Device::Cpu.allocated();
        // Work that was submitted before is not part of the run; what the run submits is.
        self.device.iter().for_each(|_| synchronize());
        let begin = Instant::now();
        let result = run();
        self.device.iter().for_each(|_| synchronize());
        let took = begin.elapsed();
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
    let (free, used) = driver_memory(ordinal).unzip();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_files_are_renamed_but_not_replaced() {
        let folder = std::env::temp_dir().join(format!("kinetoscope-rename-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        assert_eq!(rename_profile_file(&folder, &["a"]).map_err(|e| e.kind()), Err(io::ErrorKind::NotFound));
        for text in ["first", "second"] {
            std::fs::write(folder.join(TIMELINE), text).expect("a file");
            let renamed = rename_profile_file(&folder, &["GCN", "Cora"]);
            if text == "first" {
                assert_eq!(renamed.expect("a new name"), folder.join("profile-GCN-Cora.json"));
            } else {
                assert_eq!(renamed.map_err(|e| e.kind()), Err(io::ErrorKind::AlreadyExists));
            }
        }
        assert_eq!(std::fs::read_to_string(folder.join("profile-GCN-Cora.json")).expect("the file"), "first");
        std::fs::remove_dir_all(folder).expect("the folder");
    }

    #[test]
    fn lines_of_logs_have_three_digits_or_four_decimals() {
        let text = LogValue::Text("GCN".into());
        let line = log(&[("Model", text), ("Epoch", LogValue::Int(1234)), ("Loss", LogValue::Float(-0.5))]);
        assert_eq!(line, "Model: GCN, Epoch: 1234, Loss: -0.5000");
        assert_eq!(log(&[]), "");
    }
}
