//! Collects the rows that become function events, their order, and the owners of device work: for traces, for the
//! events of profiling results, and for legacy records.

use super::build::{Builder, RunningBytes, record_bytes, rounded_ns};
use super::{Bytes, EventKind, FunctionEvent, FunctionEvents, flag, is_python_call};
use crate::analysis::torch::device_type::DeviceType;
use crate::analysis::torch::event_tree::EventTree;
use crate::analysis::torch::main_thread::MainThreads;
use crate::analysis::torch::open_ranges::has_open_ranges;
use crate::base::index::Index;
use crate::base::order::{descending, sort_by_key};
use crate::base::time;
use crate::trace::dialect::hidden::{hidden_names, is_hidden};
use crate::trace::dialect::kineto_events::is_async;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::fields::Value;
use crate::trace::table::layout::Key;
use crate::trace::table::metadata::Source;
use alloc::vec;
use alloc::vec::Vec;

impl Builder<'_> {
    /// Collects rows and kinds in PyTorch's order, and the properties that only records contain.
    pub(super) fn collect(&mut self) {
        match self.table.metadata.source {
            Source::Chrome | Source::ExecutionTrace => self.collect_trace(),
            Source::KinetoEvents => self.collect_results(),
            Source::LegacyRecords => self.collect_ranges(),
        }
    }

    fn collect_trace(&mut self) {
        let table = self.table;
        let collector = table.names.find("Python GC");
        let python_functions = self.trace.rules.python_functions;
        let mut used = 0;
        self.find_open_ranges();
        for row in self.rows_but_memory() {
            let category = table.category(row);
            let wanted = match category {
                Category::CpuOp
                | Category::UserAnnotation
                | Category::Runtime
                | Category::Driver
                | Category::Overhead => true,
                Category::PythonFunction => {
                    if is_python_call(table, row) {
                        python_functions
                    } else {
                        Some(table.name_id(row)) == collector
                    }
                }
                // PyTorch does not record synchronizations unless it is requested; this project's recorder always does.
                Category::Sync => table.metadata.text("recorder").is_none(),
                _ => category.is_device_work() || category == Category::GpuUserAnnotation,
            };
            let lacks_end = !self.trace.rules.keeps_open_ranges && self.out.open_ranges.has_no_end(row);
            if wanted && table.is_span(row) && !lacks_end {
                self.out.rows.push(row);
                used += usize::from(category.is_device_work());
            }
        }
        self.out.use_device = (used > 0).then(|| device_of_trace(table));
        table.sort_by_start(&mut self.out.rows);
        let out = &mut self.out;
        if !out.open_ranges.is_empty() {
            sort_by_key(&mut out.rows, |&row| (table.ts(row), descending(out.open_ranges.end(table, row))));
        }
        // Of events with equal times, that with the lower index comes first.
        let times = |row: Row| (table.ts(row), out.open_ranges.end(table, row));
        let equals = out.rows.chunk_by_mut(|&a, &b| times(a) == times(b)).filter(|run| run.len() > 1);
        for run in equals {
            sort_by_key(run, |&row| (table.int(row, Key::EvIdx).unwrap_or(i64::from(row)), 0));
        }
        self.set_kinds();
        let is_overhead = |row: &Row| table.category(*row) == Category::Overhead;
        if self.out.rows.iter().any(is_overhead) {
            self.out.overhead_tracks = MainThreads::new(table);
        }
    }

    /// Finds the ranges that were open when the recording ended, and their ends.
    fn find_open_ranges(&mut self) {
        if has_open_ranges(self.table) {
            self.out.open_ranges = EventTree::new(self.trace).into_open_ranges();
        }
    }

    fn collect_results(&mut self) {
        let table = self.table;
        let shown = |row: &Row| table.is_span(*row) && !is_hidden(table, *row, &[]);
        self.out.rows = self.rows_but_memory().into_iter().filter(shown).collect();
        let has_device = table.rows().any(|row| table.category(row).is_device_work());
        self.out.use_device = match table.metadata.value("use_device") {
            Some(named) => named.as_str().and_then(known_device),
            None => has_device.then_some("cuda"),
        };
        self.sort();
    }

    /// Sets the flags of events; those of legacy records are already set.
    pub(super) fn flag_async(&mut self) {
        let out = &mut self.out;
        if self.table.metadata.source == Source::KinetoEvents {
            let flag = |&row: &Row| async_flag(self.table, row, (row, Key::EndThreadId));
            out.flags = out.rows.iter().map(flag).collect();
        } else if !out.open_ranges.is_empty() {
            let flag = |&row: &Row| if out.open_ranges.contains(row) { flag::ASYNC } else { 0 };
            out.flags = out.rows.iter().map(flag).collect();
        }
    }

    /// Returns every row that is not an allocation and has no hidden name, and stores the allocations in the builder.
    fn rows_but_memory(&mut self) -> Vec<Row> {
        let table = self.table;
        let (memory, failure) = (table.names.find("[memory]"), table.names.find("[OutOfMemory]"));
        let hidden = hidden_names(&table.names);
        let mut rows = Vec::new();
        for row in table.rows() {
            let name = table.name_id(row);
            if !hidden.contains(&name) {
                rows.push(row);
            } else if table.ts(row) != time::NONE && Some(name) == memory {
                self.records.push(row);
            } else if table.ts(row) != time::NONE && Some(name) == failure {
                self.failures.push(row);
            }
        }
        // A user's range can be called `[memory]`; it has no size.
        let has_sizes = || self.records.iter().any(|&row| record_bytes(table, row) != Bytes::default());
        self.out.profile_memory = table.metadata.flag("profile_memory").unwrap_or_else(has_sizes);
        rows
    }

    /// Sorts by start, the longest first. The sort is stable.
    fn sort(&mut self) {
        let table = self.table;
        table.sort_by_start(&mut self.out.rows);
        self.set_kinds();
    }

    fn set_kinds(&mut self) {
        let table = self.table;
        let kind =
            |&row: &Row| if table.category(row).is_on_device() { EventKind::Device } else { EventKind::Cpu };
        self.out.kinds = self.out.rows.iter().map(kind).collect();
    }

    /// Collects the ranges of legacy records in the order of their pops, and allocations outside of every range.
    fn collect_ranges(&mut self) {
        let (table, pairs) = (self.table, &self.trace.pairs);
        let memory = RangeMemory::new(self.trace);
        // Start, end, position in PyTorch's list, push or allocation.
        let mut order: Vec<(i64, i64, Row, Row)> = pairs
            .spans
            .iter()
            .map(|&(push, pop)| (table.ts(push), descending(table.end(push)), pop, push))
            .chain(memory.unowned().map(|row| (self.out.origin, descending(self.out.origin), row, row)))
            .collect();
        // Ranges are in the order of their pushes, which is mostly that of their starts.
        sort_by_key(&mut order, |o| (o.0, o.1));
        for equals in order.chunk_by_mut(|a, b| (a.0, a.1) == (b.0, b.1)).filter(|run| run.len() > 1) {
            sort_by_key(equals, |o| (i64::from(o.2), 0));
        }
        let has_memory = !memory.rows.is_empty();
        self.out.profile_memory = table.metadata.flag("profile_memory").unwrap_or(has_memory);
        let uses_cuda = |row| table.field(row, Key::HasCuda) == Some(Value::Bool(true));
        self.out.use_device = order.iter().any(|o| uses_cuda(o.3)).then_some("cuda");
        for (_, _, pop, push) in order {
            let is_range = pop != push;
            self.out.rows.push(push);
            self.out.kinds.push(if is_range { EventKind::Cpu } else { EventKind::Memory });
            let remote = table.field(pop, Key::IsRemote) == Some(Value::Bool(true));
            let remote = if remote && is_range { flag::REMOTE } else { 0 };
            let is_async = if is_range { async_flag(table, push, (pop, Key::StartThreadId)) } else { 0 };
            let no_device = if is_range && uses_cuda(push) { 0 } else { flag::NO_DEVICE };
            self.out.flags.push(flag::LEGACY | remote | is_async | no_device);
            if has_memory {
                let bytes = memory.between(table, push, pop);
                self.out.memory.push((bytes, bytes));
            }
            if self.out.use_device.is_some() {
                let us = |row: Row| table.field(row, Key::CudaTime).and_then(|v| v.as_f64()).unwrap_or(0.0);
                let elapsed = if is_async | no_device == 0 { us(pop) - us(push) } else { 0.0 };
                let (ns, us) = measured(elapsed);
                self.out.device.push(ns);
                self.out.kernel_us.push(us);
                self.out.kernel_counts.push(u32::from(us > 0.0));
            }
        }
    }

    /// Attributes device work to the operators that launched it.
    pub(super) fn attach_kernels(&mut self) {
        match self.table.metadata.source {
            Source::Chrome if self.out.use_device.is_some() => self.attach_by_links(),
            Source::KinetoEvents => self.attach_by_ids(),
            // The kernel of a legacy range is the time between its own device events.
            Source::Chrome | Source::LegacyRecords | Source::ExecutionTrace => {}
        }
    }

    fn attach_by_links(&mut self) {
        let table = self.table;
        let mut event_of = vec![None; table.len()];
        for event in self.out.events() {
            event_of[self.out.row(event).index()] = Some(event);
        }
        let mut kernels = Kernels::new(self.out.len(), self.wants_all);
        for event in self.out.events() {
            if self.out.kind(event) != EventKind::Device {
                continue;
            }
            let row = self.out.row(event);
            let work = (self.out.duration_ns(table, event), self.out.torch_duration_us(table, event));
            kernels.add(event, work, 0);
            let op = self.trace.links.op(row).filter(|_| table.category(row).is_device_work());
            match op.map(|op| event_of[op.index()]) {
                Some(None) => {
                    self.out.dropped_device_ns = self.out.dropped_device_ns.saturating_add(work.0);
                }
                Some(Some(op)) => kernels.add(op, work, 1),
                None => {}
            }
        }
        self.copy_to_overhead(&mut kernels);
        self.set_kernels(kernels);
    }

    /// Gives the profiler's overhead the kernels of the operator that it is in: PyTorch gives it the operator's id.
    fn copy_to_overhead(&self, kernels: &mut Kernels) {
        for event in self.out.events().filter(|&event| self.out.is_overhead(self.table, event)) {
            if let Some(parent) = self.out.parent(event) {
                kernels.copy(parent, event);
            }
        }
    }

    /// Attributes device work as PyTorch does: every operator with an id that device work is linked to gets all of that
    /// work. The time of an operator that was measured by device events counts as another kernel.
    fn attach_by_ids(&mut self) {
        let table = self.table;
        let mut kernels = Kernels::new(self.out.rows.len(), self.wants_all);
        self.add_measured(&mut kernels);
        let mut index = Index::default();
        let mut linked: Vec<(i64, f64, u32)> = Vec::new();
        for event in self.devices_in_file_order() {
            let work = (self.out.duration_ns(table, event), self.out.torch_duration_us(table, event));
            if !self.out.is_async(event) {
                kernels.add(event, work, 0);
            }
            if let Some(id) = self.out.linked_id(table, event) {
                let sum = index.get_or_insert((id, 0), linked.len() as u32) as usize;
                if sum == linked.len() {
                    linked.push((0, 0.0, 0));
                }
                let (ns, us, count) = linked[sum];
                linked[sum] = (ns.saturating_add(work.0), us + work.1, count + 1);
            }
        }
        for event in self.out.events().filter(|&event| self.out.has_kernels(event)) {
            let id = self.trace.rules.launcher_id(table, self.out.row(event));
            if let Some(sum) = id.and_then(|id| index.get((id, 0))) {
                let (ns, us, count) = linked[sum as usize];
                kernels.add(event, (ns, us), count);
            }
        }
        self.set_kernels(kernels);
    }

    fn set_kernels(&mut self, kernels: Kernels) {
        // Without a device, PyTorch still counts the kernels but has no times.
        if self.out.use_device.is_some() {
            self.out.device = kernels.ns;
            self.out.kernel_us = kernels.us;
        }
        self.out.kernel_counts = kernels.count;
    }

    fn devices_in_file_order(&self) -> Vec<FunctionEvent> {
        let out = &self.out;
        let mut devices: Vec<FunctionEvent> =
            out.events().filter(|&event| out.kind(event) == EventKind::Device).collect();
        sort_by_key(&mut devices, |&event| (i64::from(out.row(event)), 0));
        devices
    }

    /// Adds device times that were measured by device events around operators, and marks these operators as legacy.
    fn add_measured(&mut self, kernels: &mut Kernels) {
        for event in self.out.events() {
            if let Some(time) = self.out.measured_time(self.table, event) {
                kernels.add(event, time, 1);
                self.out.flags[event.index()] |= flag::LEGACY;
            }
        }
    }
}

