//! Device and host memory over time: how much was allocated, when it was most, and who held it then.
//!
//! An allocation is a `[memory]` event; a release is one with bytes below zero, and ends the allocation at its address. What
//! was allocated before the recording is known where the events carry totals, and counts as always there. An allocation
//! belongs to the innermost operator or range that was open on its thread, else to the innermost function of its stack.
//!
//! torch's categories (parameter, gradient, activation, …) need the identities of tensors, which neither a trace nor a
//! snapshot carries: they exist only while the profiled program runs.

use crate::analysis::torch::device_type::DeviceType;
use crate::index::Index;
use crate::order::sort_by_key;
use crate::table::category::Category;
use crate::table::events::{Row, Table};
use crate::table::layout::Key;
use crate::table::metadata::Source;
use crate::trace::Trace;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// One allocation or release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// The event's row.
    pub row: Row,
    /// When, in ns relative to the table's base.
    pub ts: i64,
    /// The position of its device in [`Memory::devices`].
    pub device: u32,
    /// Bytes; below zero for a release.
    pub bytes: i64,
    /// What the device holds after it, with what was there before the recording.
    pub total: i64,
    /// Of an allocation, the position of its release in [`Memory::records`], if it was released.
    pub freed: Option<u32>,
}

/// The memory of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Device {
    /// `CPU`, `CUDA 0`, ….
    pub name: String,
    /// How many allocations.
    pub allocations: usize,
    /// Sum of all allocations, in bytes.
    pub allocated: i64,
    /// Sum of all releases, in bytes.
    pub freed: i64,
    /// What was held before the first record, in bytes.
    pub before: i64,
    /// The most that was held, in bytes.
    pub peak: i64,
    /// The record that reached it.
    pub peak_at: usize,
    /// What was held after the last record, in bytes.
    pub after: i64,
    /// The most that the allocator had reserved, where the events tell, in bytes.
    pub reserved: Option<i64>,
}

/// All memory of a trace.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Memory {
    /// The devices, in the order of first appearance.
    pub devices: Vec<Device>,
    /// Allocations and releases by time.
    pub records: Vec<Record>,
    /// Failed allocations.
    pub failures: Vec<Row>,
}

/// Where an event's memory is.
pub(super) fn device_of(table: &Table, row: Row) -> (DeviceType, i64) {
    let device = DeviceType::of_event(table, row).unwrap_or_default();
    let id = table.int(row, Key::DeviceId).or_else(|| table.int(row, Key::Device)).unwrap_or(0);
    match device {
        DeviceType::Cpu | DeviceType::MklDnn | DeviceType::IdeepCpu => (DeviceType::Cpu, 0),
        device => (device, id),
    }
}

pub(super) fn device_name((device, id): (DeviceType, i64)) -> String {
    if device == DeviceType::Cpu { "CPU".to_string() } else { format!("{} {id}", device.as_str()) }
}

impl Memory {
    /// The memory of a trace; empty when it was recorded without.
    pub fn new(trace: &Trace) -> Memory {
        let table = &trace.table;
        let mut memory = Memory::default();
        let mut index = Index::default();
        let (record, failure) = (table.names.find("[memory]"), table.names.find("[OutOfMemory]"));
        for row in table.rows().filter(|&row| table.category(row) == Category::CpuInstant) {
            let name = Some(table.name_id(row));
            if name == failure {
                memory.failures.push(row);
            }
            if name != record {
                continue;
            }
            let bytes = table.bytes(row, Key::Bytes);
            memory.push(&mut index, table, row, device_of(table, row), bytes);
            // A legacy record has the bytes of host and device.
            let cuda = table.bytes(row, Key::CudaMemoryUsage);
            if table.metadata.source == Source::LegacyRecords && cuda != 0 {
                memory.push(&mut index, table, row, (DeviceType::Cuda, 0), cuda);
            }
        }
        sort_by_key(&mut memory.records, |record| (record.ts, 0));
        memory.add_up(table);
        memory.pair(table);
        memory
    }

    fn push(&mut self, index: &mut Index, table: &Table, row: Row, device: (DeviceType, i64), bytes: i64) {
        let next = self.devices.len() as u32;
        let at = index.of((device.0 as i64, device.1), next);
        if at == next {
            self.devices.push(Device { name: device_name(device), ..Device::default() });
        }
        self.records.push(Record { row, ts: table.ts(row), device: at, bytes, total: 0, freed: None });
    }

    fn add_up(&mut self, table: &Table) {
        let mut begun = vec![false; self.devices.len()];
        for (at, record) in self.records.iter_mut().enumerate() {
            let device = &mut self.devices[record.device as usize];
            if !core::mem::replace(&mut begun[record.device as usize], true) {
                let total = table.int(record.row, Key::TotalAllocated).filter(|&total| total != 0);
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

    /// Finds the release of every allocation, by its address.
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

    /// The allocations that are there right after record `at`, of its device.
    pub fn live(&self, at: usize) -> impl Iterator<Item = &Record> {
        let device = self.records[at].device;
        let is_live = move |record: &&Record| {
            let is_there = record.freed.is_none_or(|freed| freed as usize > at);
            record.bytes > 0 && record.device == device && is_there
        };
        self.records[..=at].iter().filter(is_live)
    }
}
