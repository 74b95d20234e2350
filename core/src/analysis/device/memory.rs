//! Device and host memory over time: allocated memory, its peaks, and the allocations that were live at a peak.
//!
//! An allocation is a `[memory]` event. A release is one with negative bytes; it ends the allocation at its address.
//! Memory allocated before the recording is known if the events carry totals, and counts as live from the start. The
//! owner of an allocation is the innermost operator or user annotation open on its thread, else a function of its
//! stack.
//!
//! PyTorch's categories (parameter, gradient, activation, …) require the identities of tensors, which neither traces
//! nor snapshots contain: they exist only while the profiled program runs.

use crate::analysis::torch::device_type::DeviceType;
use crate::base::index::Index;
use crate::base::order::sort_by_key;
use crate::trace::Trace;
use crate::trace::read::snapshot::SOURCE;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use crate::trace::table::merged::{rank_of, recording_of};
use crate::trace::table::metadata::Source;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// One allocation or release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// The event's row.
    pub row: Row,
    /// The time, in ns relative to the table's base.
    pub ts: i64,
    /// The index of its device in [`Memory::devices`].
    pub device: u32,
    /// The number of bytes; negative for a release.
    pub bytes: i64,
    /// The allocated bytes of the device after this record, including those from before the recording.
    pub total: i64,
    /// For an allocation, the index of its release in [`Memory::records`], if it was released.
    pub freed: Option<u32>,
}

/// The memory of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Device {
    /// `CPU`, `CUDA 0`, ….
    pub name: String,
    /// The number of allocations.
    pub allocations: usize,
    /// The sum of all allocations, in bytes.
    pub allocated: i64,
    /// The sum of all releases, in bytes.
    pub freed: i64,
    /// The bytes allocated before the first record.
    pub before: i64,
    /// The maximum of allocated bytes.
    pub peak: i64,
    /// The index of the record that reached the peak.
    pub peak_at: usize,
    /// The bytes allocated after the last record.
    pub after: i64,
    /// The maximum that the allocator had reserved, in bytes; `None` if the events do not contain it.
    pub reserved: Option<i64>,
}

/// The memory of a trace.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Memory {
    /// The devices, in order of first occurrence.
    pub devices: Vec<Device>,
    /// Allocations and releases, ordered by time.
    pub records: Vec<Record>,
    /// Failed allocations.
    pub failures: Vec<Row>,
}

/// A device with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryDevice {
    /// The rank, in a merged trace.
    rank: Option<i64>,
    pub(crate) kind: DeviceType,
    pub(crate) id: i64,
}

impl MemoryDevice {
    /// The device of a memory event.
    pub(crate) fn from_event(table: &Table, row: Row) -> MemoryDevice {
        let kind = DeviceType::from_event(table, row).unwrap_or_default();
        let id = table.int(row, Key::DeviceId).or_else(|| table.int(row, Key::Device)).unwrap_or(0);
        let (kind, id) = if kind.is_host() { (DeviceType::Cpu, 0) } else { (kind, id) };
        MemoryDevice { rank: rank_of(table, table.track(row).pid), kind, id }
    }

    /// The name: the kind and the number, in a merged trace with its rank.
    pub(crate) fn name(self) -> String {
        let number = if self.kind == DeviceType::Cpu { String::new() } else { format!(" {}", self.id) };
        let rank = self.rank.map_or_else(String::new, |rank| format!("rank {rank}: "));
        format!("{rank}{}{number}", self.kind.as_str())
    }

    pub(super) fn key(self) -> (i64, i64) {
        (i64::from(self.kind as u8) << 32 | self.rank.map_or(0, |rank| rank + 1), self.id)
    }
}

