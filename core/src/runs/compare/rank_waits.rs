//! How long the ranks of a run wait for each other, and for whom.

use super::kinds::RowKind;
use super::lines::Line;
use super::measure::Both;
use super::statistics::mean;
use crate::base::units::time_ns;
use crate::runs::ranks::findings::Findings;
use crate::runs::ranks::run::{Run, ranks_text};
use crate::runs::ranks::step_table::Cell;
use crate::runs::ranks::stragglers::Straggler;
use crate::runs::ranks::summary::Summary;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The waits of a run.
struct RankWaits {
    /// The mean wait of the ranks in each step, in ns.
    steps: Vec<f64>,
    /// Who is late, and in which phase.
    late: Option<String>,
}

/// Adds the line of the waits, and says of the lines about collectives whether the waits explain them.
pub(super) fn add(lines: &mut Vec<Line>, summaries: Both<Vec<Summary>>) {
    if let [Some(a), Some(b)] = summaries.map(rank_waits) {
        let wait = wait(&a, &b);
        explain(lines, &wait);
        lines.push(wait);
    }
}

/// Returns the waits of a run; `None` of a single rank, and without collectives that several ranks have.
fn rank_waits(summaries: Vec<Summary>) -> Option<RankWaits> {
    if summaries.len() < 2 {
        return None;
    }
    let run = Run::new(summaries, Vec::new());
    let findings = Findings::new(&run);
    if findings.matched.is_empty() {
        return None;
    }
    let of_step = |cells: &Vec<Option<Cell>>| {
        let waits: Vec<f64> = cells.iter().flatten().map(|cell| cell.wait_ns as f64).collect();
        mean(&waits)
    };
    let late = late(&run, &findings.stragglers);
    Some(RankWaits { steps: findings.table.cells.iter().map(of_step).collect(), late })
}

/// Says who is late: one rank if it costs at least half of what all late ranks cost.
fn late(run: &Run, stragglers: &[Straggler]) -> Option<String> {
    let first = stragglers.first()?;
    let all: i64 = stragglers.iter().fold(0, |sum, straggler| sum.saturating_add(straggler.cost_ns));
    if first.cost_ns >= all / 2 {
        let rank = run.members[first.member].rank;
        return Some(format!("rank {rank} is late in the phase {}", first.phase.label()));
    }
    let mut ranks: Vec<i64> = stragglers.iter().map(|straggler| run.members[straggler.member].rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    Some(format!("{} are late, none of them most of the time", ranks_text(&ranks)))
}

fn wait(a: &RankWaits, b: &RankWaits) -> Line {
    Line {
        samples: [a.steps.clone(), b.steps.clone()],
        values: [a, b].map(|waits| libm::rint(mean(&waits.steps)) as i64),
        about: match (&a.late, &b.late) {
            (None, None) => None,
            (None, Some(late)) => Some(late.clone()),
            (Some(late), None) => Some(format!("{late} in the first run only")),
            (Some(a), Some(b)) if a == b => Some(format!("{a} in both runs")),
            (Some(a), Some(b)) => Some(format!("{b}; in the first run, {a}")),
        },
        ..Line::new(RowKind::Wait, "waiting for other ranks")
    }
}

/// The smallest share of the change of a line that a change of the waits explains.
const EXPLAINS: f64 = 0.25;

/// Returns a sentence about the line of the waits, without a period.
pub(super) fn text(wait: &Line) -> String {
    let [a, b] = wait.values.map(|ns| time_ns(ns, None));
    let late = wait.about.as_ref().map(|late| format!("{late}; ")).unwrap_or_default();
    format!("{late}a rank waits {b} a step for others in its collectives instead of {a}, on average")
}

/// Says of the lines about collectives how long the ranks wait for each other, if that explains their change.
fn explain(lines: &mut [Line], wait: &Line) {
    let text = text(wait);
    let explained = wait.contribution() as f64;
    for line in lines.iter_mut().filter(|line| line.is_of_collectives()) {
        let change = line.contribution() as f64;
        if explained * change > 0.0 && explained.abs() >= change.abs() * EXPLAINS {
            line.about = Some(text.clone());
        }
    }
}
