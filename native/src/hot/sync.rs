//! The primitives of [`chunk`](crate::hot::chunk). The test with the model checker loom replaces this file by its own.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Passes the bytes of words, little-endian, to `read`.
///
/// # Safety
/// No thread writes these cells meanwhile.
pub(crate) unsafe fn with_bytes<T>(cells: &[UnsafeCell<u64>], read: impl FnOnce(&[u8]) -> T) -> T {
    if cfg!(target_endian = "little") {
        // SAFETY: a cell has the layout of its content, and any initialised memory may be read as bytes.
        return read(unsafe { std::slice::from_raw_parts(cells.as_ptr().cast(), size_of_val(cells)) });
    }
    // SAFETY: guaranteed by the caller.
    let words = cells.iter().map(|cell| cell.with(|word| unsafe { *word }));
    read(&words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
}

/// A cell with interior mutability, with the interface of loom's.
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
