//! The pool: chunks that no thread owns, and the queue of chunks that threads took and the writer has not seen yet.
//! No operation waits.

use crate::hot::chunk::Chunk;
use crossbeam_queue::ArrayQueue;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The maximum number of chunks: 1 GiB.
const MAX_CHUNKS: usize = 16 << 10;

/// The number of chunks that are allocated ahead: 8 MiB. Used chunks are reused before more are allocated.
const PREALLOCATED: usize = 128;

pub(crate) struct Pool {
    free: ArrayQueue<&'static Chunk>,
    /// Chunks that the writer has not seen yet, oldest first.
    fresh: ArrayQueue<&'static Chunk>,
    made: AtomicUsize,
    limit: AtomicUsize,
}

pub(crate) fn pool() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| Pool {
        free: ArrayQueue::new(MAX_CHUNKS),
        fresh: ArrayQueue::new(MAX_CHUNKS),
        made: AtomicUsize::new(0),
        limit: AtomicUsize::new(0),
    })
}

impl Pool {
    /// Sets the memory limit of the chunks, in bytes, and allocates a few of them ahead, with their pages mapped.
    pub(crate) fn prepare(&self, bytes: usize) {
        let limit = (bytes / size_of::<Chunk>()).clamp(4, MAX_CHUNKS);
        self.limit.store(limit, Ordering::Relaxed);
        for _ in self.free.len()..PREALLOCATED.min(limit) {
            if let Some(chunk) = self.make() {
                chunk.touch();
                let _ = self.free.push(chunk);
            }
        }
    }

    /// Takes a chunk for a thread and queues it for the writer. Returns `None` if the memory limit is reached.
    pub(crate) fn take(&self, recording: u32, thread: u32, base: u64) -> Option<&'static Chunk> {
        let chunk = self.free.pop().or_else(|| self.make())?;
        chunk.take(recording, thread, base);
        // Each chunk is queued at most once, and the queue has room for all.
        let _ = self.fresh.push(chunk);
        Some(chunk)
    }

    /// Takes a chunk without queueing it for the writer.
    pub(crate) fn scratch(&self) -> Option<&'static Chunk> {
        self.free.pop().or_else(|| self.make())
    }

    /// Returns whether many chunks are in use, so that the writer should run now.
    pub(crate) fn is_low(&self) -> bool {
        self.made.load(Ordering::Relaxed).saturating_sub(self.free.len()) >= PREALLOCATED / 2
    }

    /// Removes the next chunk from the writer's queue.
    pub(crate) fn fresh(&self) -> Option<&'static Chunk> {
        self.fresh.pop()
    }

    /// Returns a chunk to the pool. It is sealed and was read to its end.
    pub(crate) fn give_back(&self, chunk: &'static Chunk) {
        let _ = self.free.push(chunk);
    }

    /// Frees the chunks that no thread owns.
    pub(crate) fn shrink(&self) {
        while let Some(chunk) = self.free.pop() {
            self.made.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: allocated by `make` with this layout; it was removed from the queue, so no other thread has
            // access to it.
            unsafe { System.dealloc(std::ptr::from_ref(chunk).cast_mut().cast(), Layout::new::<Chunk>()) };
        }
    }

    /// Allocates a chunk with the system's allocator, because the program's may record its allocations.
    fn make(&self) -> Option<&'static Chunk> {
        let limit = self.limit.load(Ordering::Relaxed);
        let more = |made: usize| (made < limit).then_some(made + 1);
        self.made.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        // SAFETY: the size of the layout is not zero.
        #[allow(clippy::cast_ptr_alignment)] // The layout is a chunk's.
        let memory = unsafe { System.alloc_zeroed(Layout::new::<Chunk>()) }.cast::<Chunk>();
        if memory.is_null() {
            self.made.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        // SAFETY: zeroed memory is an empty chunk, aligned by its layout; it lives until `shrink`.
        Some(unsafe { &*memory })
    }
}
