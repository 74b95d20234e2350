//! Iterations that are comparable: of the same phase, with the same number of requests and a similar number of tokens.

use super::served::Served;
use crate::base::index::Index;
use crate::base::names::Names;
use alloc::vec;
use alloc::vec::Vec;

/// The kinds of iterations: for each kind its iterations, in the order of the first.
pub(crate) fn kinds(served: &[Served]) -> Vec<Vec<usize>> {
    let (mut phases, mut batches, mut known) = (Names::default(), Index::default(), Index::default());
    let mut kinds: Vec<Vec<usize>> = Vec::new();
    for (at, one) in served.iter().enumerate() {
        let phase = i64::from(phases.intern(&one.name.phase).0);
        let batch = batches.get_or_insert((phase, one.name.batch.unwrap_or(-1)), batches.len() as u32);
        let tokens = similar(one.name.tokens).unwrap_or(-1);
        let kind = known.get_or_insert((i64::from(batch), tokens), kinds.len() as u32) as usize;
        match kinds.get_mut(kind) {
            Some(kind) => kind.push(at),
            None => kinds.push(vec![at]),
        }
    }
    kinds
}

/// The same number for similar ones: the power of two that is not below it.
pub(crate) fn similar(tokens: Option<i64>) -> Option<i64> {
    let tokens = u64::try_from(tokens?).ok()?;
    i64::try_from(tokens.checked_next_power_of_two()?).ok()
}

#[cfg(test)]
mod tests {
    use super::similar;

    #[test]
    fn similar_numbers_have_one_power_of_two() {
        let powers = [0, 1, 2, 3, 1000, 1024, 1025].map(|tokens| similar(Some(tokens)));
        assert_eq!(powers, [1, 1, 2, 4, 1024, 1024, 2048].map(Some));
        assert_eq!((similar(None), similar(Some(-1)), similar(Some(i64::MAX))), (None, None, None));
    }
}
