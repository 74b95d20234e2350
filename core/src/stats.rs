//! Statistics over several runs of one piece of work, as `torch_geometric.profile` keeps them: time, and peaks of device
//! memory. Who measures brings the clock and the numbers.

use crate::error::Error;
use crate::rows::{Cell, Column, Rows};
use alloc::borrow::ToOwned;
use alloc::vec;

/// What a device's memory came to in one run, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceMemory {
    /// Most that tensors held.
    pub max_allocated: i64,
    /// Most that the allocator held.
    pub max_reserved: i64,
    /// Most that was in use, with what waited to be freed.
    pub max_active: i64,
    /// What the driver said was free afterwards.
    pub free: i64,
    /// What the driver said was in use afterwards, by anyone.
    pub used: i64,
}

/// One run: `torch_geometric`'s `Stats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// How long it took, in ns.
    pub time_ns: i64,
    /// Most that it held of the host's memory, beyond what was held before, in bytes.
    pub host_max_allocated: Option<i64>,
    /// The device's memory, where there is a device.
    pub device: Option<DeviceMemory>,
}

/// Several runs: `torch_geometric`'s `StatsSummary`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatsSummary {
    /// How many runs.
    pub runs: usize,
    /// Their mean time, in ns.
    pub time_mean_ns: f64,
    /// The standard deviation of a sample (divided by runs − 1), in ns; `None` for one run.
    pub time_std_ns: Option<f64>,
    /// The most that a run held of the host's memory, in bytes.
    pub host_max_allocated: Option<i64>,
    /// The largest of each peak, the least that was free and the most that was used, over the runs with a device.
    pub device: Option<DeviceMemory>,
}

/// The columns of a summary.
pub const COLUMNS: &[Column] = &[
    Column::int("runs", "Runs", "How many runs."),
    Column::float("time_mean_ns", "Mean ns", "Mean time of a run."),
    Column::float("time_std_ns", "Std ns", "Standard deviation of a sample of times; none for one run.")
        .or_null(),
    Column::bytes("host_max_allocated_bytes", "Host", "Most that a run held of the host's memory.").or_null(),
    Column::bytes("max_allocated_bytes", "Allocated", "Most that tensors held on the device.").or_null(),
    Column::bytes("max_reserved_bytes", "Reserved", "Most that the allocator held.").or_null(),
    Column::bytes("max_active_bytes", "Active", "Most that was in use, with what waited to be freed.")
        .or_null(),
    Column::bytes("min_free_bytes", "Least free", "The least that the driver said was free.").or_null(),
    Column::bytes("max_used_bytes", "Most used", "The most that the driver said was in use, by anyone.")
        .or_null(),
];

/// Summarizes runs; `None` when there are none.
pub fn summarize(runs: &[RunStats]) -> Option<StatsSummary> {
    let n = runs.len() as f64;
    let sum: i128 = runs.iter().map(|r| i128::from(r.time_ns)).sum();
    let mean = if runs.is_empty() { return None } else { sum as f64 / n };
    let squares: f64 = runs.iter().map(|r| (r.time_ns as f64 - mean) * (r.time_ns as f64 - mean)).sum();
    let worst = |a: DeviceMemory, b: DeviceMemory| DeviceMemory {
        max_allocated: a.max_allocated.max(b.max_allocated),
        max_reserved: a.max_reserved.max(b.max_reserved),
        max_active: a.max_active.max(b.max_active),
        free: a.free.min(b.free),
        used: a.used.max(b.used),
    };
    Some(StatsSummary {
        runs: runs.len(),
        time_mean_ns: mean,
        time_std_ns: (runs.len() > 1).then(|| libm::sqrt(squares / (n - 1.0))),
        host_max_allocated: runs.iter().filter_map(|r| r.host_max_allocated).max(),
        device: runs.iter().filter_map(|r| r.device).reduce(worst),
    })
}

impl StatsSummary {
    /// The summary as one row, of which CSV or JSON is made.
    pub fn rows(&self) -> Rows {
        let bytes =
            |of: fn(&DeviceMemory) -> i64| self.device.as_ref().map_or(Cell::Null, |d| Cell::Bytes(of(d)));
        let mut rows = Rows::new(COLUMNS);
        rows.push(vec![
            self.runs.into(),
            Cell::Float(self.time_mean_ns),
            self.time_std_ns.map_or(Cell::Null, Cell::Float),
            self.host_max_allocated.map_or(Cell::Null, Cell::Bytes),
            bytes(|d| d.max_allocated),
            bytes(|d| d.max_reserved),
            bytes(|d| d.max_active),
            bytes(|d| d.free),
            bytes(|d| d.used),
        ]);
        rows
    }
}

/// `torch_geometric`'s `timeit`: the time between two readings of a clock, divided where it covers several rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeIt {
    /// Divides the time; 0 and 1 leave it as it is.
    pub avg_time_divisor: u32,
    started_ns: Option<i64>,
}

impl TimeIt {
    /// A measure that has not begun.
    pub fn new(avg_time_divisor: u32) -> TimeIt {
        TimeIt { avg_time_divisor, started_ns: None }
    }

    /// Begins at `now_ns` of any clock.
    pub fn start(&mut self, now_ns: i64) {
        self.started_ns = Some(now_ns);
    }

    /// The time in ns until `now_ns`.
    ///
    /// # Errors
    /// [`Error::BadOption`] when the measure was not begun.
    pub fn stop(&self, now_ns: i64) -> Result<f64, Error> {
        let Some(started) = self.started_ns else {
            return Err(Error::BadOption("the timer was not started".to_owned()));
        };
        Ok(now_ns.saturating_sub(started) as f64 / f64::from(self.avg_time_divisor.max(1)))
    }

    /// The time until `now_ns`, from which the next measure begins.
    ///
    /// # Errors
    /// As [`TimeIt::stop`].
    pub fn reset(&mut self, now_ns: i64) -> Result<f64, Error> {
        let time = self.stop(now_ns)?;
        self.start(now_ns);
        Ok(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn summaries_take_the_worst_of_memory_and_the_spread_of_time() {
        let memory = |peak: i64, free: i64| DeviceMemory {
            max_allocated: peak,
            max_reserved: peak + 1,
            max_active: peak + 2,
            free,
            used: 100 - free,
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
        assert_eq!(summary.time_std_ns.map(f64::to_bits), Some(libm::sqrt(13.0).to_bits()));
        let worst = DeviceMemory { max_allocated: 9, max_reserved: 10, max_active: 11, free: 40, used: 60 };
        assert_eq!(summary.device, Some(worst));
        assert!(summary.rows().to_csv().ends_with("\r\n3,5,3.605551275463989,18,9,10,11,40,60\r\n"));
        let one = summarize(&[RunStats { time_ns: 7, ..RunStats::default() }]).expect("a summary");
        assert_eq!((one.time_std_ns, one.device), (None, None));
        assert!(one.rows().to_csv().ends_with("\r\n1,7,,,,,,,\r\n"));
        assert_eq!(summarize(&[]), None);
    }

    #[test]
    fn a_timer_divides_and_begins_anew() {
        let mut timer = TimeIt::new(4);
        assert!(timer.stop(1).is_err() && timer.reset(1).is_err());
        timer.start(100);
        assert_eq!(timer.stop(140), Ok(10.0));
        assert_eq!(timer.reset(180), Ok(20.0));
        assert_eq!(timer.stop(200), Ok(5.0));
        let mut whole = TimeIt::default();
        whole.start(1);
        assert_eq!(whole.stop(3), Ok(2.0));
    }
}
