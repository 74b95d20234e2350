//! Peak figures of a device, and the least time of work on it.

use crate::analysis::formulas::{Kind, Unit, Work};
use crate::base::words::words;

words! {
    "Bound"
    /// The roofline bound of calls on a device.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Bound {
        /// Bound by arithmetic.
        Compute = "compute",
        /// Bound by memory bandwidth.
        Memory = "memory",
    }
}

/// The peak figures of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Peak {
    /// Operations per second: double, single, TF32, half, bfloat16, 8-bit and 4-bit floats, 8-bit integers; 0 if unknown.
    pub flops: [f64; 8],
    /// Memory bandwidth in bytes per second.
    pub memory: f64,
}

/// The least time of an operator, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Least {
    /// For the operations.
    pub(crate) compute_ns: f64,
    /// For the bytes.
    pub(crate) memory_ns: f64,
}

/// The least times of calls or kernels, each of which arithmetic or memory limits, and the time that they took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rated {
    least: Least,
    pub(crate) ns: i64,
}

impl Rated {
    /// The least time of a call that took some time; nothing if it is not known, or the call took none.
    pub(crate) fn of(ns: i64, least: Option<Least>) -> Rated {
        let Some(Least { compute_ns, memory_ns }) = least.filter(|_| ns > 0) else { return Rated::default() };
        let least = if memory_ns > compute_ns {
            Least { compute_ns: 0.0, memory_ns }
        } else {
            Least { compute_ns, memory_ns: 0.0 }
        };
        Rated { least, ns }
    }

    pub(crate) fn add(&mut self, other: Rated) {
        self.least.compute_ns += other.least.compute_ns;
        self.least.memory_ns += other.least.memory_ns;
        self.ns = self.ns.saturating_add(other.ns);
    }

    /// Returns what limits most of the least time; `None` if there is none.
    pub(crate) fn bound(self) -> Option<Bound> {
        let Least { compute_ns, memory_ns } = self.least;
        let larger = if compute_ns >= memory_ns { Bound::Compute } else { Bound::Memory };
        (compute_ns + memory_ns > 0.0).then_some(larger)
    }

    /// Returns the least time as a share of the time that the calls took.
    pub(crate) fn share(self) -> Option<f64> {
        let least_ns = self.least.compute_ns + self.least.memory_ns;
        (least_ns > 0.0 && self.ns > 0).then(|| least_ns / self.ns as f64)
    }
}

const SINGLE: usize = 1;
const TF32: usize = 2;

impl Peak {
    /// Returns the least time of work, `None` if a figure is not known. Single precision takes TF32's peak if `uses_tf32`.
    pub(crate) fn least(&self, work: &Work, uses_tf32: bool) -> Option<Least> {
        let by = |amount: i64, peak: f64| match amount {
            0 => Some(0.0),
            _ => (peak > 0.0).then(|| amount as f64 / peak * 1e9),
        };
        let compute = match work.unit {
            Unit::Matrix(Kind::Single) if uses_tf32 => Some(self.flops[TF32]),
            Unit::Matrix(kind) => matrix(kind).map(|at| self.flops[at]),
            Unit::Vector(kind) => vector(kind).map(|at| self.flops[at]),
        };
        let compute_ns = match (compute, work.unit) {
            // Integers are no floating point operations.
            (None, Unit::Vector(_)) => 0.0,
            (peak, _) => by(work.flops, peak?)?,
        };
        Some(Least { compute_ns, memory_ns: by(work.bytes?, self.memory)? })
    }

    /// Returns whether work took so little time that tensor cores must have done it.
    pub(crate) fn needs_tensor_cores(&self, work: &Work, ns: i64) -> bool {
        // Vector units compute values of 16 bits at up to four times the rate of those of 32 bits.
        let factor = match work.unit {
            Unit::Matrix(Kind::Single | Kind::Double) => 1.0,
            Unit::Matrix(_) => 4.0,
            Unit::Vector(_) => return false,
        };
        let peak = self.flops[if work.unit == Unit::Matrix(Kind::Double) { 0 } else { SINGLE }] * factor;
        peak > 0.0 && ns > 0 && work.flops as f64 / ns as f64 * 1e9 > peak
    }

    /// Returns whether single precision can be computed as TF32.
    pub(crate) fn has_tf32(&self) -> bool {
        self.flops[TF32] > 0.0
    }
}

/// The column of a type.
fn matrix(kind: Kind) -> Option<usize> {
    Some(match kind {
        Kind::Double => 0,
        Kind::Single => SINGLE,
        Kind::Half => 3,
        Kind::BFloat16 => 4,
        Kind::Float8 => 5,
        Kind::Float4 => 6,
        Kind::Int8 => 7,
        Kind::Other => return None,
    })
}

/// The column of a type: vector units convert smaller types to single precision.
fn vector(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Double => Some(0),
        Kind::Single | Kind::Half | Kind::BFloat16 | Kind::Float8 => Some(SINGLE),
        Kind::Float4 | Kind::Int8 | Kind::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEAK: Peak = Peak { flops: [1e9, 2e9, 8e9, 16e9, 0.0, 32e9, 64e9, 128e9], memory: 1e9 };

    #[test]
    fn each_type_has_its_peak() {
        let compute = |unit, uses_tf32| {
            let work = Work { flops: 64_000_000_000, bytes: Some(1), unit };
            PEAK.least(&work, uses_tf32).map(|least| least.compute_ns / 1e9)
        };
        for (kind, uses_tf32, seconds) in [
            (Kind::Double, false, Some(64.0)),
            (Kind::Single, false, Some(32.0)),
            (Kind::Single, true, Some(8.0)),
            (Kind::Half, true, Some(4.0)),
            (Kind::BFloat16, false, None),
            (Kind::Float8, false, Some(2.0)),
            (Kind::Float4, false, Some(1.0)),
            (Kind::Int8, false, Some(0.5)),
            (Kind::Other, false, None),
        ] {
            assert_eq!(compute(Unit::Matrix(kind), uses_tf32), seconds, "{kind:?}");
        }
        assert_eq!(compute(Unit::Vector(Kind::Half), true), Some(32.0));
        assert_eq!(compute(Unit::Vector(Kind::Other), true), Some(0.0));
    }

    #[test]
    fn work_of_unknown_size_has_no_least_time() {
        let work = Work { flops: 1, bytes: None, unit: Unit::Matrix(Kind::Single) };
        assert_eq!(PEAK.least(&work, false), None);
        assert_eq!(Peak { memory: 0.0, ..PEAK }.least(&Work { bytes: Some(1), ..work }, false), None);
    }

    #[test]
    fn only_tensor_cores_are_faster_than_vector_units_can_be() {
        let work = |kind| Work { flops: 4_000, bytes: None, unit: Unit::Matrix(kind) };
        // 4,000 operations in 1,999 ns are more than 2 per ns.
        assert!(PEAK.needs_tensor_cores(&work(Kind::Single), 1_999));
        assert!(!PEAK.needs_tensor_cores(&work(Kind::Single), 2_000));
        assert!(PEAK.needs_tensor_cores(&work(Kind::Half), 499));
        assert!(!PEAK.needs_tensor_cores(&work(Kind::Half), 500));
        assert!(!PEAK.needs_tensor_cores(&work(Kind::Half), 0));
        assert!(!Peak::default().needs_tensor_cores(&work(Kind::Single), 1));
    }
}
