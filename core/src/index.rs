//! The one map of the engine: from two numbers to the position of something.
//!
//! Each kind of map that the standard collections compile takes some 2 KB of WebAssembly. What is found by a name, a row,
//! an id or a pair of them shares this one; texts are found by [`Names`](crate::names).

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Positions by two numbers.
#[derive(Clone, Debug, Default)]
pub struct Index(HashMap<(i64, i64), u32, FixedState>);

impl Index {
    /// The position of `key`, which is `next` when the key is new.
    #[inline(never)]
    pub fn of(&mut self, key: (i64, i64), next: u32) -> u32 {
        *self.0.entry(key).or_insert(next)
    }

    /// The position of `key`, if it has one.
    #[inline(never)]
    pub fn get(&self, key: (i64, i64)) -> Option<u32> {
        self.0.get(&key).copied()
    }

    /// Gives `key` another position.
    #[inline(never)]
    pub fn set(&mut self, key: (i64, i64), position: u32) {
        self.0.insert(key, position);
    }

    /// Forgets `key`.
    #[inline(never)]
    pub fn remove(&mut self, key: (i64, i64)) {
        self.0.remove(&key);
    }

    /// Every position, in no order.
    pub fn positions(&self) -> impl Iterator<Item = u32> {
        self.0.values().copied()
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// No key at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The memory that is held, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.0.capacity() * (size_of::<((i64, i64), u32)>() + 1)
    }
}
