//! The segments of a memory snapshot: what the allocator has reserved, and how much of it is allocated and free.

use super::memory::MemoryDevice;
use crate::base::index::Index;
use crate::trace::Trace;
use crate::trace::read::snapshot::{BLOCK, SEGMENT};
use crate::trace::table::layout::{FieldPlace, Key};
use alloc::string::String;
use alloc::vec::Vec;

/// The segments of one device at the time of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceSegments {
    /// `CPU`, `CUDA 0`, ….
    pub device: String,
    /// The number of segments.
    pub segments: usize,
    /// The number of blocks in them.
    pub blocks: usize,
    /// The bytes that the allocator has reserved.
    pub reserved: i64,
    /// The bytes that are allocated.
    pub allocated: i64,
    /// The size of the largest block that is free, in bytes. One allocation of more needs a new segment.
    pub largest_free: i64,
}

impl DeviceSegments {
    /// The share of reserved memory that is allocated, if any is reserved.
    pub(crate) fn share(&self) -> Option<f64> {
        (self.reserved > 0).then(|| self.allocated as f64 / self.reserved as f64)
    }
}

/// Returns the segments of each device, in order of first occurrence; none for other traces.
pub(crate) fn device_segments(trace: &Trace) -> Vec<DeviceSegments> {
    let table = &trace.table;
    let Some(segment) = table.names.find(SEGMENT) else { return Vec::new() };
    let block = table.names.find(BLOCK);
    let mut index = Index::default();
    let mut sums: Vec<DeviceSegments> = Vec::new();
    // The blocks of a segment follow it.
    let mut last = None;
    for row in table.rows().filter(|&row| table.ph(row) == b'M') {
        let name = table.name_id(row);
        let argument = |key: &str| table.field_named(row, FieldPlace::Args, key);
        if name == segment {
            let device = MemoryDevice::from_event(table, row);
            let at = index.get_or_insert(device.key(), sums.len() as u32) as usize;
            if at == sums.len() {
                sums.push(DeviceSegments { device: device.name(), ..DeviceSegments::default() });
            }
            let sum = &mut sums[at];
            sum.segments += 1;
            sum.reserved = sum.reserved.saturating_add(table.bytes(row, Key::Bytes));
            let allocated = argument("allocated_size").and_then(|value| value.as_i64());
            sum.allocated = sum.allocated.saturating_add(allocated.unwrap_or(0));
            last = Some(at);
        } else if let Some(at) = last.filter(|_| Some(name) == block) {
            sums[at].blocks += 1;
            if argument("state").and_then(|value| value.as_str()) == Some("inactive") {
                sums[at].largest_free = sums[at].largest_free.max(table.bytes(row, Key::Bytes));
            }
        }
    }
    sums
}
