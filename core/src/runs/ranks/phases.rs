//! What a rank was doing at each instant: one of six phases.
//!
//! With work on a device, the device decides: work counts for the phase of the operator that launched it, communication
//! counts where no other work runs, and idle time counts for what the host was doing then. Without a device, the host
//! decides alone.
//!
//! Of the host, the operators decide first, by the range around them: an optimizer step, a backward pass, data loading,
//! or else a forward pass. A time without operators in which a collective ended was a wait for it: communication. What
//! remains belongs to the range around it, or to the phase on both of its sides, and is `other` if there is neither.

mod host;

pub(crate) use host::program_threads;

use crate::analysis::device::classes::{Class, Classes};
use crate::analysis::intervals::{Interval, Intervals};
use crate::base::order::sort_by_key;
use crate::base::words::words;
use crate::trace::Trace;
use alloc::vec::Vec;

words! {
    "Phase"
    /// A phase of training.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Phase {
        /// Loading the next batch.
        DataLoading = "data_loading",
        /// The forward pass.
        Forward = "forward",
        /// The backward pass.
        Backward = "backward",
        /// The step of the optimizer.
        Optimizer = "optimizer",
        /// Collectives and messages, with the time of waiting for other ranks.
        Communication = "communication",
        /// Anything else.
        Other = "other",
    }
}

impl Phase {
    /// The phases of a rank's own work.
    pub(crate) const OWN: [Phase; 5] =
        [Phase::DataLoading, Phase::Forward, Phase::Backward, Phase::Optimizer, Phase::Other];
}

/// A time for each phase, in ns.
pub(crate) type Times = [i64; 6];

/// The time of a rank's own work: everything except communication.
pub(crate) fn own_work(times: &Times) -> i64 {
    sum(times).saturating_sub(times[Phase::Communication as usize])
}

/// The sum of times, in ns.
pub(crate) fn sum<'a>(times: impl IntoIterator<Item = &'a i64>) -> i64 {
    times.into_iter().fold(0, |sum, &ns| sum.saturating_add(ns))
}

/// Adds the time of each phase.
pub(crate) fn add(sums: &mut Times, times: &Times) {
    for (sum, ns) in sums.iter_mut().zip(times) {
        *sum = sum.saturating_add(*ns);
    }
}

/// The phases of a rank over time: disjoint periods, ordered by time. What is not listed is `other`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phases(Vec<(Interval, Phase)>);

impl Phases {
    /// Returns the phases of a trace, whose collectives on the host were `in_flight`.
    pub(super) fn new(trace: &Trace, in_flight: &[Interval]) -> Phases {
        let host = host::phases(trace, in_flight);
        let layers = work(trace, &host);
        if layers.iter().all(|layer| layer.0.as_slice().is_empty()) { host } else { layered(&layers, &host) }
    }

    /// Returns the time of each phase within a period; together they are as long as the period.
    pub(crate) fn within(&self, period: Interval) -> Times {
        let mut times = Times::default();
        let first = self.0.partition_point(|part| part.0.1 <= period.0);
        for &((start, end), phase) in self.0[first..].iter().take_while(|part| part.0.0 < period.1) {
            times[phase as usize] += end.min(period.1) - start.max(period.0);
        }
        let listed: i64 = times.iter().sum();
        times[Phase::Other as usize] += (period.1 - period.0).max(0) - listed;
        times
    }

    /// Returns the phase at an instant.
    pub(crate) fn at(&self, instant: i64) -> Phase {
        let first = self.0.partition_point(|part| part.0.1 <= instant);
        self.0.get(first).filter(|part| part.0.0 <= instant).map_or(Phase::Other, |part| part.1)
    }
}

/// Lays sets of times over each other: each instant counts for the first set that has it.
fn painted(layers: &[(Intervals, Phase)]) -> Vec<(Interval, Phase)> {
    let mut covered = Intervals::default();
    let mut parts: Vec<(Interval, Phase)> = Vec::new();
    for (times, phase) in layers {
        parts.extend(times.outside(&covered).as_slice().iter().map(|&part| (part, *phase)));
        covered = covered.union(times);
    }
    sort_by_key(&mut parts, |part| part.0);
    parts.dedup_by(|next, last| {
        let joins = next.1 == last.1 && next.0.0 == last.0.1;
        if joins {
            last.0.1 = next.0.1;
        }
        joins
    });
    parts
}

/// Returns the times of device work by the phase that launched it, with communication last.
fn work(trace: &Trace, host: &Phases) -> Vec<(Intervals, Phase)> {
    let table = &trace.table;
    let classes = Classes::new(trace);
    let mut times: [Vec<Interval>; Phase::ALL.len()] = Default::default();
    for row in table.rows().filter(|&row| table.category(row).is_device_work() && table.is_span(row)) {
        let phase = match classes.class(row) {
            Class::Communication => Phase::Communication,
            _ => match trace.links.launch(row).map(|call| host.at(table.ts(call))) {
                None | Some(Phase::Communication) => Phase::Other,
                Some(phase) => phase,
            },
        };
        times[phase as usize].push((table.ts(row), table.end(row)));
    }
    const ORDER: [Phase; 6] = [
        Phase::Optimizer,
        Phase::Backward,
        Phase::Forward,
        Phase::DataLoading,
        Phase::Other,
        Phase::Communication,
    ];
    ORDER.map(|phase| (Intervals::union_of(core::mem::take(&mut times[phase as usize])), phase)).into()
}

/// Lays the work of the device over the phases of the host.
fn layered(work: &[(Intervals, Phase)], host: &Phases) -> Phases {
    let mut layers = work.to_vec();
    for phase in Phase::ALL {
        let intervals = host.0.iter().filter(|part| part.1 == phase).map(|part| part.0);
        layers.push((Intervals::union_of(intervals.collect()), phase));
    }
    Phases(painted(&layers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases(parts: &[(i64, i64, Phase)]) -> Phases {
        Phases(parts.iter().map(|&(start, end, phase)| ((start, end), phase)).collect())
    }

    #[test]
    fn the_phases_of_a_period_add_up_to_it() {
        let phases = phases(&[(0, 10, Phase::Forward), (10, 15, Phase::Backward), (20, 30, Phase::Forward)]);
        assert_eq!(phases.within((5, 25)), [0, 10, 5, 0, 0, 5]);
        assert_eq!(phases.within((40, 50)), [0, 0, 0, 0, 0, 10]);
        assert_eq!(
            [phases.at(9), phases.at(10), phases.at(17)],
            [Phase::Forward, Phase::Backward, Phase::Other]
        );
    }

    #[test]
    fn the_first_layer_that_has_an_instant_decides() {
        let layer = |times: &[Interval], phase| (Intervals::union_of(times.to_vec()), phase);
        let parts = painted(&[
            layer(&[(5, 10), (20, 25)], Phase::Backward),
            layer(&[(0, 7), (8, 30)], Phase::Forward),
        ]);
        assert_eq!(
            parts,
            [
                ((0, 5), Phase::Forward),
                ((5, 10), Phase::Backward),
                ((10, 20), Phase::Forward),
                ((20, 25), Phase::Backward),
                ((25, 30), Phase::Forward)
            ]
        );
    }
}
