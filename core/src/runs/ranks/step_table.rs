//! The work of all ranks by step.

use super::matching::{Matched, call};
use super::phases::{Phase, Times, add, own_work};
use super::run::{Member, Run};
use super::summary::StepTimes;
use super::waits::{Waits, median_without};
use crate::base::order::sort_by_key;
use alloc::vec;
use alloc::vec::Vec;

/// The steps of all ranks: what each did in them, and how late it was.
pub(crate) struct StepTable {
    /// The number of each step that at least two ranks have; of a run of one rank, of each step.
    pub(crate) numbers: Vec<i64>,
    /// The same with their cycles, because a rank can have several steps of one number. They ascend, except of parts.
    keys: Vec<(i64, i64)>,
    /// Whether the numbers are those of profiler steps. Without any, the complete recording is one step.
    pub(crate) has_steps: bool,
    /// By step and rank: what each did, and how late it was.
    pub(crate) cells: Vec<Vec<Option<Cell>>>,
}

/// One rank in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    pub(crate) time: (i64, i64),
    pub(crate) phases: Times,
    /// The sum of its latenesses in collectives, in ns.
    pub(crate) late_ns: i64,
    /// The sum of its waits, in ns.
    pub(crate) wait_ns: i64,
}

/// The imbalance of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Imbalance {
    /// The index of the rank with the most own work.
    pub(crate) member: usize,
    /// The phase in which it has the most beyond the others.
    pub(crate) phase: Phase,
    /// Its own work beyond the median, as a share of the median.
    pub(crate) share: f64,
}

impl StepTable {
    /// Returns a table of other rows, such as nodes in place of ranks.
    pub(crate) fn with_cells(&self, cells: Vec<Vec<Option<Cell>>>) -> StepTable {
        StepTable { numbers: self.numbers.clone(), keys: self.keys.clone(), has_steps: self.has_steps, cells }
    }

    pub(crate) fn new(run: &Run, matched: &[Matched], waits: &[Waits]) -> StepTable {
        let mut keys: Vec<(i64, i64)> =
            run.members.iter().flat_map(|member| member.steps.iter().map(key)).collect();
        sort_by_key(&mut keys, |key| *key);
        let fewest = run.members.len().min(2);
        keys = keys.chunk_by(|a, b| a == b).filter(|same| same.len() >= fewest).map(|same| same[0]).collect();
        let has_steps = !keys.is_empty();
        if !has_steps {
            keys.push((0, 0));
        }
        let mut cells = vec![vec![None; run.members.len()]; keys.len()];
        for (at, member) in run.members.iter().enumerate() {
            for step in periods(member, has_steps) {
                let StepTimes { time, phases, .. } = step;
                if let Ok(step) = keys.binary_search(&key(&step)) {
                    cells[step][at] = Some(Cell { time, phases, ..Cell::default() });
                }
            }
        }
        let numbers = keys.iter().map(|key| key.0).collect();
        let mut table = StepTable { numbers, keys, has_steps, cells };
        table.add_waits(run, matched, waits);
        table
    }

    fn add_waits(&mut self, run: &Run, matched: &[Matched], waits: &[Waits]) {
        for (collective, waits) in matched.iter().zip(waits) {
            for (at, &place) in collective.calls.iter().enumerate() {
                let arrival = call(run, place).time.0;
                let member = place.member as usize;
                let Some(step) = self.step_at(&run.members[member], arrival) else { continue };
                if let Some(cell) = &mut self.cells[step][member] {
                    cell.late_ns = cell.late_ns.saturating_add(waits.late_ns[at]);
                    cell.wait_ns = cell.wait_ns.saturating_add(waits.counted_ns[at]);
                }
            }
        }
    }

    /// The index of the step that a rank was in.
    fn step_at(&self, member: &Member, time: i64) -> Option<usize> {
        if !self.has_steps {
            return Some(0);
        }
        let after = member.steps.partition_point(|step| step.time.0 <= time);
        let step = member.steps.get(after.checked_sub(1)?)?;
        self.keys.binary_search(&key(step)).ok()
    }

    /// The number of the step of a collective: that of its first rank; `None` outside of steps that several ranks have.
    pub(crate) fn step_of(&self, run: &Run, matched: &Matched) -> Option<i64> {
        self.key_of(run, matched).map(|key| key.0)
    }

    fn key_of(&self, run: &Run, matched: &Matched) -> Option<(i64, i64)> {
        let first = matched.calls[0];
        let step = self.step_at(&run.members[first.member as usize], call(run, first).time.0)?;
        self.has_steps.then(|| self.keys[step])
    }

    /// How many different steps some of the rows are of.
    pub(crate) fn count_steps(&self, rows: &[usize]) -> usize {
        let mut keys: Vec<(i64, i64)> = rows.iter().map(|&row| self.keys[row]).collect();
        keys.dedup();
        keys.len()
    }

