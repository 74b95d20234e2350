//! torch.profiler's view of a trace: its `FunctionEvent`s, with the tree that torch builds of them.
//!
//! It differs from [`tree`](crate::tree): only operators, annotations, runtime calls and device work are events, an event
//! that sticks out of its parent is no child and closes it, and a lone child with its parent's name is merged into it.
//! Times are integer nanoseconds where torch has floats of microseconds; sums agree to the printed digit.
//!
//! What a trace does not carry stays at torch's default: `is_async` is false, the scope of TorchScript calls is 0.

mod build;
mod collect;
mod describe;
mod from_trace;
pub mod scope;
mod stacks;

use super::device_type::DeviceType;
use super::frames::{StackId, StackTable};
use crate::analysis::children::Children;
use crate::handle::{collect, handle, run};
use crate::index::Index;
use crate::names::{NameId, Names};
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::layout::Key;
use crate::table::metadata::Source;
use alloc::vec::Vec;

handle! {
    /// The number of an event in [`FunctionEvents`].
    pub struct FunctionEvent;
}

/// What a function event was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Work of a CPU thread: an operator, an annotation, a runtime call.
    Cpu,
    /// Work of a device.
    Device,
    /// An allocation or release outside of every operator, or a failed allocation.
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

/// All function events, ordered by start and then by longest first.
#[derive(Clone, Debug, Default)]
pub struct FunctionEvents {
    /// Every distinct name after rewriting.
    pub names: Names,
    /// Every distinct text of `input_shapes`, the empty one for `[]`.
    shapes: Names,
    /// Every distinct stack.
    pub stacks: StackTable,
    /// Unix time in ns that event times are relative to.
    pub trace_start_ns: i64,
    /// What to subtract from a table's time.
    pub(crate) origin: i64,
    /// What the events were made from.
    pub(crate) source: Source,
    /// How many events the merging of same-named lone children removed.
    pub removed: usize,
    /// Device time that no operator shows, in ns: torch replaces a parent's kernels by those of the child that it merges,
    /// and leaves out operators with a hidden name.
    pub dropped_device_ns: i64,
    /// The trace was recorded with memory.
    pub profile_memory: bool,
    /// The trace was recorded with FLOPs.
    pub with_flops: bool,
    /// torch's `use_device`: `cuda`, `xpu`, … when there is device work.
    pub use_device: Option<&'static str>,
    rows: Vec<Row>,
    /// The numbers of names.
    keys: Vec<NameId>,
    kinds: Vec<Kind>,
    parents: Vec<Option<FunctionEvent>>,
    self_ns: Vec<i64>,
    device: Vec<i64>,
    /// Device time of the event's own kernels in us, in torch's arithmetic; empty without a device.
    kernel_us: Vec<f64>,
    kernel_counts: Vec<u32>,
    /// Device time with everything below, in ns, where some of it was measured so.
    legacy_totals: Vec<i64>,
    memory: Vec<(Bytes, Bytes)>,
    shape_of: Vec<NameId>,
    stack_of: Vec<StackId>,
    flops: Vec<i64>,
    flags: Vec<u8>,
    overloads: Names,
    overload_of: Index,
}

/// What a trace never says of an event, but a record can.
mod flag {
    pub(super) const ASYNC: u8 = 1;
    pub(super) const REMOTE: u8 = 2;
    pub(super) const LEGACY: u8 = 4;
    pub(super) const NO_DEVICE: u8 = 8;
}

impl FunctionEvents {
    /// How many events there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No event at all.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Every event, by start and then by longest first.
    pub fn events(
        &self,
    ) -> impl DoubleEndedIterator<Item = FunctionEvent> + ExactSizeIterator + Clone + use<> {
        run(0..self.rows.len())
    }

    /// The event's row in the table.
    #[inline]
    pub fn row(&self, event: FunctionEvent) -> Row {
        self.rows[event.index()]
    }

    /// What the event was made from.
    #[inline]
    pub fn kind(&self, event: FunctionEvent) -> Kind {
        self.kinds[event.index()]
    }

    /// The event that it lies in.
    #[inline]
    pub fn parent(&self, event: FunctionEvent) -> Option<FunctionEvent> {
        self.parents[event.index()]
    }

    /// The events that lie right in each event.
    pub(super) fn children(&self) -> Children<FunctionEvent> {
        Children::new(&self.parents)
    }

    /// The number of the name after rewriting.
    #[inline]
    pub fn name_id(&self, event: FunctionEvent) -> NameId {
        self.keys[event.index()]
    }

    /// The name after rewriting.
    pub fn name(&self, event: FunctionEvent) -> &str {
        self.names.get(self.name_id(event))
    }

    /// CPU time without the children's, in ns.
    #[inline]
    pub fn self_ns(&self, event: FunctionEvent) -> i64 {
        self.self_ns[event.index()]
    }

