//! A chunk: a buffer of words that one thread, the owner, appends to while another thread, the reader, reads it.
//!
//! The protocol, which `tests/tests/recorder/chunk_model.rs` checks under every interleaving:
//! - Only the owner writes words, each once, and only at or above the published length.
//! - The owner publishes a length (release) after it has written the words below it. The reader loads the length
//!   (acquire) and reads only words below it.
//! - The owner seals a chunk when it will not write to it again. The reader loads the seal before the length: if the
//!   chunk is sealed, that length is final. Only after it has read that far may another thread take the chunk.

use super::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, UnsafeCell, with_bytes};

pub(crate) struct Chunk {
    length: AtomicU32,
    /// The number of words that are not the first word of a record. Only grows.
    arguments: AtomicU32,
    is_sealed: AtomicBool,
    /// The recording and the thread that the chunk belongs to. Set while no other thread has access to the chunk.
    pub(crate) recording: AtomicU32,
    pub(crate) thread: AtomicU32,
    /// The base of the ticks in the chunk: no record is earlier.
    pub(crate) base: AtomicU64,
    words: &'static [UnsafeCell<u64>],
}

// SAFETY: words are written by one thread before they are published, and read by others only afterwards.
unsafe impl Sync for Chunk {}

impl Chunk {
    /// Returns an empty chunk with these words, which no other chunk has.
    pub(crate) fn new(words: &'static [UnsafeCell<u64>]) -> Chunk {
        Chunk {
            length: AtomicU32::new(0),
            arguments: AtomicU32::new(0),
            is_sealed: AtomicBool::new(false),
            recording: AtomicU32::new(0),
            thread: AtomicU32::new(0),
            base: AtomicU64::new(0),
            words,
        }
    }

    /// Returns the number of words.
    #[inline(always)]
    pub(crate) fn capacity(&self) -> usize {
        self.words.len()
    }

    /// Assigns the chunk to a thread and empties it.
    ///
    /// The caller has exclusive access: the chunk comes from the pool.
    pub(crate) fn take(&self, recording: u32, thread: u32, base: u64) {
        self.recording.store(recording, Ordering::Relaxed);
        self.thread.store(thread, Ordering::Relaxed);
        self.base.store(base, Ordering::Relaxed);
        self.length.store(0, Ordering::Relaxed);
        self.arguments.store(0, Ordering::Relaxed);
        self.is_sealed.store(false, Ordering::Release);
    }

    /// Writes to every page, so that the system allocates the memory now.
    ///
    /// The caller has exclusive access to the chunk.
    pub(crate) fn touch(&self) {
        for at in (0..self.capacity()).step_by(128) {
            // SAFETY: the caller has exclusive access to the chunk.
            unsafe { self.write(at, 0) };
        }
    }

    /// Writes a word.
    ///
    /// # Safety
    /// The caller owns the chunk; `at` is less than its capacity and not less than the published length.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, at: usize, word: u64) {
        // SAFETY: `at` is in bounds; no thread reads this word before it is published.
        unsafe { self.words.get_unchecked(at).with_mut(|cell| *cell = word) }
    }

    /// Publishes the words below `length`, all of which were written.
    #[inline(always)]
    pub(crate) fn publish(&self, length: usize) {
        self.length.store(length as u32, Ordering::Release);
    }

    /// Counts words that are not the first word of a record, before they are published.
    pub(crate) fn count_arguments(&self, more: usize) {
        let before = self.arguments.load(Ordering::Relaxed);
        self.arguments.store(before + more as u32, Ordering::Relaxed);
    }

    /// Returns how many such words were counted. The count may include words that are not published yet.
    pub(crate) fn arguments(&self) -> usize {
        self.arguments.load(Ordering::Relaxed) as usize
    }

    /// Marks the chunk as final: its owner will not write to it again.
    pub(crate) fn seal(&self) {
        self.is_sealed.store(true, Ordering::Release);
    }

    /// Returns whether the owner has sealed the chunk. Call this before [`Chunk::published`].
    pub(crate) fn is_sealed(&self) -> bool {
        self.is_sealed.load(Ordering::Acquire)
    }

    /// Returns how many words can be read.
    pub(crate) fn published(&self) -> usize {
        self.length.load(Ordering::Acquire) as usize
    }

    /// Reads the bytes of published words, little-endian. The chunk must not be taken by another thread meanwhile.
    pub(crate) fn read<T>(&self, words: std::ops::Range<usize>, read: impl FnOnce(&[u8]) -> T) -> T {
        debug_assert!(words.end <= self.published());
        // SAFETY: published words are not written again before the chunk is taken by another thread.
        unsafe { with_bytes(&self.words[words], read) }
    }
}
