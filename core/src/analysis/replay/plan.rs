//! The changes of a replay, ready for every node and every dependency.

use super::changes::Changes;
use super::code::Code;
use super::graph::{Dependency, Edge, Graph, NodeId, NodeKind, Point};
use crate::analysis::device::classes::{Class, Classes, Kinds};
use crate::analysis::device::idle::Cause;
use crate::analysis::device::sequences::{Search, sequences};
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use alloc::vec;
use alloc::vec::Vec;

/// What is replayed.
pub(super) struct Recorded<'a> {
    pub(super) trace: &'a Trace,
    pub(super) graph: Graph,
    pub(super) code: Code,
    pub(super) kinds: Kinds,
}

impl<'a> Recorded<'a> {
    /// A classifier of the activities.
    pub(super) fn classes(&self) -> Classes<'a> {
        self.kinds.classes(self.trace)
    }
}

/// What is different in a replay.
pub(super) struct Plan<'a> {
    recorded: &'a Recorded<'a>,
    changes: &'a Changes,
    /// Whether each cause takes no time.
    free: [bool; Cause::ALL.len()],
    /// Whether the delay of each kind of dependency is 0.
    free_delays: [bool; Dependency::ALL.len()],
    /// The activities that need no launch of their own, with the calls that launched them, in order.
    fused: Vec<(NodeId, NodeId)>,
    /// Whether all dependencies are as recorded.
    keeps_dependencies: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn new(recorded: &'a Recorded<'a>, changes: &'a Changes) -> Plan<'a> {
        let free = Cause::ALL.map(|cause| changes.is_free(cause));
        let free_delays = Dependency::ALL.map(|why| changes.is_delay_free(why));
        let fused = if changes.fuse.is_empty() { Vec::new() } else { fused(recorded, changes) };
        let keeps_dependencies = !free.contains(&true)
            && !free_delays.contains(&true)
            && fused.is_empty()
            && !changes.overlap_communication;
        Plan { recorded, changes, free, free_delays, fused, keeps_dependencies }
    }

    /// Whether a call takes no time, or a wait for data.
    pub(super) fn is_free(&self, kind: NodeKind) -> bool {
        match kind {
            NodeKind::Call(cause) => self.free[cause as usize],
            NodeKind::Data => self.free[Cause::DataLoading as usize],
            _ => false,
        }
    }

    /// Sets the durations of all nodes without waiting, in ns.
    pub(super) fn durations(&self, durations: &mut Vec<i64>) {
        let graph = &self.recorded.graph;
        durations.clone_from(&graph.own_ns);
        if self.free.contains(&true) {
            for &(node, cause, ns) in &self.recorded.code.parts {
                if self.free[cause as usize] {
                    durations[node.index()] -= ns;
                }
            }
            for (duration, &kind) in durations.iter_mut().zip(&graph.kinds) {
                if self.is_free(kind) {
                    *duration = 0;
                }
            }
        }
        if !self.changes.faster.is_empty() {
            self.faster(durations);
        }
        if !self.changes.faster_rows.is_empty() {
            self.faster_rows(durations);
        }
        for &(_, call) in &self.fused {
            durations[call.index()] = 0;
        }
    }

    /// Shortens the work whose class, category or name is meant.
    fn faster(&self, durations: &mut [i64]) {
        let table = &self.recorded.trace.table;
        let classes = self.recorded.classes();
        let mut factors: Vec<Option<f64>> = vec![None; table.names.len()];
        for (row, class, duration) in work(&self.recorded.graph, durations) {
            let known = &mut factors[table.name_id(row).0 as usize];
            let factor = *known.get_or_insert_with(|| {
                let (name, category) = (table.name(row), classes.category(row));
                let fitting = self.changes.faster.iter().filter(|faster| faster.fits(class, category, name));
                fitting.map(|faster| faster.factor).product()
            });
            shorten(duration, factor);
        }
    }

    /// Shortens the activities that are meant.
    fn faster_rows(&self, durations: &mut [i64]) {
        let faster = &self.changes.faster_rows;
        for (row, _, duration) in work(&self.recorded.graph, durations) {
            if let Ok(at) = faster.binary_search_by_key(&row, |faster| faster.0) {
                shorten(duration, faster[at].1);
            }
        }
    }

    /// The delay of a dependency; `None` if it is not there.
    pub(super) fn delay(&self, to: Point, edge: &Edge) -> Option<i64> {
        if self.keeps_dependencies {
            return Some(edge.delay_ns);
        }
        let is_fused = |node: NodeId| self.fused.binary_search_by_key(&node, |fused| fused.0).is_ok();
        let is_delay_free = self.free_delays[edge.why as usize];
        match edge.why {
            Dependency::Launch if is_fused(to.node()) => None,
            Dependency::Stream if is_fused(to.node()) => Some(0),
            _ if !self.holds(to, edge) => None,
            // The call of a copy from pageable memory ends before the copy.
            Dependency::Synchronization if is_delay_free => Some(edge.delay_ns.min(0)),
            _ if is_delay_free => Some(0),
            _ => Some(edge.delay_ns),
        }
    }

    /// Whether a dependency is there.
    fn holds(&self, to: Point, edge: &Edge) -> bool {
        let kind = |point: Point| self.recorded.graph.kinds[point.node().index()];
        let communicates = |point: Point| kind(point) == NodeKind::Device(Class::Communication);
        match edge.why {
            Dependency::Data => !self.free[Cause::DataLoading as usize],
            Dependency::Synchronization | Dependency::QueueFull => match kind(to) {
                NodeKind::Call(cause) => !self.free[cause as usize],
                _ => true,
            },
            Dependency::Stream | Dependency::OtherStream if self.changes.overlap_communication => {
                !communicates(edge.from) || communicates(to)
            }
            _ => true,
        }
    }
}

/// The activities of devices with their durations.
fn work<'a>(graph: &'a Graph, durations: &'a mut [i64]) -> impl Iterator<Item = (Row, Class, &'a mut i64)> {
    let nodes = graph.nodes.iter().zip(durations);
    nodes.filter_map(|(node, duration)| Some((node.row?, node.kind.class()?, duration)))
}

fn shorten(duration: &mut i64, factor: f64) {
    *duration = (*duration as f64 / factor + 0.5) as i64;
}

/// The activities that follow another one in a sequence that is one kernel, with their calls.
fn fused(recorded: &Recorded<'_>, changes: &Changes) -> Vec<(NodeId, NodeId)> {
    let graph = &recorded.graph;
    let sequences = sequences(recorded.trace, &Search::default()).unwrap_or_default();
    let chosen = changes.fuse.iter().filter_map(|number| sequences.get(number.checked_sub(1)?));
    let rows = chosen.flat_map(|sequence| sequence.occurrences().flat_map(|rows| &rows[1..]));
    let mut rows: Vec<Row> = rows.copied().collect();
    sort_by_key(&mut rows, |&row| (i64::from(row), 0));
    let is_fused = |id: &NodeId| graph.node(*id).row.is_some_and(|row| rows.binary_search(&row).is_ok());
    let launch = |work: NodeId| {
        let call = graph.edges(Point::start(work)).find(|edge| edge.why == Dependency::Launch)?;
        Some((work, call.from.node()))
    };
    graph.ids().filter(is_fused).filter_map(launch).collect()
}
