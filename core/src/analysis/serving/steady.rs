//! Which iterations are a warm-up: those at the start that are slow for their kind.

use super::kinds::kinds;
use super::quantile::quantile;
use super::served::Served;
use alloc::vec;
use alloc::vec::Vec;

/// How many times as long as the median of its kind an iteration of a warm-up is at least.
const SLOW: i64 = 2;

/// The number of iterations from which on a kind has a median.
const ENOUGH: usize = 3;

/// Marks the first iterations as long as each takes at least twice the median of its kind. Those whose kind has no median are passed over.
pub(super) fn mark_warm_up(served: &mut [Served]) {
    let mut medians: Vec<Option<i64>> = vec![None; served.len()];
    for kind in kinds(served).iter().filter(|kind| kind.len() >= ENOUGH) {
        let median = quantile(kind.iter().map(|&at| served[at].wall_ns()), 50);
        for &at in kind {
            medians[at] = median;
        }
    }
    for (one, median) in served.iter_mut().zip(medians) {
        let Some(median) = median else { continue };
        if one.wall_ns() < median.saturating_mul(SLOW).max(1) {
            break;
        }
        one.is_warm_up = true;
    }
}
