//! The bandwidth of copies and memsets over time.

use crate::analysis::device::attributes::copy_name;
use crate::base::order::sort_by_key;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The bandwidth of one kind of copy.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bandwidth {
    /// The kind: `HtoD`, `DtoH`, `DtoD` and so on, or `memset`.
    pub(crate) kind: String,
    /// The times from which values hold, in ns relative to the table's base, with bytes per second, in order of time.
    pub(crate) points: Vec<(i64, f64)>,
}

/// Returns the bandwidth of each kind of copy among some activities. An activity contributes its size divided by its
/// duration while it runs; one without either contributes nothing.
pub(crate) fn bandwidths(table: &Table, activities: &[Row]) -> Vec<Bandwidth> {
    let mut kinds: Vec<(String, Vec<(i64, f64)>)> = Vec::new();
    for &row in activities {
        let (ns, bytes) = (table.dur(row), table.int(row, Key::MemcpyBytes).unwrap_or(0));
        let Some(kind) = kind(table, row).filter(|_| ns > 0 && bytes > 0) else { continue };
        let at = kinds.iter().position(|known| known.0 == kind).unwrap_or_else(|| {
            kinds.push((kind.clone(), Vec::new()));
            kinds.len() - 1
        });
        let rate = bytes as f64 / ns as f64 * 1e9;
        kinds[at].1.extend([(table.ts(row), rate), (table.end(row), -rate)]);
    }
    kinds.into_iter().map(|(kind, changes)| Bandwidth { kind, points: sums(changes) }).collect()
}

/// The kind of a copy or memset.
fn kind(table: &Table, row: Row) -> Option<String> {
    match table.category(row) {
        Category::Memset => Some("memset".into()),
        Category::Memcpy => {
            let name = copy_name(table, row);
            let name = name.as_deref().unwrap_or(table.name(row));
            // `Memcpy HtoD (Pinned -> Device)`, or `CopyHostToDevice`.
            Some(name.split(' ').find(|word| !word.eq_ignore_ascii_case("memcpy"))?.to_string())
        }
        _ => None,
    }
}

/// Returns the running sums of changes, one for each time. It is exactly 0 while nothing runs.
fn sums(mut changes: Vec<(i64, f64)>) -> Vec<(i64, f64)> {
    sort_by_key(&mut changes, |change| (change.0, 0));
    let mut points: Vec<(i64, f64)> = Vec::new();
    let (mut sum, mut open) = (0.0, 0);
    for (ts, change) in changes {
        open += if change > 0.0 { 1 } else { -1 };
        sum = if open == 0 { 0.0 } else { sum + change };
        match points.last_mut().filter(|last| last.0 == ts) {
            Some(last) => last.1 = sum,
            None => points.push((ts, sum)),
        }
    }
    points
}
