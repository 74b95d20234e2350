//! Statistics over several runs of the same work, as in `torch_geometric.profile`: time and memory peaks. The
//! measurements themselves are made in [`measure`](super::measure).

/// Memory of a device in one run, in bytes: `torch_geometric`'s `CUDAStats`; without `free` and `used` its `GPUStats`,
/// which it has for XPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceMemory {
    /// The peak of the bytes allocated for tensors.
    pub max_allocated: i64,
    /// The peak of the bytes that the allocator held.
    pub max_reserved: i64,
    /// The peak of the bytes in use, including blocks that wait to be freed.
    pub max_active: i64,
    /// The free memory after the run, as NVIDIA's driver reports it.
    pub free: Option<i64>,
    /// The memory used by all processes after the run, as NVIDIA's driver reports it.
    pub used: Option<i64>,
}

/// The measurements of one run: `torch_geometric`'s `Stats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// The duration, in ns.
    pub time_ns: i64,
    /// The peak of allocated host memory, in bytes, relative to the start of the run.
    pub host_max_allocated: Option<i64>,
    /// The memory of the device, if one was measured.
    pub device: Option<DeviceMemory>,
}

/// The summary of several runs: `torch_geometric`'s `StatsSummary`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatsSummary {
    /// The number of runs.
    pub runs: usize,
    /// The mean duration, in ns.
    pub time_mean_ns: f64,
    /// The sample standard deviation of the duration (divided by runs − 1), in ns; `None` for one run.
    pub time_std_ns: Option<f64>,
    /// The largest peak of allocated host memory, in bytes.
    pub host_max_allocated: Option<i64>,
    /// Over the runs with a device: the largest of each peak; the least free and the most used memory if every one of them
    /// has it.
    pub device: Option<DeviceMemory>,
}

/// The header of the CSV.
const HEADER: &str = "runs,time_mean_ns,time_std_ns,host_max_allocated_bytes,max_allocated_bytes,max_reserved_bytes,\
                      max_active_bytes,min_free_bytes,max_used_bytes";

/// Summarizes runs. Returns `None` if there are none.
pub fn summarize(runs: &[RunStats]) -> Option<StatsSummary> {
    let n = runs.len() as f64;
    let sum: i128 = runs.iter().map(|r| i128::from(r.time_ns)).sum();
    let mean = if runs.is_empty() { return None } else { sum as f64 / n };
    let squares: f64 = runs.iter().map(|r| (r.time_ns as f64 - mean) * (r.time_ns as f64 - mean)).sum();
    let worst = |a: DeviceMemory, b: DeviceMemory| DeviceMemory {
        max_allocated: a.max_allocated.max(b.max_allocated),
        max_reserved: a.max_reserved.max(b.max_reserved),
        max_active: a.max_active.max(b.max_active),
        free: a.free.zip(b.free).map(|(a, b)| a.min(b)),
        used: a.used.zip(b.used).map(|(a, b)| a.max(b)),
    };
    Some(StatsSummary {
        runs: runs.len(),
        time_mean_ns: mean,
        time_std_ns: (runs.len() > 1).then(|| (squares / (n - 1.0)).sqrt()),
        host_max_allocated: runs.iter().filter_map(|r| r.host_max_allocated).max(),
        device: runs.iter().filter_map(|r| r.device).reduce(worst),
    })
}

impl StatsSummary {
    /// Returns the summary as CSV: a line of names and a line of values. A missing value is empty. Times are in ns,
    /// sizes in bytes.
    pub fn to_csv(&self) -> String {
        let bytes = |of: fn(&DeviceMemory) -> Option<i64>| {
            self.device.as_ref().and_then(of).map(|bytes| bytes.to_string())
        };
        let values = [
            Some(self.runs.to_string()),
            Some(self.time_mean_ns.to_string()),
            self.time_std_ns.map(|std| std.to_string()),
            self.host_max_allocated.map(|bytes| bytes.to_string()),
            bytes(|d| Some(d.max_allocated)),
            bytes(|d| Some(d.max_reserved)),
            bytes(|d| Some(d.max_active)),
            bytes(|d| d.free),
            bytes(|d| d.used),
        ];
        format!("{HEADER}\r\n{}\r\n", values.map(Option::unwrap_or_default).join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_has_the_worst_memory_values_and_the_standard_deviation_of_time() {
        let memory = |peak: i64, free: i64| DeviceMemory {
            max_allocated: peak,
            max_reserved: peak + 1,
            max_active: peak + 2,
            free: Some(free),
            used: Some(100 - free),
        };
        let runs: Vec<RunStats> = [(2, memory(5, 40)), (4, memory(9, 60)), (9, memory(7, 50))]
            .map(|(time_ns, device)| RunStats {
                time_ns,
                host_max_allocated: Some(time_ns * 2),
                device: Some(device),
            })
            .to_vec();
        let summary = summarize(&runs).expect("a summary");
        assert_eq!(summary.time_mean_ns.to_bits(), 5f64.to_bits());
        assert_eq!(summary.time_std_ns.map(f64::to_bits), Some(13f64.sqrt().to_bits()));
        let worst = DeviceMemory {
            max_allocated: 9,
            max_reserved: 10,
            max_active: 11,
            free: Some(40),
            used: Some(60),
        };
        assert_eq!(summary.device, Some(worst));
        assert!(summary.to_csv().ends_with("\r\n3,5,3.605551275463989,18,9,10,11,40,60\r\n"));
        let single = summarize(&[RunStats { time_ns: 7, ..RunStats::default() }]).expect("a summary");
        assert_eq!((single.time_std_ns, single.device), (None, None));
        assert!(single.to_csv().ends_with("\r\n1,7,,,,,,,\r\n"));
        assert_eq!(summarize(&[]), None);
        let mut mixed = runs.clone();
        mixed[1].device = Some(DeviceMemory { free: None, used: None, ..memory(9, 0) });
        let mixed = summarize(&mixed).and_then(|summary| summary.device).expect("a device");
        assert_eq!((mixed.max_allocated, mixed.free, mixed.used), (9, None, None));
    }
}
