//! A list of numbers in which the last one that is large enough is found in logarithmic time.

use alloc::vec;
use alloc::vec::Vec;

/// The numbers, and the largest of each two, four, eight and so on.
#[derive(Debug, Default)]
pub(crate) struct Maxima {
    /// Node 1 is the root, the children of node n are 2n and 2n + 1, and the numbers are the leaves.
    nodes: Vec<i64>,
    first_leaf: usize,
}

impl Maxima {
    pub(crate) fn new(numbers: impl ExactSizeIterator<Item = i64>) -> Maxima {
        // One leaf is left over, so that each end has a node.
        let first_leaf = (numbers.len() + 1).next_power_of_two();
        let mut nodes = vec![i64::MIN; first_leaf * 2];
        for (node, number) in nodes[first_leaf..].iter_mut().zip(numbers) {
            *node = number;
        }
        for at in (1..first_leaf).rev() {
            nodes[at] = nodes[2 * at].max(nodes[2 * at + 1]);
        }
        Maxima { nodes, first_leaf }
    }

    /// The last index before `end` whose number is not below `least`.
    pub(crate) fn last_before(&self, end: usize, least: i64) -> Option<usize> {
        let mut at = self.first_leaf + end;
        // Goes up to the first node on the left that is large enough.
        loop {
            if at <= 1 {
                return None;
            }
            if at % 2 == 1 && self.nodes[at - 1] >= least {
                at -= 1;
                break;
            }
            at /= 2;
        }
        while at < self.first_leaf {
            at = 2 * at + usize::from(self.nodes[2 * at + 1] >= least);
        }
        Some(at - self.first_leaf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    #[test]
    fn finds_what_a_search_finds() {
        let mut random = Random(5);
        for _ in 0..2000 {
            let numbers: Vec<i64> = (0..random.below(20)).map(|_| random.below(9)).collect();
            let maxima = Maxima::new(numbers.iter().copied());
            for end in 0..=numbers.len() {
                for least in 0..10 {
                    let expected = numbers[..end].iter().rposition(|&number| number >= least);
                    assert_eq!(
                        maxima.last_before(end, least),
                        expected,
                        "{least} before {end} of {numbers:?}"
                    );
                }
            }
        }
    }
}
