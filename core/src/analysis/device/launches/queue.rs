//! The work that waits in the launch queue of a stream: launched, and not started.

use super::{Launch, window};
use crate::base::order::sort_by_key;
use crate::trace::table::events::Table;
use alloc::vec::Vec;

/// With this many launches waiting, the next call waits until work starts: the limit of CUDA's queue.
pub(crate) const LIMIT: i64 = 1024;

/// The length of a launch queue over time.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Queue {
    /// The times from which lengths hold, in ns relative to the table's base, with the lengths, in order of time.
    pub points: Vec<(i64, i64)>,
    /// The mean length from the first call to the start of the last work.
    pub mean: f64,
    /// The maximum.
    pub max: i64,
    /// The time at or above [`LIMIT`], in ns.
    pub full_ns: i64,
}

impl Queue {
    /// Returns the queue of some launches. The length grows at the start of a call, and falls at the start of its work.
    pub fn new(table: &Table, launches: &[Launch]) -> Queue {
        let points = points(table, launches);
        let window = window(table, launches);
        let (mut sum, mut full_ns) = (0i128, 0i64);
        for (at, &(ts, length)) in points.iter().enumerate() {
            let next = points.get(at + 1).map_or(window.1, |next| next.0);
            let held = next.saturating_sub(ts);
            sum += i128::from(length) * i128::from(held);
            full_ns = if length >= LIMIT { full_ns.saturating_add(held) } else { full_ns };
        }
        let length = window.1.saturating_sub(window.0).max(1);
        let max = points.iter().map(|point| point.1).max().unwrap_or(0);
        Queue { mean: sum as f64 / length as f64, max, full_ns, points }
    }
}

/// Returns the lengths, one for each time at which it changes.
fn points(table: &Table, launches: &[Launch]) -> Vec<(i64, i64)> {
    let mut changes: Vec<(i64, i64)> = Vec::with_capacity(launches.len() * 2);
    for launch in launches {
        let called = table.ts(launch.call);
        changes.push((called, 1));
        changes.push((table.ts(launch.work).max(called), -1));
    }
    sort_by_key(&mut changes, |&change| change);
    let mut points: Vec<(i64, i64)> = Vec::new();
    let mut length = 0;
    for (ts, change) in changes {
        length += change;
        match points.last_mut().filter(|last| last.0 == ts) {
            Some(last) => last.1 = length,
            None => points.push((ts, length)),
        }
    }
    points
}
