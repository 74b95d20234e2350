//! torch.profiler's view of a trace: its `FunctionEvent`s, with the tree that PyTorch builds of them.
//!
//! It differs from [`tree`](crate::trace::tree): only operators, annotations, runtime calls and device work are events; an
//! event that extends beyond the open event is not its child and closes it; and an only child with its parent's name is
//! merged into the parent. Times are integer nanoseconds where PyTorch has floats of microseconds; sums agree to the
//! printed digit.
//!
//! What a trace does not contain has PyTorch's default: `is_async` is false unless a range was open when the recording
//! ended, the scope of TorchScript calls is 0.

mod build;
mod call_sites;
mod collect;
mod describe;
mod from_trace;
pub mod scope;
mod stacks;

use super::device_type::DeviceType;
use super::frames::{StackId, StackTable};
use super::main_thread::MainThreads;
use super::open_ranges::OpenRanges;
use super::overloads::Overloads;
use crate::analysis::children::Children;
use crate::base::handle::{collect, handle, run};
use crate::base::index::Index;
use crate::base::names::{NameId, Names};
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::table::metadata::Source;
use crate::trace::table::tracks::TrackId;
use crate::trace::versions::margin_ns;
use alloc::vec::Vec;
pub(super) use build::rounded_ns;

handle! {
    /// The index of an event in [`FunctionEvents`].
    pub struct FunctionEvent;
}

/// The source of a function event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// Work of a CPU thread: an operator, an annotation or a runtime call.
    Cpu,
    /// Work of a device.
    Device,
    /// An allocation or release outside of every event, or a failed allocation.
    Memory,
}

/// Bytes allocated less bytes released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bytes {
    /// In host memory.
    pub cpu: i64,
    /// In device memory.
    pub device: i64,
}

/// All function events, ordered by start, the longest first.
#[derive(Clone, Debug, Default)]
pub struct FunctionEvents {
    /// Every distinct name after rewriting.
    pub names: Names,
    /// Every distinct text of `input_shapes`; the empty text represents `[]`.
    shapes: Names,
    /// Every distinct stack.
    pub stacks: StackTable,
    /// The Unix time in ns that event times are relative to.
    pub trace_start_ns: i64,
    /// The offset to subtract from the times of a table.
    pub(crate) origin: i64,
    /// The source of the trace.
    pub(crate) source: Source,
    /// The number of events that were removed by merging only children into parents with the same name.
    pub removed: usize,
    /// Device time that no operator shows, in ns: PyTorch replaces a parent's kernels by those of the child that it
    /// merges, and omits operators with a hidden name.
    pub dropped_device_ns: i64,
    /// Whether the trace was recorded with memory.
    pub profile_memory: bool,
    /// Whether the trace was recorded with FLOPs.
    pub with_flops: bool,
    /// Whether calls of Python functions are rows of key averages unless [`GroupBy`](crate::analysis::query::group_by::GroupBy) says
    /// otherwise.
    pub python_rows: bool,
    /// Whether PyTorch's list of these events is written in ASCII.
    pub(crate) writes_ascii: bool,
    /// Whether the annotations of streams are 1 ns longer at each end than PyTorch's events.
    has_wide_annotations: bool,
    /// The threads of the profiler's overhead; empty without overhead.
    overhead_tracks: MainThreads,
    /// The ranges that were open when the recording ended.
    open_ranges: OpenRanges,
    /// PyTorch's `use_device`: `cuda`, `xpu`, …; `None` without device work.
    pub use_device: Option<&'static str>,
    rows: Vec<Row>,
    /// The ids of names.
    keys: Vec<NameId>,
    kinds: Vec<EventKind>,
    parents: Vec<Option<FunctionEvent>>,
    self_ns: Vec<i64>,
    device: Vec<i64>,
    /// Device time of the event's own kernels in us, in PyTorch's arithmetic; empty without a device.
    kernel_us: Vec<f64>,
    kernel_counts: Vec<u32>,
    /// Device time including descendants, in ns; empty unless some was measured by device events.
    legacy_totals: Vec<i64>,
    memory: Vec<(Bytes, Bytes)>,
    shape_of: Vec<NameId>,
    stack_of: Vec<StackId>,
    flops: Vec<i64>,
    flags: Vec<u8>,
    split: Overloads,
    /// The row of the last event that was merged into its parent, by the row of the parent.
    merged: Index,
    overloads: Names,
    overload_of: Index,
}

