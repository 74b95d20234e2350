//! The results of the tests for noise: a verdict on a line, and the common factor of lines.

use super::measure::Both;

/// Whether a change is noise.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Verdict {
    /// The change of the median of the steps.
    pub(super) median: f64,
    /// The ends of its interval; `None` without several steps.
    pub(super) interval: Option<(f64, f64)>,
    /// The adjusted probability of such a change without a cause; `None` if it was not tested.
    pub(super) probability: Option<f64>,
    /// `None`: it cannot be decided.
    pub(super) is_significant: Option<bool>,
    /// The common factor that explains a change of a total as well: the machine or the program can be the cause.
    pub(super) factor: Option<f64>,
}

impl Verdict {
    /// Whether the interval is known and does not contain 0.
    pub(super) fn excludes_zero(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

/// How much longer the same work takes in the second recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor {
    /// The natural logarithm of the middle ratio.
    pub(super) log: f64,
    /// The spread of the logarithms.
    pub(super) spread: f64,
    /// The number of lines.
    pub(super) lines: usize,
    /// The time of these lines on each side, in ns per step.
    pub(super) ns: Both<i64>,
}

impl Factor {
    /// How many times as long the same work takes.
    pub(super) fn ratio(&self) -> f64 {
        libm::exp(self.log)
    }

    /// The change of a line if both recordings were equally fast, in ns: each side is scaled by half of the factor.
    pub(super) fn without(&self, [a, b]: Both<i64>) -> i64 {
        let half = self.log / 2.0;
        libm::rint(b as f64 * libm::exp(-half) - a as f64 * libm::exp(half)) as i64
    }
}
