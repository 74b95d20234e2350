//! The operators that take most of the time, with the columns of `torch_geometric`'s `save_profile_data`.

use super::recording::Recording;
use crate::error::RecordError;
use kinetoscope_core::analysis::query::group_by::GroupBy;
use kinetoscope_core::analysis::torch::averages::{Average, key_averages};
use kinetoscope_core::analysis::torch::function_events::FunctionEvents;
use kinetoscope_core::analysis::torch::sort_by::SortBy;
use kinetoscope_core::analysis::torch::table_options::TableOptions;
use kinetoscope_core::analysis::torch::torch_table::select;
use kinetoscope_core::base::escape::csv_exact;

/// The number of operators of one recording.
const TOP: usize = 5;

/// An operator, summed over its calls. Shares are in percent of the sum of the self times of all operators; `None` if
/// that is 0.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProfileRow {
    /// The name.
    pub name: String,
    /// The number of calls.
    pub calls: u64,
    /// CPU time without that of callees, in ns.
    pub self_cpu_ns: i64,
    /// The share of `self_cpu_ns`.
    pub self_cpu_percent: Option<f64>,
    /// CPU time with that of callees, in ns.
    pub cpu_total_ns: i64,
    /// The share of `cpu_total_ns`, which can exceed 100 %.
    pub cpu_total_percent: Option<f64>,
    /// The times on devices, if the recording has work of devices.
    pub device: Option<DeviceTimes>,
}

/// The times of an operator on devices.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceTimes {
    /// Time without that of callees, in ns.
    pub self_ns: i64,
    /// The share of `self_ns`.
    pub self_percent: Option<f64>,
    /// Time with that of callees, in ns.
    pub total_ns: i64,
}

/// The five operators with the longest self time of each recording: on devices if the recording has work of devices,
/// otherwise on the CPU.
///
/// ```
/// use kinetoscope::profiler::measure::ProfileData;
/// use kinetoscope::{Profiler, scope};
///
/// let mut data = ProfileData::default();
/// for _ in 0..2 {
///     let profiler = Profiler::builder().start()?;
///     drop(scope!("work"));
///     data.add(&profiler.finish()?)?;
/// }
/// assert_eq!(data.rows().len(), 2);
/// println!("{}", data.to_csv());
/// # Ok::<(), kinetoscope::RecordError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfileData {
    rows: Vec<ProfileRow>,
}

impl ProfileData {
    /// Appends the operators of a recording.
    ///
    /// # Errors
    /// Those of [`Recording::trace`].
    pub fn add(&mut self, recording: &Recording) -> Result<(), RecordError> {
        let events = recording.events()?;
        let averages = key_averages(&events, &recording.trace()?.table, GroupBy::default());
        let has_device = events.use_device.is_some();
        let by = longest_first(&events);
        let options = TableOptions::default().with_sort_by(by).with_row_limit(Some(TOP));
        let (sorted, shown) = select(&averages, &options);
        let sum = |of: fn(&Average) -> i64| averages.iter().map(of).sum::<i64>();
        let cpu = sum(|average| average.self_cpu_time_total_ns);
        let device = sum(|average| average.self_device_time_total_ns);
        let row = |average: &Average| ProfileRow {
            name: average.key.clone(),
            calls: average.count,
            self_cpu_ns: average.self_cpu_time_total_ns,
            self_cpu_percent: percent(average.self_cpu_time_total_ns, cpu),
            cpu_total_ns: average.cpu_time_total_ns,
            cpu_total_percent: percent(average.cpu_time_total_ns, cpu),
            device: has_device.then_some(DeviceTimes {
                self_ns: average.self_device_time_total_ns,
                self_percent: percent(average.self_device_time_total_ns, device),
                total_ns: average.device_time_total_ns,
            }),
        };
        self.rows.extend(shown.into_iter().map(|at| row(&sorted[at])));
        Ok(())
    }

