//! Which iterations of two traces of an inference engine are comparable: those of the same phase, with the same requests and about
//! as many tokens.

use super::measure::Both;
use super::profile::{Profile, StepKind};
use crate::base::order::sort_by;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// By how much the numbers of tokens of comparable iterations differ at most, as a share of the larger one.
const NEAR: f64 = 0.05;

/// The steps of two profiles that are comparable, and what should be known about it.
pub(super) struct Comparable {
    /// The profiles of these steps; `None` if all steps are compared.
    pub(super) profiles: Option<Both<Profile>>,
    pub(super) note: String,
}

/// Returns the comparable iterations of two profiles, if both have iterations and not all of them are comparable.
pub(super) fn comparable([a, b]: Both<&Profile>) -> Option<Comparable> {
    if a.kinds.is_empty() || b.kinds.is_empty() {
        return None;
    }
    let [in_a, in_b] = pairs([&a.kinds, &b.kinds]);
    let (count, all) = (in_a.len(), [a.len(), b.len()]);
    if all == [count; 2] {
        return None;
    }
    if count == 0 {
        let note = "no iteration of one trace has the phase and requests of one of the other, and about as many tokens: differences can be due to that";
        return Some(Comparable { profiles: None, note: note.into() });
    }
    let note = format!(
        "compared: {count} of {} and of {} iterations, those with the same phase and requests, and tokens within {:.0}%",
        all[0],
        all[1],
        NEAR * 100.0
    );
    Some(Comparable { profiles: Some([a.with_steps(&in_a), b.with_steps(&in_b)]), note })
}

/// Pairs iterations one by one: in the order of their tokens, and of equals in the order of time. Returns those of each side that
/// have a partner, in order of time.
fn pairs(kinds: Both<&[StepKind]>) -> Both<Vec<usize>> {
    let [order_a, order_b] = kinds.map(|kinds| {
        let mut order: Vec<usize> = (0..kinds.len()).collect();
        sort_by(&mut order, |&a, &b| {
            compared(&kinds[a], &kinds[b]).then(kinds[a].tokens.cmp(&kinds[b].tokens))
        });
        order
    });
    let (mut found, mut at) = ([Vec::new(), Vec::new()], [0, 0]);
    while let (Some(&a), Some(&b)) = (order_a.get(at[0]), order_b.get(at[1])) {
        let (x, y) = (&kinds[0][a], &kinds[1][b]);
        let order = compared(x, y);
        if order == Ordering::Equal && are_near(x.tokens, y.tokens) {
            found[0].push(a);
            found[1].push(b);
            at = [at[0] + 1, at[1] + 1];
        } else {
            let is_first = order.then(x.tokens.cmp(&y.tokens)) == Ordering::Less;
            at[usize::from(!is_first)] += 1;
        }
    }
    found.map(|mut found| {
        sort_by(&mut found, Ord::cmp);
        found
    })
}

fn compared(a: &StepKind, b: &StepKind) -> Ordering {
    (&a.phase, a.batch).cmp(&(&b.phase, b.batch))
}

fn are_near(a: Option<i64>, b: Option<i64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.abs_diff(b) as f64 <= NEAR * a.max(b) as f64,
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(all: &[(&str, i64, i64)]) -> Vec<StepKind> {
        let kind = |&(phase, batch, tokens): &(&str, i64, i64)| StepKind {
            phase: phase.into(),
            batch: Some(batch),
            tokens: Some(tokens),
        };
        all.iter().map(kind).collect()
    }

    #[test]
    fn iterations_are_paired_by_phase_requests_and_tokens() {
        let a = kinds(&[
            ("prefill", 1, 1000),
            ("decode", 8, 8),
            ("decode", 8, 8),
            ("decode", 9, 9),
            ("prefill", 1, 500),
        ]);
        let b = kinds(&[
            ("decode", 8, 8),
            ("prefill", 1, 1040),
            ("decode", 10, 10),
            ("prefill", 2, 500),
            ("prefill", 1, 700),
        ]);
        assert_eq!(pairs([&a, &b]), [alloc::vec![0, 1], alloc::vec![0, 1]]);
        assert_eq!(pairs([&a, &a]), [(0..5).collect::<Vec<_>>(), (0..5).collect::<Vec<_>>()]);
        assert_eq!(pairs([&a, &[]]), [Vec::<usize>::new(), Vec::new()]);
    }
}
