//! Who was late, in which phase, and what it cost.
//!
//! For each rank, step and phase, the time of the rank's own work beyond the median of the other ranks is its excess. It
//! counts as far as others waited for the rank in that step: the excess or the sum of its latenesses in collectives,
//! whichever is smaller. A rank that waits for others has no excess, because waiting is not its own work.
//!
//! A rank is named for a phase if its excess recurs: its median over the steps is at least 3 % of a step's own work and
//! exceeds its spread and the other ranks clearly. Otherwise single steps are named, if they clearly exceed the noise of
//! the run and cost at least half of a step. With fewer than three steps, what recurs is looked for in eight parts of the
//! recording, between collectives that all ranks have.

use super::phases::{Phase, Times, own_work, sum};
use super::step_table::{StepTable, median};
use crate::base::order::{descending, sort_by_key};
use alloc::vec;
use alloc::vec::Vec;

/// A rank that others waited for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Straggler {
    /// The index of the rank in the run.
    pub(crate) member: usize,
    pub(crate) phase: Phase,
    /// The numbers of the steps.
    pub(crate) steps: Vec<i64>,
    /// How many steps these are; several recordings can have steps of one number.
    pub(crate) count: usize,
    /// The sum over these steps of what the others waited for, in ns.
    pub(crate) cost_ns: i64,
    /// Whether it is late in most steps.
    pub(crate) is_persistent: bool,
}

/// Returns the ranks that others waited for, the most expensive first. `parts` is used to find what recurs if there are
/// few steps.
pub(crate) fn stragglers(steps: &StepTable, parts: Option<&StepTable>) -> Vec<Straggler> {
    let costs = Costs::new(steps);
    let divided = parts.filter(|_| steps.numbers.len() < RECURS).map(Costs::new);
    let recurring = divided.as_ref().unwrap_or(&costs);
    let work = recurring.table.typical(|cell| own_work(&cell.phases));
    let mut out = recurring.named(true, &|series, noise| persistent(series, work, noise));
    let wall = steps.typical(|cell| cell.time.1 - cell.time.0);
    let mut single = costs.named(false, &|series, noise| single(series, wall, noise));
    single.retain(|straggler| {
        out.iter().all(|known| (known.member, known.phase) != (straggler.member, straggler.phase))
    });
    out.append(&mut single);
    sort_by_key(&mut out, |straggler| (descending(straggler.cost_ns), straggler.member as i64));
    out
}

/// What the ranks cost in the steps of a table.
struct Costs<'a> {
    table: &'a StepTable,
    /// By rank and step.
    of: Vec<Vec<Times>>,
    /// The costs of all ranks and steps by their costliest phase, in ascending order.
    sorted: Vec<i64>,
    /// By rank: where its costs are in `sorted`, in ascending order.
    places: Vec<Vec<usize>>,
}

impl Costs<'_> {
    fn new(table: &StepTable) -> Costs<'_> {
        let of = table.costs();
        let largest = |cell: &Times| cell.iter().copied().max().unwrap_or(0);
        let mut sorted: Vec<(i64, i64)> = (of.iter().enumerate())
            .flat_map(|(at, steps)| steps.iter().map(move |cell| (largest(cell), at as i64)))
            .collect();
        sort_by_key(&mut sorted, |cost| *cost);
        let mut places = vec![Vec::new(); of.len()];
        for (place, &(_, at)) in sorted.iter().enumerate() {
            places[at as usize].push(place);
        }
        Costs { table, of, sorted: sorted.into_iter().map(|(cost, _)| cost).collect(), places }
    }

    /// The noise of a run, as seen by one rank: the cost that 60 % of the steps of the other ranks stay below, by their
    /// costliest phase.
    fn noise(&self, member: usize) -> i64 {
        let places = &self.places[member];
        let at = (self.sorted.len() - places.len()) * 3 / 5;
        // Each cost of the rank itself that is passed moves the place by one.
        let at = places.iter().fold(at, |at, &place| at + usize::from(place <= at));
        self.sorted.get(at).copied().unwrap_or(0)
    }

    /// Returns a straggler for each rank and phase in which some steps are late: those that `late` picks from its costs
    /// and the noise.
    fn named(&self, is_persistent: bool, late: &dyn Fn(&[i64], i64) -> Vec<usize>) -> Vec<Straggler> {
        let mut out = Vec::new();
        for (member, steps) in self.of.iter().enumerate() {
            let noise = self.noise(member);
            for phase in Phase::OWN {
                let series: Vec<i64> = steps.iter().map(|cell| cell[phase as usize]).collect();
                let late = late(&series, noise);
                if !late.is_empty() {
                    let mut numbers: Vec<i64> = late.iter().map(|&step| self.table.numbers[step]).collect();
                    numbers.dedup();
                    let cost_ns = sum(late.iter().map(|&step| &series[step]));
                    let count = self.table.count_steps(&late);
                    out.push(Straggler { member, phase, steps: numbers, count, cost_ns, is_persistent });
                }
            }
        }
        out
    }
}

/// The fewest steps in which something can recur.
pub(super) const RECURS: usize = 3;

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

/// The single steps in which a rank is late.
fn single(series: &[i64], wall: i64, noise: i64) -> Vec<usize> {
    let is_late = |cost: i64| cost.saturating_mul(2) >= wall && cost > noise.saturating_mul(5) && cost > 0;
    (0..series.len()).filter(|&step| is_late(series[step])).collect()
}
