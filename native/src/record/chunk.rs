//! A chunk: slots that one thread fills and another one reads meanwhile.
//!
//! The protocol, which `tests/tests/chunk_model.rs` checks under every interleaving:
//! - Only the owner writes slots, each once, and only behind the published length.
//! - A length is published (release) after the slots below it were written; the reader reads (acquire) no slot behind it.
//! - The owner seals a chunk when it will never touch it again. The reader looks for the seal before the length, so that
//!   what it then reads is all there will be; only then may the chunk be emptied and owned by another thread.

use super::sync::{AtomicBool, AtomicU32, Ordering, SLOTS, UnsafeCell, with_bytes};

/// Two words; see `kinetoscope_core::stream::record`.
pub(crate) type Slot = [u64; 2];

pub(crate) struct Chunk {
    length: AtomicU32,
    /// How many of the slots are no heads of records; only grows.
    arguments: AtomicU32,
    is_sealed: AtomicBool,
    /// The recording and the thread that it belongs to; set while nobody else knows the chunk.
    pub(crate) recording: AtomicU32,
    pub(crate) thread: AtomicU32,
    slots: [UnsafeCell<Slot>; SLOTS],
}

// SAFETY: slots are written by one thread before they are published and read by others only afterwards.
unsafe impl Sync for Chunk {}

impl Chunk {
    /// A chunk with nothing in it. Zeros are one too: the pool takes those, the model checker calls this.
    #[allow(dead_code)]
    pub(crate) fn new() -> Chunk {
        Chunk {
            length: AtomicU32::new(0),
            arguments: AtomicU32::new(0),
            is_sealed: AtomicBool::new(false),
            recording: AtomicU32::new(0),
            thread: AtomicU32::new(0),
            slots: std::array::from_fn(|_| UnsafeCell::default()),
        }
    }

    /// Makes it the chunk of a thread.
    ///
    /// The caller is the only one that knows it: it comes from the pool.
    pub(crate) fn take(&self, recording: u32, thread: u32) {
        self.recording.store(recording, Ordering::Relaxed);
        self.thread.store(thread, Ordering::Relaxed);
        self.length.store(0, Ordering::Relaxed);
        self.arguments.store(0, Ordering::Relaxed);
        self.is_sealed.store(false, Ordering::Release);
    }

    /// Lets the system give the memory now.
    ///
    /// The caller is the only one that knows the chunk.
    pub(crate) fn touch(&self) {
        for at in (0..SLOTS).step_by(64) {
            // SAFETY: nobody else knows the chunk.
            unsafe { self.write(at, [0, 0]) };
        }
    }

    /// Writes a slot.
    ///
    /// # Safety
    /// The caller owns the chunk; `at` is less than [`SLOTS`] and not less than the published length.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, at: usize, slot: Slot) {
        // SAFETY: within the slots; nobody reads this one before it is published.
        unsafe { self.slots.get_unchecked(at).with_mut(|cell| *cell = slot) }
    }

    /// Lets the reader see the slots before `length`, all of which were written.
    #[inline(always)]
    pub(crate) fn publish(&self, length: usize) {
        self.length.store(length as u32, Ordering::Release);
    }

    /// Counts slots that are no heads, before they are published.
    pub(crate) fn count_arguments(&self, more: usize) {
        let before = self.arguments.load(Ordering::Relaxed);
        self.arguments.store(before + more as u32, Ordering::Relaxed);
    }

    /// How many slots were counted as no heads; may be ahead of the published length.
    pub(crate) fn arguments(&self) -> usize {
        self.arguments.load(Ordering::Relaxed) as usize
    }

    /// The owner's last word.
    pub(crate) fn seal(&self) {
        self.is_sealed.store(true, Ordering::Release);
    }

    /// Whether the owner is done with it. To be asked before [`Chunk::published`].
    pub(crate) fn is_sealed(&self) -> bool {
        self.is_sealed.load(Ordering::Acquire)
    }

    /// How many slots can be read.
    pub(crate) fn published(&self) -> usize {
        self.length.load(Ordering::Acquire) as usize
    }

    /// Reads the bytes of published slots, little-endian. The chunk must not be taken anew meanwhile.
    pub(crate) fn read<T>(&self, slots: std::ops::Range<usize>, read: impl FnOnce(&[u8]) -> T) -> T {
        debug_assert!(slots.end <= self.published());
        // SAFETY: published, and so never written again before the chunk is taken anew.
        unsafe { with_bytes(&self.slots[slots], read) }
    }
}
