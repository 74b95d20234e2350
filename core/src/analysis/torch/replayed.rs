//! Averages of operators whose kernels a graph replays: those of its capture. They have device time and no CPU time.

use super::averages::Average;
use super::function_events::{EventKind, FunctionEvent, FunctionEvents};
use crate::analysis::query::group_by::GroupBy;
use crate::base::index::Index;
use crate::base::names::Names;
use crate::trace::Trace;
use crate::trace::attribution::Replayed;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

/// Adds the operators of the captures that are joined to a trace to its averages.
pub(super) fn add_replayed(groups: &mut Vec<Average>, trace: &Trace, by: GroupBy) {
    let mut names = Names::default();
    let mut known = Index::default();
    let mut key = |group: &Average, next: usize| {
        let (stack, is_host) = (group.stack.join("\n"), group.device_type.is_host());
        let key = [&group.key, &group.input_shapes, &group.overload_name, &stack]
            .map(|text| text.replace('\0', ""));
        let name = names.intern(&format!("{}\0{is_host}{}", key.join("\0"), group.is_user_annotation));
        known.get_or_insert((i64::from(name.0), 0), next as u32) as usize
    };
    for (at, group) in groups.iter().enumerate() {
        key(group, at);
    }
    for replayed in trace.replayed() {
        let (events, times) = Times::new(trace, &replayed);
        for event in events.events().filter(|&event| times.counts[event.index()] > 0) {
            let table = &replayed.trace.table;
            if !by.python_functions && events.is_python_function(table, event) {
                continue;
            }
            let group = Average::start(&events, table, event, by);
            let at = key(&group, groups.len());
            if at == groups.len() {
                groups.push(group);
            }
            times.add(&mut groups[at], &events, event);
        }
    }
}

/// What the events of a capture replayed.
pub(crate) struct Times {
    /// The number of replays of each event.
    pub(crate) counts: Vec<i64>,
    /// The device time of each event, without and with everything inside of it, in ns.
    pub(crate) own_ns: Vec<i64>,
    pub(crate) total_ns: Vec<i64>,
}

impl Times {
    /// Returns the function events of a capture, and what they replayed.
    pub(crate) fn new(trace: &Trace, replayed: &Replayed<'_>) -> (FunctionEvents, Times) {
        let events = FunctionEvents::new(replayed.trace);
        let mut event_of: Vec<Option<FunctionEvent>> = vec![None; replayed.trace.table.len()];
        for event in events.events().filter(|&event| events.kind(event) != EventKind::Device) {
            event_of[events.row(event).index()] = Some(event);
        }
        let mut times =
            Times { counts: vec![0; events.len()], own_ns: vec![0; events.len()], total_ns: Vec::new() };
        // The number of replays of an event is that of the node in it that was replayed most often.
        let mut of_node: Vec<(i64, i64)> = vec![(0, 0); replayed.captures.nodes.len()];
        for &(_, node, row) in &replayed.work {
            of_node[node].0 += 1;
            of_node[node].1 += trace.table.dur(row).max(0);
        }
        for (node, (count, ns)) in replayed.captures.nodes.iter().zip(of_node) {
            let event = |op: Row| event_of[op.index()];
            if let Some(event) = node.op.and_then(event) {
                times.own_ns[event.index()] += ns;
                times.counts[event.index()] = times.counts[event.index()].max(count);
            }
        }
        times.total_ns.clone_from(&times.own_ns);
        // Children come after their parents.
        for event in events.events().rev() {
            if let Some(parent) = events.parent(event) {
                let (parent, event) = (parent.index(), event.index());
                times.total_ns[parent] += times.total_ns[event];
                times.counts[parent] = times.counts[parent].max(times.counts[event]);
            }
        }
        (events, times)
    }

    fn add(&self, group: &mut Average, events: &FunctionEvents, event: FunctionEvent) {
        let at = event.index();
        group.count += self.counts[at] as u64;
        group.device_time_total_ns += self.total_ns[at];
        group.self_device_time_total_ns += self.own_ns[at];
        group.torch_us.device_time_total += self.total_ns[at] as f64 / 1e3;
        group.torch_us.self_device_time_total += self.own_ns[at] as f64 / 1e3;
        group.flops = group.flops.saturating_add(events.flops(event).saturating_mul(self.counts[at]));
    }
}
