//! PyTorch's key averages: function events grouped by name and, on request, by shapes, stack and overload.

use super::clock::{TorchClock, TorchTimes};
use super::device_type::DeviceType;
use super::event_ids::{self, EventIds};
use super::frames::{MODULE_PREFIX, StackId};
use super::function_events::{EventKind, FunctionEvent, FunctionEvents, rounded_ns};
use super::hierarchy;
use crate::analysis::children::Children;
use crate::analysis::query::group_by::GroupBy;
use crate::base::handle::collect;
use crate::base::index::Index;
use crate::base::names::Names;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::table::metadata::Source;
use alloc::string::String;
use alloc::vec::Vec;

/// A group of events, or a single event.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Average {
    /// The name.
    pub key: String,
    /// The number of events.
    pub count: u64,
    /// CPU time including children, in ns.
    pub cpu_time_total_ns: i64,
    /// CPU time excluding children, in ns.
    pub self_cpu_time_total_ns: i64,
    /// Device time including children, in ns.
    pub device_time_total_ns: i64,
    /// Device time excluding children, in ns.
    pub self_device_time_total_ns: i64,
    /// The four times above, in PyTorch's floating point arithmetic.
    pub torch_us: TorchTimes,
    /// Host bytes including children.
    pub cpu_memory_usage: i64,
    /// Host bytes excluding children.
    pub self_cpu_memory_usage: i64,
    /// Device bytes including children.
    pub device_memory_usage: i64,
    /// Device bytes excluding children.
    pub self_device_memory_usage: i64,
    /// Floating point operations.
    pub flops: i64,
    /// The shapes as Python writes them; empty unless they are grouped by.
    pub input_shapes: String,
    /// The overload name; empty unless it is grouped by.
    pub overload_name: String,
    /// The first frames of the stack, as many as are grouped by.
    pub stack: Vec<String>,
    /// PyTorch's number of the record scope.
    pub scope: u8,
    /// The type of the device that the events ran on.
    pub device_type: DeviceType,
    /// PyTorch's `node_id`, the process of an RPC; `None` where PyTorch has -1.
    pub node_id: Option<i64>,
    /// Whether the first event ended on another thread than it began.
    pub is_async: bool,
    /// Whether the first event ran in another process, by RPC.
    pub is_remote: bool,
    /// Whether the events are from the legacy profiler, or their device time was measured by device events.
    pub is_legacy: bool,
    /// Whether the events are user annotations.
    pub is_user_annotation: bool,
    /// The first event of the group; for a total, the last of all events.
    pub first: Option<FunctionEvent>,
    /// Whether the first event has a parent.
    pub has_parent: bool,
    /// The ids of an event; `None` for a group of events.
    pub event: Option<EventIds>,
}

impl Average {
    /// Adds an event to the sums.
    fn add(&mut self, clock: &TorchClock<'_>, event: FunctionEvent) {
        let (events, table) = (clock.events(), clock.table());
        self.count += 1;
        let us = clock.times(event);
        self.torch_us.cpu_time_total += us.cpu_time_total;
        self.torch_us.self_cpu_time_total += us.self_cpu_time_total;
        self.torch_us.self_device_time_total += us.self_device_time_total;
        self.torch_us.device_time_total += us.device_time_total;
        self.cpu_time_total_ns += events.cpu_time_total_ns(table, event);
        self.self_cpu_time_total_ns += events.self_ns(event);
        let (all, self_memory) = (events.memory(event), events.self_memory(event));
        for (sum, term) in [
            (&mut self.device_time_total_ns, events.measured_total_ns(event)),
            (&mut self.self_device_time_total_ns, events.self_device_time_total_ns(event)),
            (&mut self.cpu_memory_usage, all.cpu),
            (&mut self.self_cpu_memory_usage, self_memory.cpu),
            (&mut self.device_memory_usage, all.device),
            (&mut self.self_device_memory_usage, self_memory.device),
            (&mut self.flops, events.flops(event)),
        ] {
            *sum = sum.saturating_add(term);
        }
    }

    /// Replaces the device time by the sum of times between device events, which have fractions of a ns.
    fn round_measured(&mut self, clock: &TorchClock<'_>) {
        if clock.events().is_measured() && clock.has_times() {
            self.device_time_total_ns = rounded_ns(self.torch_us.device_time_total);
            self.self_device_time_total_ns = rounded_ns(self.torch_us.self_device_time_total);
        }
    }

    /// Returns a group with the properties of its first event, which is not yet added to the sums.
    pub(super) fn start(
        events: &FunctionEvents,
        table: &Table,
        event: FunctionEvent,
        by: GroupBy,
    ) -> Average {
        let frames = events.stacks.get(events.stack(event));
        Average {
            key: events.name(event).into(),
            input_shapes: if by.shape { events.input_shapes(event).into() } else { String::new() },
            overload_name: if by.overload { events.overload(event).into() } else { String::new() },
            stack: match scripted(by, table, events.row(event), frames) {
                Some(module) => alloc::vec![module],
                None => frames_of(by, frames).to_vec(),
            },
            scope: events.scope(table, event),
            device_type: events.device_type(table, event),
            node_id: events.node_id(table, event),
            is_async: events.is_async(event),
            is_remote: events.is_remote(event),
            is_legacy: events.is_legacy(event),
            is_user_annotation: events.is_user_annotation(table, event),
            first: Some(event),
            has_parent: events.parent(event).is_some(),
            ..Average::default()
        }
    }
}

