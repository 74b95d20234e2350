//! A growing column whose values never move: they are stored in chunks of a fixed size.
//!
//! A growing `Vec` of millions of values doubles and holds the old and the new copy at the same time, and WebAssembly
//! memory never shrinks again. Chunks cost one more load per value.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

const BITS: u32 = 13;

/// The number of values in a chunk.
const CHUNK: usize = 1 << BITS;

/// A column of values.
#[derive(Clone, Debug)]
pub(super) struct Column<T> {
    chunks: Vec<Box<[T; CHUNK]>>,
    len: usize,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column { chunks: Vec::new(), len: 0 }
    }
}

impl<T: Copy + Default> Column<T> {
    /// Appends a value.
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        let at = self.len;
        if at & (CHUNK - 1) == 0 {
            self.add_chunk();
        }
        self.len += 1;
        if let Some(chunk) = self.chunks.last_mut() {
            chunk[at & (CHUNK - 1)] = value;
        }
    }

    /// The values at these indexes.
    pub(super) fn gather(&self, indexes: &[u32]) -> Column<T> {
        let mut gathered = Column::default();
        for &at in indexes {
            gathered.push(self[at as usize]);
        }
        gathered
    }

    #[cold]
    fn add_chunk(&mut self) {
        if let Ok(chunk) = vec![T::default(); CHUNK].into_boxed_slice().try_into() {
            self.chunks.push(chunk);
        }
    }

    /// The number of values.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The allocated memory, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.chunks.len() * CHUNK * size_of::<T>()
    }
}

impl<T> Index<usize> for Column<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.chunks[at >> BITS][at & (CHUNK - 1)]
    }
}

impl<T> IndexMut<usize> for Column<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.chunks[at >> BITS][at & (CHUNK - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaves_like_a_vector() {
        let mut column = Column::default();
        assert_eq!(column.len(), 0);
        for at in 0..CHUNK * 2 + 3 {
            column.push(at as u32);
            assert_eq!(column.len(), at + 1);
        }
        column[CHUNK] = 7;
        assert_eq!(
            [column[0], column[CHUNK - 1], column[CHUNK], column[CHUNK * 2 + 2]],
            [0, CHUNK as u32 - 1, 7, CHUNK as u32 * 2 + 2]
        );
        assert!(column.heap_bytes() >= 4 * (CHUNK * 2 + 3));
    }
}
