//! Percentiles.

use crate::base::order::sort_by_key;
use alloc::vec::Vec;

/// A percentile by nearest rank: the least value that at least so many percent of the values are not above.
pub(crate) fn quantile(values: impl Iterator<Item = i64>, percent: usize) -> Option<i64> {
    let mut values: Vec<i64> = values.collect();
    sort_by_key(&mut values, |&value| (value, 0));
    let rank = (values.len() * percent).div_ceil(100).max(1);
    values.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn percentiles_are_values_by_nearest_rank() {
        let of = |count: i64, percent| quantile((1..=count).rev(), percent);
        assert_eq!([50, 90, 99].map(|percent| of(10, percent)), [5, 9, 10].map(Some));
        assert_eq!([50, 90, 99].map(|percent| of(1, percent)), [1, 1, 1].map(Some));
        assert_eq!((of(0, 50), of(200, 99)), (None, Some(198)));
    }
}
