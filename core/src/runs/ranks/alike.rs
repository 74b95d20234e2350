//! Groups of ranks that behave alike, so that a page about a thousand ranks has a few rows.
//!
//! Ranks are compared by the share of each phase in their steps, and by the share of their steps in which they waited.
//! A rank joins the first class of which no share differs by more than [`FAR`].

use super::phases::{Times, add, sum};
use super::step_table::StepTable;
use alloc::vec::Vec;

/// How far apart the shares of ranks of one class may be.
const FAR: f64 = 0.05;

/// Returns the class of each rank, counted from 0 in order of the ranks.
pub(crate) fn classes(table: &StepTable, late: &[bool]) -> Vec<usize> {
    let mut centres: Vec<([f64; 6], bool)> = Vec::new();
    let mut of = Vec::new();
    for (member, &is_late) in late.iter().enumerate() {
        let shares = shares(table, member);
        let same = |centre: &([f64; 6], bool)| {
            centre.1 == is_late && centre.0.iter().zip(shares).all(|(a, b)| libm::fabs(a - b) <= FAR)
        };
        let class = centres.iter().position(same).unwrap_or_else(|| {
            centres.push((shares, is_late));
            centres.len() - 1
        });
        of.push(class);
    }
    of
}

/// The share of each phase in all steps of a rank.
fn shares(table: &StepTable, member: usize) -> [f64; 6] {
    let mut sums = Times::default();
    for cell in table.cells.iter().filter_map(|cells| cells[member]) {
        add(&mut sums, &cell.phases);
    }
    let all = sum(&sums);
    sums.map(|sum| sum as f64 / all.max(1) as f64)
}