/// Properties of events that records can have and traces do not.
mod flag {
    pub(super) const ASYNC: u8 = 1;
    pub(super) const REMOTE: u8 = 2;
    pub(super) const LEGACY: u8 = 4;
    pub(super) const NO_DEVICE: u8 = 8;
}

impl FunctionEvents {
    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns every event, ordered by start, the longest first.
    pub fn events(
        &self,
    ) -> impl DoubleEndedIterator<Item = FunctionEvent> + ExactSizeIterator + Clone + use<> {
        run(0..self.rows.len())
    }

    /// Returns the event's row in the table.
    #[inline]
    pub fn row(&self, event: FunctionEvent) -> Row {
        self.rows[event.index()]
    }

    /// Returns the source of the event.
    #[inline]
    pub fn kind(&self, event: FunctionEvent) -> EventKind {
        self.kinds[event.index()]
    }

    /// Returns the event that directly contains this one.
    #[inline]
    pub fn parent(&self, event: FunctionEvent) -> Option<FunctionEvent> {
        self.parents[event.index()]
    }

    /// Returns the children of every event.
    pub(super) fn children(&self) -> Children<FunctionEvent> {
        Children::new(&self.parents)
    }

    /// Returns the id of the name after rewriting.
    #[inline]
    pub fn name_id(&self, event: FunctionEvent) -> NameId {
        self.keys[event.index()]
    }

    /// Returns the name after rewriting.
    pub fn name(&self, event: FunctionEvent) -> &str {
        self.names.get(self.name_id(event))
    }

    /// Returns the CPU time excluding children, in ns.
    #[inline]
    pub fn self_ns(&self, event: FunctionEvent) -> i64 {
        self.self_ns[event.index()]
    }

    /// Returns the start in ns after `trace_start_ns`; 0 for memory events of legacy records, which have no time in
    /// PyTorch.
    pub fn start_ns(&self, table: &Table, event: FunctionEvent) -> i64 {
        if self.kind(event) == EventKind::Memory && self.source == Source::LegacyRecords {
            return 0;
        }
        let margin = self.margin_ns(table, event);
        table.ts(self.row(event)).saturating_add(margin).saturating_sub(self.origin)
    }

    /// Returns the duration in ns.
    pub fn duration_ns(&self, table: &Table, event: FunctionEvent) -> i64 {
        match self.kind(event) {
            EventKind::Memory => 0,
            _ => self.range_ns(table, self.row(event)) - 2 * self.margin_ns(table, event),
        }
    }

    /// Returns how long the event of a row lasts, in ns.
    fn range_ns(&self, table: &Table, row: Row) -> i64 {
        self.open_ranges.end(table, row).saturating_sub(table.ts(row)).max(0)
    }

    /// How much longer the event is in the trace, at each end, in ns.
    fn margin_ns(&self, table: &Table, event: FunctionEvent) -> i64 {
        let is_wide = self.has_wide_annotations && self.kind(event) == EventKind::Device;
        margin_ns(is_wide, table, self.row(event))
    }

    /// Returns the track of an event. PyTorch assigns the profiler's overhead to the thread that started the profiler.
    pub(crate) fn track(&self, table: &Table, event: FunctionEvent) -> TrackId {
        let row = self.row(event);
        let moved = if self.is_overhead(table, event) { self.overhead_tracks.at(table, row) } else { None };
        moved.unwrap_or(table.track_id(row))
    }

