//! Buffers that CUPTI fills: its callbacks move them between lists and do nothing else. They outlast recordings, since
//! CUPTI may hand one back at any time.

use crossbeam_queue::ArrayQueue;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The size of a buffer, in bytes.
pub(crate) const BYTES: usize = 4 << 20;

/// How many buffers are made ahead.
const READY: usize = 4;

/// The most that there can be, in use or not: 4 GiB.
const MOST: usize = 1024;

/// A buffer, by its address.
struct Buffer(*mut u8);

// SAFETY: a buffer is memory of nobody's own; whoever took it from a list is the only one that knows it.
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
    /// How often CUPTI asked for one beyond the limit.
    short: AtomicU64,
}

pub(crate) fn buffers() -> &'static Buffers {
    static BUFFERS: OnceLock<Buffers> = OnceLock::new();
    BUFFERS.get_or_init(|| Buffers {
        free: ArrayQueue::new(MOST),
        filled: ArrayQueue::new(MOST),
        made: AtomicUsize::new(0),
        limit: AtomicUsize::new(0),
        may_refuse: AtomicBool::new(false),
        short: AtomicU64::new(0),
    })
}

const fn layout() -> Layout {
    match Layout::from_size_align(BYTES, 4096) {
        Ok(layout) => layout,
        Err(_) => panic!("a size that is one"),
    }
}

impl Buffers {
    /// Sets how much memory there may be, in bytes, and whether CUPTI can be refused a buffer; makes some.
    pub(crate) fn prepare(&self, bytes: usize, may_refuse: bool) {
        self.limit.store((bytes / BYTES).clamp(2, MOST), Ordering::Relaxed);
        self.may_refuse.store(may_refuse, Ordering::Relaxed);
        while self.free.len() < READY
            && let Some(buffer) = self.make(true)
        {
            let _ = self.free.push(buffer);
        }
    }

    /// How often CUPTI asked for a buffer beyond the limit since this was asked last.
    pub(crate) fn take_short(&self) -> u64 {
        self.short.swap(0, Ordering::Relaxed)
    }

    /// Reads the buffers that were filled, oldest first.
    pub(crate) fn drain(&self, mut read: impl FnMut(*mut u8, usize)) {
        while let Some(Filled { buffer, used }) = self.filled.pop() {
            read(buffer.0, used);
            let _ = self.free.push(buffer);
        }
    }

    fn make(&self, is_limited: bool) -> Option<Buffer> {
        let limit = if is_limited { self.limit.load(Ordering::Relaxed) } else { MOST };
        let more = |made: usize| (made < limit).then_some(made + 1);
        self.made.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        // By the system's allocator: that of the program may be one that records.
        // SAFETY: the layout has a size.
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
        self.short.fetch_add(1, Ordering::Relaxed);
        // A CUPTI before 12.9 does not stand being given nothing.
        if self.may_refuse.load(Ordering::Relaxed) { None } else { self.make(false) }
    }
}

/// CUPTI asks for a buffer.
pub(crate) extern "C" fn requested(address: *mut *mut u8, size: *mut usize, most_records: *mut usize) {
    let (buffer, bytes) = buffers().empty().map_or((null_mut(), 0), |buffer| (buffer.0, BYTES));
    // SAFETY: CUPTI's own places.
    unsafe {
        *address = buffer;
        *size = bytes;
        *most_records = 0;
    }
}

/// CUPTI hands one back.
pub(crate) extern "C" fn completed(_: *mut c_void, _: u32, address: *mut u8, _: usize, used: usize) {
    if !address.is_null() {
        // There is room for all that were ever made.
        let _ = buffers().filled.push(Filled { buffer: Buffer(address), used: used.min(BYTES) });
    }
}
