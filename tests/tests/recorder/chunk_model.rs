//! Checks the hand-over of a chunk with loom: every interleaving of its threads that the memory model allows.

use loom::sync::Arc;
use loom::thread;

/// The types that the chunk uses, as loom provides them.
mod sync {
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

    /// The same as `hot::sync::with_bytes`.
    pub(crate) unsafe fn with_bytes<T>(cells: &[UnsafeCell<u64>], read: impl FnOnce(&[u8]) -> T) -> T {
        // SAFETY: this is what the model checks.
        let words = cells.iter().map(|cell| cell.with(|word| unsafe { *word }));
        read(&words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
    }
}

#[path = "../../../native/src/hot/chunk.rs"]
#[allow(dead_code, unreachable_pub)]
mod chunk;

use chunk::Chunk;

/// Returns a chunk of three words.
fn chunk() -> Chunk {
    let words: Vec<sync::UnsafeCell<u64>> = (0..3).map(|_| sync::UnsafeCell::default()).collect();
    Chunk::new(words.leak())
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes"))).collect()
}

#[test]
fn a_reader_sees_published_words_and_all_words_of_a_sealed_chunk() {
    loom::model(|| {
        let chunk = Arc::new(chunk());
        chunk.take(1, 2, 0);
        let owner = Arc::clone(&chunk);
        let writing = thread::spawn(move || {
            for at in 0..2 {
                // SAFETY: this thread owns the chunk, and nothing from `at` on was published.
                unsafe { owner.write(at, 10 + at as u64) };
                owner.publish(at + 1);
            }
            owner.seal();
        });
        let (mut read, mut seen) = (0, Vec::<u8>::new());
        for _ in 0..2 {
            let is_sealed = chunk.is_sealed();
            let length = chunk.published();
            chunk.read(read..length, |bytes| seen.extend_from_slice(bytes));
            read = length;
            assert_eq!(words(&seen), [10, 11][..length]);
            assert!(!is_sealed || length == 2);
        }
        writing.join().expect("the thread should not panic");
    });
}

#[test]
fn a_sealed_chunk_can_be_taken_by_another_thread() {
    loom::model(|| {
        let chunk = Arc::new(chunk());
        chunk.take(1, 1, 0);
        let first = Arc::clone(&chunk);
        let writing = thread::spawn(move || {
            // SAFETY: this thread owns the chunk.
            unsafe { first.write(0, 1) };
            first.publish(1);
            first.seal();
        });
        if chunk.is_sealed() {
            let mut seen: Vec<u8> = Vec::new();
            chunk.read(0..chunk.published(), |bytes| seen.extend_from_slice(bytes));
            assert_eq!(words(&seen), [1]);
            chunk.take(1, 2, 0);
            // SAFETY: no other thread accesses the chunk any more.
            unsafe { chunk.write(0, 2) };
            chunk.publish(1);
        }
        writing.join().expect("the thread should not panic");
    });
}
