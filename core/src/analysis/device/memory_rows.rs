//! The rows of the query `memory`: devices, owners at peaks, steps, unreleased memory, failures, and a snapshot's
//! segments.

use super::memory::{Device, Memory, MemoryDevice, Record};
use super::owners::{BEFORE, OUTSIDE, Owners};
use super::ranges::step_ranges;
use super::segments::{DeviceSegments, device_segments};
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::question::Question;
use crate::analysis::query::{Input, Query};
use crate::base::rows::{Column, Kinds, Rows, RowsOfKinds, Shape, Variant, columns};
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use crate::trace::table::layout::Key;
use alloc::vec::Vec;
use serde_json::Value;

/// The query `memory`.
pub const MEMORY: Query = Query::with_kinds(
    "memory",
    "Memory by device: peaks, their owners, steps, unreleased memory",
    &KINDS,
    |trace, request| Ok(request.limited(memory_rows(trace))),
)
.examples(&["run.json", "snapshot.pickle --format json"])
.options::<ListOptions>()
.inputs(&[Input::StepRules])
.questions(&[Question::Memory])
.hint("this trace has no memory events; record with profile_memory=True, or take a memory snapshot");

words! {
    "MemoryKind"
    /// The kind of a row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MemoryKind {
        /// A device.
        Device = "device",
        /// The live memory of an owner at the device's peak.
        AtPeak = "at_peak",
        /// A profiler step.
        Step = "step",
        /// The unreleased memory of an owner.
        Kept = "kept",
        /// An allocation that failed.
        OutOfMemory = "out_of_memory",
        /// A snapshot's segments.
        Segments = "segments",
    }
}

/// The kinds of rows.
pub const KINDS: Kinds = Kinds {
    column: Column::word(
        "kind",
        "Kind",
        &MemoryKind::VOCABULARY,
        "device; at_peak: live memory of an owner at the device's peak; step; kept: unreleased memory of an owner; \
         out_of_memory; segments.",
    ),
    variants: &[
        Variant { name: "Device", kinds: &[MemoryKind::Device.as_str()], columns: DEVICES },
        Variant { name: "AtPeak", kinds: &[MemoryKind::AtPeak.as_str()], columns: AT_PEAK },
        Variant { name: "Step", kinds: &[MemoryKind::Step.as_str()], columns: STEPS },
        Variant { name: "Kept", kinds: &[MemoryKind::Kept.as_str()], columns: KEPT },
        Variant { name: "OutOfMemory", kinds: &[MemoryKind::OutOfMemory.as_str()], columns: FAILURES },
        Variant { name: "Segments", kinds: &[MemoryKind::Segments.as_str()], columns: SEGMENTS },
    ],
};

const DEVICE: Column = Column::text("device", "Device", "CPU, CUDA 0, ….");
const NAME: Column = Column::text("name", "Name", "The operator or function that allocated, or the step.");
const COUNT: Column = Column::int("count", "Count", "The number of allocations, failures or segments.");
const ALLOCATED: Column = Column::bytes("allocated_bytes", "Allocated", "Sum of the allocations of the row.");
const FREED: Column = Column::bytes("freed_bytes", "Freed", "Sum of the releases of the row.");
const PEAK: Column = Column::bytes("peak_bytes", "Peak", "The maximum of allocated memory.");
const RESERVED: Column =
    Column::bytes("reserved_bytes", "Reserved", "The maximum that the allocator had reserved.");
const GROWTH: Column =
    Column::bytes("growth_bytes", "Growth", "Allocated memory at the end minus that at the start.");
const SHARE: Column = Column::share(
    "share",
    "Share",
    "The share of the peak; for segments, the share of reserved memory in use.",
);
const AT: Column = Column::ns("at_ns", "At", "The time of the peak, or of the row's first event.");
const STACK: Column =
    Column::json("stack", "", Shape::Texts, "The stack of the first allocation, innermost frame first.");

fn sum(bytes: impl IntoIterator<Item = i64>) -> i64 {
    bytes.into_iter().fold(0, i64::saturating_add)
}

/// The maximum number of owners shown for a peak, and for unreleased memory.
const OWNERS: usize = 20;

/// Returns the rows; none for a trace without memory events.
pub fn memory_rows(trace: &Trace) -> Rows {
    let mut rows = RowsOfKinds::new(&KINDS);
    let memory = Memory::new(trace);
    for device_memory in &memory.devices {
        rows.push(MemoryKind::Device.as_str(), device(trace, &memory, device_memory));
    }
    if !memory.records.is_empty() {
        by_owner_and_step(&mut rows, trace, &memory);
    }
    for &row in &memory.failures {
        rows.push(MemoryKind::OutOfMemory.as_str(), failure(trace, row));
    }
    for sums in device_segments(trace) {
        rows.push(MemoryKind::Segments.as_str(), segments(&sums));
    }
    rows.finish()
}

