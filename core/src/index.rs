//! The one map of the engine: from two numbers to the position of something.
//!
//! Each kind of map that the standard collections compile takes some 2 KB of WebAssembly. What is found by a name, a row,
//! an id or a pair of them shares this one; texts are found by [`Names`](crate::names).

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Positions by two numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index(HashMap<(i64, i64), u32, FixedState>);

impl Index {
    /// The position of `key`, which is `next` when the key is new.
    #[inline(never)]
    pub(crate) fn of(&mut self, key: (i64, i64), next: u32) -> u32 {
        *self.0.entry(key).or_insert(next)
    }

    /// The position of `key`, if it has one.
    #[inline(never)]
    pub(crate) fn get(&self, key: (i64, i64)) -> Option<u32> {
        self.0.get(&key).copied()
    }

    /// Gives `key` another position.
    #[inline(never)]
    pub(crate) fn set(&mut self, key: (i64, i64), position: u32) {
        self.0.insert(key, position);
    }

    /// Forgets `key`.
    #[inline(never)]
    pub(crate) fn remove(&mut self, key: (i64, i64)) {
        self.0.remove(&key);
    }

    /// Every position, in no order.
    pub(crate) fn positions(&self) -> impl Iterator<Item = u32> {
        self.0.values().copied()
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The memory that is held, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.0.capacity() * (size_of::<((i64, i64), u32)>() + 1)
    }
}
