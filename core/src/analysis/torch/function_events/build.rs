//! The builder of function events, and four of its stages: memory, tree, merging, sums.

use super::{Bytes, EventKind, FunctionEvent, FunctionEvents, flag};
use crate::analysis::torch::device_type::DeviceType;
use crate::base::handle::collect;
use crate::base::index::Index;
use crate::base::order::{descending, sort_by_key};
use crate::trace::Trace;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::table::merged::{recording_of, recordings};
use crate::trace::table::metadata::Source;
use crate::trace::table::tracks::TrackId;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

pub(super) struct Builder<'a> {
    pub(super) trace: &'a Trace,
    pub(super) table: &'a Table,
    pub(super) out: FunctionEvents,
    /// Whether to compute what only PyTorch's tables and lists show: its floating point times and the counts of
    /// kernels.
    pub(super) wants_all: bool,
    /// Allocations and releases.
    pub(super) records: Vec<Row>,
    /// Failed allocations.
    pub(super) failures: Vec<Row>,
    /// Whether the time was over before all events were collected.
    pub(super) is_cut: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn start(trace: &'a Trace) -> Self {
        let table = &trace.table;
        let out = FunctionEvents {
            origin: trace.start_ns,
            source: table.metadata.source,
            trace_start_ns: table.base_ns().saturating_add(trace.start_ns),
            python_rows: trace.rules.python_rows,
            writes_ascii: trace.rules.writes_ascii,
            has_wide_annotations: trace.has_wide_annotations,
            with_flops: table.metadata.flag("with_flops").unwrap_or(false),
            profile_memory: table.metadata.flag("profile_memory").unwrap_or(false),
            ..FunctionEvents::default()
        };
        Builder {
            trace,
            table,
            out,
            wants_all: true,
            records: Vec::new(),
            failures: Vec::new(),
            is_cut: false,
        }
    }

    /// Removes the events after the first for which `is_over` returns true, and then also allocations outside of all
    /// events, as PyTorch collects these at last. Legacy records have no time limit in PyTorch.
    pub(super) fn cut(&mut self, mut is_over: impl FnMut() -> bool) {
        if self.out.source == Source::LegacyRecords {
            return;
        }
        let kept = self.out.rows.iter().take_while(|_| !is_over()).count();
        self.is_cut = kept < self.out.rows.len() || is_over();
        self.out.rows.truncate(kept);
        self.out.kinds.truncate(kept);
    }

    /// Adds to every CPU event the bytes of all records within its closed interval, on any thread of its recording. A record within no
    /// event becomes an event, and so does every failed allocation.
    pub(super) fn attribute_memory(&mut self) {
        if self.records.is_empty() && self.failures.is_empty() {
            return;
        }
        let table = self.table;
        let mut parts: Vec<Vec<Row>> = vec![Vec::new(); recordings(table)];
        for row in core::mem::take(&mut self.records) {
            parts[recording_of(table, row)].push(row);
        }
        let mut parts: Vec<Records> = parts.into_iter().map(|rows| Records::new(table, rows)).collect();
        let mut memory = Vec::with_capacity(self.out.rows.len());
        for (&row, &kind) in self.out.rows.iter().zip(&self.out.kinds) {
            let interval = self.memory_interval(row);
            let is_host = kind != EventKind::Device;
            let bytes = is_host.then(|| parts[recording_of(table, row)].take(table, interval)).flatten();
            memory.push((bytes.unwrap_or_default(), bytes.unwrap_or_default()));
        }
        self.out.memory = memory;
        let mut unowned: Vec<Row> = parts.iter().flat_map(Records::without_event).collect();
        table.sort_by_start(&mut unowned);
        unowned.append(&mut self.failures);
        if self.is_cut {
            unowned.clear();
        }
        self.insert_memory_events(&unowned);
    }

    /// Returns the start and end between which records belong to an event.
    fn memory_interval(&self, row: Row) -> (i64, i64) {
        let (start, end) = (self.table.ts(row), self.out.open_ranges.end(self.table, row));
        if !self.trace.rules.rounds_memory_times {
            return (start, end);
        }
        let base = self.table.base_ns();
        let rounded = |ns: i64| rounded_by_micros(base.saturating_add(ns));
        let since_base = |ns: f64| (ns as i64).saturating_sub(base);
        (since_base(libm::ceil(rounded(start))), since_base(libm::floor(rounded(end))))
    }

    /// Merges memory events without duration into the order, after all other events with the same start.
    fn insert_memory_events(&mut self, unowned: &[Row]) {
        let table = self.table;
        let old = core::mem::take(&mut self.out);
        let mut merged: Vec<(Row, EventKind, Bytes)> = (0..old.rows.len())
            .map(|at| (old.rows[at], old.kinds[at], old.memory.get(at).map_or(Bytes::default(), |m| m.0)))
            .collect();
        merged.extend(unowned.iter().map(|&row| {
            // A trace contains the size of a failed allocation, PyTorch's events do not.
            let is_given = table.metadata.source != Source::Chrome || table.name(row) == "[memory]";
            let bytes = if is_given { record_bytes(table, row) } else { Bytes::default() };
            (row, EventKind::Memory, bytes)
        }));
        sort_by_key(&mut merged, |&(row, kind, _)| {
            let end = if kind == EventKind::Memory { table.ts(row) } else { old.open_ranges.end(table, row) };
            (table.ts(row), descending(end))
        });
        self.out = FunctionEvents {
            rows: merged.iter().map(|m| m.0).collect(),
            kinds: merged.iter().map(|m| m.1).collect(),
            memory: merged.iter().map(|m| (m.2, m.2)).collect(),
            ..old
        };
    }

    pub(super) fn build_tree(&mut self) {
        let table = self.table;
        let mut index = Index::default();
        let mut open: Vec<(TrackId, Vec<FunctionEvent>)> = Vec::new();
        self.out.parents = vec![None; self.out.rows.len()];
        for event in self.out.events() {
            let out = &self.out;
            if out.kind(event) == EventKind::Device || out.is_async(event) {
                continue;
            }
            let begin = out.start_ns(table, event);
            let end = begin + out.duration_ns(table, event);
            let track = out.track(table, event);
            let lane = index.get_or_insert((out.lane(table, event), 0), open.len() as u32) as usize;
            if lane == open.len() {
                open.push((track, Vec::new()));
            }
            let (last, stack) = &mut open[lane];
            // PyTorch starts a new tree whenever the process of a thread's events changes.
            if *last != track {
                stack.clear();
                *last = track;
            }
            while let Some(&top) = stack.last() {
                let top_end = out.start_ns(table, top) + out.duration_ns(table, top);
                if begin < top_end && end <= top_end {
                    self.out.parents[event.index()] = Some(top);
                    break;
                }
                stack.pop();
            }
            stack.push(event);
        }
    }

    /// Merges every event into its parent if both have the same name and it is the only child: its children and kernels
    /// move to the parent.
    pub(super) fn merge_lone_children(&mut self) {
        let count = self.out.rows.len();
        loop {
            let out = &mut self.out;
            let mut children = vec![0u32; count];
            for parent in out.parents.iter().flatten() {
                children[parent.index()] += 1;
            }
            let mut successors = vec![None; out.rows.len()];
            let mut gone = 0;
            for event in out.events() {
                let at = event.index();
                let Some(mut parent) = out.parents[at] else { continue };
                if let Some(successor) = successors[parent.index()] {
                    parent = successor;
                    out.parents[at] = Some(successor);
                }
                let above = parent.index();
                if out.keys[above] == out.keys[at] && children[above] == 1 {
                    successors[at] = Some(parent);
                    children[above] = children[at];
                    if let Some(&kernels) = out.device.get(at) {
                        out.dropped_device_ns = out.dropped_device_ns.saturating_add(out.device[above]);
                        out.device[above] = kernels;
                    }
                    if let Some(&kernels) = out.kernel_us.get(at) {
                        out.kernel_us[above] = kernels;
                    }
                    if let Some(&count) = out.kernel_counts.get(at) {
                        out.kernel_counts[above] = count;
                    }
                    out.merged.set((i64::from(out.rows[above]), 0), out.rows[at].index() as u32);
                    gone += 1;
                }
            }
            if gone == 0 {
                return;
            }
            out.removed += gone;
            self.remove(&successors);
        }
    }

    /// Removes every event that has a successor.
    fn remove(&mut self, successors: &[Option<FunctionEvent>]) {
        let mut moved = Vec::with_capacity(successors.len());
        let mut next = 0;
        for successor in successors {
            moved.push(FunctionEvent::new(next));
            next += usize::from(successor.is_none());
        }
        let kept = |at: usize| successors[at].is_none();
        let out = &mut self.out;
        retain(&mut out.rows, kept);
        retain(&mut out.kinds, kept);
        retain(&mut out.keys, kept);
        retain(&mut out.parents, kept);
        retain(&mut out.memory, kept);
        retain(&mut out.device, kept);
        retain(&mut out.flags, kept);
        retain(&mut out.kernel_us, kept);
        retain(&mut out.kernel_counts, kept);
        // No remaining event has a parent that was removed.
        for parent in out.parents.iter_mut().flatten() {
            *parent = moved[parent.index()];
        }
    }

    /// Computes self times and self memory.
    pub(super) fn sum_up(&mut self) {
        let table = self.table;
        let out = &mut self.out;
        let duration = |event| if out.is_async(event) { 0 } else { out.cpu_time_total_ns(table, event) };
        out.self_ns = collect(out.len(), duration);
        // Children come after their parents, so in reverse order each event is complete before it is subtracted.
        for event in out.events().rev() {
            if out.is_async(event) && !out.memory.is_empty() {
                out.memory[event.index()].0 = Bytes::default();
            }
            let Some(parent) = out.parent(event) else { continue };
            out.self_ns[parent.index()] -= out.cpu_time_total_ns(table, event);
            if !out.memory.is_empty() {
                let below = out.memory[event.index()].1;
                let self_memory = &mut out.memory[parent.index()].0;
                self_memory.cpu = self_memory.cpu.saturating_sub(below.cpu);
                self_memory.device = self_memory.device.saturating_sub(below.device);
            }
        }
        self.subtract_from_legacy();
    }

    /// Subtracts the children's device time from the measured time of legacy events, which includes it. An event
    /// without a device has no device time.
    fn subtract_from_legacy(&mut self) {
        let out = &mut self.out;
        if out.device.is_empty() || out.flags.iter().all(|flags| flags & flag::LEGACY == 0) {
            return;
        }
        let mut totals = vec![0; out.rows.len()];
        for event in out.events().rev() {
            let at = event.index();
            // Until this iteration, the entry holds the sum over the children.
            let below: i64 = core::mem::take(&mut totals[at]);
            if !out.uses_device(event) {
                out.device[at] = 0;
            } else if out.is_legacy(event) {
                totals[at] = out.device[at];
                out.device[at] -= below;
            } else {
                totals[at] = out.device[at].saturating_add(below);
            }
            if let Some(parent) = out.parent(event) {
                totals[parent.index()] = totals[parent.index()].saturating_add(totals[at]);
            }
        }
        out.legacy_totals = totals;
        // Times between device events have fractions of a ns, so that sums are rounded once.
        for (at, (total, self_us)) in out.device_times_us(self.table).into_iter().enumerate() {
            out.legacy_totals[at] = rounded_ns(total);
            out.device[at] = rounded_ns(self_us);
        }
    }
}

