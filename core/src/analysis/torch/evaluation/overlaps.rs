//! The overlap of a time with a set of intervals.

use crate::analysis::intervals::Interval;
use crate::base::order::sort_by_key;
use alloc::vec;
use alloc::vec::Vec;

/// Computes the overlap of a time with intervals, by PyTorch's rule: in order of starts, an interval that lies within
/// the previous one is skipped together with the next one, and an interval that begins within the previous one begins
/// at its end.
pub struct Overlaps {
    starts: Prefix,
    ends: Prefix,
}

impl Overlaps {
    /// Prepares these intervals for any number of times.
    pub fn new(mut intervals: Vec<Interval>) -> Overlaps {
        sort_by_key(&mut intervals, |i| (i.0, 0));
        let mut counted: Vec<Interval> = intervals.first().copied().into_iter().collect();
        let (mut before, mut at) = (0, 1);
        while at < intervals.len() {
            let (end, current) = (intervals[before].1, intervals[at]);
            at += 1;
            if end > current.0 && end > current.1 {
                at += 1;
                continue;
            }
            if end > current.0 {
                intervals[at - 1].0 = end;
                before = at;
            }
            counted.push(intervals[at - 1]);
            if before >= intervals.len() {
                break;
            }
        }
        counted.retain(|i| i.0 < i.1);
        Overlaps {
            starts: Prefix::new(counted.iter().map(|i| i.0).collect()),
            ends: Prefix::new(counted.iter().map(|i| i.1).collect()),
        }
    }

    /// Returns the overlap with a time, in ns.
    pub fn with(&self, (start, end): Interval) -> i64 {
        let until = |at: i64| self.starts.passed(at) - self.ends.passed(at);
        let overlap = if start < end { until(end) - until(start) } else { 0 };
        i64::try_from(overlap).unwrap_or(i64::MAX)
    }
}

/// Points in time with prefix sums. The sum of seven current Unix times in ns exceeds an `i64`.
struct Prefix {
    points: Vec<i64>,
    sums: Vec<i128>,
}

impl Prefix {
    fn new(mut points: Vec<i64>) -> Prefix {
        sort_by_key(&mut points, |&point| (point, 0));
        let mut sums = vec![0];
        for point in &points {
            sums.push(sums[sums.len() - 1] + i128::from(*point));
        }
        Prefix { points, sums }
    }

    /// Returns the sum of `at - point` over the points before `at`.
    fn passed(&self, at: i64) -> i128 {
        let count = self.points.partition_point(|&point| point < at);
        count as i128 * i128::from(at) - self.sums[count]
    }
}
