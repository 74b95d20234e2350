//! Growth of the memory in large steps.
//!
//! The system's allocator requests what the current allocation needs, often a page of 64 KB. V8 takes a quarter of a millisecond for a
//! request, whatever its size, and may collect all garbage each time. So whenever the memory has grown, this allocator makes it grow
//! ahead by a share of its size.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The smallest and largest step, in bytes. Memory that is not written costs the system nothing.
const LEAST: usize = 1 << 20;
const MOST: usize = 64 << 20;

/// The system's allocator with a memory that grows in large steps.
pub(crate) struct Growing {
    /// The size of the memory after the last step.
    bytes: AtomicUsize,
}

impl Growing {
    pub(crate) const fn new() -> Growing {
        Growing { bytes: AtomicUsize::new(0) }
    }

    /// Grows the memory by an eighth if it has grown since the last call.
    fn step(&self) {
        let bytes = size();
        if bytes != self.bytes.load(Ordering::Relaxed) {
            self.grow(bytes);
        }
    }

    #[cold]
    fn grow(&self, bytes: usize) {
        let Ok(ahead) = Layout::from_size_align((bytes / 8).clamp(LEAST, MOST), 16) else { return };
        // SAFETY: the layout has a size, and the block is freed with the layout with which it was allocated. The allocator keeps what is
        // freed. Without memory there is no block, and the allocation that needs it fails later.
        unsafe {
            let block = System.alloc(ahead);
            if !block.is_null() {
                System.dealloc(block, ahead);
            }
        }
        self.bytes.store(size(), Ordering::Relaxed);
    }
}

// SAFETY: every block is allocated and freed by the system's allocator, with the arguments of the caller.
unsafe impl GlobalAlloc for Growing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let block = unsafe { System.alloc(layout) };
        self.step();
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let block = unsafe { System.alloc_zeroed(layout) };
        self.step();
        block
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let block = unsafe { System.realloc(block, layout, size) };
        self.step();
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The size of the memory in bytes.
fn size() -> usize {
    core::arch::wasm32::memory_size::<0>() << 16
}
