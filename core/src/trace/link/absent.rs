//! Counts what other events refer to and the trace does not have.
//!
//! If a trace has no event of a kind, the kind was not recorded, or a filter left it out: none of its events is missing.

use super::Links;
use crate::base::diagnostics::{Code, Diagnostics};
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::table::metadata::Source;
use alloc::vec::Vec;

/// The activity of a device, and the calls that started it.
pub(super) struct Activity<'a> {
    pub(super) table: &'a Table,
    pub(super) links: &'a Links,
    /// Calls of the runtime and the driver, with their correlation ids.
    pub(super) calls: &'a [(i64, Row)],
    /// Device work with its correlation ids.
    pub(super) work: &'a [(Option<i64>, Row)],
}

impl Activity<'_> {
    /// Whether the trace has events of a category. Only Chrome traces can leave one out.
    fn has(&self, category: Category) -> bool {
        let is_chrome = self.table.metadata.source == Source::Chrome;
        !is_chrome || self.table.layouts.has(category)
    }

    /// Whether device work refers to a call that the trace does not have.
    fn has_orphans(&self) -> bool {
        let refers = |id: Option<i64>| id.is_some_and(|id| id != 0);
        self.work.iter().any(|&(id, row)| refers(id) && self.links.launch(row).is_none())
    }

    fn refers_to_operator(&self) -> bool {
        let mut rows = self.calls.iter().map(|call| call.1).chain(self.work.iter().map(|work| work.1));
        rows.any(|row| {
            let external = self.table.int(row, Key::ExternalId).filter(|&id| id > 0);
            external.is_some() && external != self.table.int(row, Key::Correlation)
        })
    }
}

/// Names the kinds of activity that were not recorded, and counts the other launch calls without device work, which are
/// among `idle`.
pub(super) fn count_absent(activity: &Activity<'_>, mut idle: Vec<Row>, diagnostics: &mut Diagnostics) {
    let table = activity.table;
    let mut absent: Vec<&str> = Vec::new();
    if !activity.has(Category::Runtime) && activity.has_orphans() {
        absent.push("cuda_runtime");
    }
    for (category, name) in
        [(Category::Kernel, "kernel"), (Category::Memcpy, "gpu_memcpy"), (Category::Memset, "gpu_memset")]
    {
        let before = idle.len();
        if !activity.has(category) {
            idle.retain(|&row| started(table.name(row)) != category);
        }
        if idle.len() < before {
            absent.push(name);
        }
    }
    if !activity.has(Category::CpuOp) && activity.refers_to_operator() {
        absent.push("cpu_op");
    }
    diagnostics.record_many(Code::NotRecorded, absent.len() as u64, None, absent.join(", ").as_bytes());
    let first = idle.first().map_or("", |&row| table.name(row));
    diagnostics.record_many(Code::LaunchWithoutKernel, idle.len() as u64, None, first.as_bytes());
}

/// The category of the device work that a launch call of this name starts.
fn started(call: &str) -> Category {
    match call {
        _ if call.contains("Memcpy") => Category::Memcpy,
        _ if call.contains("Memset") => Category::Memset,
        _ => Category::Kernel,
    }
}
