//! Memory: every allocation of the program, and those that a framework makes on its devices.

use crate::hot::local;
use crate::hot::state::{state, wants_memory};
use kinetoscope_stream::record::{Tag, Word};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// The host.
    Cpu,
    /// A CUDA device, by its ordinal.
    Cuda(u8),
}

/// How many devices have totals of their own; those above share the last.
const DEVICES: usize = 33;

struct Totals {
    allocated: AtomicI64,
    peak: AtomicI64,
    reserved: AtomicI64,
}

static TOTALS: [Totals; DEVICES] =
    [const { Totals { allocated: AtomicI64::new(0), peak: AtomicI64::new(0), reserved: AtomicI64::new(0) } };
        DEVICES];

impl Device {
    /// torch's number of the type, and of the device plus 1.
    fn numbers(self) -> (u8, u32) {
        match self {
            Device::Cpu => (0, 0),
            Device::Cuda(ordinal) => (1, u32::from(ordinal) + 1),
        }
    }

    fn totals(self) -> &'static Totals {
        match self {
            Device::Cpu => &TOTALS[0],
            Device::Cuda(ordinal) => &TOTALS[(usize::from(ordinal) + 1).min(DEVICES - 1)],
        }
    }

    /// Bytes that are allocated now: since the program began, by whoever tells.
    pub fn allocated(self) -> i64 {
        self.totals().allocated.load(Ordering::Relaxed)
    }

    /// The most bytes that were allocated since the program began or [`Device::reset_peak`] was called.
    pub fn peak(self) -> i64 {
        self.totals().peak.load(Ordering::Relaxed)
    }

    /// Bytes that its allocator holds, in use or not, as it told last; 0 for the host.
    pub fn reserved(self) -> i64 {
        self.totals().reserved.load(Ordering::Relaxed)
    }

    /// Lets the peak begin anew from what is allocated now.
    pub fn reset_peak(self) {
        let totals = self.totals();
        totals.peak.store(totals.allocated.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// An allocator that tells the recorder what it does, and lets another do it.
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
    /// Over the system's allocator.
    pub const fn system() -> Self {
        ProfilingAllocator { inner: System }
    }
}

impl<A> ProfilingAllocator<A> {
    /// Over another allocator.
    pub const fn new(inner: A) -> Self {
        ProfilingAllocator { inner }
    }
}

// SAFETY: every call is passed on as it is; telling allocates nothing on the thread that tells.
unsafe impl<A: GlobalAlloc> GlobalAlloc for ProfilingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
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
        tell(Device::Cpu, address as u64, -(layout.size() as i64));
        // SAFETY: as above.
        unsafe { self.inner.dealloc(address, layout) };
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let moved = unsafe { self.inner.realloc(address, layout, size) };
        if moved.is_null() {
            out_of_memory(Device::Cpu, size as i64);
        } else {
            tell(Device::Cpu, address as u64, -(layout.size() as i64));
            tell(Device::Cpu, moved as u64, size as i64);
        }
        moved
    }
}

#[inline]
fn allocated(address: *mut u8, bytes: usize) {
    if address.is_null() {
        out_of_memory(Device::Cpu, bytes as i64);
    } else {
        tell(Device::Cpu, address as u64, bytes as i64);
    }
}

#[inline]
fn tell(device: Device, address: u64, bytes: i64) {
    let totals = device.totals();
    let now = totals.allocated.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if now > totals.peak.load(Ordering::Relaxed) {
        totals.peak.fetch_max(now, Ordering::Relaxed);
    }
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
    let reserved = match device {
        Device::Cpu => allocated,
        Device::Cuda(_) => device.totals().reserved.load(Ordering::Relaxed) as u64,
    };
    let head = [Word::pack(tag, 2, device_type, number), 0];
    local::write(state, &mut [head, [address, bytes], [allocated, reserved]]);
}

/// A framework's own allocator gave memory out: a `[memory]` event.
pub fn record_alloc(device: Device, address: u64, bytes: u64) {
    tell(device, address, bytes as i64);
}

/// A framework's own allocator took memory back: a `[memory]` event with bytes below zero.
pub fn record_free(device: Device, address: u64, bytes: u64) {
    tell(device, address, -(bytes as i64));
}

/// A framework's own allocator has this many bytes of the device in all, in use or not.
pub fn record_reserved(device: Device, bytes: u64) {
    device.totals().reserved.store(bytes as i64, Ordering::Relaxed);
}

/// A framework's own allocator could not give so many bytes: an `[OutOfMemory]` event.
pub fn record_out_of_memory(device: Device, bytes: u64) {
    out_of_memory(device, bytes as i64);
}
