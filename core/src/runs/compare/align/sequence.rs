//! The longest common subsequence of two lists, by the algorithm of Myers (Algorithmica 1986).

use crate::base::index::Index;
use alloc::vec;
use alloc::vec::Vec;

/// Positions of equal items in both lists, both ascending.
type Pairs = Vec<(usize, usize)>;

/// The largest number of items without a partner for which the longest common subsequence is computed. Its cost is the
/// square of that number.
const MOST_EDITS: usize = 1000;

/// Returns a common subsequence of two lists: the longest one, unless they differ in very many items. Then items that each
/// list has once are its anchors, and the longest is computed between anchors.
pub(super) fn common(a: &[u64], b: &[u64]) -> Pairs {
    let mut pairs = Vec::new();
    add_common(a, b, (0, 0), true, &mut pairs);
    join_gaps(a, b, &mut pairs);
    pairs
}

/// Moves pairs so that what has no partner in one list is between the same neighbours as what has none in the other. An item
/// next to several equal ones can be the partner of any of them: for `sum` in `sum mul sum` and `fma sum`, the last one is
/// chosen, so that `sum mul` and `fma` are in one gap.
fn join_gaps(a: &[u64], b: &[u64], pairs: &mut Pairs) {
    for at in 0..pairs.len() {
        let (x, y) = pairs[at];
        let before = at.checked_sub(1).map_or((0, 0), |last| (pairs[last].0 + 1, pairs[last].1 + 1));
        let after = pairs.get(at + 1).copied().unwrap_or((a.len(), b.len()));
        let gaps =
            [(before.0, x), (before.1, y), (x + 1, after.0), (y + 1, after.1)].map(|(from, to)| from == to);
        pairs[at] = match gaps {
            [true, false, false, true] if a[after.0 - 1] == a[x] => (after.0 - 1, y),
            [false, true, true, false] if b[after.1 - 1] == b[y] => (x, after.1 - 1),
            [true, false, false, true] if b[before.1] == b[y] => (x, before.1),
            [false, true, true, false] if a[before.0] == a[x] => (before.0, y),
            _ => (x, y),
        };
    }
}

