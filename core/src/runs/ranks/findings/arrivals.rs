//! What is known about late ranks if none is late in one phase: the ranks that arrive last at collectives more often than
//! by chance, or why nothing is known.

use super::Findings;
use crate::base::order::{descending, sort_by_key};
use crate::base::units::{counted, time_ns};
use crate::runs::ranks::evidence::evidence;
use crate::runs::ranks::matching::MatchedBy;
use crate::runs::ranks::phases::Phase;
use crate::runs::ranks::run::{Note, NoteCode};
use crate::runs::ranks::step_table::median;
use crate::runs::ranks::stragglers::RECURS;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The largest probability that a rank of the run is last so often by chance.
const LEVEL: f64 = 0.01;

/// The share of the steps by which a rank is later than the others, from which on it matters.
const LARGE: f64 = 0.03;

/// The most ranks with a note.
const MOST: usize = 4;

/// The arrivals of one rank at collectives. Messages are left out: a stage of a pipeline waits for the one before.
#[derive(Clone, Copy, Default)]
struct Arrivals {
    member: usize,
    count: usize,
    last: usize,
    /// How many times it is last on average, if each rank is last equally often.
    expected: f64,
    /// How much later than the median of the others it arrived, in all.
    late_ns: i64,
}

/// Returns the notes about the arrivals of a run without a late rank; none if no rank is last more often than by chance.
pub(super) fn notes(findings: &Findings<'_>, is_divided: bool) -> Vec<Note> {
    if let Some(why) = unknown(findings, is_divided) {
        let message = format!("cannot tell whether a rank is late: {why}");
        return vec![Note::new(NoteCode::LatenessUnknown, message)];
    }
    let mut late: Vec<Arrivals> = arrivals(findings);
    late.retain(|arrivals| {
        let wall_ns = findings.ranks[arrivals.member].wall_ns;
        arrivals.late_ns as f64 > wall_ns as f64 * LARGE
            && arrivals.chance() * (findings.run.members.len() as f64) < LEVEL
    });
    sort_by_key(&mut late, |arrivals| (descending(arrivals.late_ns), arrivals.member as i64));
    let note = |arrivals: &Arrivals| Note::new(NoteCode::ArrivesLast, arrivals.text(findings));
    late.iter().take(MOST).map(note).collect()
}

fn arrivals(findings: &Findings<'_>) -> Vec<Arrivals> {
    let ranks = findings.run.members.len();
    let mut all: Vec<Arrivals> =
        (0..ranks).map(|member| Arrivals { member, ..Arrivals::default() }).collect();
    let collectives = findings.matched.iter().zip(&findings.waits);
    for (collective, waits) in collectives.filter(|(collective, _)| collective.by != MatchedBy::Pair) {
        let chance = 1.0 / collective.calls.len().max(1) as f64;
        for (at, place) in collective.calls.iter().enumerate() {
            let arrivals = &mut all[place.member as usize];
            arrivals.count += 1;
            arrivals.last += usize::from(waits.last == at);
            arrivals.expected += chance;
            arrivals.late_ns = arrivals.late_ns.saturating_add(waits.late_ns[at]);
        }
    }
    all
}

impl Arrivals {
    /// An upper bound of the probability of being last so often by chance (Hoeffding 1963, theorem 1).
    fn chance(&self) -> f64 {
        let count = self.count as f64;
        let (share, expected) = (self.last as f64 / count.max(1.0), self.expected / count.max(1.0));
        if share <= expected {
            return 1.0;
        }
        let term = |share: f64, expected: f64| {
            if share > 0.0 { share * libm::log(share / expected) } else { 0.0 }
        };
        libm::exp(-count * (term(share, expected) + term(1.0 - share, 1.0 - expected)))
    }

    /// The phase in which the rank has most beyond the median of the others.
    fn phase(&self, findings: &Findings<'_>) -> (Phase, i64) {
        let excess = |phase: Phase| {
            let times = findings.ranks.iter().map(|rank| rank.phases[phase as usize]);
            let own = findings.ranks[self.member].phases[phase as usize];
            let others = times.enumerate().filter(|(at, _)| *at != self.member).map(|(_, ns)| ns);
            (phase, own - median(others.collect()))
        };
        Phase::OWN.map(excess).into_iter().max_by_key(|excess| excess.1).unwrap_or((Phase::Other, 0))
    }

    fn text(&self, findings: &Findings<'_>) -> String {
        let (phase, more_ns) = self.phase(findings);
        let why = if more_ns.saturating_mul(2) >= self.late_ns {
            format!("{} more of {}", time_ns(more_ns, None), phase.label())
        } else {
            evidence(findings.run, self.member, self.late_ns)
        };
        format!(
            "rank {} arrived last at {} of {}, in all {} later than the median of the others; {why}",
            findings.run.members[self.member].rank,
            self.last,
            counted(self.count, "collective"),
            time_ns(self.late_ns, None)
        )
    }
}

/// Why lateness cannot be known.
fn unknown(findings: &Findings<'_>, is_divided: bool) -> Option<String> {
    let steps = findings.table.numbers.len();
    if findings.run.members.len() < 2 {
        Some("there is one rank".into())
    } else if findings.matched.is_empty() {
        Some("no collective of one rank could be matched with that of another".into())
    } else if steps < RECURS && !is_divided {
        let steps = if findings.table.has_steps { counted(steps, "step") } else { "no steps".into() };
        let matched = counted(findings.matched.len(), "matched collective");
        Some(format!("{steps} and {matched} do not show what recurs"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chance(count: usize, last: usize, expected: f64) -> f64 {
        Arrivals { count, last, expected, ..Arrivals::default() }.chance()
    }

    #[test]
    fn the_bound_is_above_the_probability() {
        // Of 16 fair coins, 15 or 16 show heads with 17 / 65,536.
        let bound = chance(16, 15, 8.0);
        assert!(bound > 17.0 / 65_536.0 && bound < 0.001, "{bound}");
        // All of 10, each with 1 / 4.
        assert!((chance(10, 10, 2.5) - libm::pow(0.25, 10.0)).abs() < 1e-12);
        assert!(chance(16, 8, 8.0) >= 1.0 && chance(0, 0, 0.0) >= 1.0);
    }
}