impl FunctionEvents {
    /// Whether an event can have kernels.
    pub(in crate::analysis::torch) fn has_kernels(&self, event: FunctionEvent) -> bool {
        self.kind(event) == EventKind::Cpu && !self.is_async(event)
    }

    /// The id by which profiling results link device work to operators, if it counts for them.
    pub(in crate::analysis::torch) fn linked_id(&self, table: &Table, event: FunctionEvent) -> Option<i64> {
        let counts = matches!(self.device_type(table, event), DeviceType::Cuda | DeviceType::PrivateUse1);
        table.int(self.row(event), Key::ExternalId).filter(|&id| id > 0 && counts)
    }

    /// The time between the device events around an operator of a profiling result, in whole ns and in us.
    pub(in crate::analysis::torch) fn measured_time(
        &self,
        table: &Table,
        event: FunctionEvent,
    ) -> Option<(i64, f64)> {
        let key = match self.use_device? {
            "privateuse1" => Key::PrivateUse1Elapsed,
            "cuda" => Key::CudaElapsed,
            _ => return None,
        };
        let elapsed = table.field(self.row(event), key)?.as_f64()?;
        (elapsed > 0.0 && self.has_kernels(event)).then(|| measured(elapsed))
    }
}

/// Device time of every event's own kernels, in ns and in PyTorch's us, and their number.
struct Kernels {
    ns: Vec<i64>,
    us: Vec<f64>,
    count: Vec<u32>,
}

