//! The classes and categories of activities, from the names of kernels.

use crate::analysis::context::Analysis;
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::kernel_rules::{KernelCategory, KernelKind, Patterns};
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use alloc::sync::Arc;
use core::cell::OnceCell;
use core::sync::atomic::{AtomicU16, Ordering};

words! {
    "WorkClass"
    /// A class of device work.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Class {
        /// Kernels that compute.
        Compute = "compute",
        /// Kernels of the categories `communication` and `moe_dispatch`.
        Communication = "communication",
        /// Copies.
        Memcpy = "memcpy",
        /// Memsets.
        Memset = "memset",
    }
}

/// Classifies activities. Results are kept for each name: a trace has many activities and few names.
#[derive(Clone, Debug)]
pub struct Classes<'a> {
    trace: &'a Trace,
    patterns: OnceCell<Patterns<'a>>,
    kinds: Kinds,
}

/// What the names of kernels show, as far as it was requested. Several classifiers of a trace share it.
#[derive(Clone, Debug)]
pub(crate) struct Kinds(Arc<[AtomicU16]>);

impl Kinds {
    pub(crate) fn new(table: &Table) -> Kinds {
        Kinds((0..table.names.len()).map(|_| AtomicU16::new(0)).collect())
    }

    /// Returns a classifier of the trace whose names these are.
    pub(crate) fn classes<'a>(&self, trace: &'a Trace) -> Classes<'a> {
        Classes { trace, patterns: OnceCell::new(), kinds: self.clone() }
    }
}

/// A kind as a number above 0.
fn number(kind: KernelKind) -> u16 {
    let tensor_cores = kind.tensor_cores.map_or(0, |uses| 1 + u16::from(uses));
    1 + tensor_cores + 3 * kind.category as u16
}

/// The kind of a number; `None` for 0.
fn kind(number: u16) -> Option<KernelKind> {
    let at = number.checked_sub(1)?;
    let category = KernelCategory::ALL[usize::from(at / 3)];
    Some(KernelKind { category, tensor_cores: (at % 3).checked_sub(1).map(|uses| uses == 1) })
}

impl Analysis<'_> {
    /// Returns a classifier that knows what others have found.
    pub(crate) fn classes(&self) -> Classes<'_> {
        self.kinds().classes(self.trace)
    }

    /// What the names of kernels show.
    pub(crate) fn kinds(&self) -> &Kinds {
        self.once(|| Kinds::new(&self.trace.table))
    }
}

impl<'a> Classes<'a> {
    /// Returns a classifier for the activities of one trace.
    pub fn new(trace: &'a Trace) -> Self {
        Kinds::new(&trace.table).classes(trace)
    }

    /// Returns the class of an activity.
    pub fn class(&self, row: Row) -> Class {
        match self.trace.table.category(row) {
            Category::Memcpy => Class::Memcpy,
            Category::Memset => Class::Memset,
            _ if self.kernel(row).category.is_communication() => Class::Communication,
            _ => Class::Compute,
        }
    }

    /// Returns the category of an activity. Copies and memsets of the device are never classified by their names.
    pub fn category(&self, row: Row) -> KernelCategory {
        match self.trace.table.category(row) {
            Category::Memcpy => KernelCategory::Copy,
            Category::Memset => KernelCategory::Memset,
            _ => self.kernel(row).category,
        }
    }

    /// Returns whether an activity uses tensor cores, as far as its name shows it.
    pub fn tensor_cores(&self, row: Row) -> Option<bool> {
        match self.trace.table.category(row) {
            Category::Memcpy | Category::Memset => Some(false),
            _ => self.kernel(row).tensor_cores,
        }
    }

    fn kernel(&self, row: Row) -> KernelKind {
        let table = &self.trace.table;
        // The kind of a name is the same whoever computes it, so threads need no order.
        let known = &self.kinds.0[table.name_id(row).0 as usize];
        kind(known.load(Ordering::Relaxed)).unwrap_or_else(|| {
            let patterns = self.patterns.get_or_init(|| self.trace.kernel_rules.patterns());
            let kind = patterns.classify(table.name(row));
            known.store(number(kind), Ordering::Relaxed);
            kind
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_number() {
        for category in KernelCategory::ALL {
            for tensor_cores in [None, Some(false), Some(true)] {
                let known = KernelKind { category, tensor_cores };
                assert_eq!(kind(number(known)), Some(known));
            }
        }
        assert_eq!(kind(0), None);
    }

    #[test]
    fn classifiers_of_a_context_share_what_they_know() {
        let trace =
            Trace::read(br#"[{"ph":"X","cat":"kernel","name":"ncclKernel","pid":0,"tid":7,"ts":1,"dur":1}]"#)
                .expect("a trace");
        let analysis = Analysis::new(&trace);
        let row = trace.table.rows().next().expect("an event");
        assert_eq!(analysis.classes().class(row), Class::Communication);
        let later = analysis.classes();
        assert_eq!(later.category(row), KernelCategory::Communication);
        assert!(later.patterns.get().is_none());
    }
}
