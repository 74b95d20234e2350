//! The energy of iterations, by counters of the power of devices.
//!
//! A reading holds until the next one. A driver reports means of some time, so that readings follow changes late.

use crate::analysis::context::Analysis;
use crate::analysis::intervals::Interval;
use crate::analysis::timeline::counters::{Counter, recorded_in_order};
use crate::base::order::sort_by_key;
use alloc::string::String;
use alloc::vec::Vec;

/// The readings of the power of all devices that work.
pub(crate) struct Power {
    /// The times after the start of the recording, with watts, of each device.
    devices: Vec<Vec<(i64, f64)>>,
    /// The longest median time between readings, in ns.
    pub(crate) interval_ns: i64,
}

/// How many times the usual time a reading can hold.
const MOST_INTERVALS: i64 = 3;

/// The names of counters end with a unit; this is what one unit is, in watts.
const UNITS: [(&str, f64); 2] = [("power (mw)", 1e-3), ("power (w)", 1.0)];

impl Power {
    /// The readings of a trace; `None` if a device that works has none.
    pub(super) fn new(analysis: &Analysis<'_>) -> Option<Power> {
        let counters = recorded_in_order(analysis.trace);
        let of_device = |device: &(String, _)| {
            let is_own =
                |counter: &&Counter| watts(counter).is_some() && device_of(counter) == Some(&*device.0);
            let counter = counters.iter().find(is_own)?;
            let unit = watts(counter)?;
            let points = counter.points.iter().filter(|point| point.1 >= 0.0);
            Some(points.map(|&(at, value)| (at, value * unit)).collect())
        };
        let devices: Option<Vec<Vec<(i64, f64)>>> = analysis.activities().iter().map(of_device).collect();
        let devices = devices.filter(|devices| !devices.is_empty())?;
        let intervals = devices.iter().map(|points| median_interval(points));
        Some(Power { interval_ns: intervals.max()??, devices })
    }

    /// The energy of a period after the start of the recording, in J; `None` if the readings do not cover it.
    pub(super) fn joules(&self, period: Interval) -> Option<f64> {
        self.devices.iter().map(|points| self.joules_of(points, period)).sum()
    }

    fn joules_of(&self, points: &[(i64, f64)], (start, end): Interval) -> Option<f64> {
        let first = points.partition_point(|point| point.0 <= start).checked_sub(1)?;
        let mut joules = 0.0;
        for (at, point) in points.iter().enumerate().skip(first).take_while(|(_, point)| point.0 < end) {
            let until = points.get(at + 1).map_or(end, |next| next.0.min(end));
            if until - point.0 > self.interval_ns.saturating_mul(MOST_INTERVALS) {
                return None;
            }
            joules += point.1 * (until - point.0.max(start)).max(0) as f64 / 1e9;
        }
        Some(joules)
    }
}

/// What one unit of a counter is in watts; `None` if it is not of power, or its name does not state the unit.
fn watts(counter: &Counter) -> Option<f64> {
    let name = counter.name.to_ascii_lowercase();
    UNITS.iter().find(|unit| name.contains(unit.0)).map(|unit| unit.1)
}

/// The number of the device in the name of a counter, `GPU 0 power (mW)`, or in that of its process.
fn device_of(counter: &Counter) -> Option<&str> {
    let rest = counter.name.strip_prefix("GPU ").or_else(|| counter.process.strip_prefix("device "))?;
    rest.split(' ').next()
}

fn median_interval(points: &[(i64, f64)]) -> Option<i64> {
    let mut intervals: Vec<i64> = points.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    sort_by_key(&mut intervals, |&interval| (interval, 0));
    intervals.get(intervals.len() / 2).copied()
}