    /// Whether the event is the profiler's own overhead, which has the kernels of the operator that it is in.
    pub(crate) fn is_overhead(&self, table: &Table, event: FunctionEvent) -> bool {
        !self.overhead_tracks.is_empty() && table.category(self.row(event)) == Category::Overhead
    }

    /// Returns the lane of the event's tree: its track. For legacy records it is the thread regardless of the process,
    /// as in PyTorch; their memory events have no thread and use -1.
    fn lane(&self, table: &Table, event: FunctionEvent) -> i64 {
        let track = self.track(table, event);
        match (self.source, self.kind(event)) {
            (Source::LegacyRecords, EventKind::Memory) => -1,
            (Source::LegacyRecords, _) => i64::from(table.tracks.get(track).tid.0),
            _ => i64::from(track.0),
        }
    }

    /// Returns the CPU time including children, in ns; 0 for device work.
    pub fn cpu_time_total_ns(&self, table: &Table, event: FunctionEvent) -> i64 {
        if self.kind(event) == EventKind::Device { 0 } else { self.duration_ns(table, event) }
    }

    /// Returns the device time of each event including descendants, in ns. A measured time already includes that of all
    /// descendants.
    pub fn device_totals_ns(&self) -> Vec<i64> {
        if !self.legacy_totals.is_empty() {
            return self.legacy_totals.clone();
        }
        self.device_times_with(|event| self.self_device_time_total_ns(event))
    }

    /// Returns a device time of each event and everything inside of it, in ns.
    pub(super) fn device_times_with(&self, self_ns: impl Fn(FunctionEvent) -> i64) -> Vec<i64> {
        let mut totals: Vec<i64> = collect(self.len(), self_ns);
        // Children come after their parents, so in reverse order each sum is complete before it is added to the
        // parent's.
        for event in self.events().rev() {
            if let Some(parent) = self.parent(event) {
                totals[parent.index()] = totals[parent.index()].saturating_add(totals[event.index()]);
            }
        }
        totals
    }

    /// Returns whether some device time was measured by device events: totals are then not sums over descendants.
    pub(super) fn is_measured(&self) -> bool {
        !self.legacy_totals.is_empty()
    }

    /// Returns the device time including descendants, in ns, if some was measured by device events; else 0.
    pub(super) fn measured_total_ns(&self, event: FunctionEvent) -> i64 {
        self.legacy_totals.get(event.index()).copied().unwrap_or(0)
    }

    /// Returns the device times of each event in us, including and excluding children, in PyTorch's arithmetic; empty
    /// without a device.
    pub(super) fn device_times_us(&self, table: &Table) -> Vec<(f64, f64)> {
        if self.kernel_us.is_empty() {
            return Vec::new();
        }
        let children = self.children();
        let mut times = alloc::vec![(0.0, 0.0); self.len()];
        // Children come after their parents, so in reverse order each total is complete before its parent uses it.
        for event in self.events().rev().filter(|&event| self.uses_device(event)) {
            let below: f64 = children.get(event).iter().fold(0.0, |sum, child| sum + times[child.index()].0);
            let self_us = self.kernel_us[event.index()];
            let total = match self.kind(event) {
                EventKind::Device => self.torch_duration_us(table, event),
                _ if self.is_legacy(event) => self_us,
                _ => self_us + below,
            };
            let without = if self.kind(event) == EventKind::Device { total } else { total - below };
            times[event.index()] = (total, without);
        }
        times
    }

    /// Returns the duration in us, computed from PyTorch's rounded start and end.
    pub(crate) fn torch_duration_us(&self, table: &Table, event: FunctionEvent) -> f64 {
        let start = self.start_ns(table, event);
        let end = start + self.duration_ns(table, event);
        end as f64 / 1e3 - start as f64 / 1e3
    }

    /// Returns the number of kernels that PyTorch attributes to the event itself.
    pub fn kernel_count(&self, event: FunctionEvent) -> u32 {
        self.kernel_counts.get(event.index()).copied().unwrap_or(0)
    }