/// Returns a Unix time in ns after a division and a multiplication by 1000 in `f64`, as Python computes
/// `ns / 1000 * 1000`: the quotient of two integers is rounded once.
fn rounded_by_micros(ns: i64) -> f64 {
    format!("{ns}e-3").parse().map_or(ns as f64, |us: f64| us * 1e3)
}

/// Returns whole ns of a time in us.
pub(in crate::analysis::torch) fn rounded_ns(us: f64) -> i64 {
    libm::round(us * 1e3) as i64
}

fn retain<T>(values: &mut Vec<T>, kept: impl Fn(usize) -> bool) {
    let mut at = 0;
    values.retain(|_| {
        at += 1;
        kept(at - 1)
    });
}

/// Prefix sums of the bytes of records, so that the sum of any range is a difference. The sum of many sizes can exceed
/// an `i64`.
pub(super) struct RunningBytes(Vec<[i128; 2]>);

impl RunningBytes {
    pub(super) fn new(records: impl Iterator<Item = Bytes>) -> Self {
        let mut sums = vec![[0; 2]];
        for Bytes { cpu, device } in records {
            let [cpu_before, device_before] = sums[sums.len() - 1];
            sums.push([cpu_before + i128::from(cpu), device_before + i128::from(device)]);
        }
        RunningBytes(sums)
    }

