//! Who was late, in which phase, and what it cost.
//!
//! For each rank, step and phase, the time of the rank's own work beyond the median of the other ranks is its excess. It
//! counts as far as others waited for the rank in that step: the excess or the sum of its latenesses in collectives,
//! whichever is smaller. A rank that waits for others has no excess, because waiting is not its own work.
//!
//! A rank is named for a phase if its excess recurs: its median over the steps is at least 3 % of a step's own work and
//! exceeds its spread and the other ranks clearly. Otherwise single steps are named, if they clearly exceed the noise of the run and cost at
//! least half of a step. With fewer than three steps, what recurs is looked for in eight parts of the recording, between
//! collectives that all ranks have.

use super::phases::{Phase, Times, own};
use super::step_table::{StepTable, median};
use crate::order::{descending, sort_by_key};
use alloc::vec::Vec;

/// A rank that others waited for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Straggler {
    /// The index of the rank in the run.
    pub(crate) member: usize,
    pub(crate) phase: Phase,
    /// The numbers of the steps.
    pub(crate) steps: Vec<i64>,
    /// The sum over these steps of what the others waited for, in ns.
    pub(crate) cost_ns: i64,
    /// Whether it is late in most steps.
    pub(crate) is_persistent: bool,
}

/// Returns the ranks that others waited for, the most expensive first. `parts` is used to find what recurs if there are
/// few steps.
pub(crate) fn stragglers(steps: &StepTable, parts: Option<&StepTable>) -> Vec<Straggler> {
    let recurring = if steps.numbers.len() < RECURS { parts.unwrap_or(steps) } else { steps };
    let work = recurring.typical(|cell| own(&cell.phases));
    let mut out = named(recurring, &|series, noise| persistent(series, work, noise));
    let is_known = |one: &Straggler, out: &[Straggler]| {
        out.iter().any(|known| (known.member, known.phase) == (one.member, one.phase))
    };
    let wall = steps.typical(|cell| cell.time.1 - cell.time.0);
    let single = named(steps, &|series, noise| single(series, wall, noise));
    let single: Vec<Straggler> = single.into_iter().filter(|one| !is_known(one, &out)).collect();
    for one in &mut out {
        one.is_persistent = true;
    }
    out.extend(single);
    sort_by_key(&mut out, |one| (descending(one.cost_ns), one.member as i64));
    out
}

/// Returns a straggler for each rank and phase in which some steps are late: those that `late` picks from its costs and
/// the noise.
fn named(table: &StepTable, late: &dyn Fn(&[i64], i64) -> Vec<usize>) -> Vec<Straggler> {
    let costs = table.costs();
    let largest = sorted_costs(&costs);
    let mut out = Vec::new();
    for (member, steps) in costs.iter().enumerate() {
        let noise = noise(&largest, member);
        for phase in Phase::ALL {
            let series: Vec<i64> = steps.iter().map(|cell| cell[phase as usize]).collect();
            let late = late(&series, noise);
            if !late.is_empty() {
                let mut numbers: Vec<i64> = late.iter().map(|&step| table.numbers[step]).collect();
                numbers.dedup();
                let cost_ns = late.iter().fold(0i64, |sum, &step| sum.saturating_add(series[step]));
                out.push(Straggler { member, phase, steps: numbers, cost_ns, is_persistent: false });
            }
        }
    }
    out
}

/// The fewest steps in which something can recur.
const RECURS: usize = 3;

/// The steps in which a rank is late, if it is late in most.
fn persistent(series: &[i64], work: i64, noise: i64) -> Vec<usize> {
    let usual = median(series.to_vec());
    let spread = median(series.iter().map(|&cost| (cost - usual).abs()).collect());
    let is_distinct = usual as f64 * libm::sqrt(series.len() as f64) > 5.0 * 1.2533 * 1.4826 * spread as f64;
    let is_large = usual.saturating_mul(100) >= work.saturating_mul(3) && usual > noise.saturating_mul(3);
    if series.len() < RECURS || !is_large || !is_distinct {
        return Vec::new();
    }
    (0..series.len()).filter(|&step| series[step].saturating_mul(2) >= usual).collect()
}

/// The costs of all ranks and steps by their costliest phase, in ascending order, each with its rank.
fn sorted_costs(costs: &[Vec<Times>]) -> Vec<(i64, i64)> {
    let largest = |cell: &Times| cell.iter().copied().max().unwrap_or(0);
    let of_rank = |(at, steps): (usize, &Vec<Times>)| -> Vec<(i64, i64)> {
        steps.iter().map(|cell| (largest(cell), at as i64)).collect()
    };
    let mut all: Vec<(i64, i64)> = costs.iter().enumerate().flat_map(of_rank).collect();
    sort_by_key(&mut all, |cost| *cost);
    all
}

/// The noise of a run, as seen by one rank: the cost that 60 % of the steps of the other ranks stay below, by their
/// costliest phase.
fn noise(sorted: &[(i64, i64)], member: usize) -> i64 {
    let others = || sorted.iter().filter(|(_, at)| *at != member as i64);
    others().nth(others().count() * 3 / 5).map_or(0, |cost| cost.0)
}

/// The single steps in which a rank is late.
fn single(series: &[i64], wall: i64, noise: i64) -> Vec<usize> {
    let is_late = |cost: i64| cost.saturating_mul(2) >= wall && cost > noise.saturating_mul(5) && cost > 0;
    (0..series.len()).filter(|&step| is_late(series[step])).collect()
}