/// Marks the number of a module of TorchScript, in place of that of frames.
const SCRIPTED: u32 = 1 << 31;

/// Maps the key of an event's group to one number, in several steps.
struct GroupKeys<'a> {
    clock: &'a TorchClock<'a>,
    by: GroupBy,
    /// The number of the first frames of every stack.
    frames: Vec<u32>,
    /// The modules of TorchScript.
    scripted: Names,
    kinds: Index,
    inputs: Index,
    groups: Index,
}

impl<'a> GroupKeys<'a> {
    fn new(clock: &'a TorchClock<'a>, by: GroupBy) -> Self {
        let stacks = &clock.events().stacks;
        let mut distinct = Names::default();
        let mut first = |stack: StackId| distinct.intern(&frames_of(by, stacks.get(stack)).join("\0")).0;
        let frames = collect(stacks.len(), &mut first);
        GroupKeys {
            clock,
            by,
            frames,
            scripted: Names::default(),
            kinds: Index::default(),
            inputs: Index::default(),
            groups: Index::default(),
        }
    }

    /// Returns the number of an event's group; `next` if the event is the first of its group.
    fn group(&mut self, event: FunctionEvent, next: u32) -> u32 {
        let (events, table, by) = (self.clock.events(), self.clock.table(), self.by);
        let flags = events.device_type(table, event) as i64
            | i64::from(events.is_user_annotation(table, event)) << 8
            | i64::from(events.is_legacy(event)) << 9
            | events.node_id(table, event).map_or(0, |node| node.wrapping_add(1)) << 10;
        let kinds = self.kinds.len() as u32;
        let kind = self.kinds.get_or_insert((i64::from(events.name_id(event).0), flags), kinds);
        let shape = if by.shape { events.shape(event).0 } else { 0 };
        let stack = events.stack(event);
        let scripted = scripted(by, table, events.row(event), events.stacks.get(stack));
        let frames = match scripted {
            Some(module) => self.scripted.intern(&module).0 | SCRIPTED,
            None => self.frames.get(stack.index()).copied().unwrap_or(0),
        };
        let overload = if by.overload { events.overload_id(event) } else { 0 };
        let inputs = self.inputs.len() as u32;
        let input = (i64::from(shape), i64::from(frames) << 32 | i64::from(overload));
        let input = self.inputs.get_or_insert(input, inputs);
        self.groups.get_or_insert((i64::from(kind), i64::from(input)), next)
    }
}

/// PyTorch's `key_averages`: groups in the order of their first events.
pub fn key_averages(events: &FunctionEvents, table: &Table, by: GroupBy) -> Vec<Average> {
    let clock = TorchClock::new(events, table);
    group(&clock, by, add_device_totals)
}

/// Returns [`key_averages`] without [`Average::torch_us`]. This takes less memory if no PyTorch table is rendered. Each part of the
/// device work counts once for a name, so that no device time including children exceeds what the devices did.
pub(crate) fn exact_key_averages(events: &FunctionEvents, table: &Table, by: GroupBy) -> Vec<Average> {
    group(&TorchClock::stopped(events, table), by, add_device_work)
}

fn group(
    clock: &TorchClock<'_>,
    by: GroupBy,
    add_totals: fn(&FunctionEvents, &Table, &[u32], &mut [Average]),
) -> Vec<Average> {
    let (events, table) = (clock.events(), clock.table());
    let mut groups: Vec<Average> = Vec::new();
    let mut keys = GroupKeys::new(clock, by);
    let mut group_of: Vec<u32> = Vec::new();
    let sums_devices = events.use_device.is_some() && !events.is_measured();
    // In a trace and without further grouping, a name has at most four groups, which need no hashing.
    let is_plain = by == GroupBy { python_functions: by.python_functions, ..GroupBy::default() }
        && events.source == Source::Chrome;
    let mut plain = alloc::vec![u32::MAX; if is_plain { events.names.len() * 4 } else { 0 }];
    for event in events.events() {
        if !is_row(events, table, by, event) {
            if sums_devices {
                group_of.push(u32::MAX);
            }
            continue;
        }
        let next = groups.len() as u32;
        let flags = usize::from(events.kind(event) == EventKind::Device) * 2
            + usize::from(events.is_user_annotation(table, event));
        let group = match plain.get_mut(events.name_id(event).0 as usize * 4 + flags) {
            Some(&mut group) if group != u32::MAX => group,
            known => {
                let group = keys.group(event, next);
                if let Some(known) = known {
                    *known = group;
                }
                group
            }
        };
        if group == next {
            groups.push(Average::start(events, table, event, by));
        }
        groups[group as usize].add(clock, event);
        if sums_devices {
            group_of.push(group);
        }
    }
    if sums_devices {
        add_totals(events, table, &group_of, &mut groups);
    }
    for group in &mut groups {
        group.round_measured(clock);
    }
    groups
}