impl Memory {
    /// Returns the memory of a trace; empty if the trace was recorded without memory.
    pub fn new(trace: &Trace) -> Memory {
        let table = &trace.table;
        let mut memory = Memory::default();
        let mut index = Index::default();
        let (record, failure) = (table.names.find("[memory]"), table.names.find("[OutOfMemory]"));
        for row in table.rows_of(Category::CpuInstant) {
            let name = Some(table.name_id(row));
            if name == failure {
                memory.failures.push(row);
            }
            if name != record {
                continue;
            }
            let bytes = table.bytes(row, Key::Bytes);
            let device = MemoryDevice::from_event(table, row);
            memory.push(&mut index, table, row, device, bytes);
            // A legacy record has the bytes of both host and device.
            let cuda = table.bytes(row, Key::CudaMemoryUsage);
            if table.metadata.source == Source::LegacyRecords && cuda != 0 {
                let device = MemoryDevice { kind: DeviceType::Cuda, id: 0, ..device };
                memory.push(&mut index, table, row, device, cuda);
            }
        }
        sort_by_key(&mut memory.records, |record| (record.ts, 0));
        memory.add_up(table);
        memory.pair(table);
        memory
    }

    fn push(&mut self, index: &mut Index, table: &Table, row: Row, device: MemoryDevice, bytes: i64) {
        let next = self.devices.len() as u32;
        let at = index.get_or_insert(device.key(), next);
        if at == next {
            self.devices.push(Device { name: device.name(), ..Device::default() });
        }
        self.records.push(Record { row, ts: table.ts(row), device: at, bytes, total: 0, freed: None });
    }

    fn add_up(&mut self, table: &Table) {
        // The recording of the last record of each device.
        let mut last: Vec<Option<usize>> = vec![None; self.devices.len()];
        let counts = table.metadata.text(SOURCE).is_some();
        for (at, record) in self.records.iter_mut().enumerate() {
            let device = &mut self.devices[record.device as usize];
            let recording = recording_of(table, record.row);
            let before = last[record.device as usize].replace(recording);
            if before.is_some_and(|before| before != recording) {
                // What the next recording of a rank begins with.
                let total = table.int(record.row, Key::TotalAllocated).filter(|&total| total != 0);
                device.after = total.map_or(device.after, |total| total.saturating_sub(record.bytes));
            }
            if before.is_none() {
                // An allocator that does not count reports 0; a snapshot always counts.
                let total = table.int(record.row, Key::TotalAllocated).filter(|&total| total != 0 || counts);
                device.before = total.map_or(0, |total| total.saturating_sub(record.bytes)).max(0);
                (device.after, device.peak, device.peak_at) = (device.before, device.before, at);
            }
            device.after = device.after.saturating_add(record.bytes);
            record.total = device.after;
            if record.bytes > 0 {
                device.allocations += 1;
                device.allocated = device.allocated.saturating_add(record.bytes);
            } else {
                device.freed = device.freed.saturating_sub(record.bytes);
            }
            if device.after > device.peak {
                (device.peak, device.peak_at) = (device.after, at);
            }
            let reserved = table.int(record.row, Key::TotalReserved).filter(|&bytes| bytes > 0);
            device.reserved = device.reserved.max(reserved);
        }
    }

    /// Pairs every allocation with its release, by its address.
    fn pair(&mut self, table: &Table) {
        let mut open = Index::default();
        for at in 0..self.records.len() {
            let record = self.records[at];
            let Some(address) = table.int(record.row, Key::Addr) else { continue };
            let key = (address, i64::from(record.device));
            if record.bytes > 0 {
                open.set(key, at as u32);
            } else if let Some(begun) = open.get(key) {
                self.records[begun as usize].freed = Some(at as u32);
                open.remove(key);
            }
        }
    }

    /// Returns the records of each device, ordered by time.
    pub fn by_device(&self) -> Vec<Vec<&Record>> {
        self.by_device_if(|_, _| true)
    }

    /// Returns the allocations of each device that are live at its peak.
    pub fn at_peaks(&self) -> Vec<Vec<&Record>> {
        self.by_device_if(|at, record| {
            let peak_at = self.devices[record.device as usize].peak_at;
            record.bytes > 0 && at <= peak_at && record.freed.is_none_or(|freed| freed as usize > peak_at)
        })
    }

    /// Returns the records of each device that are wanted.
    fn by_device_if(&self, is_wanted: impl Fn(usize, &Record) -> bool) -> Vec<Vec<&Record>> {
        let mut all: Vec<Vec<&Record>> = vec![Vec::new(); self.devices.len()];
        for (at, record) in self.records.iter().enumerate() {
            if is_wanted(at, record) {
                all[record.device as usize].push(record);
            }
        }
        all
    }
}