    /// Returns the operators of all recordings in the order in which they were added, the longest of each first.
    pub fn rows(&self) -> &[ProfileRow] {
        &self.rows
    }

    /// Returns a line with `torch_geometric`'s names of columns and a line for each operator. Times are in seconds and
    /// shares in percent, with at most three decimals. The columns of devices are left out if no recording has work of devices.
    pub fn to_csv(&self) -> String {
        let has_device = self.rows.iter().any(|row| row.device.is_some());
        let mut columns: Vec<&str> =
            vec!["NAME", "SELF CPU %", "SELF CPU", "CPU TOTAL %", "CPU TOTAL", "CPU TIME AVG"];
        if has_device {
            columns.extend(["SELF CUDA %", "SELF CUDA", "CUDA TOTAL", "CUDA TIME AVG"]);
        }
        columns.push("# OF CALLS");
        let mut text = columns.join(",") + "\r\n";
        for row in &self.rows {
            let mut cells = vec![
                csv_exact(&row.name),
                row.self_cpu_percent.map_or_else(String::new, rounded),
                seconds(row.self_cpu_ns),
                row.cpu_total_percent.map_or_else(String::new, rounded),
                seconds(row.cpu_total_ns),
                mean(row.cpu_total_ns, row.calls),
            ];
            if has_device {
                let device = row.device.map(|device| {
                    let share = device.self_percent.map_or_else(String::new, rounded);
                    let [self_time, total] = [device.self_ns, device.total_ns].map(seconds);
                    [share, self_time, total, mean(device.total_ns, row.calls)]
                });
                cells.extend(device.unwrap_or_default());
            }
            cells.push(row.calls.to_string());
            text += &(cells.join(",") + "\r\n");
        }
        text
    }
}

/// Returns the attribute by which `torch_geometric` sorts operators.
pub(super) fn longest_first(events: &FunctionEvents) -> SortBy {
    if events.use_device.is_some() { SortBy::SelfDeviceTimeTotal } else { SortBy::SelfCpuTimeTotal }
}

fn percent(part: i64, of: i64) -> Option<f64> {
    (of != 0).then(|| part as f64 * 100.0 / of as f64)
}

/// Formats a number as Python prints it after `round(number, 3)`.
fn rounded(number: f64) -> String {
    let text = format!("{number:.3}");
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

fn seconds(ns: i64) -> String {
    rounded(ns as f64 / 1e9)
}

fn mean(ns: i64, calls: u64) -> String {
    rounded(ns as f64 / 1e9 / calls.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_has_the_columns_of_devices_if_a_recording_has_devices() {
        let host = ProfileRow {
            name: "a, \"b\"".into(),
            calls: 2,
            self_cpu_ns: 1_500_000,
            self_cpu_percent: percent(1_500_000, 4_500_000),
            cpu_total_ns: 3_000_000_000,
            cpu_total_percent: None,
            device: None,
        };
        let times = DeviceTimes { self_ns: 0, self_percent: Some(12.5), total_ns: 10_000_000 };
        let data = ProfileData { rows: vec![host.clone()] };
        let row = "\"a, \"\"b\"\"\",33.333,0.002,,3.0,1.5,2\r\n";
        assert_eq!(
            data.to_csv(),
            format!("NAME,SELF CPU %,SELF CPU,CPU TOTAL %,CPU TOTAL,CPU TIME AVG,# OF CALLS\r\n{row}")
        );
        let both = ProfileData { rows: vec![ProfileRow { device: Some(times), ..host.clone() }, host] };
        let text = both.to_csv();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("SELF CUDA %,SELF CUDA,CUDA TOTAL,CUDA TIME AVG,# OF CALLS"), "{text}");
        assert!(lines[1].ends_with("1.5,12.5,0.0,0.01,0.005,2"), "{text}");
        assert!(lines[2].ends_with("1.5,,,,,2"), "{text}");
    }
}
