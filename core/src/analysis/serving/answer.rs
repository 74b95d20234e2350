//! What `serving` answers with: groups of iterations, and graphs.

use super::found::Serving;
use super::graphs::{Graph, graphs};
use super::groups::Group;
use super::kinds::kinds;
use super::served::Served;
use crate::analysis::context::Analysis;
use crate::base::order::{descending, sort_by_key};
use alloc::vec::Vec;

/// Everything that the answer has.
pub(super) struct ServingAnswer<'a> {
    pub(super) served: &'a [Served],
    /// The number of processes with iterations.
    pub(super) processes: usize,
    /// The confidence of inferred iterations.
    pub(super) inferred: Option<f64>,
    /// The time between readings of power, in ns.
    pub(super) reading_ns: Option<i64>,
    pub(super) total: Group,
    /// With the name of each phase, the longest first.
    pub(super) phases: Vec<(&'a str, Group)>,
    pub(super) kinds: Vec<(&'a Served, Group)>,
    pub(super) graphs: Vec<Graph>,
}

impl<'a> ServingAnswer<'a> {
    pub(super) fn new(analysis: &'a Analysis<'_>) -> ServingAnswer<'a> {
        let Serving { served, inferred, reading_ns } = analysis.serving();
        let pid = |one: &Served| analysis.trace.table.track(one.row).pid;
        let processes = served.chunk_by(|a, b| pid(a) == pid(b)).count();
        let all: Vec<usize> = (0..served.len()).collect();
        let mut phases: Vec<(&str, Vec<usize>)> = Vec::new();
        for (at, one) in served.iter().enumerate() {
            match phases.iter_mut().find(|phase| phase.0 == one.name.phase) {
                Some(phase) => phase.1.push(at),
                None => phases.push((&one.name.phase, alloc::vec![at])),
            }
        }
        let mut phases: Vec<(&str, Group)> =
            phases.into_iter().map(|(phase, members)| (phase, Group::new(served, &members))).collect();
        sort_by_key(&mut phases, |phase| (descending(phase.1.wall_ns), 0));
        let mut kinds: Vec<(&Served, Group)> =
            kinds(served).iter().map(|members| (&served[members[0]], Group::new(served, members))).collect();
        sort_by_key(&mut kinds, |kind| (descending(kind.1.wall_ns), 0));
        let graphs = if served.is_empty() { Vec::new() } else { graphs(analysis) };
        ServingAnswer {
            served,
            processes,
            inferred: *inferred,
            reading_ns: *reading_ns,
            total: Group::new(served, &all),
            phases,
            kinds,
            graphs,
        }
    }
}
