//! What is counted of compiled graphs and of operators.

use core::iter::Sum;
use core::ops::{Add, AddAssign};

/// Returns whether an annotation is the call of a compiled graph.
pub(crate) fn is_compiled_region(name: &str) -> bool {
    name == "TORCHDYNAMO" || is_torch_region(name)
}

/// Returns whether an annotation is one that PyTorch itself records around the call of a compiled graph.
pub(super) fn is_torch_region(name: &str) -> bool {
    name.starts_with("Torch-Compiled Region")
}

/// The metrics of `torch._dynamo.profiler`, with addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileMetrics {
    /// CPU time, in ns.
    pub time_ns: i64,
    /// Device time, in ns.
    pub device_time_ns: i64,
    /// Operators.
    pub operators: i64,
    /// Operators minus graph calls.
    pub fusions: i64,
    /// Graph calls.
    pub graphs: i64,
}

impl Add for ProfileMetrics {
    type Output = ProfileMetrics;

    fn add(self, other: ProfileMetrics) -> ProfileMetrics {
        ProfileMetrics {
            time_ns: self.time_ns.saturating_add(other.time_ns),
            device_time_ns: self.device_time_ns.saturating_add(other.device_time_ns),
            operators: self.operators + other.operators,
            fusions: self.fusions + other.fusions,
            graphs: self.graphs + other.graphs,
        }
    }
}

impl AddAssign for ProfileMetrics {
    fn add_assign(&mut self, other: ProfileMetrics) {
        *self = *self + other;
    }
}

impl Sum for ProfileMetrics {
    fn sum<I: Iterator<Item = ProfileMetrics>>(metrics: I) -> ProfileMetrics {
        metrics.fold(ProfileMetrics::default(), Add::add)
    }
}

/// The ratios of two [`ProfileMetrics`]; `None` if the divisor is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Percent {
    /// The ratio of operators, as a fraction of 1.
    pub operators: Option<f64>,
    /// The ratio of CPU times.
    pub time: Option<f64>,
    /// The ratio of device times.
    pub device_time: Option<f64>,
}

impl ProfileMetrics {
    /// Returns the fractions of `total` that these metrics are.
    pub fn percent_of(self, total: ProfileMetrics) -> Percent {
        let part = |a: i64, b: i64| (b > 0).then(|| a as f64 / b as f64);
        Percent {
            operators: part(self.operators, total.operators),
            time: part(self.time_ns, total.time_ns),
            device_time: part(self.device_time_ns, total.device_time_ns),
        }
    }
}