/// Returns whether an event is counted in key averages.
fn is_row(events: &FunctionEvents, table: &Table, by: GroupBy, event: FunctionEvent) -> bool {
    by.python_functions || events.python_rows || !events.is_python_function(table, event)
}

/// Returns whether an event is counted in key averages by default.
pub(crate) fn is_counted(events: &FunctionEvents, table: &Table, event: FunctionEvent) -> bool {
    is_row(events, table, GroupBy::default(), event)
}

/// Returns the rows of the events of one group of [`key_averages`].
pub(crate) fn group_members(events: &FunctionEvents, table: &Table, by: GroupBy, group: u32) -> Vec<Row> {
    let clock = TorchClock::stopped(events, table);
    let mut keys = GroupKeys::new(&clock, by);
    let mut members = Vec::new();
    let mut next = 0;
    for event in events.events().filter(|&event| is_row(events, table, by, event)) {
        let of_event = keys.group(event, next);
        next += u32::from(of_event == next);
        if of_event == group {
            members.push(events.row(event));
        }
    }
    members
}

/// Adds the device time of each event with everything inside of it to its group.
fn add_device_totals(events: &FunctionEvents, _: &Table, group_of: &[u32], groups: &mut [Average]) {
    let totals = events.device_times_with(|event| events.self_device_time_total_ns(event));
    for event in events.events() {
        if let Some(group) = groups.get_mut(group_of[event.index()] as usize) {
            group.device_time_total_ns = group.device_time_total_ns.saturating_add(totals[event.index()]);
        }
    }
}

/// Does the same without the work that PyTorch counts again: that of an operator for the profiler's overhead inside of it, and for each
/// further operator with the same name around it.
fn add_device_work(events: &FunctionEvents, table: &Table, group_of: &[u32], groups: &mut [Average]) {
    let self_ns = |event| {
        if events.is_overhead(table, event) { 0 } else { events.self_device_time_total_ns(event) }
    };
    let totals = events.device_times_with(self_ns);
    if totals.iter().all(|total| *total == 0) {
        return;
    }
    let parents: Vec<Option<FunctionEvent>> = collect(events.len(), |event| events.parent(event));
    // The number of open events of each group.
    let mut open = alloc::vec![0u32; groups.len()];
    Children::new(&parents).walk(|event, enters| {
        let group = group_of[event.index()] as usize;
        let Some(open) = open.get_mut(group) else { return };
        if enters && *open == 0 {
            let time = &mut groups[group].device_time_total_ns;
            *time = time.saturating_add(totals[event.index()]);
        }
        *open = if enters { *open + 1 } else { *open - 1 };
    });
}

/// PyTorch's `total_average`: the sums over all events; other fields are those of the last event.
pub fn total_average(events: &FunctionEvents, table: &Table) -> Average {
    let mut total = Average::default();
    if let Some(last) = events.events().next_back() {
        total = Average::start(events, table, last, GroupBy::ALL);
        let clock = TorchClock::new(events, table);
        events.events().for_each(|event| total.add(&clock, event));
        total.round_measured(&clock);
        if !events.is_measured() {
            let totals = events.device_totals_ns();
            total.device_time_total_ns = totals.iter().fold(0, |sum: i64, &ns| sum.saturating_add(ns));
        }
    }
    total.key = "Total".into();
    total
}

/// Returns every event as a group of its own, as `events().table()` shows them.
pub fn each_event(events: &FunctionEvents, table: &Table) -> Vec<Average> {
    let clock = TorchClock::new(events, table);
    let device_totals = events.device_totals_ns();
    let ids = event_ids::assign(table, events);
    collect(events.len(), |event| {
        let mut row = Average::start(events, table, event, GroupBy::ALL);
        row.event = Some(ids[event.index()]);
        row.add(&clock, event);
        if !events.is_measured() {
            row.device_time_total_ns = device_totals[event.index()];
        }
        row
    })
}

/// Returns the innermost module around an operator of TorchScript, if the stack has none.
fn scripted(by: GroupBy, table: &Table, row: Row, frames: &[String]) -> Option<String> {
    if !by.module || !frames_of(by, frames).is_empty() {
        return None;
    }
    hierarchy::innermost(table.field(row, Key::ModuleHierarchy)?.as_str()?)
}

/// Returns the frames of a stack that are part of the key: the first ones, or the innermost module.
fn frames_of(by: GroupBy, frames: &[String]) -> &[String] {
    if by.module {
        let innermost = frames.iter().position(|frame| frame.starts_with(MODULE_PREFIX));
        return innermost.map_or(&[], |at| &frames[at..=at]);
    }
    &frames[..frames.len().min(by.stack)]
}