    /// Returns the bytes of the records from position `from` up to, but excluding, `to`.
    pub(super) fn between(&self, from: usize, to: usize) -> Bytes {
        let sum = |of: usize| {
            let sum = self.0[to][of] - self.0[from][of];
            sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64
        };
        Bytes { cpu: sum(0), device: sum(1) }
    }
}

/// The allocations and releases of a recording, by time.
struct Records {
    rows: Vec<Row>,
    sums: RunningBytes,
    /// How many more events contain a record than the one before it.
    cover: Vec<i64>,
}

impl Records {
    fn new(table: &Table, mut rows: Vec<Row>) -> Records {
        table.sort_by_start(&mut rows);
        let sums = RunningBytes::new(rows.iter().map(|&row| record_bytes(table, row)));
        Records { cover: vec![0; rows.len() + 1], rows, sums }
    }

    /// Gives an event the records in a closed interval. Returns their bytes; `None` if there are none.
    fn take(&mut self, table: &Table, (start, end): (i64, i64)) -> Option<Bytes> {
        let first = self.rows.partition_point(|&row| table.ts(row) < start);
        let last = first + self.rows[first..].partition_point(|&row| table.ts(row) <= end);
        if first >= last {
            return None;
        }
        self.cover[first] += 1;
        self.cover[last] -= 1;
        Some(self.sums.between(first, last))
    }

    /// The records within no event.
    fn without_event(&self) -> impl Iterator<Item = Row> {
        let mut covered = 0;
        self.rows.iter().zip(&self.cover).filter_map(move |(&row, cover)| {
            covered += cover;
            (covered == 0).then_some(row)
        })
    }
}

/// Returns the bytes of an allocation; negative for a release.
pub(super) fn record_bytes(table: &Table, row: Row) -> Bytes {
    let bytes = table.bytes(row, Key::Bytes);
    match DeviceType::from_event(table, row) {
        Some(device) if device.is_host() => Bytes { cpu: bytes, device: 0 },
        Some(DeviceType::Cuda | DeviceType::Hip | DeviceType::Xpu | DeviceType::PrivateUse1) => {
            Bytes { cpu: 0, device: bytes }
        }
        _ => Bytes::default(),
    }
}
