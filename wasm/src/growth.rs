//! Growth of the memory in large steps.

use std::hint::black_box;

/// The smallest and largest step, in bytes.
const LEAST: usize = 1 << 20;
const MOST: usize = 16 << 20;

/// Makes the memory grow ahead of what a reader needs. The allocator requests what the current allocation needs, often a page
/// of 64 KB, and a request takes V8 a quarter of a millisecond, whatever its size.
#[derive(Default)]
pub(crate) struct Growth {
    /// The size of the memory after the last step.
    bytes: usize,
}

impl Growth {
    /// Grows the memory by a sixteenth if the allocator made it grow since the last call.
    pub(crate) fn step(&mut self) {
        let bytes = size();
        if bytes == self.bytes {
            return;
        }
        let mut ahead = Vec::<u8>::new();
        // If there is no memory, the allocation that needs it fails.
        let _ = ahead.try_reserve_exact((bytes / 16).clamp(LEAST, MOST));
        // The allocator keeps what is freed.
        drop(black_box(ahead));
        self.bytes = size();
    }
}

/// The size of the memory in bytes.
fn size() -> usize {
    #[cfg(target_arch = "wasm32")]
    return core::arch::wasm32::memory_size::<0>() << 16;
    #[cfg(not(target_arch = "wasm32"))]
    0
}
