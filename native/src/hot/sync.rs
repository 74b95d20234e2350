//! What [`chunk`](crate::hot::chunk) is made of. A model checker puts its own in the place of this file.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// How many words a chunk has: 64 KiB of them.
pub(crate) const WORDS: usize = 8192;

/// Gives the bytes of words, little-endian.
///
/// # Safety
/// Nobody writes these cells meanwhile.
pub(crate) unsafe fn with_bytes<T>(cells: &[UnsafeCell<u64>], read: impl FnOnce(&[u8]) -> T) -> T {
    if cfg!(target_endian = "little") {
        // SAFETY: a cell has the layout of what is in it, and any bytes may be read as bytes.
        return read(unsafe { std::slice::from_raw_parts(cells.as_ptr().cast(), size_of_val(cells)) });
    }
    // SAFETY: the caller's promise.
    let words = cells.iter().map(|cell| cell.with(|word| unsafe { *word }));
    read(&words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
}

/// A cell that is written through a shared reference.
#[derive(Debug, Default)]
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    #[inline(always)]
    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}
