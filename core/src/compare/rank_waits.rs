//! How long the ranks of a run wait for each other, and for whom.

use crate::ranks::findings::Findings;
use crate::ranks::phases::sum;
use crate::ranks::run::Run;
use crate::ranks::summary::Summary;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The waits of a run.
#[derive(Clone, Debug)]
pub(super) struct RankWaits {
    /// The mean wait of the ranks in each step, in ns.
    pub(super) steps: Vec<f64>,
    /// Who is late, and in which phase.
    pub(super) late: Option<String>,
}

/// Returns the waits of a run; `None` of a single rank, and without collectives that several ranks have.
pub(super) fn rank_waits(summaries: Vec<Summary>) -> Option<RankWaits> {
    if summaries.len() < 2 {
        return None;
    }
    let run = Run::new(summaries, Vec::new());
    let findings = Findings::of(&run);
    if findings.matched.is_empty() {
        return None;
    }
    let mean = |cells: &Vec<Option<_>>| {
        let waits: Vec<i64> =
            cells.iter().flatten().map(|cell: &crate::ranks::step_table::Cell| cell.wait_ns).collect();
        sum(&waits) as f64 / waits.len().max(1) as f64
    };
    let late = findings.stragglers.first().map(|one| {
        format!("rank {} is late in the phase {}", run.members[one.member].rank, one.phase.as_str())
    });
    Some(RankWaits { steps: findings.table.cells.iter().map(mean).collect(), late })
}