    /// Returns the rank with the most own work in a step, if its own work exceeds the median.
    pub(crate) fn imbalance(cells: &[Option<Cell>]) -> Option<Imbalance> {
        let known: Vec<(usize, Cell)> = known(cells).collect();
        let middle = |of: &dyn Fn(&Cell) -> i64| median(known.iter().map(|(_, cell)| of(cell)).collect());
        let usual = middle(&|cell| own_work(&cell.phases));
        let &(member, cell) = known.iter().max_by_key(|(_, cell)| own_work(&cell.phases))?;
        let excess = own_work(&cell.phases) - usual;
        let beyond =
            |phase: Phase| cell.phases[phase as usize] - middle(&|cell: &Cell| cell.phases[phase as usize]);
        let phase = Phase::OWN.into_iter().max_by_key(|&phase| beyond(phase))?;
        (excess > 0 && usual > 0).then(|| Imbalance { member, phase, share: excess as f64 / usual as f64 })
    }

    /// By rank and step: what the others waited for, by phase.
    pub(crate) fn costs(&self) -> Vec<Vec<Times>> {
        let ranks = self.cells.first().map_or(0, Vec::len);
        let mut costs = vec![vec![Times::default(); self.numbers.len()]; ranks];
        for (step, cells) in self.cells.iter().enumerate() {
            let known: Vec<(usize, Cell)> = known(cells).collect();
            for phase in Phase::OWN {
                let mut times: Vec<i64> = known.iter().map(|(_, cell)| cell.phases[phase as usize]).collect();
                times.sort_unstable();
                for (at, cell) in &known {
                    let time = cell.phases[phase as usize];
                    let excess = time - median_without(&times, time);
                    costs[*at][step][phase as usize] = excess.min(cell.late_ns).max(0);
                }
            }
        }
        costs
    }

    /// The typical value of the cells.
    pub(crate) fn typical(&self, value: impl Fn(&Cell) -> i64) -> i64 {
        median(self.cells.iter().flatten().flatten().map(value).collect())
    }
}

/// The ranks that have a step, by their index, and what each did in it.
pub(crate) fn known(cells: &[Option<Cell>]) -> impl Iterator<Item = (usize, Cell)> {
    cells.iter().enumerate().filter_map(|(at, cell)| Some((at, (*cell)?)))
}

/// The steps of a rank; without steps, its complete recording.
fn periods(member: &Member, has_steps: bool) -> Vec<StepTimes> {
    if has_steps {
        return member.steps.clone();
    }
    let mut phases = Times::default();
    for window in &member.windows {
        add(&mut phases, &window.phases);
    }
    vec![StepTimes { time: member.time(), phases, ..StepTimes::default() }]
}

fn key(step: &StepTimes) -> (i64, i64) {
    (step.number, step.cycle)
}

/// The number of parts that a recording with few steps is divided into.
const PARTS: usize = 8;

/// The fewest collectives of a part.
const FEWEST: usize = 2;

impl StepTable {
    /// Returns a table of parts in place of steps, for a recording of few steps: the time between collectives that all
    /// ranks have is divided into parts with equally many of them. `None` if there are too few.
    pub(crate) fn from_parts(
        run: &Run,
        matched: &[Matched],
        waits: &[Waits],
        steps: &StepTable,
    ) -> Option<StepTable> {
        let ranks = run.members.len();
        let is_cut = |collective: &&Matched| {
            collective.calls.len() == ranks && !collective.operation(run).is_message()
        };
        let cuts: Vec<&Matched> = matched.iter().filter(is_cut).collect();
        if ranks < 2 || cuts.len() < PARTS * FEWEST {
            return None;
        }
        let cuts: Vec<&Matched> = (0..=PARTS).map(|at| cuts[at * (cuts.len() - 1) / PARTS]).collect();
        let keys: Vec<(i64, i64)> =
            cuts[1..].iter().map(|cut| steps.key_of(run, cut).unwrap_or((0, 0))).collect();
        let mut cells = vec![vec![Some(Cell::default()); ranks]; PARTS];
        for (part, cut) in cuts.windows(2).enumerate() {
            for ((first, last), cell) in cut[0].calls.iter().zip(&cut[1].calls).zip(&mut cells[part]) {
                let calls = &run.members[first.member as usize].calls;
                let cell = cell.get_or_insert_default();
                cell.time = (calls[first.call as usize].time.0, calls[last.call as usize].time.0);
                for call in calls.get(first.call as usize + 1..=last.call as usize).unwrap_or_default() {
                    add(&mut cell.phases, &call.doing);
                }
            }
        }
        let numbers = keys.iter().map(|key| key.0).collect();
        let mut parts = StepTable { numbers, keys, has_steps: steps.has_steps, cells };
        parts.add_lateness(&cuts, matched, waits);
        Some(parts)
    }

    /// Adds the lateness of each call to the part that it ends.
    fn add_lateness(&mut self, cuts: &[&Matched], matched: &[Matched], waits: &[Waits]) {
        for (collective, waits) in matched.iter().zip(waits) {
            for (place, &late) in collective.calls.iter().zip(&waits.late_ns) {
                let member = place.member as usize;
                let part = cuts.partition_point(|cut| cut.calls[member].call < place.call);
                if let Some(cell) =
                    part.checked_sub(1).and_then(|part| self.cells.get_mut(part)?[member].as_mut())
                {
                    cell.late_ns = cell.late_ns.saturating_add(late);
                }
            }
        }
    }
}

/// The median; the upper one of two in the middle.
pub(super) fn median(mut values: Vec<i64>) -> i64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}
