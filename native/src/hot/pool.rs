//! The pool: chunks that no thread owns, and the queue of chunks that threads took and the writer has not seen yet.
//! No operation waits.
//!
//! Chunks have two sizes. A thread begins with a small one, so that thousands of threads that record little fit into the
//! memory limit, and takes large ones after it has filled it. Each size has half of the limit; a thread that gets none
//! of the size it needs takes one of the other.

use crate::hot::chunk::Chunk;
use crate::hot::sync::UnsafeCell;
use crossbeam_queue::ArrayQueue;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// The number of words of a small chunk, which takes 4 KiB with its head.
pub(crate) const SMALL_WORDS: usize = 504;

/// The number of words of a large chunk: 64 KiB. No record is longer.
pub(crate) const LARGE_WORDS: usize = 8192;

/// The maximum numbers of small and of large chunks: 64 MiB and 512 MiB.
const MOST_SMALL: usize = 16 << 10;
const MOST_LARGE: usize = 8 << 10;

/// The number of large chunks that are allocated ahead: 8 MiB. Used chunks are reused before more are allocated.
const PREALLOCATED: usize = 128;

/// The chunks of one size.
struct Class {
    words: usize,
    free: ArrayQueue<&'static Chunk>,
    made: AtomicUsize,
    limit: AtomicUsize,
}

pub(crate) struct Pool {
    small: Class,
    large: Class,
    /// Chunks that the writer has not seen yet, oldest first.
    fresh: ArrayQueue<&'static Chunk>,
}

/// The pool; null before its first use, and in a forked child.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(null_mut());

pub(crate) fn pool() -> &'static Pool {
    // SAFETY: a pool that was published is never freed.
    unsafe { POOL.load(Ordering::Acquire).as_ref() }.unwrap_or_else(make)
}

#[cold]
fn make() -> &'static Pool {
    let made = Box::into_raw(Box::new(Pool {
        small: Class::new(SMALL_WORDS, MOST_SMALL),
        large: Class::new(LARGE_WORDS, MOST_LARGE),
        fresh: ArrayQueue::new(MOST_SMALL + MOST_LARGE),
    }));
    match POOL.compare_exchange(null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: it was made above, and is never freed.
        Ok(_) => unsafe { &*made },
        Err(known) => {
            // SAFETY: it was made above and not published; a pool that was published is never freed.
            unsafe {
                drop(Box::from_raw(made));
                &*known
            }
        }
    }
}

/// Forgets the pool in a forked child: another thread, which the child does not have, could have been changing a queue of
/// it when the process forked. The child has a new one when it records.
#[cfg(unix)]
pub(crate) fn forget() {
    POOL.store(null_mut(), Ordering::Release);
}

impl Pool {
    /// Sets the memory limit of the chunks, in bytes, and allocates a few of them ahead, with their pages mapped.
    pub(crate) fn prepare(&self, bytes: usize) {
        self.small.set_limit(bytes / 2, MOST_SMALL);
        self.large.set_limit(bytes / 2, MOST_LARGE);
        let ahead = PREALLOCATED.min(self.large.limit.load(Ordering::Relaxed));
        for _ in self.large.free.len()..ahead {
            if let Some(chunk) = self.large.make() {
                chunk.touch();
                let _ = self.large.free.push(chunk);
            }
        }
    }

    /// Takes a chunk with room for this many words for a thread, and queues it for the writer. Returns `None` if the
    /// memory limit is reached.
    pub(crate) fn take(&self, words: usize, needs_large: bool) -> Option<&'static Chunk> {
        if needs_large || words > SMALL_WORDS {
            let small = || if words > SMALL_WORDS { None } else { self.small.take() };
            self.large.take().or_else(small)
        } else {
            self.small.take().or_else(|| self.large.take())
        }
    }

    /// Queues a chunk that a thread took for the writer.
    pub(crate) fn announce(&self, chunk: &'static Chunk) {
        // Each chunk is queued at most once, and the queue has room for all.
        let _ = self.fresh.push(chunk);
    }

    /// Returns whether many large chunks are in use, so that the writer should run now.
    pub(crate) fn is_low(&self) -> bool {
        let made = self.large.made.load(Ordering::Relaxed);
        made.saturating_sub(self.large.free.len()) >= PREALLOCATED / 2
    }

    /// Removes the next chunk from the writer's queue.
    pub(crate) fn fresh(&self) -> Option<&'static Chunk> {
        self.fresh.pop()
    }

    /// Returns a chunk to the pool. It is sealed and was read to its end.
    pub(crate) fn give_back(&self, chunk: &'static Chunk) {
        let class = if chunk.capacity() == SMALL_WORDS { &self.small } else { &self.large };
        let _ = class.free.push(chunk);
    }

    /// Frees the chunks that no thread owns.
    pub(crate) fn shrink(&self) {
        self.small.shrink();
        self.large.shrink();
    }
}

impl Class {
    fn new(words: usize, most: usize) -> Class {
        let (made, limit) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Class { words, free: ArrayQueue::new(most), made, limit }
    }

    fn set_limit(&self, bytes: usize, most: usize) {
        let limit = bytes / Class::layout(self.words).0.size();
        self.limit.store(limit.clamp(2, most), Ordering::Relaxed);
    }

    fn take(&self) -> Option<&'static Chunk> {
        self.free.pop().or_else(|| self.make())
    }

    /// Returns the layout of a chunk with its words behind it, and the offset of the words.
    fn layout(words: usize) -> (Layout, usize) {
        const HEAD: Layout = Layout::new::<Chunk>();
        let words = words * size_of::<u64>();
        // Both sizes are constants of this module.
        let layout = Layout::from_size_align(HEAD.size() + words, HEAD.align()).unwrap_or(HEAD);
        (layout, HEAD.size())
    }

    /// Allocates a chunk with the system's allocator, because the program's may record its allocations.
    fn make(&self) -> Option<&'static Chunk> {
        let limit = self.limit.load(Ordering::Relaxed);
        let more = |made: usize| (made < limit).then_some(made + 1);
        self.made.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        let (layout, offset) = Class::layout(self.words);
        // SAFETY: the size of the layout is not zero.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if memory.is_null() {
            self.made.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        #[allow(clippy::cast_ptr_alignment)]
        // The layout has the alignment of a chunk, and its size is a multiple of it.
        // SAFETY: the memory has room for the chunk and the words behind it; zeros are valid words. It lives until
        // `shrink`.
        unsafe {
            let words = std::slice::from_raw_parts(memory.add(offset).cast::<UnsafeCell<u64>>(), self.words);
            let chunk = memory.cast::<Chunk>();
            chunk.write(Chunk::new(words));
            Some(&*chunk)
        }
    }

    fn shrink(&self) {
        while let Some(chunk) = self.free.pop() {
            // A chunk of a forgotten pool was not made by this one.
            let fewer = |made: usize| Some(made.saturating_sub(1));
            let _ = self.made.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
            let (layout, _) = Class::layout(self.words);
            // SAFETY: allocated by `make` with this layout; it was removed from the queue, so no other thread has
            // access to it. A chunk has no destructor.
            unsafe { System.dealloc(std::ptr::from_ref(chunk).cast_mut().cast(), layout) };
        }
    }
}