fn by_owner_and_step(rows: &mut RowsOfKinds, trace: &Trace, memory: &Memory) {
    let owners = Owners::new(trace);
    // Without addresses, releases cannot be paired with allocations.
    let has_addresses = trace.table.layouts.all().iter().any(|l| l.find(Key::Addr).is_some());
    let peaks = memory.devices.iter().zip(memory.at_peaks());
    for (device, live) in peaks.filter(|(device, _)| device.allocations > 0 && has_addresses) {
        let before = device.peak.saturating_sub(sum(live.iter().map(|record| record.bytes)));
        if before > 0 {
            rows.push(MemoryKind::AtPeak.as_str(), at_peak(device, trace, &Owned::before(before)));
        }
        let held: Vec<Row> = live.iter().map(|record| record.row).collect();
        for owned in by_owner(&owners, &held) {
            rows.push(MemoryKind::AtPeak.as_str(), at_peak(device, trace, &owned));
        }
    }
    let of_devices = memory.by_device();
    for (row, _) in step_ranges(trace) {
        for (device, records) in memory.devices.iter().zip(&of_devices) {
            rows.push(MemoryKind::Step.as_str(), step(trace, row, device, records));
        }
    }
    for (device, records) in memory.devices.iter().zip(&of_devices).filter(|_| has_addresses) {
        let unreleased = records.iter().filter(|record| record.bytes > 0 && record.freed.is_none());
        let unreleased: Vec<Row> = unreleased.map(|record| record.row).collect();
        for owned in by_owner(&owners, &unreleased) {
            rows.push(MemoryKind::Kept.as_str(), kept(device, trace, &owned));
        }
    }
}

/// The allocations of an owner.
struct Owned<'a> {
    name: &'a str,
    count: usize,
    bytes: i64,
    /// The first of them; `None` if they are before the recording.
    first: Option<Row>,
    stack: Vec<&'a str>,
}

impl Owned<'_> {
    /// What was allocated before the recording.
    fn before(bytes: i64) -> Owned<'static> {
        Owned { name: BEFORE, count: 0, bytes, first: None, stack: Vec::new() }
    }

    fn at_ns(&self, trace: &Trace) -> Option<i64> {
        self.first.map(|first| trace.table.ts(first).saturating_sub(trace.start_ns))
    }

    fn stack(&self) -> Value {
        self.stack.as_slice().into()
    }
}

/// Adds up allocations by owner, the largest sum first.
fn by_owner<'t>(owners: &Owners<'t>, allocations: &[Row]) -> Vec<Owned<'t>> {
    let sums = owners.sums(allocations).into_iter().take(OWNERS);
    let owned = sums.map(|(bytes, count, first)| Owned {
        name: owners.name(first).unwrap_or(OUTSIDE),
        count,
        bytes,
        first: Some(first),
        stack: owners.frames(first).collect(),
    });
    owned.collect()
}

columns! {
    const DEVICES: fn device(trace: &Trace, memory: &Memory, device: &Device) [
        DEVICE => device.name.as_str(),
        COUNT => device.allocations,
        ALLOCATED => device.allocated,
        FREED => device.freed,
        PEAK => device.peak,
        RESERVED.nullable() => device.reserved,
        GROWTH => device.after.saturating_sub(device.before),
        AT => memory.records[device.peak_at].ts.saturating_sub(trace.start_ns),
    ]
}

columns! {
    const AT_PEAK: fn at_peak(device: &Device, trace: &Trace, owned: &Owned<'_>) [
        DEVICE => device.name.as_str(),
        NAME => owned.name,
        COUNT => owned.count,
        ALLOCATED => owned.bytes,
        SHARE => owned.bytes as f64 / device.peak.max(1) as f64,
        AT.nullable() => owned.at_ns(trace),
        STACK => owned.stack(),
    ]
}

columns! {
    const STEPS: fn step(trace: &Trace, row: Row, device: &Device, of_device: &[&Record]) {
        let (start, end) = (trace.table.ts(row), trace.table.end(row));
        let from = of_device.partition_point(|record| record.ts < start);
        let records = || of_device[from..].iter().take_while(|record| record.ts <= end);
        let allocated = || records().filter(|record| record.bytes > 0);
        let gained = sum(allocated().map(|record| record.bytes));
        let freed = sum(records().filter(|record| record.bytes < 0).map(|record| -record.bytes));
    } [
        DEVICE => device.name.as_str(),
        NAME => trace.table.name(row),
        COUNT => allocated().count(),
        ALLOCATED => gained,
        FREED => freed,
        PEAK.nullable() => records().map(|record| record.total).max(),
        GROWTH => gained - freed,
        AT => start.saturating_sub(trace.start_ns),
    ]
}

columns! {
    const KEPT: fn kept(device: &Device, trace: &Trace, owned: &Owned<'_>) [
        DEVICE => device.name.as_str(),
        NAME => owned.name,
        COUNT => owned.count,
        ALLOCATED => owned.bytes,
        AT => owned.at_ns(trace),
        STACK => owned.stack(),
    ]
}

columns! {
    const FAILURES: fn failure(trace: &Trace, row: Row) [
        DEVICE => MemoryDevice::from_event(&trace.table, row).name(),
        COUNT => 1_usize,
        ALLOCATED => trace.table.bytes(row, Key::Bytes).max(0),
        AT => trace.table.ts(row).saturating_sub(trace.start_ns),
    ]
}

columns! {
    const SEGMENTS: fn segments(segments: &DeviceSegments) [
        DEVICE => segments.device.as_str(),
        NAME => "(at the end)",
        COUNT => segments.segments,
        ALLOCATED => segments.allocated,
        RESERVED => segments.reserved,
        SHARE.nullable() => segments.share(),
    ]
}