impl Kernels {
    fn new(events: usize, wants_all: bool) -> Kernels {
        let others = if wants_all { events } else { 0 };
        Kernels { ns: vec![0; events], us: vec![0.0; others], count: vec![0; others] }
    }

    fn add(&mut self, event: FunctionEvent, (ns, us): (i64, f64), count: u32) {
        let at = event.index();
        self.ns[at] = self.ns[at].saturating_add(ns);
        if let (Some(sum), Some(counted)) = (self.us.get_mut(at), self.count.get_mut(at)) {
            *sum += us;
            *counted += count;
        }
    }

    /// Adds the kernels of one event to another.
    fn copy(&mut self, from: FunctionEvent, to: FunctionEvent) {
        let at = from.index();
        let us = self.us.get(at).copied().unwrap_or(0.0);
        self.add(to, (self.ns[at], us), self.count.get(at).copied().unwrap_or(0));
    }
}

/// Returns a measured time in us as whole ns and as us.
fn measured(us: f64) -> (i64, f64) {
    let us = us.clamp(0.0, time::LONGEST as f64 / 1e3);
    (rounded_ns(us), us)
}

fn async_flag(table: &Table, begin: Row, end: (Row, Key)) -> u8 {
    if is_async(table, begin, end) { flag::ASYNC } else { 0 }
}

