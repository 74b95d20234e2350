//! The clocks of a run, to place the events of all ranks on one timeline.

use super::clocks::{Clock, clocks};
use super::matching::Matching;
use super::run::Run;
use alloc::string::String;
use alloc::vec::Vec;

/// How the times of one recording are placed on the clock of the reference rank.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Alignment {
    /// The rank.
    pub rank: i64,
    /// The name of the trace.
    pub source: String,
    /// The number of recordings of the rank before this one.
    pub window: i64,
    /// What distinguishes its ids from those of other recordings: the rank, or for a further recording of a rank, a number
    /// that no rank has.
    pub(crate) slot: i64,
    /// The clock; `None` if the times stay as they are: they are not shifted, or the clock is not known.
    clock: Option<Clock>,
}

impl Alignment {
    /// Returns a Unix time of the recording on the clock of the reference rank, in ns.
    pub fn aligned(&self, time: i64) -> i64 {
        self.clock.map_or(time, |clock| clock.aligned(time))
    }

    /// The offset that is taken from the times of the recording, in ns, and the drift in parts per million.
    pub fn offset(&self) -> (i64, f64) {
        self.clock.map_or((0, 0.0), |clock| (clock.offset_ns, clock.drift * 1e6))
    }
}

impl Run {
    /// Returns the alignment of each recording that is used, ordered by rank and time.
    pub fn alignments(&self) -> Vec<Alignment> {
        let clocks = clocks(self, &Matching::new(self).collectives);
        let slots = self.members.iter().map(|member| member.rank).max().unwrap_or(0).saturating_add(1);
        let mut all = Vec::new();
        for (member, clock) in self.members.iter().zip(&clocks.of) {
            let clock = clock.as_ref().ok().filter(|clock| clock.is_shifted()).copied();
            for (summary, window) in member.windows.iter().zip(0..) {
                let slot = member.rank.saturating_add(slots.saturating_mul(window));
                let source = summary.source.clone();
                all.push(Alignment { rank: member.rank, source, window, slot, clock });
            }
        }
        all
    }
}
