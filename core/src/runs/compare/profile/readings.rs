//! What the hardware reported: counters of clocks, power and temperature.

use super::Periods;
use crate::analysis::intervals::Interval;
use crate::analysis::timeline::counters::{Counter, recorded_in_order};
use crate::trace::Trace;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The mean of a counter in each step, in thousandths of its unit; `None` where it has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Readings {
    pub(crate) name: String,
    pub(crate) of_steps: Vec<Option<i64>>,
}

/// Whether a counter with this name is a clock.
pub(crate) fn is_clock(name: &str) -> bool {
    has_word(name, &["clock", "freq", "mhz"])
}

fn has_word(name: &str, words: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    words.iter().any(|word| name.contains(word))
}

/// Returns the readings of a trace.
pub(super) fn readings(trace: &Trace, periods: &Periods) -> Vec<Readings> {
    let is_reading = |counter: &&Counter| {
        is_clock(&counter.name) || has_word(&counter.name, &["power", "temperature", "throttl"])
    };
    let of = |counter: &Counter| Readings {
        name: if counter.process.starts_with("device") {
            format!("{} {}", counter.process, counter.name)
        } else {
            counter.name.clone()
        },
        of_steps: (periods.times.iter())
            .map(|time| mean(&counter.points, (time.0 - trace.start_ns, time.1 - trace.start_ns)))
            .collect(),
    };
    recorded_in_order(trace).iter().filter(is_reading).map(of).collect()
}

/// The mean over a period, in which each value holds until the next one.
fn mean(points: &[(i64, f64)], (start, end): Interval) -> Option<i64> {
    let first = points.partition_point(|point| point.0 <= start).saturating_sub(1);
    let mut sum = 0.0;
    let mut known = 0;
    for (at, point) in points.iter().enumerate().skip(first).take_while(|(_, point)| point.0 < end) {
        let until = points.get(at + 1).map_or(end, |next| next.0.min(end));
        let length = (until - point.0.max(start)).max(0);
        sum += point.1 * length as f64;
        known += length;
    }
    (known > 0).then(|| libm::rint(sum / known as f64 * 1000.0) as i64)
}
