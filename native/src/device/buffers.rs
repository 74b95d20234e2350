//! The buffers that CUPTI writes activity records to. CUPTI's callbacks only move them between two queues. Buffers
//! outlast recordings, because CUPTI may return one at any time.

use crossbeam_queue::ArrayQueue;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The size of a buffer, in bytes.
pub(crate) const BYTES: usize = 4 << 20;

/// The number of buffers that are allocated ahead.
const PREALLOCATED: usize = 4;

/// The maximum number of buffers, in use or not: 4 GiB.
const MAX_BUFFERS: usize = 1024;

/// The address of a buffer.
struct Buffer(*mut u8);

// SAFETY: a buffer is not tied to a thread; the thread that took it from a queue has exclusive access to it.
unsafe impl Send for Buffer {}

/// A buffer with records in its first `used` bytes.
struct Filled {
    buffer: Buffer,
    used: usize,
}

pub(crate) struct Buffers {
    free: ArrayQueue<Buffer>,
    filled: ArrayQueue<Filled>,
    made: AtomicUsize,
    limit: AtomicUsize,
    may_refuse: AtomicBool,
    /// The number of requests for a buffer beyond the limit.
    over_limit: AtomicU64,
}

pub(crate) fn buffers() -> &'static Buffers {
    static BUFFERS: OnceLock<Buffers> = OnceLock::new();
    BUFFERS.get_or_init(|| Buffers {
        free: ArrayQueue::new(MAX_BUFFERS),
        filled: ArrayQueue::new(MAX_BUFFERS),
        made: AtomicUsize::new(0),
        limit: AtomicUsize::new(0),
        may_refuse: AtomicBool::new(false),
        over_limit: AtomicU64::new(0),
    })
}

const fn layout() -> Layout {
    match Layout::from_size_align(BYTES, 4096) {
        Ok(layout) => layout,
        Err(_) => panic!("the size and the alignment are valid"),
    }
}

impl Buffers {
    /// Sets the memory limit, in bytes, and whether CUPTI may be given a null buffer. Allocates a few buffers ahead.
    pub(crate) fn prepare(&self, bytes: usize, may_refuse: bool) {
        self.limit.store((bytes / BYTES).clamp(2, MAX_BUFFERS), Ordering::Relaxed);
        self.may_refuse.store(may_refuse, Ordering::Relaxed);
        while self.free.len() < PREALLOCATED
            && let Some(buffer) = self.make(true)
        {
            let _ = self.free.push(buffer);
        }
    }

    /// Returns the number of requests beyond the limit since the last call.
    pub(crate) fn take_over_limit(&self) -> u64 {
        self.over_limit.swap(0, Ordering::Relaxed)
    }

    /// Passes the buffers with records to `read`, oldest first, and returns them to the free ones.
    pub(crate) fn drain(&self, mut read: impl FnMut(*mut u8, usize)) {
        while let Some(Filled { buffer, used }) = self.filled.pop() {
            read(buffer.0, used);
            let _ = self.free.push(buffer);
        }
    }

    fn make(&self, is_limited: bool) -> Option<Buffer> {
        let limit = if is_limited { self.limit.load(Ordering::Relaxed) } else { MAX_BUFFERS };
        let more = |made: usize| (made < limit).then_some(made + 1);
        self.made.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        // With the system's allocator, because the program's may record its allocations.
        // SAFETY: the size of the layout is not zero.
        let address = unsafe { System.alloc_zeroed(layout()) };
        if address.is_null() {
            self.made.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Buffer(address))
    }

    fn empty(&self) -> Option<Buffer> {
        if let Some(buffer) = self.free.pop().or_else(|| self.make(true)) {
            return Some(buffer);
        }
        self.over_limit.fetch_add(1, Ordering::Relaxed);
        // CUPTI before 12.9 does not tolerate a null buffer.
        if self.may_refuse.load(Ordering::Relaxed) { None } else { self.make(false) }
    }
}

/// The callback with which CUPTI requests a buffer.
pub(crate) extern "C" fn requested(address: *mut *mut u8, size: *mut usize, most_records: *mut usize) {
    let (buffer, bytes) = buffers().empty().map_or((null_mut(), 0), |buffer| (buffer.0, BYTES));
    // SAFETY: the pointers are CUPTI's out parameters.
    unsafe {
        *address = buffer;
        *size = bytes;
        *most_records = 0;
    }
}

/// The callback with which CUPTI returns a buffer.
pub(crate) extern "C" fn completed(_: *mut c_void, _: u32, address: *mut u8, _: usize, used: usize) {
    if !address.is_null() {
        // The queue has room for all buffers.
        let _ = buffers().filled.push(Filled { buffer: Buffer(address), used: used.min(BYTES) });
    }
}
