//! Chunks that no thread owns, and the way of a chunk from its thread to the writer. Nothing here waits.

use crate::hot::chunk::Chunk;
use crossbeam_queue::ArrayQueue;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most chunks that there can be: 1 GiB.
const MOST: usize = 16 << 10;

/// How many chunks are made ahead: 8 MiB. Chunks that were used are used again first, while they are in a cache.
const READY: usize = 128;

pub(crate) struct Pool {
    free: ArrayQueue<&'static Chunk>,
    /// Chunks that the writer does not know yet, oldest first.
    fresh: ArrayQueue<&'static Chunk>,
    made: AtomicUsize,
    limit: AtomicUsize,
}

pub(crate) fn pool() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| Pool {
        free: ArrayQueue::new(MOST),
        fresh: ArrayQueue::new(MOST),
        made: AtomicUsize::new(0),
        limit: AtomicUsize::new(0),
    })
}

impl Pool {
    /// Sets how much memory chunks may take, in bytes, and makes a few of them, whose memory is there already.
    pub(crate) fn prepare(&self, bytes: usize) {
        let limit = (bytes / size_of::<Chunk>()).clamp(4, MOST);
        self.limit.store(limit, Ordering::Relaxed);
        for _ in self.free.len()..READY.min(limit) {
            if let Some(chunk) = self.make() {
                chunk.touch();
                let _ = self.free.push(chunk);
            }
        }
    }

    /// A chunk for a thread; nothing when all the memory is in use. The writer will come to know it.
    pub(crate) fn take(&self, recording: u32, thread: u32, base: u64) -> Option<&'static Chunk> {
        let chunk = self.free.pop().or_else(|| self.make())?;
        chunk.take(recording, thread, base);
        // Each chunk is in here at most once, and there is room for all.
        let _ = self.fresh.push(chunk);
        Some(chunk)
    }

    /// A chunk that the writer does not come to know.
    pub(crate) fn scratch(&self) -> Option<&'static Chunk> {
        self.free.pop().or_else(|| self.make())
    }

    /// Whether the writer should hurry.
    pub(crate) fn is_low(&self) -> bool {
        self.made.load(Ordering::Relaxed).saturating_sub(self.free.len()) >= READY / 2
    }

    /// The next chunk that the writer does not know.
    pub(crate) fn fresh(&self) -> Option<&'static Chunk> {
        self.fresh.pop()
    }

    /// Takes back a chunk that is sealed and was read to its end.
    pub(crate) fn give_back(&self, chunk: &'static Chunk) {
        let _ = self.free.push(chunk);
    }

    /// Frees the chunks that nobody owns.
    pub(crate) fn shrink(&self) {
        while let Some(chunk) = self.free.pop() {
            self.made.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: made by `make` with this layout, and known to nobody but us since it was taken out.
            unsafe { System.dealloc(std::ptr::from_ref(chunk).cast_mut().cast(), Layout::new::<Chunk>()) };
        }
    }

    /// By the system's allocator: that of the program may be one that records.
    fn make(&self) -> Option<&'static Chunk> {
        let limit = self.limit.load(Ordering::Relaxed);
        let more = |made: usize| (made < limit).then_some(made + 1);
        self.made.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        // SAFETY: the layout has a size.
        #[allow(clippy::cast_ptr_alignment)] // The layout is a chunk's.
        let memory = unsafe { System.alloc_zeroed(Layout::new::<Chunk>()) }.cast::<Chunk>();
        if memory.is_null() {
            self.made.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        // SAFETY: zeros are a chunk with nothing in it, aligned by its layout; it lives until `shrink`.
        Some(unsafe { &*memory })
    }
}
