//! Searches in sorted lists whose keys are spread evenly in most traces.

/// Returns the first of `length` indexes whose key is not below `key`, and `length` if there is none. Keys ascend. The search begins
/// where the key would be if all keys were spread evenly, and doubles its steps from there.
pub(crate) fn lower_bound(length: usize, key_at: impl Fn(usize) -> i64, key: i64) -> usize {
    let Some(end) = length.checked_sub(1) else { return 0 };
    let (first, last) = (key_at(0), key_at(end));
    if key <= first || key > last {
        return if key > last { length } else { 0 };
    }
    // Here first < key <= last.
    let share = (key as f64 - first as f64) / (last as f64 - first as f64);
    let guess = ((share * end as f64) as usize).min(end);
    let (mut low, mut high, mut step) = (guess, guess, 1);
    while key_at(low) >= key {
        (low, high, step) = (low.saturating_sub(step), low, step * 2);
    }
    while key_at(high) < key {
        (low, high, step) = (high, (high + step).min(end), step * 2);
    }
    // The key at `low` is below `key`, that at `high` is not.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if key_at(middle) < key { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;
    use alloc::vec::Vec;

    #[test]
    fn bounds_are_found_wherever_they_are() {
        let mut random = Random(3);
        for _ in 0..2000 {
            let mut keys: Vec<i64> = (0..random.below(12)).map(|_| random.below(60) - 5).collect();
            if random.below(4) == 0 {
                keys.extend([i64::MIN, i64::MAX]);
            }
            keys.sort_unstable();
            for key in (-10..70).chain([i64::MIN, i64::MAX]) {
                let expected = keys.partition_point(|&other| other < key);
                assert_eq!(lower_bound(keys.len(), |at| keys[at], key), expected, "{key} of {keys:?}");
            }
        }
    }
}
