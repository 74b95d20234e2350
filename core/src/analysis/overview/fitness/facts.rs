//! What a trace has, counted once for all rules.

use crate::analysis::context::Analysis;
use crate::analysis::device::classes::Class;
use crate::analysis::device::idle::WAIT_NS;
use crate::analysis::device::names::is_host_collective;
use crate::analysis::torch::device_type::DeviceType;
use crate::trace::Trace;
use crate::trace::attribution::{Owner, OwnerSource};
use crate::trace::link::{is_graph_launch, is_launch_name};
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use alloc::vec::Vec;

/// Events of one kind: how many there are, and the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) count: u64,
    pub(super) first: Option<Row>,
}

impl Count {
    fn add(&mut self, row: Row) {
        self.count += 1;
        self.first = self.first.or(Some(row));
    }

    /// The share of these events of others.
    pub(super) fn share_of(&self, others: &Count) -> f64 {
        if others.count == 0 { 0.0 } else { self.count as f64 / others.count as f64 }
    }
}

/// The number of [`OwnerSource`]s, and one for no source.
pub(super) const SHOWN: usize = OwnerSource::ALL.len() + 1;

/// What a trace has.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) operators: Count,
    /// Calls that launch device work.
    pub(super) launches: Count,
    /// Launch calls without device work, except those of captures.
    pub(super) fruitless: Count,
    /// How many of them are calls of memsets.
    pub(super) memsets: u64,
    /// The sum of the durations of device work, in ns.
    pub(super) work_ns: i64,
    pub(super) work: Count,
    /// Device work without a launch call.
    pub(super) unlaunched: Count,
    /// Device work that starts before its launch call.
    pub(super) early: Count,
    /// Device work of CUDA graphs, and the part of it whose operators nothing shows.
    pub(super) graphs: Count,
    pub(super) hidden: Count,
    /// The time of device work by what shows its operator, in ns; the last one is that of nothing.
    pub(super) shown_ns: [i64; SHOWN],
    pub(super) communication: Count,
    /// Collectives that the host carries out.
    pub(super) host_communication: Count,
    /// The sum of the durations of communication, and the longest, in ns.
    pub(super) communication_ns: (i64, i64),
    pub(super) longest: Option<Row>,
    pub(super) allocations: Count,
    /// Allocations of devices.
    pub(super) device_allocations: Count,
    /// Times in which the recording was paused.
    pub(super) pauses: Count,
    /// The first work of streams that began long after its launch, waits for work from before the recording, and work without a
    /// launch before the first one that has a launch.
    pub(super) before: Count,
    /// Kernels whose hardware counters were read.
    pub(super) replayed: Count,
}

impl Facts {
    pub(super) fn new(analysis: &Analysis<'_>) -> Facts {
        let (trace, classes) = (analysis.trace, analysis.classes());
        let table = &trace.table;
        let mut facts = Facts::default();
        let mut has_work = alloc::vec![false; table.len()];
        for &(_, call) in &trace.links.launch_of {
            has_work[call.index()] = true;
        }
        let memory = table.names.find("[memory]");
        let purposes = analysis.purposes();
        let graphs = table.names.that(is_graph_launch);
        let memsets = table.names.that(|name| name.contains("emset"));
        let launching = table.names.that(is_launch_name);
        let host_collectives = table.names.that(is_host_collective);
        let pauses = table.names.that(|name| name.starts_with("not recorded: "));
        let mut streams = alloc::vec![false; table.tracks.all().len()];
        let (mut unlinked, mut linked_ns): (Vec<Row>, i64) = (Vec::new(), i64::MAX);
        for &row in &purposes.early_waits {
            facts.before.add(row);
        }
        for row in table.rows() {
            match table.category(row) {
                Category::CpuOp => facts.operators.add(row),
                Category::Runtime | Category::Driver if launching.has(table.name_id(row)) => {
                    let is_fruitless = !has_work[row.index()];
                    // What is captured does not run yet.
                    if is_fruitless && purposes.captures.has(table.track_id(row), table.ts(row)) {
                        continue;
                    }
                    facts.launches.add(row);
                    if is_fruitless {
                        facts.fruitless.add(row);
                        facts.memsets += u64::from(memsets.has(table.name_id(row)));
                    }
                }
                category if category.is_device_work() && table.is_span(row) => {
                    let call = trace.links.launch(row);
                    let is_graph = call.is_some_and(|call| graphs.has(table.name_id(call)));
                    facts.add_work(table, (row, classes.class(row)), call, is_graph);
                    facts.add_owner(trace, row, is_graph);
                    match call {
                        Some(_) => linked_ns = linked_ns.min(table.ts(row)),
                        None => unlinked.push(row),
                    }
                    let known = &mut streams[table.track_id(row).0 as usize];
                    if !core::mem::replace(known, true) {
                        facts.add_first(table, row, call);
                    }
                }
                Category::CpuInstant if Some(table.name_id(row)) == memory => {
                    facts.allocations.add(row);
                    if DeviceType::from_event(table, row).is_some_and(|kind| !kind.is_host()) {
                        facts.device_allocations.add(row);
                    }
                }
                _ if host_collectives.has(table.name_id(row)) && table.is_span(row) => {
                    facts.host_communication.add(row);
                }
                Category::Other if pauses.has(table.name_id(row)) => facts.pauses.add(row),
                Category::Other if table.cat(row) == "cuda_profiler_range" => facts.replayed.add(row),
                _ => {}
            }
        }
        if linked_ns < i64::MAX {
            unlinked
                .into_iter()
                .filter(|&row| table.ts(row) < linked_ns)
                .for_each(|row| facts.before.add(row));
        }
        facts
    }

    /// The first work of a stream began long after its launch: the stream still did other work.
    fn add_first(&mut self, table: &Table, row: Row, call: Option<Row>) {
        // The call of a copy can wait as well, until the copy begins.
        let can_wait = |call| table.category(row) == Category::Memcpy && table.ts(row) < table.end(call);
        let from = |call| if can_wait(call) { table.ts(call) } else { table.end(call) };
        let delay = |call: Row| table.ts(row).saturating_sub(from(call));
        if call.is_some_and(|call| delay(call) >= WAIT_NS) {
            self.before.add(row);
        }
    }

    fn add_owner(&mut self, trace: &Trace, row: Row, is_graph: bool) {
        let is_shown = |owner: &Owner<'_>| owner.op.is_some() || owner.source == OwnerSource::Name;
        let source = trace.owner(row).filter(is_shown).map(|owner| owner.source);
        let by = source.map_or(SHOWN - 1, |source| source as usize);
        self.shown_ns[by] = self.shown_ns[by].saturating_add(trace.table.dur(row).max(0));
        if is_graph && !matches!(source, Some(OwnerSource::Capture | OwnerSource::Name)) {
            self.hidden.add(row);
        }
    }

    fn add_work(&mut self, table: &Table, (row, class): (Row, Class), call: Option<Row>, is_graph: bool) {
        self.work.add(row);
        self.work_ns = self.work_ns.saturating_add(table.dur(row).max(0));
        match call {
            None => self.unlaunched.add(row),
            Some(call) if table.ts(row) < table.ts(call) => self.early.add(row),
            Some(_) => {}
        }
        if is_graph {
            self.graphs.add(row);
        }
        if class == Class::Communication {
            let duration = table.dur(row).max(0);
            self.communication.add(row);
            self.communication_ns.0 += duration;
            if duration > self.communication_ns.1 || self.longest.is_none() {
                self.communication_ns.1 = duration;
                self.longest = Some(row);
            }
        }
    }
}
