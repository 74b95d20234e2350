//! A chunk: words that one thread fills and another one reads meanwhile.
//!
//! The protocol, which `tests/tests/chunk_model.rs` checks under every interleaving:
//! - Only the owner writes words, each once, and only behind the published length.
//! - A length is published (release) after the words below it were written; the reader reads (acquire) no word behind it.
//! - The owner seals a chunk when it will never touch it again. The reader looks for the seal before the length, so that
//!   what it then reads is all there will be; only then may the chunk be emptied and owned by another thread.

use super::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, UnsafeCell, WORDS, with_bytes};

pub(crate) struct Chunk {
    length: AtomicU32,
    /// How many of the words begin no record; only grows.
    arguments: AtomicU32,
    is_sealed: AtomicBool,
    /// The recording and the thread that it belongs to; set while nobody else knows the chunk.
    pub(crate) recording: AtomicU32,
    pub(crate) thread: AtomicU32,
    /// Ticks that no record in it is before.
    pub(crate) base: AtomicU64,
    words: [UnsafeCell<u64>; WORDS],
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
            base: AtomicU64::new(0),
            words: std::array::from_fn(|_| UnsafeCell::default()),
        }
    }

    /// Makes it the chunk of a thread.
    ///
    /// The caller is the only one that knows it: it comes from the pool.
    pub(crate) fn take(&self, recording: u32, thread: u32, base: u64) {
        self.recording.store(recording, Ordering::Relaxed);
        self.thread.store(thread, Ordering::Relaxed);
        self.base.store(base, Ordering::Relaxed);
        self.length.store(0, Ordering::Relaxed);
        self.arguments.store(0, Ordering::Relaxed);
        self.is_sealed.store(false, Ordering::Release);
    }

    /// Lets the system give the memory now.
    ///
    /// The caller is the only one that knows the chunk.
    pub(crate) fn touch(&self) {
        for at in (0..WORDS).step_by(128) {
            // SAFETY: nobody else knows the chunk.
            unsafe { self.write(at, 0) };
        }
    }

    /// Writes a word.
    ///
    /// # Safety
    /// The caller owns the chunk; `at` is less than [`WORDS`] and not less than the published length.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, at: usize, word: u64) {
        // SAFETY: within the words; nobody reads this one before it is published.
        unsafe { self.words.get_unchecked(at).with_mut(|cell| *cell = word) }
    }

    /// Lets the reader see the words before `length`, all of which were written.
    #[inline(always)]
    pub(crate) fn publish(&self, length: usize) {
        self.length.store(length as u32, Ordering::Release);
    }

    /// Counts words that begin no record, before they are published.
    pub(crate) fn count_arguments(&self, more: usize) {
        let before = self.arguments.load(Ordering::Relaxed);
        self.arguments.store(before + more as u32, Ordering::Relaxed);
    }

    /// How many words were counted as such; may be ahead of the published length.
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

    /// How many words can be read.
    pub(crate) fn published(&self) -> usize {
        self.length.load(Ordering::Acquire) as usize
    }

    /// Reads the bytes of published words, little-endian. The chunk must not be taken anew meanwhile.
    pub(crate) fn read<T>(&self, words: std::ops::Range<usize>, read: impl FnOnce(&[u8]) -> T) -> T {
        debug_assert!(words.end <= self.published());
        // SAFETY: published, and so never written again before the chunk is taken anew.
        unsafe { with_bytes(&self.words[words], read) }
    }
}
