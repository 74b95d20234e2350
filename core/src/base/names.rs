//! Interned strings: every distinct string of a trace is stored once and identified by a [`NameId`].

use crate::base::index::Index;
use alloc::string::String;
use alloc::vec::Vec;
use core::hash::{BuildHasher, Hasher};
use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// The index of a string in its [`Names`].
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

impl NameId {
    /// The empty string, which every [`Names`] contains.
    pub const EMPTY: NameId = NameId(0);

    /// The id at this index of `ids`, or that of the empty string.
    #[inline]
    pub(crate) fn among(self, ids: &[NameId]) -> NameId {
        ids.get(self.0 as usize).copied().unwrap_or(NameId::EMPTY)
    }
}

/// All strings of a trace. Ids are assigned in the order of first appearance, so equal input gives equal ids.
#[derive(Clone, Debug)]
pub struct Names {
    arena: String,
    ends: Vec<usize>,
    index: HashTable<u32>,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Names { arena: String::new(), ends: Vec::new(), index: HashTable::new() };
        names.intern("");
        names
    }
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = FixedState::with_seed(0x6b69_6e65_746f_7363).build_hasher();
    hasher.write(text);
    hasher.finish()
}

#[inline(always)]
fn range(ends: &[usize], id: u32) -> core::ops::Range<usize> {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    start..ends[id]
}

fn find(names: &Names, hash: u64, text: &[u8]) -> Option<NameId> {
    let arena = names.arena.as_bytes();
    names.index.find(hash, |&id| is_equal(&arena[range(&names.ends, id)], text)).map(|&id| NameId(id))
}

/// Compares eight bytes at once. WebAssembly has no `memcmp`, and that of the standard library compares single bytes there.
#[inline]
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    if !cfg!(target_arch = "wasm32") {
        return a == b;
    }
    let ((words, rest), (other_words, other_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    a.len() == b.len()
        && words.iter().zip(other_words).all(|(a, b)| word(a) == word(b))
        && rest.iter().zip(other_rest).all(|(a, b)| a == b)
}

impl Names {
    /// Returns the id of `text`. Stores it if it is new.
    pub fn intern(&mut self, text: &str) -> NameId {
        let hash = hash(text.as_bytes());
        find(self, hash, text.as_bytes()).unwrap_or_else(|| self.insert(hash, text))
    }

    /// Returns the id of `bytes` and whether the string is new, or `None` if they are not valid UTF-8. Known strings
    /// are not validated again.
    #[inline]
    pub(crate) fn intern_utf8(&mut self, bytes: &[u8]) -> Option<(NameId, bool)> {
        let hash = hash(bytes);
        if let Some(id) = find(self, hash, bytes) {
            return Some((id, false));
        }
        let text = core::str::from_utf8(bytes).ok()?;
        Some((self.insert(hash, text), true))
    }

    fn insert(&mut self, hash: u64, text: &str) -> NameId {
        let id = self.ends.len() as u32;
        self.arena.push_str(text);
        self.ends.push(self.arena.len());
        let (arena, ends) = (self.arena.as_bytes(), &self.ends);
        self.index.insert_unique(hash, id, |&id| self::hash(&arena[range(ends, id)]));
        NameId(id)
    }

    /// Returns the id of `text`, if it is stored.
    pub fn find(&self, text: &str) -> Option<NameId> {
        find(self, hash(text.as_bytes()), text.as_bytes())
    }

    /// As [`Names::find`], for bytes that may not be valid UTF-8.
    #[inline]
    pub(crate) fn find_utf8(&self, bytes: &[u8]) -> Option<NameId> {
        find(self, hash(bytes), bytes)
    }

    /// The UTF-8 bytes of the string `id`.
    #[inline(always)]
    pub(crate) fn bytes(&self, id: NameId) -> &[u8] {
        &self.arena.as_bytes()[range(&self.ends, id.0)]
    }

    /// The string `id`.
    pub fn get(&self, id: NameId) -> &str {
        &self.arena[range(&self.ends, id.0)]
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Always false: the empty string is always stored.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The allocated memory, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        let ends = self.ends.capacity() * size_of::<usize>();
        self.arena.capacity() + ends + self.index.capacity() * (size_of::<u32>() + 1)
    }

    /// The strings that fit.
    pub(crate) fn that(&self, fits: impl Fn(&str) -> bool) -> NameSet {
        NameSet(self.iter().map(|(_, text)| fits(text)).collect())
    }

    /// The strings that fit, of some ids.
    pub(crate) fn among(&self, ids: impl Iterator<Item = NameId>, fits: impl Fn(&str) -> bool) -> NameSet {
        let mut known: Vec<Option<bool>> = alloc::vec![None; self.len()];
        for id in ids {
            known[id.0 as usize].get_or_insert_with(|| fits(self.get(id)));
        }
        NameSet(known.into_iter().map(|fits| fits == Some(true)).collect())
    }

    /// All ids with their strings, in the order of first appearance.
    pub fn iter(&self) -> impl Iterator<Item = (NameId, &str)> {
        (0..self.ends.len() as u32).map(|id| (NameId(id), self.get(NameId(id))))
    }
}

/// The strings of a trace, and further ones whose ids follow.
#[derive(Debug)]
pub(crate) struct MoreNames<'a> {
    own: &'a Names,
    more: Names,
}