    /// Start in ns after `trace_start_ns`; 0 for the memory events of legacy records, which have no time in torch.
    pub fn start_ns(&self, table: &Table, event: FunctionEvent) -> i64 {
        if self.kind(event) == Kind::Memory && self.source == Source::LegacyRecords {
            return 0;
        }
        table.ts(self.row(event)).saturating_sub(self.origin)
    }

    /// Duration in ns.
    pub fn duration_ns(&self, table: &Table, event: FunctionEvent) -> i64 {
        if self.kind(event) == Kind::Memory { 0 } else { table.dur(self.row(event)).max(0) }
    }

    /// The lane of the event's tree: its track. Of legacy records, the thread of whichever process, as in torch; their
    /// memory events are on none, which is -1.
    fn lane(&self, table: &Table, event: FunctionEvent) -> i64 {
        let track = table.track_id(self.row(event));
        match (self.source, self.kind(event)) {
            (Source::LegacyRecords, Kind::Memory) => -1,
            (Source::LegacyRecords, _) => i64::from(table.tracks.get(track).tid.0),
            _ => i64::from(track.0),
        }
    }

    /// CPU time with the children's, in ns; 0 for device work.
    pub fn cpu_time_total_ns(&self, table: &Table, event: FunctionEvent) -> i64 {
        if self.kind(event) == Kind::Device { 0 } else { self.duration_ns(table, event) }
    }

    /// Of every event, the device time of its own kernels and of all below it, in ns. What was measured around an event
    /// has that of everything below it.
    pub fn device_totals_ns(&self) -> Vec<i64> {
        if !self.legacy_totals.is_empty() {
            return self.legacy_totals.clone();
        }
        let mut totals: Vec<i64> = collect(self.len(), |event| self.self_device_time_total_ns(event));
        // Children come after their parents, so going backwards completes a child before it is added.
        for event in self.events().rev() {
            if let Some(parent) = self.parent(event) {
                totals[parent.index()] = totals[parent.index()].saturating_add(totals[event.index()]);
            }
        }
        totals
    }

    /// Some device time was measured around events: totals are then no sums of what is below.
    pub(super) fn is_measured(&self) -> bool {
        !self.legacy_totals.is_empty()
    }

    /// Device time with everything below, in ns, where some of it was measured around events, else 0.
    pub(super) fn measured_total_ns(&self, event: FunctionEvent) -> i64 {
        self.legacy_totals.get(event.index()).copied().unwrap_or(0)
    }

    /// Of every event, device time in us with and without the children, in torch's arithmetic; empty without a device.
    pub(super) fn device_times_us(&self, table: &Table) -> Vec<(f64, f64)> {
        if self.kernel_us.is_empty() {
            return Vec::new();
        }
        let children = self.children();
        let mut times = alloc::vec![(0.0, 0.0); self.len()];
        // Children come after their parents, so going backwards completes a child before it is added.
        for event in self.events().rev().filter(|&event| self.uses_device(event)) {
            let below: f64 = children.of(event).iter().fold(0.0, |sum, child| sum + times[child.index()].0);
            let own = self.kernel_us[event.index()];
            let total = match self.kind(event) {
                Kind::Device => self.torch_duration_us(table, event),
                _ if self.is_legacy(event) => own,
                _ => own + below,
            };
            let without = if self.kind(event) == Kind::Device { total } else { total - below };
            times[event.index()] = (total, without);
        }
        times
    }

    /// The duration in us, as torch's rounded start and end give it.
    pub(crate) fn torch_duration_us(&self, table: &Table, event: FunctionEvent) -> f64 {
        let start = self.start_ns(table, event);
        let end = start + self.duration_ns(table, event);
        end as f64 / 1e3 - start as f64 / 1e3
    }

    /// How many kernels torch hangs on the event itself.
    pub fn kernel_count(&self, event: FunctionEvent) -> u32 {
        self.kernel_counts.get(event.index()).copied().unwrap_or(0)
    }

    /// Device time of the event's own kernels, in ns.
    pub fn self_device_time_total_ns(&self, event: FunctionEvent) -> i64 {
        self.device.get(event.index()).copied().unwrap_or(0)
    }

    /// Memory of the event with its children's.
    pub fn memory(&self, event: FunctionEvent) -> Bytes {
        self.memory.get(event.index()).map_or(Bytes::default(), |m| m.1)
    }

    /// Memory of the event without its children's.
    pub fn self_memory(&self, event: FunctionEvent) -> Bytes {
        self.memory.get(event.index()).map_or(Bytes::default(), |m| m.0)
    }

    /// The number of the event's `input_shapes`; the empty text is `[]`.
    pub(super) fn shape(&self, event: FunctionEvent) -> NameId {
        self.shape_of.get(event.index()).copied().unwrap_or_default()
    }