/// The allocations of legacy records. A range owns those between its push and its pop, in its list.
struct RangeMemory {
    rows: Vec<Row>,
    sums: RunningBytes,
    is_unowned: Vec<bool>,
}

impl RangeMemory {
    fn new(trace: &crate::trace::Trace) -> Self {
        let table = &trace.table;
        let rows: Vec<Row> = table.rows_of(Category::CpuInstant).collect();
        let sums = RunningBytes::new(rows.iter().map(|&row| legacy_bytes(table, row)));
        let mut memory = RangeMemory { is_unowned: vec![true; rows.len()], rows, sums };
        memory.find_unowned(trace);
        memory
    }

    /// Finds the allocations for which no range of their list is open.
    fn find_unowned(&mut self, trace: &crate::trace::Trace) {
        if self.rows.is_empty() {
            return;
        }
        let table = &trace.table;
        let mut open = vec![0i32; self.rows.len() + 1];
        let mut add = |from: usize, to: usize| {
            open[self.rows.partition_point(|row| row.index() < from)] += 1;
            open[self.rows.partition_point(|row| row.index() < to)] -= 1;
        };
        for &(push, end) in trace.pairs.spans.iter().chain(&trace.pairs.replaced) {
            add(push.index(), end.index());
        }
        let is_push = |&&row: &&Row| table.ph(row) == b'B';
        for &push in trace.pairs.incomplete.iter().filter(is_push) {
            let lists = &table.metadata.lists;
            let next = lists.get(lists.partition_point(|&first| first <= push.index())).copied();
            add(push.index(), next.unwrap_or(table.len()));
        }
        let mut depth = 0;
        for (at, unowned) in self.is_unowned.iter_mut().enumerate() {
            depth += open[at];
            *unowned = depth == 0;
        }
    }

    fn unowned(&self) -> impl Iterator<Item = Row> {
        self.rows.iter().zip(&self.is_unowned).filter(|(_, unowned)| **unowned).map(|(&row, _)| row)
    }

    /// Returns the bytes between a push and its pop, or those of an allocation outside of every range.
    fn between(&self, table: &Table, push: Row, pop: Row) -> Bytes {
        if push == pop {
            return legacy_bytes(table, push);
        }
        let until = |end: Row| self.rows.partition_point(|&row| row < end);
        self.sums.between(until(push), until(pop))
    }
}

fn legacy_bytes(table: &Table, row: Row) -> Bytes {
    let device = table.bytes(row, Key::CudaMemoryUsage);
    Bytes { device, ..record_bytes(table, row) }
}

/// Returns PyTorch's `use_device` with this name, if it is known.
fn known_device(name: &str) -> Option<&'static str> {
    ["cuda", "xpu", "mtia", "hpu", "privateuse1"].into_iter().find(|known| *known == name)
}

/// Returns PyTorch's `use_device` for a trace with device work.
fn device_of_trace(table: &Table) -> &'static str {
    let has = |prefix: &str| {
        table.layouts.all().iter().any(|l| l.cat.is_some_and(|cat| table.names.get(cat).starts_with(prefix)))
    };
    ["mtia", "xpu", "hpu", "privateuse1"].into_iter().find(|name| has(name)).unwrap_or("cuda")
}