fn add_common(a: &[u64], b: &[u64], from: (usize, usize), may_split: bool, pairs: &mut Pairs) {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    pairs.extend((0..head).map(|at| (from.0 + at, from.1 + at)));
    let (a, b, from) = (&a[head..], &b[head..], (from.0 + head, from.1 + head));
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (middle_a, middle_b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    if let Some(found) = shortest_edit(middle_a, middle_b) {
        pairs.extend(found.into_iter().map(|(x, y)| (from.0 + x, from.1 + y)));
    } else if may_split {
        let mut reached = (0, 0);
        for (x, y) in anchors(middle_a, middle_b).into_iter().chain([(middle_a.len(), middle_b.len())]) {
            let start = (from.0 + reached.0, from.1 + reached.1);
            add_common(&middle_a[reached.0..x], &middle_b[reached.1..y], start, false, pairs);
            if x < middle_a.len() {
                pairs.push((from.0 + x, from.1 + y));
            }
            reached = (x + 1, y + 1);
        }
    }
    let (end_a, end_b) = (from.0 + middle_a.len(), from.1 + middle_b.len());
    pairs.extend((0..tail).map(|at| (end_a + at, end_b + at)));
}

/// Returns the longest common subsequence, or `None` if more than [`MOST_EDITS`] items have no partner.
fn shortest_edit(a: &[u64], b: &[u64]) -> Option<Pairs> {
    let (n, m) = (a.len() as isize, b.len() as isize);
    // `reach[k + most]` is the farthest position in `a` on the diagonal k = x - y.
    let most = (a.len() + b.len()).min(MOST_EDITS);
    let mut reach = vec![0isize; 2 * most + 3];
    let at = |k: isize| (k + most as isize + 1) as usize;
    let mut history: Vec<Vec<isize>> = Vec::new();
    for edits in 0..=most as isize {
        history.push(reach[at(-edits - 1)..=at(edits + 1)].to_vec());
        for k in (-edits..=edits).step_by(2) {
            let down = k == -edits || (k != edits && reach[at(k - 1)] < reach[at(k + 1)]);
            let mut x = if down { reach[at(k + 1)] } else { reach[at(k - 1)] + 1 };
            while x < n && x - k < m && a[x as usize] == b[(x - k) as usize] {
                x += 1;
            }
            reach[at(k)] = x;
            if x >= n && x - k >= m {
                return Some(walk_back(&history, (n, m)));
            }
        }
    }
    None
}

/// Collects the pairs of the path that ends at `(x, y)`. `history[d]` has the diagonals from -d-1 to d+1 before d edits.
fn walk_back(history: &[Vec<isize>], (mut x, mut y): (isize, isize)) -> Pairs {
    let mut pairs = Vec::new();
    for (edits, reach) in history.iter().enumerate().rev() {
        let edits = edits as isize;
        let at = |k: isize| reach[(k + edits + 1) as usize];
        let k = x - y;
        let down = k == -edits || (k != edits && at(k - 1) < at(k + 1));
        let before = if down { k + 1 } else { k - 1 };
        let start = if edits == 0 { 0 } else { at(before) };
        let after = if edits == 0 { 0 } else { start + isize::from(!down) };
        while x > after {
            (x, y) = (x - 1, y - 1);
            pairs.push((x as usize, y as usize));
        }
        (x, y) = (start, start - before);
    }
    pairs.reverse();
    pairs
}

/// The items that both lists have exactly once, as far as their order is the same: the longest increasing subsequence.
fn anchors(a: &[u64], b: &[u64]) -> Pairs {
    let once = |list: &[u64]| {
        let mut places = Index::default();
        for (at, &item) in list.iter().enumerate() {
            let key = (item as i64, 0);
            let place = if places.get(key).is_some() { u32::MAX } else { at as u32 };
            places.set(key, place);
        }
        places
    };
    let (in_a, in_b) = (once(a), once(b));
    let mut pairs: Pairs = Vec::new();
    for (at, &item) in a.iter().enumerate() {
        let key = (item as i64, 0);
        let other = in_b.get(key).filter(|&other| other != u32::MAX && in_a.get(key) == Some(at as u32));
        pairs.extend(other.map(|other| (at, other as usize)));
    }
    increasing(&pairs)
}

fn increasing(pairs: &[(usize, usize)]) -> Pairs {
    // `ends[l]` is the pair that ends the best sequence of length l + 1.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        before.push(length.checked_sub(1).map(|last| ends[last]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut out: Pairs = Vec::new();
    let mut next = ends.last().copied();
    while let Some(at) = next {
        out.push(pairs[at]);
        next = before[at];
    }
    out.reverse();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    /// The length of the longest common subsequence, by the table of all prefixes.
    fn length(a: &[u64], b: &[u64]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    fn check(a: &[u64], b: &[u64], pairs: &[(usize, usize)]) {
        assert!(pairs.iter().all(|&(x, y)| a[x] == b[y]));
        assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1), "{pairs:?}");
    }

    #[test]
    fn the_common_subsequence_is_the_longest() {
        let mut random = Random(3);
        for _ in 0..2000 {
            let mut list = || -> Vec<u64> { (0..random.below(12)).map(|_| 0).collect::<Vec<u64>>() };
            let (mut a, mut b) = (list(), list());
            a.iter_mut().chain(&mut b).for_each(|item| *item = random.below(4) as u64);
            let pairs = common(&a, &b);
            check(&a, &b, &pairs);
            assert_eq!(pairs.len(), length(&a, &b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn gaps_of_both_lists_are_joined() {
        // In words: sum mul sum add, and fma sum add.
        assert_eq!(common(&[1, 2, 1, 3], &[4, 1, 3]), [(2, 1), (3, 2)]);
        assert_eq!(common(&[4, 1, 3], &[1, 2, 1, 3]), [(1, 2), (2, 3)]);
        assert_eq!(common(&[3, 1, 2, 1], &[3, 1, 4]), [(0, 0), (1, 1)]);
    }

    #[test]
    fn lists_that_differ_in_many_items_are_aligned_at_anchors() {
        let mut random = Random(4);
        let noise =
            |random: &mut Random| (0..1500).map(|_| 10 + random.below(3) as u64).collect::<Vec<u64>>();
        let a = [noise(&mut random), vec![1], noise(&mut random), vec![2], vec![20; 2000]].concat();
        let b = [vec![30; 1200], vec![1], vec![30; 1200], vec![2], noise(&mut random)].concat();
        let pairs = common(&a, &b);
        check(&a, &b, &pairs);
        assert!(pairs.contains(&(1500, 1200)) && pairs.contains(&(3001, 2401)));
    }
}
