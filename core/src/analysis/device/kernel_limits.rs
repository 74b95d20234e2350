//! How close kernels come to the limits of the device, by category.

use super::classes::Class;
use super::kernel_work::KernelWork;
use super::peak::{Bound, Least, Rated};
use crate::analysis::context::Analysis;
use crate::trace::kernel_rules::KernelCategory;
use alloc::vec::Vec;

/// The kernels of one category, or all that compute.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// The sum of their durations, in ns.
    pub(crate) ns: i64,
    rated: Rated,
    /// That of the kernels that read and write at half of the memory bandwidth or more. Faster ones than memory is have their
    /// data in a cache.
    bandwidth_ns: i64,
}

impl Limits {
    pub(crate) fn add(&mut self, ns: i64, least: Option<Least>) {
        self.ns = self.ns.saturating_add(ns);
        let rated = Rated::of(ns, least);
        self.rated.add(rated);
        if rated.bound() == Some(Bound::Memory)
            && rated.share().is_some_and(|share| (0.5..=1.0).contains(&share))
        {
            self.bandwidth_ns = self.bandwidth_ns.saturating_add(ns);
        }
    }

    /// Adds other kernels.
    pub(crate) fn append(&mut self, other: &Limits) {
        self.ns = self.ns.saturating_add(other.ns);
        self.rated.add(other.rated);
        self.bandwidth_ns = self.bandwidth_ns.saturating_add(other.bandwidth_ns);
    }

    /// Returns the limit of most of the least time, and the share of the time that the device needs at least; `None` if it is
    /// known for less than half of the time, or the figures do not fit.
    pub(crate) fn limit(&self) -> Option<(Bound, f64)> {
        let share = self.rated.share().filter(|share| *share <= 1.0 && self.rated.ns > self.ns / 2)?;
        Some((self.rated.bound()?, share))
    }

    /// Returns whether most of the time goes to kernels that read and write at half of the memory bandwidth or more.
    pub(crate) fn is_memory(&self) -> bool {
        self.bandwidth_ns > self.ns / 2
    }
}

/// The limits of the kernels that compute.
pub(crate) struct KernelLimits {
    pub(crate) all: Limits,
    pub(crate) categories: Vec<(KernelCategory, Limits)>,
}

impl Analysis<'_> {
    /// Returns the limits of the kernels that compute.
    pub(crate) fn kernel_limits(&self) -> &KernelLimits {
        self.once(|| limits(self))
    }
}

fn limits(analysis: &Analysis<'_>) -> KernelLimits {
    let (table, classes) = (&analysis.trace.table, analysis.classes());
    let mut work = KernelWork::new(analysis.trace);
    let mut all = Limits::default();
    let mut categories: Vec<(KernelCategory, Limits)> =
        KernelCategory::ALL.map(|category| (category, Limits::default())).into();
    for row in table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row)) {
        if classes.class(row) != Class::Compute {
            continue;
        }
        let (ns, least) = (table.dur(row).max(0), work.least(&classes, row));
        all.add(ns, least);
        categories[classes.category(row) as usize].1.add(ns, least);
    }
    KernelLimits { all, categories }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(kernels: &[(i64, f64, f64)]) -> Limits {
        let mut limits = Limits::default();
        for &(ns, compute_ns, memory_ns) in kernels {
            let is_known = compute_ns + memory_ns > 0.0;
            limits.add(ns, is_known.then_some(Least { compute_ns, memory_ns }));
        }
        limits
    }

    #[test]
    fn kernels_near_the_bandwidth_are_limited_by_memory() {
        let near = limits(&[(60, 1.0, 30.0), (40, 0.0, 0.0)]);
        assert!(near.is_memory());
        assert_eq!(near.limit(), Some((Bound::Memory, 0.5)));
        assert!(!limits(&[(60, 1.0, 29.0), (40, 0.0, 0.0)]).is_memory());
        assert!(!limits(&[(50, 1.0, 30.0), (50, 0.0, 0.0)]).is_memory());
        assert!(!limits(&[(60, 50.0, 40.0), (40, 0.0, 0.0)]).is_memory());
    }

    #[test]
    fn what_does_not_fit_is_unknown() {
        // A cache is faster than the memory.
        let cached = limits(&[(60, 1.0, 70.0)]);
        assert_eq!((cached.is_memory(), cached.limit()), (false, None));
        assert_eq!(limits(&[(40, 20.0, 1.0), (60, 0.0, 0.0)]).limit(), None);
        assert_eq!(limits(&[(60, 30.0, 1.0), (40, 0.0, 0.0)]).limit(), Some((Bound::Compute, 0.5)));
        assert_eq!(limits(&[]).limit(), None);
    }
}
