//! Sorting by a key of two numbers.
//!
//! Each instantiation of a standard sort adds about 5 KB of WebAssembly, and the engine sorts in dozens of places.
//! Sorts that are not hot share this one. Hot sorts use the standard library's stable sort, which is fast on the events
//! of most traces: a few runs that are sorted already.

use alloc::vec::Vec;

/// Sorts by a key. The sort is stable; a slice in order costs one pass and no allocation.
pub(crate) fn sort_by_key<T>(items: &mut [T], mut key: impl FnMut(&T) -> (i64, i64)) {
    if let Some(order) = order(items.len(), &mut |at| key(&items[at])) {
        permute(order, &mut |a, b| items.swap(a, b));
    }
}

/// The sorted keys, each with the index of its item. Returns `None` if the items are in order already.
fn order(length: usize, key: &mut dyn FnMut(usize) -> (i64, i64)) -> Option<Vec<((i64, i64), u32)>> {
    if (0..length).map(&mut *key).is_sorted() {
        return None;
    }
    let mut order: Vec<_> = (0..length).map(|at| (key(at), at as u32)).collect();
    order.sort_unstable();
    Some(order)
}

/// Applies the permutation cycle by cycle. The entry of an item in its final place is set to its own index.
fn permute(mut order: Vec<((i64, i64), u32)>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut at = start;
        loop {
            let from = core::mem::replace(&mut order[at].1, at as u32) as usize;
            if from == start {
                break;
            }
            swap(at, from);
            at = from;
        }
    }
}

/// A key that sorts in descending order.
pub(crate) fn descending(key: i64) -> i64 {
    !key
}

/// A key that sorts like the number. Equal numbers have equal keys.
pub(crate) fn float_key(number: f64) -> i64 {
    // Adding 0 turns -0 into 0.
    let bits = (number + 0.0).to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    #[test]
    fn sorts_as_the_standard_library_does() {
        let mut random = Random(1);
        for length in (0..200).chain([5000]) {
            let mut items: Vec<(i64, i64, usize)> =
                (0..length).map(|at| (random.below(7) - 3, random.below(5), at)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| (item.0, core::cmp::Reverse(item.1)));
            sort_by_key(&mut items, |item| (item.0, descending(item.1)));
            assert_eq!(items, expected);
        }
    }

    #[test]
    fn floats_keep_their_order() {
        let numbers = [f64::NEG_INFINITY, -1e300, -1.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 2.0, f64::INFINITY];
        assert!(numbers.windows(2).all(|w| float_key(w[0]) < float_key(w[1])));
        assert_eq!(float_key(-0.0), float_key(0.0));
    }
}
