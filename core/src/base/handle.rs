//! Handles: indexes of rows, positions, events and nodes, each with a type of its own.
//!
//! A handle holds its index plus one, so that `Option` of a handle takes no more than the handle: 4 bytes. Lists that
//! handles point into have at most `u32::MAX - 1` items; a larger index is not detected.

use alloc::vec::Vec;
use core::ops::Range;

/// The interface of all handles. The trait is not exported from the crate.
pub trait Handle: Copy + Ord {
    /// The handle of the item at `index`.
    fn new(index: usize) -> Self;

    /// The index of the item.
    fn index(self) -> usize;
}

/// An iterator over the handles of consecutive items. It counts in handles instead of indexes, so that a loop over it
/// costs as much as a loop over indexes.
#[derive(Clone)]
pub(crate) struct Run<H> {
    next: H,
    end: H,
}

/// Iterates over the handles of the items at these indexes.
#[inline]
pub(crate) fn run<H: Handle>(items: Range<usize>) -> Run<H> {
    Run { next: H::new(items.start), end: H::new(items.end) }
}

impl<H: Handle> Iterator for Run<H> {
    type Item = H;

    #[inline]
    fn next(&mut self) -> Option<H> {
        if self.next >= self.end {
            return None;
        }
        let handle = self.next;
        self.next = H::new(handle.index() + 1);
        Some(handle)
    }

    #[inline]
    fn nth(&mut self, skipped: usize) -> Option<H> {
        self.next = H::new(self.next.index().saturating_add(skipped).min(self.end.index()));
        self.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end.index().saturating_sub(self.next.index());
        (left, Some(left))
    }
}

impl<H: Handle> DoubleEndedIterator for Run<H> {
    #[inline]
    fn next_back(&mut self) -> Option<H> {
        if self.next >= self.end {
            return None;
        }
        self.end = H::new(self.end.index() - 1);
        Some(self.end)
    }
}

impl<H: Handle> ExactSizeIterator for Run<H> {}

/// Collects one value for each of `count` items, in order. It iterates over indexes, whose length the standard library
/// trusts; the code that collects from a [`Run`] is twice as long.
#[inline]
pub(crate) fn collect<H: Handle, T>(count: usize, mut of: impl FnMut(H) -> T) -> Vec<T> {
    (0..count).map(|index| of(H::new(index))).collect()
}

/// Declares a handle type.
macro_rules! handle {
    ($(#[$about:meta])* $vis:vis struct $name:ident;) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(core::num::NonZeroU32);

        impl $name {
            /// The handle of the item at `index`, which is less than `u32::MAX`.
            #[inline]
            $vis const fn new(index: usize) -> $name {
                $name(core::num::NonZeroU32::MIN.saturating_add(index as u32))
            }

            /// The index of the item.
            #[inline]
            $vis const fn index(self) -> usize {
                (self.0.get() - 1) as usize
            }
        }

        impl crate::base::handle::Handle for $name {
            #[inline]
            fn new(index: usize) -> $name {
                $name::new(index)
            }

            #[inline]
            fn index(self) -> usize {
                $name::index(self)
            }
        }

        impl From<$name> for i64 {
            #[inline]
            fn from(handle: $name) -> i64 {
                handle.index() as i64
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.index())
            }
        }
    };
}

pub(crate) use handle;

#[cfg(test)]
mod tests {
    use super::run;
    use alloc::format;

    handle! {
        /// The index of a leaf.
        struct Leaf;
    }

    #[test]
    fn indexes_round_trip() {
        for index in [0, 1, 3, u32::MAX as usize - 1] {
            assert_eq!(Leaf::new(index).index(), index);
            assert_eq!(i64::from(Leaf::new(index)), index as i64);
        }
        assert_eq!(format!("{:?}", Leaf::new(3)), "Leaf(3)");
        assert!(Leaf::new(3) < Leaf::new(4));
    }

    #[test]
    fn a_range_of_handles_has_a_length_and_both_ends() {
        for range in [0..0, 0..4, 3..6, 7..7] {
            let leaves = || run::<Leaf>(range.clone());
            assert!(leaves().map(Leaf::index).eq(range.clone()));
            assert!(leaves().rev().map(Leaf::index).eq(range.clone().rev()));
            assert_eq!(leaves().len(), range.len());
            for skipped in [0, 2, 9, usize::MAX] {
                assert_eq!(leaves().nth(skipped).map(Leaf::index), range.clone().nth(skipped));
            }
        }
    }

    #[test]
    fn large_indexes_saturate_and_options_take_four_bytes() {
        assert_eq!(Leaf::new(u32::MAX as usize).index(), u32::MAX as usize - 1);
        assert_eq!(size_of::<Option<Leaf>>(), 4);
    }
}
