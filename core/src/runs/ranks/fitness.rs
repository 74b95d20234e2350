//! What the traces of a run cannot answer, or not completely: the verdicts of each trace, grouped.

use super::run::Run;
use super::summary::Fitness;
use crate::analysis::overview::fitness::Verdict;
use crate::analysis::query::question::Question;
use crate::base::order::{descending, sort_by_key};
use alloc::string::String;
use alloc::vec::Vec;

/// A verdict that several ranks have for the same reason.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shared<'a> {
    pub(crate) question: Question,
    pub(crate) verdict: Verdict,
    /// The reasons; the numbers in them are those of the first rank.
    pub(crate) because: &'a str,
    /// The ranks, in order.
    pub(crate) ranks: Vec<i64>,
}

/// Returns the verdicts that are not good, in the order of the questions, the most serious first. Those about communication
/// are left out: a single trace lacks the other ranks, a run has them.
pub(crate) fn shared(run: &Run) -> Vec<Shared<'_>> {
    let mut all: Vec<(String, Shared<'_>)> = Vec::new();
    for member in &run.members {
        let verdicts = member.windows.iter().flat_map(|window| &window.fitness);
        for fitness in verdicts.filter(|fitness| is_shown(fitness)) {
            let reason = without_numbers(&fitness.because);
            let same = |known: &&mut (String, Shared<'_>)| {
                known.1.question == fitness.question
                    && known.1.verdict == fitness.verdict
                    && known.0 == reason
            };
            match all.iter_mut().find(same) {
                Some((_, known)) if known.ranks.last() == Some(&member.rank) => {}
                Some((_, known)) => known.ranks.push(member.rank),
                None => {
                    let Fitness { question, verdict, because } = fitness;
                    let ranks = [member.rank].into();
                    all.push((reason, Shared { question: *question, verdict: *verdict, because, ranks }));
                }
            }
        }
    }
    sort_by_key(&mut all, |(_, shared)| (shared.question as i64, descending(shared.verdict as i64)));
    all.into_iter().map(|(_, shared)| shared).collect()
}

fn is_shown(fitness: &Fitness) -> bool {
    fitness.verdict != Verdict::Good && fitness.question != Question::Communication
}

fn without_numbers(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::ranks::summary::Summary;
    use alloc::vec;

    fn summary(rank: i64, verdict: Verdict, because: &str) -> Summary {
        let of = |question| Fitness { question, verdict, because: because.into() };
        Summary {
            rank: Some(rank),
            time: (0, 9),
            events: 1,
            fitness: vec![of(Question::Communication), of(Question::Idle)],
            ..Summary::default()
        }
    }

    #[test]
    fn ranks_with_one_reason_are_one_row() {
        let run = Run::new(
            [
                summary(0, Verdict::Limited, "3 launches have no device work"),
                summary(1, Verdict::Good, ""),
                summary(2, Verdict::Limited, "41 launches have no device work"),
                summary(3, Verdict::Unfit, "no work of a device was recorded"),
            ],
            Vec::new(),
        );
        let found = shared(&run);
        let brief: Vec<(Verdict, &[i64])> =
            found.iter().map(|shared| (shared.verdict, shared.ranks.as_slice())).collect();
        assert_eq!(brief, [(Verdict::Unfit, &[3][..]), (Verdict::Limited, &[0, 2][..])]);
        assert_eq!(found[1].because, "3 launches have no device work");
    }
}
