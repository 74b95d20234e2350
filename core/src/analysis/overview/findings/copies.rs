//! The finding about copies from and to pageable memory.

use super::{Facts, Finding, FindingCode, percent, place, share, threshold};
use crate::analysis::device::attributes::copy_name;
use crate::analysis::intervals::Intervals;
use crate::analysis::replay::Changes;
use crate::base::units::{bytes, counted, time_ns};
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What a copy from or to pinned memory reaches at least, in bytes per ns: `PCIe` 3.0 with 16 lanes.
const PINNED: f64 = 12.0;

/// Adds the pageable copies of the device that is busiest with them. The cost is the time in which any of them runs; the saving is
/// that of copies at the rate of pinned memory.
pub(super) fn pageable(out: &mut Vec<Finding>, facts: &Facts<'_>) {
    let table = facts.table();
    let mut copies: Vec<Row> = Vec::new();
    let mut longest_ns = 0;
    for (_, rows) in facts.analysis.activities() {
        let of_device: Vec<Row> = rows.iter().copied().filter(|&row| is_pageable(table, row)).collect();
        let ns = length(table, &of_device);
        if ns > longest_ns {
            (copies, longest_ns) = (of_device, ns);
        }
    }
    let sums = copies.iter().map(|&row| table.bytes(row, Key::MemcpyBytes));
    let size = sums.fold(0i64, i64::saturating_add);
    if share(longest_ns, facts.wall_ns) < threshold::EFFECT {
        return;
    }
    let Some(&longest) = copies.iter().max_by_key(|&&row| table.dur(row)) else { return };
    let rate = if size > 0 {
        format!(" for {}, {:.1} GB/s", bytes(size), size as f64 / longest_ns as f64)
    } else {
        String::new()
    };
    let message = format!(
        "{} from or to pageable memory took {} ({} of wall){rate}",
        counted(copies.len(), "copy"),
        time_ns(longest_ns, None),
        percent(longest_ns, facts.wall_ns)
    );
    let advice = "use pinned memory (pin_memory=True of the DataLoader, or tensor.pin_memory()) with non_blocking=True; the saving is that of 12 GB/s";
    let mut finding = Finding::new(FindingCode::PageableCopies, longest_ns, message, advice);
    let faster = copies.iter().map(|&row| (row, factor(table, row)));
    finding.changes = Some(Changes::faster(faster.collect()));
    out.push(finding.shown_by(&place(facts.analysis.trace, longest), [longest].into()));
}

fn is_pageable(table: &Table, row: Row) -> bool {
    let name = || copy_name(table, row).map_or(Cow::Borrowed(table.name(row)), Cow::Owned);
    table.category(row) == Category::Memcpy && name().contains("Pageable")
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
