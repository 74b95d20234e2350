//! A growing column that never moves: values in pieces of one size.
//!
//! A `Vec` of millions of values doubles, and for a moment holds both the old and the new ones; WebAssembly's memory
//! never shrinks again. Pieces cost one more load for each value.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

const BITS: u32 = 13;

/// Values of one piece.
const PIECE: usize = 1 << BITS;

/// A column of values.
#[derive(Clone, Debug)]
pub(super) struct Column<T> {
    pieces: Vec<Box<[T; PIECE]>>,
    len: usize,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column { pieces: Vec::new(), len: 0 }
    }
}

impl<T: Copy + Default> Column<T> {
    /// Appends a value.
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        let at = self.len;
        if at & (PIECE - 1) == 0 {
            self.add_piece();
        }
        self.len += 1;
        self[at] = value;
    }

    #[cold]
    fn add_piece(&mut self) {
        if let Ok(piece) = vec![T::default(); PIECE].into_boxed_slice().try_into() {
            self.pieces.push(piece);
        }
    }

    /// How many values there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The memory that is held, in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.pieces.len() * PIECE * size_of::<T>()
    }
}

impl<T> Index<usize> for Column<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.pieces[at >> BITS][at & (PIECE - 1)]
    }
}

impl<T> IndexMut<usize> for Column<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.pieces[at >> BITS][at & (PIECE - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_what_a_vector_is() {
        let mut column = Column::default();
        assert_eq!(column.len(), 0);
        for at in 0..PIECE * 2 + 3 {
            column.push(at as u32);
            assert_eq!(column.len(), at + 1);
        }
        column[PIECE] = 7;
        assert_eq!(
            [column[0], column[PIECE - 1], column[PIECE], column[PIECE * 2 + 2]],
            [0, PIECE as u32 - 1, 7, PIECE as u32 * 2 + 2]
        );
        assert!(column.heap_bytes() >= 4 * (PIECE * 2 + 3));
    }
}