    /// Returns the device time of the event's own kernels, in ns.
    pub fn self_device_time_total_ns(&self, event: FunctionEvent) -> i64 {
        self.device.get(event.index()).copied().unwrap_or(0)
    }

    /// Returns the memory of the event including children.
    pub fn memory(&self, event: FunctionEvent) -> Bytes {
        self.memory.get(event.index()).map_or(Bytes::default(), |m| m.1)
    }

    /// Returns the memory of the event excluding children.
    pub fn self_memory(&self, event: FunctionEvent) -> Bytes {
        self.memory.get(event.index()).map_or(Bytes::default(), |m| m.0)
    }

    /// Returns the id of the event's `input_shapes`; the empty text represents `[]`.
    pub(super) fn shape(&self, event: FunctionEvent) -> NameId {
        self.shape_of.get(event.index()).copied().unwrap_or_default()
    }

    /// Returns the event's `input_shapes` as Python writes them; memory events of legacy records have `None`.
    pub fn input_shapes(&self, event: FunctionEvent) -> &str {
        match self.shape(event) {
            NameId::EMPTY => "[]",
            shape => self.shapes.get(shape),
        }
    }

    /// Returns the event's stack.
    pub fn stack(&self, event: FunctionEvent) -> StackId {
        self.stack_of.get(event.index()).copied().unwrap_or(StackId::EMPTY)
    }

    /// Returns the event's floating point operations; 0 unless the trace was recorded with FLOPs.
    pub fn flops(&self, event: FunctionEvent) -> i64 {
        self.flops.get(event.index()).copied().unwrap_or(0)
    }

    /// Returns the row whose device work is the event's: that of the last child that was merged into it, or its own; for
    /// overhead that of the operator that it is in.
    pub(super) fn row_of_kernels(&self, table: &Table, event: FunctionEvent) -> Row {
        let operator = self.parent(event).filter(|_| self.is_overhead(table, event));
        let row = self.row(operator.unwrap_or(event));
        self.merged.get((i64::from(row), 0)).map_or(row, |child| Row::new(child as usize))
    }

