//! Values that many rows share.

use crate::base::index::Index;
use alloc::vec::Vec;

/// A value of each row. It is computed once for rows with the same key: many kernels have few names and few grids.
pub(super) struct Distinct<T> {
    values: Vec<T>,
    of: Vec<u32>,
}

impl<T> Distinct<T> {
    pub(super) fn new<R: Copy>(
        rows: impl Iterator<Item = R>,
        mut key: impl FnMut(R) -> (i64, i64),
        value: impl Fn(R) -> T,
    ) -> Distinct<T> {
        let (mut known, mut values) = (Index::default(), Vec::new());
        let of = rows.map(|row| {
            let at = known.get_or_insert(key(row), values.len() as u32);
            if at as usize == values.len() {
                values.push(value(row));
            }
            at
        });
        Distinct { of: of.collect(), values }
    }

    pub(super) fn get(&self, at: usize) -> &T {
        &self.values[self.of[at] as usize]
    }
}

/// A key of a text of a trace. Equal strings of a trace are stored once, so the address identifies the text.
pub(super) fn address(text: Option<&str>) -> i64 {
    text.map_or(0, |text| text.as_ptr() as i64)
}
