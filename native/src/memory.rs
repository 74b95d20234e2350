//! Allocations: those of the program, through a global allocator that records them, and those that a framework reports
//! for its devices.
//!
//! Totals and peaks of a [`Device`] are counted from the start of the program, also while nothing records. Those of the host
//! are exact up to 4 KiB for each other thread that runs.

mod counters;

use crate::hot::local;
use crate::hot::state::{state, wants_memory};
use kinetoscope_stream::record::{Tag, Word};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};

/// The location of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// The host.
    Cpu,
    /// A CUDA device, with its ordinal.
    Cuda(u8),
}

/// The number of entries of [`TOTALS`]. CUDA devices with a higher ordinal share the last entry.
const DEVICES: usize = 32;

/// The bytes of a CUDA device.
struct Totals {
    allocated: AtomicI64,
    peak: AtomicI64,
    reserved: AtomicI64,
}

static TOTALS: [Totals; DEVICES] =
    [const { Totals { allocated: AtomicI64::new(0), peak: AtomicI64::new(0), reserved: AtomicI64::new(0) } };
        DEVICES];

impl Device {
    /// Returns PyTorch's number of the device type, and the ordinal plus 1 (0 for the host).
    fn numbers(self) -> (u8, u32) {
        match self {
            Device::Cpu => (0, 0),
            Device::Cuda(ordinal) => (1, u32::from(ordinal) + 1),
        }
    }

    /// The totals of a CUDA device; `None` for the host, which has counters of its own.
    fn totals(self) -> Option<&'static Totals> {
        match self {
            Device::Cpu => None,
            Device::Cuda(ordinal) => Some(&TOTALS[usize::from(ordinal).min(DEVICES - 1)]),
        }
    }

    /// Returns the bytes that are allocated now, of all allocations reported since the program started.
    pub fn allocated(self) -> i64 {
        self.totals().map_or_else(counters::allocated, |totals| totals.allocated.load(Ordering::Relaxed))
    }

    /// Returns the most bytes that were allocated at once since the program started or [`Device::reset_peak`] was
    /// called.
    pub fn peak(self) -> i64 {
        self.totals().map_or_else(counters::peak, |totals| totals.peak.load(Ordering::Relaxed))
    }

    /// Returns the bytes that the device's allocator holds, in use or not, as of the last [`record_reserved`]; 0 for
    /// the host.
    pub fn reserved(self) -> i64 {
        self.totals().map_or(0, |totals| totals.reserved.load(Ordering::Relaxed))
    }

    /// Resets the peak to the bytes that are allocated now.
    pub fn reset_peak(self) {
        match self.totals() {
            Some(totals) => totals.peak.store(totals.allocated.load(Ordering::Relaxed), Ordering::Relaxed),
            None => counters::reset_peak(),
        }
    }
}

/// An allocator that delegates to another allocator and records allocations and frees.
///
/// ```
/// use kinetoscope::memory::ProfilingAllocator;
///
/// #[global_allocator]
/// static ALLOCATOR: ProfilingAllocator = ProfilingAllocator::system();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ProfilingAllocator<A = System> {
    inner: A,
}

impl ProfilingAllocator {
    /// Returns an allocator that delegates to the system's allocator.
    pub const fn system() -> Self {
        ProfilingAllocator { inner: System }
    }
}

impl<A> ProfilingAllocator<A> {
    /// Returns an allocator that delegates to `inner`.
    pub const fn new(inner: A) -> Self {
        ProfilingAllocator { inner }
    }
}

// SAFETY: every call is passed on unchanged; `record_host` writes no record for allocations that the recorder itself makes.
unsafe impl<A: GlobalAlloc> GlobalAlloc for ProfilingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the conditions of the inner allocator's method.
        let address = unsafe { self.inner.alloc(layout) };
        allocated(address, layout.size());
        address
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let address = unsafe { self.inner.alloc_zeroed(layout) };
        allocated(address, layout.size());
        address
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        report_host(address, -(layout.size() as i64));
        // SAFETY: as above.
        unsafe { self.inner.dealloc(address, layout) };
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let moved = unsafe { self.inner.realloc(address, layout, size) };
        if moved.is_null() {
            out_of_memory(Device::Cpu, size as i64);
        } else {
            report_host(address, -(layout.size() as i64));
            report_host(moved, size as i64);
        }
        moved
    }
}

#[inline]
fn allocated(address: *mut u8, bytes: usize) {
    if address.is_null() {
        out_of_memory(Device::Cpu, bytes as i64);
    } else {
        report_host(address, bytes as i64);
    }
}

#[inline]
fn report_host(address: *mut u8, bytes: i64) {
    if !counters::keep(bytes) {
        record_host(address as u64, bytes);
    }
}

#[cold]
#[inline(never)]
fn record_host(address: u64, bytes: i64) {
    let (now, state) = (counters::add(bytes), state());
    if wants_memory(state) && !local::is_busy() {
        write(state, Tag::Memory, Device::Cpu, [address, bytes as u64, now as u64]);
    }
}

fn report(device: Device, address: u64, bytes: i64) {
    let now = match device.totals() {
        Some(totals) => {
            let now = totals.allocated.fetch_add(bytes, Ordering::Relaxed) + bytes;
            totals.peak.fetch_max(now, Ordering::Relaxed);
            now
        }
        None => counters::add(bytes),
    };
    let current = state();
    if wants_memory(current) && !local::is_busy() {
        write(current, Tag::Memory, device, [address, bytes as u64, now as u64]);
    }
}

fn out_of_memory(device: Device, bytes: i64) {
    let current = state();
    if wants_memory(current) && !local::is_busy() {
        write(current, Tag::OutOfMemory, device, [0, bytes as u64, device.allocated() as u64]);
    }
}

fn write(state: u32, tag: Tag, device: Device, [address, bytes, allocated]: [u64; 3]) {
    let (device_type, number) = device.numbers();
    let reserved = device.totals().map_or(allocated, |totals| totals.reserved.load(Ordering::Relaxed) as u64);
    let head = [Word::pack(tag, 2, device_type, number), 0];
    local::write(state, &mut [head, [address, bytes], [allocated, reserved]]);
}

/// Records an allocation by a framework's own allocator: a `[memory]` event.
pub fn record_alloc(device: Device, address: u64, bytes: u64) {
    report(device, address, bytes as i64);
}

/// Records a free by a framework's own allocator: a `[memory]` event with a negative number of bytes.
pub fn record_free(device: Device, address: u64, bytes: u64) {
    report(device, address, -(bytes as i64));
}

/// Sets the bytes of the device that a framework's own allocator holds, in use or not.
pub fn record_reserved(device: Device, bytes: u64) {
    if let Some(totals) = device.totals() {
        totals.reserved.store(bytes as i64, Ordering::Relaxed);
    }
}

/// Records a failed allocation by a framework's own allocator: an `[OutOfMemory]` event.
pub fn record_out_of_memory(device: Device, bytes: u64) {
    out_of_memory(device, bytes as i64);
}
