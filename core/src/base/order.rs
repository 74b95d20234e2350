//! Sorting by a key of two numbers.
//!
//! Each instantiation of a standard sort adds about 5 KB of WebAssembly, and the engine sorts in dozens of places.
//! Sorts that are not hot share this one. Hot sorts use the standard library's stable sort, which is fast on the events
//! of most traces: a few runs that are sorted already.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Sorts by a key. The sort is stable; a slice in order costs one pass and no allocation.
pub(crate) fn sort_by_key<T>(items: &mut [T], mut key: impl FnMut(&T) -> (i64, i64)) {
    if let Some(order) = order(items.len(), &mut |at| key(&items[at])) {
        permute(order, &mut |a, b| items.swap(a, b));
    }
}

/// Sorts by a comparison. The sort is stable.
pub(crate) fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let order = compared(items.len(), &mut |a, b| compare(&items[a], &items[b]));
    permute(order, &mut |a, b| items.swap(a, b));
}

/// The positions in the order of a comparison.
fn compared(length: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<u32> {
    let mut order: Vec<u32> = (0..length as u32).collect();
    order.sort_unstable_by(|&a, &b| compare(a as usize, b as usize).then(a.cmp(&b)));
    order
}

/// The positions in the order of their keys. Returns `None` if the items are in order already.
fn order(length: usize, key: &mut dyn FnMut(usize) -> (i64, i64)) -> Option<Vec<u32>> {
    if (0..length).map(&mut *key).is_sorted() {
        return None;
    }
    let mut order: Vec<_> = (0..length).map(|at| (key(at), at as u32)).collect();
    order.sort_unstable();
    Some(order.into_iter().map(|entry| entry.1).collect())
}

/// Applies the permutation cycle by cycle. The entry of an item in its final place is set to its own index.
fn permute(mut order: Vec<u32>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut at = start;
        loop {
            let from = core::mem::replace(&mut order[at], at as u32) as usize;
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
            let mut compared = items.clone();
            sort_by_key(&mut items, |item| (item.0, descending(item.1)));
            assert_eq!(items, expected);
            sort_by(&mut compared, |a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
            assert_eq!(compared, expected);
        }
    }

    #[test]
    fn floats_keep_their_order() {
        let numbers = [f64::NEG_INFINITY, -1e300, -1.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 2.0, f64::INFINITY];
        assert!(numbers.windows(2).all(|w| float_key(w[0]) < float_key(w[1])));
        assert_eq!(float_key(-0.0), float_key(0.0));
    }
}