    /// Returns PyTorch's `trace_name`: the name in the trace, without the overload name.
    pub fn trace_name<'t>(&self, table: &'t Table, event: FunctionEvent) -> &'t str {
        self.split.name(table, self.row(event))
    }

    /// Returns the event's overload name; empty unless the trace was recorded with overload names.
    pub fn overload(&self, event: FunctionEvent) -> &str {
        self.overloads.get(NameId(self.overload_id(event)))
    }

    /// Returns the id of the event's overload name; 0 for none.
    pub(super) fn overload_id(&self, event: FunctionEvent) -> u32 {
        self.overload_of.get((i64::from(self.row(event)), 0)).unwrap_or(0)
    }

    fn has_flag(&self, event: FunctionEvent, flag: u8) -> bool {
        self.flags.get(event.index()).is_some_and(|flags| flags & flag != 0)
    }

    /// Returns whether the event ended on another thread than it began, which only records contain, or was open when the
    /// recording ended. Such events have no self time and no place in the tree.
    pub fn is_async(&self, event: FunctionEvent) -> bool {
        self.has_flag(event, flag::ASYNC)
    }

    /// Returns whether the event ran in another process, by RPC. Only legacy records contain this.
    pub fn is_remote(&self, event: FunctionEvent) -> bool {
        self.has_flag(event, flag::REMOTE)
    }

    /// Returns whether the event's device time was measured by device events around the operator and so includes
    /// callees.
    pub fn is_legacy(&self, event: FunctionEvent) -> bool {
        self.has_flag(event, flag::LEGACY)
    }

    /// Returns whether the event can have device time: PyTorch's `use_device` is set, and the event is not
    /// asynchronous.
    pub(super) fn uses_device(&self, event: FunctionEvent) -> bool {
        self.use_device.is_some() && !self.has_flag(event, flag::ASYNC | flag::NO_DEVICE)
    }

    /// Returns PyTorch's `use_device` of an event.
    pub(super) fn device_of(&self, event: FunctionEvent) -> Option<&'static str> {
        let is_legacy_memory = self.kind(event) == EventKind::Memory && self.source == Source::LegacyRecords;
        let has_device = !is_legacy_memory && !self.has_flag(event, flag::NO_DEVICE);
        self.use_device.filter(|_| has_device)
    }

    /// Returns PyTorch's `node_id`, the process of an RPC; `None` where PyTorch has -1.
    pub fn node_id(&self, table: &Table, event: FunctionEvent) -> Option<i64> {
        let is_range = self.kind(event) != EventKind::Memory;
        table.int(self.row(event), Key::NodeId).filter(|&node| is_range && node != -1)
    }

    /// Returns the type of the device that the event ran on.
    pub fn device_type(&self, table: &Table, event: FunctionEvent) -> DeviceType {
        if self.kind(event) != EventKind::Device {
            return DeviceType::Cpu;
        }
        let named = table.field(self.row(event), Key::DeviceType).and_then(|v| v.as_str());
        named.and_then(DeviceType::from_name).unwrap_or(match self.use_device {
            Some("xpu") => DeviceType::Xpu,
            Some("mtia") => DeviceType::Mtia,
            Some("hpu") => DeviceType::Hpu,
            Some("privateuse1") => DeviceType::PrivateUse1,
            _ => DeviceType::Cuda,
        })
    }

    /// Returns whether the event is a user annotation. Traces of the legacy profiler do not contain this.
    pub fn is_user_annotation(&self, table: &Table, event: FunctionEvent) -> bool {
        matches!(table.category(self.row(event)), Category::UserAnnotation | Category::GpuUserAnnotation)
            && self.kind(event) != EventKind::Memory
            && self.source != Source::LegacyRecords
    }

    /// Returns whether the event is a call of a Python function, which is no row of key averages in most versions of
    /// PyTorch.
    #[inline]
    pub fn is_python_function(&self, table: &Table, event: FunctionEvent) -> bool {
        is_python_call(table, self.row(event))
    }

    /// Returns PyTorch's number of the record scope.
    pub fn scope(&self, table: &Table, event: FunctionEvent) -> u8 {
        if self.source != Source::Chrome && self.kind(event) != EventKind::Memory {
            return table.int(self.row(event), Key::Scope).and_then(|n| u8::try_from(n).ok()).unwrap_or(0);
        }
        if self.kind(event) == EventKind::Cpu && table.category(self.row(event)) == Category::UserAnnotation {
            scope::USER
        } else if self.is_backward(table, event) {
            scope::BACKWARD_FUNCTION
        } else {
            scope::FUNCTION
        }
    }

    /// Returns whether the event is a backward function: autograd called it, as `evaluate_function: NAME` around it or
    /// the thread of its forward operator shows.
    fn is_backward(&self, table: &Table, event: FunctionEvent) -> bool {
        const EVALUATE: &str = "autograd::engine::evaluate_function: ";
        let name = self.name(event);
        let has_forward = table.int(self.row(event), Key::FwdThreadId).is_some_and(|thread| thread != 0);
        let is_evaluated = |parent: FunctionEvent| self.name(parent).strip_prefix(EVALUATE) == Some(name);
        has_forward && !name.starts_with(EVALUATE) || self.parent(event).is_some_and(is_evaluated)
    }
}

/// Returns whether a row is a call of a Python function. Runs of the garbage collector have the same category and no id.
pub(super) fn is_python_call(table: &Table, row: Row) -> bool {
    table.category(row) == Category::PythonFunction && table.field(row, Key::PythonId).is_some()
}

/// Damages events, for tests of the identities.
#[cfg(test)]
impl FunctionEvents {
    pub(crate) fn set_parent(&mut self, event: FunctionEvent, parent: Option<FunctionEvent>) {
        self.parents[event.index()] = parent;
    }
}
