//! The hash map of the engine: from a pair of integers to a position.
//!
//! Each instantiation of a standard collection adds about 2 KB of WebAssembly. Maps keyed by a name id, a row, another
//! id or a pair of them therefore share this type. Strings are found by [`Names`](crate::base::names).

use alloc::vec::Vec;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// A map from pairs of integers to positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index(HashMap<(i64, i64), u32, FixedState>);

impl Index {
    /// Returns the position of `key`. A new key gets the position `next`.
    #[inline(never)]
    pub(crate) fn get_or_insert(&mut self, key: (i64, i64), next: u32) -> u32 {
        *self.0.entry(key).or_insert(next)
    }

    /// Returns the position of `key`, if the map has it.
    #[inline(never)]
    pub(crate) fn get(&self, key: (i64, i64)) -> Option<u32> {
        self.0.get(&key).copied()
    }

    /// Adds `key` without a position, as to a set. Returns whether it is new.
    pub(crate) fn insert(&mut self, key: (i64, i64)) -> bool {
        let known = self.len();
        self.get_or_insert(key, 0);
        self.len() > known
    }

    /// Sets the position of `key`.
    #[inline(never)]
    pub(crate) fn set(&mut self, key: (i64, i64), position: u32) {
        self.0.insert(key, position);
    }

    /// Removes `key`.
    #[inline(never)]
    pub(crate) fn remove(&mut self, key: (i64, i64)) {
        self.0.remove(&key);
    }

    /// All positions, in arbitrary order.
    pub(crate) fn positions(&self) -> impl Iterator<Item = u32> {
        self.0.values().copied()
    }

    /// The number of keys.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The allocated memory, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.capacity() * (size_of::<((i64, i64), u32)>() + 1)
    }
}

/// A map from pairs of integers to values, in the order of insertion.
#[derive(Clone, Debug)]
pub(crate) struct Keyed<T> {
    index: Index,
    entries: Vec<((i64, i64), T)>,
}

impl<T> Default for Keyed<T> {
    fn default() -> Self {
        Keyed { index: Index::default(), entries: Vec::new() }
    }
}

impl<T: Default> Keyed<T> {
    /// Returns the value of a key. Inserts the default value if the key is new.
    pub(crate) fn entry(&mut self, key: (i64, i64)) -> &mut T {
        let next = self.entries.len() as u32;
        let at = self.index.get_or_insert(key, next);
        if at == next {
            self.entries.push((key, T::default()));
        }
        &mut self.entries[at as usize].1
    }
}

impl<T> Keyed<T> {
    /// Returns the value of a key, if the map has it.
    pub(crate) fn get(&self, key: (i64, i64)) -> Option<&T> {
        Some(&self.entries[self.index.get(key)? as usize].1)
    }

    /// Returns the value of a key, if the map has it.
    pub(crate) fn get_mut(&mut self, key: (i64, i64)) -> Option<&mut T> {
        Some(&mut self.entries[self.index.get(key)? as usize].1)
    }

    /// All keys with their values, in the order of insertion.
    pub(crate) fn entries(&self) -> &[((i64, i64), T)] {
        &self.entries
    }

    /// All keys with their values, in the order of insertion.
    pub(crate) fn into_entries(self) -> Vec<((i64, i64), T)> {
        self.entries
    }
}