impl<'a> MoreNames<'a> {
    pub(crate) fn new(own: &'a Names) -> MoreNames<'a> {
        MoreNames { own, more: Names::default() }
    }

    /// Returns the id of a string, which is new if the trace does not have it.
    pub(crate) fn intern(&mut self, text: &str) -> NameId {
        let first = self.own.len() as u32;
        self.own.find(text).unwrap_or_else(|| NameId(first + self.more.intern(text).0))
    }

    /// The string `id`.
    pub(crate) fn get(&self, id: NameId) -> &str {
        match (id.0 as usize).checked_sub(self.own.len()) {
            Some(at) => self.more.get(NameId(at as u32)),
            None => self.own.get(id),
        }
    }
}

/// A set of names. A trace has many events and few names, so the names are tested once, and the events by their ids.
#[derive(Clone, Debug)]
pub(crate) struct NameSet(Vec<bool>);

impl NameSet {
    /// Whether the set has a name.
    #[inline]
    pub(crate) fn has(&self, name: NameId) -> bool {
        self.0[name.0 as usize]
    }

    /// Whether it has none.
    pub(crate) fn is_empty(&self) -> bool {
        !self.0.contains(&true)
    }
}

/// A map from names to values, in the order of insertion.
#[derive(Clone, Debug, Default)]
pub struct ByName<T> {
    index: Index,
    entries: Vec<(NameId, T)>,
}

impl<T: Default> ByName<T> {
    /// Returns the value of a name. Inserts the default value if the name is new.
    pub fn entry(&mut self, name: NameId) -> &mut T {
        let next = self.entries.len() as u32;
        let at = self.index.get_or_insert((i64::from(name.0), 0), next);
        if at == next {
            self.entries.push((name, T::default()));
        }
        &mut self.entries[at as usize].1
    }

    /// Returns the value of a name, if it has one.
    pub(crate) fn get(&self, name: NameId) -> Option<&T> {
        self.index.get((i64::from(name.0), 0)).map(|at| &self.entries[at as usize].1)
    }

    /// All names with their values, in the order of insertion.
    pub fn entries(&self) -> &[(NameId, T)] {
        &self.entries
    }

    /// The same, by value.
    pub(crate) fn into_entries(self) -> Vec<(NameId, T)> {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn equal_strings_share_an_id() {
        let mut names = Names::default();
        let ids: Vec<_> = (0..1000).map(|i| names.intern(&format!("name {}", i % 100))).collect();
        assert_eq!(names.len(), 101);
        assert_eq!(ids[7], ids[107]);
        assert_eq!(names.get(ids[42]), "name 42");
        assert_eq!(names.intern(""), NameId::EMPTY);
        assert_eq!(names.find("name 99"), Some(ids[99]));
        assert_eq!(names.find("absent"), None);
    }

    #[test]
    fn further_names_follow_those_of_a_trace() {
        let mut own = Names::default();
        let known = own.intern("aten::mm");
        let mut names = MoreNames::new(&own);
        let new = names.intern("aten::add");
        assert_eq!((names.intern("aten::mm"), names.intern("aten::add")), (known, new));
        assert_eq!(
            (names.get(known), names.get(new), names.get(NameId::EMPTY)),
            ("aten::mm", "aten::add", "")
        );
        assert!(new.0 as usize >= own.len());
    }

    #[test]
    fn a_set_has_the_names_that_fit() {
        let mut names = Names::default();
        let [product, sum] = ["aten::mm", "aten::add"].map(|text| names.intern(text));
        let products = names.that(|text| text.ends_with("mm"));
        assert_eq!(
            (products.has(product), products.has(sum), products.has(NameId::EMPTY)),
            (true, false, false)
        );
        assert!(!products.is_empty() && names.that(|text| text == "absent").is_empty());
    }
}
