//! Findings about copies between the host and a device.

use super::{Facts, Finding, FindingCode, percent, place, share, threshold};
use crate::analysis::device::attributes::copy_name;
use crate::analysis::intervals::Intervals;
use crate::analysis::replay::Changes;
use crate::base::units::{counted, time_ns};
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What a copy from or to pinned memory reaches at least, in bytes per ns: `PCIe` 3.0 with 16 lanes.
const PINNED: f64 = 12.0;

/// Pinned copies of at least this size, in bytes, show the rate of the link.
const LARGE: i64 = 1 << 20;

/// Pinned copies at less than this share of the rate are far below what the link carries.
const SLOW: f64 = 0.5;

/// Adds the copies from and to pageable memory, and the slow ones from and to pinned memory. The saving is that of copies at the
/// rate of pinned memory.
pub(super) fn copies(out: &mut Vec<Finding>, facts: &Facts<'_>) {
    let table = facts.table();
    out.extend(busiest(facts, is_pageable).map(|copies| {
        let message = copies.message(facts, "from or to pageable memory");
        let advice = "use pinned memory (pin_memory=True of the DataLoader, or tensor.pin_memory()) with non_blocking=True; the saving is that of 12 GB/s";
        copies.finding(facts, FindingCode::PageableCopies, message, advice)
    }));
    let slow =
        busiest(facts, |table, row| is_pinned(table, row) && table.bytes(row, Key::MemcpyBytes) >= LARGE);
    let is_slow = |copies: &Copies| (copies.size(table) as f64) < PINNED * SLOW * copies.ns as f64;
    out.extend(slow.filter(is_slow).map(|copies| {
        let message = copies.message(facts, "of 1 MiB or more from or to pinned memory");
        let advice = "a link of PCIe 3.0 with 16 lanes carries 12 GB/s: look at the width and the generation of the link (nvidia-smi -q), the NUMA node of the process, and what else uses the link";
        copies.finding(facts, FindingCode::SlowCopies, message, advice)
    }));
}

/// Copies of one device.
struct Copies {
    /// The device, if there are several.
    device: Option<String>,
    rows: Vec<Row>,
    longest: Row,
    /// The time in which any of them runs.
    ns: i64,
}

/// Returns the copies of a kind on the device that is busiest with them; `None` if they do not cost enough.
fn busiest(facts: &Facts<'_>, is_kind: impl Fn(&Table, Row) -> bool) -> Option<Copies> {
    let table = facts.table();
    let mut most: Option<Copies> = None;
    let devices = facts.analysis.activities();
    for (device, rows) in devices {
        let rows: Vec<Row> = rows.iter().copied().filter(|&row| is_kind(table, row)).collect();
        let Some(&longest) = rows.iter().max_by_key(|&&row| table.dur(row)) else { continue };
        let ns = length(table, &rows);
        if most.as_ref().is_none_or(|most| ns > most.ns) {
            most = Some(Copies { device: (devices.len() > 1).then(|| device.clone()), rows, longest, ns });
        }
    }
    most.filter(|copies| share(copies.ns, facts.wall_ns) >= threshold::EFFECT)
}

impl Copies {
    fn size(&self, table: &Table) -> i64 {
        self.rows.iter().map(|&row| table.bytes(row, Key::MemcpyBytes)).fold(0, i64::saturating_add)
    }

    fn message(&self, facts: &Facts<'_>, kind: &str) -> String {
        let size = self.size(facts.table());
        let rate = if size > 0 {
            format!(" for {}, {:.1} GB/s", decimal(size), size as f64 / self.ns as f64)
        } else {
            String::new()
        };
        format!(
            "{}{} {kind} took {} ({} of wall){rate}",
            counted(self.rows.len(), "copy"),
            self.device.as_ref().map_or(String::new(), |device| format!(" of GPU {device}")),
            time_ns(self.ns, None),
            percent(self.ns, facts.wall_ns)
        )
    }

    fn finding(&self, facts: &Facts<'_>, code: FindingCode, message: String, advice: &str) -> Finding {
        let mut finding = Finding::new(code, self.ns, message, advice);
        let faster = self.rows.iter().map(|&row| (row, factor(facts.table(), row)));
        finding.changes = Some(Changes::faster(faster.collect()));
        finding.shown_by(&place(facts.analysis.trace, self.longest), [self.longest].into())
    }
}

/// A size in powers of 1000, like the rates of links.
fn decimal(size: i64) -> String {
    let size = size as f64;
    let (unit, name) =
        [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")].into_iter().find(|unit| size >= unit.0).unwrap_or((1.0, "B"));
    format!("{:.*} {name}", if unit > 1.0 { 2 } else { 0 }, size / unit)
}

/// Whether an activity is a copy between the host and a device, whose memory of the host is of a kind.
fn is_copy(table: &Table, row: Row, kind: &str) -> bool {
    let name = || copy_name(table, row).map_or(Cow::Borrowed(table.name(row)), Cow::Owned);
    table.category(row) == Category::Memcpy && name().contains(kind)
}

fn is_pageable(table: &Table, row: Row) -> bool {
    is_copy(table, row, "Pageable")
}

fn is_pinned(table: &Table, row: Row) -> bool {
    is_copy(table, row, "Pinned") && !is_copy(table, row, "Pageable")
}

/// The time in which any of the copies runs, in ns.
fn length(table: &Table, copies: &[Row]) -> i64 {
    Intervals::union_of(copies.iter().map(|&row| (table.ts(row), table.end(row))).collect()).length()
}

/// How much faster a copy would be from or to pinned memory; 1 if its size is not known.
fn factor(table: &Table, row: Row) -> f64 {
    let size = table.bytes(row, Key::MemcpyBytes) as f64;
    if size > 0.0 { (table.dur(row) as f64 * PINNED / size).max(1.0) } else { 1.0 }
}
