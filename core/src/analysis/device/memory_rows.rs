//! The rows of the query `memory`: devices, owners at peaks, steps, unreleased memory, failures, and a snapshot's
//! segments.

use super::memory::{Device, Memory, MemoryDevice, Record};
use super::owners::{BEFORE, OUTSIDE, Owners};
use super::ranges::step_ranges;
use super::segments::device_segments;
use crate::analysis::query::Query;
use crate::analysis::query::options::ListOptions;
use crate::analysis::query::question::Question;
use crate::base::rows::{Cell, Column, Rows, Shape, Variant};
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use crate::trace::table::layout::Key;
use alloc::vec;
use alloc::vec::Vec;

/// The query `memory`.
pub const MEMORY: Query = Query::new(
    "memory",
    "Memory by device: peaks, their owners, steps, unreleased memory",
    COLUMNS,
    |trace, request| Ok(request.limited(memory_rows(trace))),
)
.examples(&["run.json", "snapshot.pickle --format json"])
.options::<ListOptions>()
.variants(VARIANTS)
.questions(&[Question::Memory])
.hint("this trace has no memory events; record with profile_memory=True, or take a memory snapshot");

/// The columns of the answer.
pub const COLUMNS: &[Column] = &[
    Column::word(
        "kind",
        "Kind",
        &MemoryKind::VOCABULARY,
        "device; at_peak: live memory of an owner at the device's peak; step; kept: unreleased memory of an owner; \
         out_of_memory; segments.",
    ),
    Column::text("device", "Device", "CPU, CUDA 0, …."),
    Column::text("name", "Name", "The operator or function that allocated, or the step.").nullable(),
    Column::int("count", "Count", "The number of allocations, failures or segments."),
    Column::bytes("allocated_bytes", "Allocated", "Sum of the allocations of the row."),
    Column::bytes("freed_bytes", "Freed", "Sum of the releases of the row.").nullable(),
    Column::bytes("peak_bytes", "Peak", "The maximum of allocated memory.").nullable(),
    Column::bytes("reserved_bytes", "Reserved", "The maximum that the allocator had reserved.").nullable(),
    Column::bytes("growth_bytes", "Growth", "Allocated memory at the end minus that at the start.")
        .nullable(),
    Column::share(
        "share",
        "Share",
        "The share of the peak; for segments, the share of reserved memory in use.",
    )
    .nullable(),
    Column::ns("at_ns", "At", "The time of the peak, or of the row's first event.").nullable(),
    Column::json("stack", "", Shape::Texts, "The stack of the first allocation, innermost frame first."),
];

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

/// The columns that each kind of row fills.
pub const VARIANTS: &[Variant] = &[
    Variant {
        name: "Device",
        kinds: &["device"],
        filled: &["freed_bytes", "peak_bytes", "growth_bytes", "at_ns"],
        nullable: &["reserved_bytes"],
    },
    Variant { name: "AtPeak", kinds: &["at_peak"], filled: &["name", "share"], nullable: &["at_ns"] },
    Variant {
        name: "Step",
        kinds: &["step"],
        filled: &["name", "freed_bytes", "growth_bytes", "at_ns"],
        nullable: &["peak_bytes"],
    },
    Variant { name: "Kept", kinds: &["kept"], filled: &["name", "at_ns"], nullable: &[] },
    Variant { name: "OutOfMemory", kinds: &["out_of_memory"], filled: &["at_ns"], nullable: &[] },
    Variant {
        name: "Segments",
        kinds: &["segments"],
        filled: &["name", "reserved_bytes"],
        nullable: &["share"],
    },
];

/// The cells of one row.
#[derive(Default)]
struct Line<'a> {
    device: &'a str,
    name: Option<&'a str>,
    count: usize,
    allocated: i64,
    freed: Option<i64>,
    peak: Option<i64>,
    reserved: Option<i64>,
    growth: Option<i64>,
    share: Option<f64>,
    at: Option<i64>,
    stack: Vec<&'a str>,
}

impl Line<'_> {
    fn push(self, kind: MemoryKind, rows: &mut Rows) {
        let bytes = |value: Option<i64>| value.map_or(Cell::Null, Cell::Bytes);
        rows.push(vec![
            kind.as_str().into(),
            self.device.into(),
            self.name.into(),
            self.count.into(),
            Cell::Bytes(self.allocated),
            bytes(self.freed),
            bytes(self.peak),
            bytes(self.reserved),
            bytes(self.growth),
            self.share.map_or(Cell::Null, Cell::Share),
            self.at.map_or(Cell::Null, Cell::Ns),
            Cell::Json(self.stack.into_iter().map(serde_json::Value::from).collect()),
        ]);
    }
}

fn sum(bytes: impl IntoIterator<Item = i64>) -> i64 {
    bytes.into_iter().fold(0, i64::saturating_add)
}

/// The maximum number of owners shown for a peak, and for unreleased memory.
const OWNERS: usize = 20;