    /// The event's `input_shapes` as Python writes them; the memory events of legacy records have `None`.
    pub fn input_shapes(&self, event: FunctionEvent) -> &str {
        match self.shape(event) {
            NameId::EMPTY => "[]",
            shape => self.shapes.get(shape),
        }
    }

    /// The event's stack.
    pub fn stack(&self, event: FunctionEvent) -> StackId {
        self.stack_of.get(event.index()).copied().unwrap_or(StackId::EMPTY)
    }

    /// The event's floating point operations; 0 unless the trace was recorded with FLOPs.
    pub fn flops(&self, event: FunctionEvent) -> i64 {
        self.flops.get(event.index()).copied().unwrap_or(0)
    }

    /// The event's overload name; empty unless the trace was recorded with overload names.
    pub fn overload(&self, event: FunctionEvent) -> &str {
        self.overloads.get(NameId(self.overload_id(event)))
    }

    /// The number of the event's overload name; 0 for none.
    pub(super) fn overload_id(&self, event: FunctionEvent) -> u32 {
        self.overload_of.get((i64::from(self.row(event)), 0)).unwrap_or(0)
    }

    fn has_flag(&self, event: FunctionEvent, flag: u8) -> bool {
        self.flags.get(event.index()).is_some_and(|flags| flags & flag != 0)
    }

    /// The event ended on another thread than it began, and has no self time. No trace says so, records do.
    pub fn is_async(&self, event: FunctionEvent) -> bool {
        self.has_flag(event, flag::ASYNC)
    }

    /// The event ran in another process, by RPC. No trace says so, legacy records do.
    pub fn is_remote(&self, event: FunctionEvent) -> bool {
        self.has_flag(event, flag::REMOTE)
    }

    /// The event's device time was measured by events around the operator: all that it called is in it.
    pub fn is_legacy(&self, event: FunctionEvent) -> bool {
        self.has_flag(event, flag::LEGACY)
    }

    /// The event can have device time: torch's `use_device` is set, and it is not asynchronous.
    pub(super) fn uses_device(&self, event: FunctionEvent) -> bool {
        self.use_device.is_some() && !self.has_flag(event, flag::ASYNC | flag::NO_DEVICE)
    }

    /// torch's `node_id`: the process of an RPC; nothing where torch has -1.
    pub fn node_id(&self, table: &Table, event: FunctionEvent) -> Option<i64> {
        let is_range = self.kind(event) != Kind::Memory;
        table.int(self.row(event), Key::NodeId).filter(|&node| is_range && node != -1)
    }

    /// What the event ran on.
    pub fn device_type(&self, table: &Table, event: FunctionEvent) -> DeviceType {
        if self.kind(event) != Kind::Device {
            return DeviceType::Cpu;
        }
        let named = table.field(self.row(event), Key::DeviceType).and_then(|v| v.as_str());
        named.and_then(DeviceType::of).unwrap_or(match self.use_device {
            Some("xpu") => DeviceType::Xpu,
            Some("mtia") => DeviceType::Mtia,
            Some("hpu") => DeviceType::Hpu,
            Some("privateuse1") => DeviceType::PrivateUse1,
            _ => DeviceType::Cuda,
        })
    }

    /// The event is a range that the user named. The legacy profiler does not tell.
    pub fn is_user_annotation(&self, table: &Table, event: FunctionEvent) -> bool {
        matches!(table.category(self.row(event)), Category::UserAnnotation | Category::GpuUserAnnotation)
            && self.kind(event) != Kind::Memory
            && self.source != Source::LegacyRecords
    }

    /// torch's number of the record scope.
    pub fn scope(&self, table: &Table, event: FunctionEvent) -> u8 {
        if self.source != Source::Chrome && self.kind(event) != Kind::Memory {
            return table.int(self.row(event), Key::Scope).and_then(|n| u8::try_from(n).ok()).unwrap_or(0);
        }
        if self.kind(event) == Kind::Cpu && table.category(self.row(event)) == Category::UserAnnotation {
            scope::USER
        } else if self.is_backward(event) {
            scope::BACKWARD_FUNCTION
        } else {
            scope::FUNCTION
        }
    }

    /// The event is called `NAME` right under `autograd::engine::evaluate_function: NAME`.
    pub(crate) fn is_backward(&self, event: FunctionEvent) -> bool {
        self.parent(event).is_some_and(|parent| {
            self.name(parent).strip_prefix("autograd::engine::evaluate_function: ") == Some(self.name(event))
        })
    }

    /// The sum of all self CPU times, in ns.
    pub fn self_cpu_time_total_ns(&self) -> i64 {
        self.self_ns.iter().sum()
    }
}

/// Damage, for tests of what compares events with something else.
#[cfg(test)]
impl FunctionEvents {
    pub(crate) fn set_parent(&mut self, event: FunctionEvent, parent: Option<FunctionEvent>) {
        self.parents[event.index()] = parent;
    }
}