/// Returns the rows; none for a trace without memory events.
pub fn memory_rows(trace: &Trace) -> Rows {
    let mut rows = Rows::new(COLUMNS);
    let memory = Memory::new(trace);
    devices(&mut rows, trace, &memory);
    if !memory.records.is_empty() {
        let owners = Owners::new(trace);
        // Without addresses, releases cannot be paired with allocations.
        let has_addresses = trace.table.layouts.all().iter().any(|l| l.find(Key::Addr).is_some());
        let peaks = memory.devices.iter().zip(memory.at_peaks());
        for (device, live) in peaks.filter(|(device, _)| device.allocations > 0 && has_addresses) {
            let held: Vec<Row> = live.iter().map(|record| record.row).collect();
            let before = device.peak.saturating_sub(sum(live.iter().map(|record| record.bytes)));
            if before > 0 {
                let share = Some(before as f64 / device.peak.max(1) as f64);
                let name = Some(BEFORE);
                Line { device: &device.name, name, allocated: before, share, ..Line::default() }
                    .push(MemoryKind::AtPeak, &mut rows);
            }
            by_owner(&mut rows, (MemoryKind::AtPeak, &device.name), &owners, &held, Some(device.peak));
        }
        let of_devices = memory.of_devices();
        steps(&mut rows, trace, &memory.devices, &of_devices);
        for (device, records) in memory.devices.iter().zip(&of_devices).filter(|_| has_addresses) {
            let kept = records.iter().filter(|record| record.bytes > 0 && record.freed.is_none());
            let kept: Vec<Row> = kept.map(|record| record.row).collect();
            by_owner(&mut rows, (MemoryKind::Kept, &device.name), &owners, &kept, None);
        }
    }
    failures(&mut rows, trace, &memory);
    segments(&mut rows, trace);
    rows
}

fn devices(rows: &mut Rows, trace: &Trace, memory: &Memory) {
    for device in &memory.devices {
        let at = memory.records[device.peak_at].ts.saturating_sub(trace.start_ns);
        Line {
            device: &device.name,
            count: device.allocations,
            allocated: device.allocated,
            freed: Some(device.freed),
            peak: Some(device.peak),
            reserved: device.reserved,
            growth: Some(device.after.saturating_sub(device.before)),
            at: Some(at),
            ..Line::default()
        }
        .push(MemoryKind::Device, rows);
    }
}

/// Adds up allocations by owner, the largest sum first.
fn by_owner(
    rows: &mut Rows,
    (kind, device): (MemoryKind, &str),
    owners: &Owners<'_>,
    allocations: &[Row],
    peak: Option<i64>,
) {
    let table = &owners.trace.table;
    let sums = owners.sums(allocations);
    for &(bytes, count, first) in sums.iter().take(OWNERS) {
        Line {
            device,
            name: Some(owners.name(first).unwrap_or(OUTSIDE)),
            count,
            allocated: bytes,
            share: peak.map(|peak| bytes as f64 / peak.max(1) as f64),
            at: Some(table.ts(first).saturating_sub(owners.trace.start_ns)),
            stack: owners.frames(first).collect(),
            ..Line::default()
        }
        .push(kind, rows);
    }
}

/// Adds what each profiler step allocated and released.
fn steps(rows: &mut Rows, trace: &Trace, devices: &[Device], of_devices: &[Vec<&Record>]) {
    let table = &trace.table;
    for (row, _) in step_ranges(table) {
        let (start, end) = (table.ts(row), table.end(row));
        for (device, all) in devices.iter().zip(of_devices) {
            let from = all.partition_point(|r| r.ts < start);
            let records = || all[from..].iter().take_while(|r| r.ts <= end);
            let allocated = || records().filter(|r| r.bytes > 0);
            let gained = sum(allocated().map(|r| r.bytes));
            let freed = sum(records().filter(|r| r.bytes < 0).map(|r| -r.bytes));
            Line {
                device: &device.name,
                name: Some(table.name(row)),
                count: allocated().count(),
                allocated: gained,
                freed: Some(freed),
                peak: records().map(|r| r.total).max(),
                growth: Some(gained - freed),
                at: Some(start.saturating_sub(trace.start_ns)),
                ..Line::default()
            }
            .push(MemoryKind::Step, rows);
        }
    }
}

fn failures(rows: &mut Rows, trace: &Trace, memory: &Memory) {
    let table = &trace.table;
    for &row in &memory.failures {
        let device = MemoryDevice::of(table, row).name();
        Line {
            device: &device,
            count: 1,
            allocated: table.bytes(row, Key::Bytes).max(0),
            at: Some(table.ts(row).saturating_sub(trace.start_ns)),
            ..Line::default()
        }
        .push(MemoryKind::OutOfMemory, rows);
    }
}

/// Adds the segments of a snapshot: reserved and allocated bytes, and the share in use.
fn segments(rows: &mut Rows, trace: &Trace) {
    for one in device_segments(trace) {
        Line {
            device: &one.device,
            name: Some("(at the end)"),
            count: one.segments,
            allocated: one.allocated,
            reserved: Some(one.reserved),
            share: one.share(),
            ..Line::default()
        }
        .push(MemoryKind::Segments, rows);
    }
}
