//! Rows about ranks and steps.

use super::RowKind;
use super::late::stated;
use super::shared_columns::{
    BACKWARD, COMMUNICATION, DATA_LOADING, FORWARD, HOST, LATE, MATCHED, OPTIMIZER, OTHER, OWN, PHASE,
    RANK_NUMBER, STEP_NUMBER, WAITED, WALL,
};
use crate::base::rows::{Column, RowsOfKinds, columns};
use crate::runs::ranks::findings::{Filter, Findings, RankSum};
use crate::runs::ranks::phases::{Phase, own_work};
use crate::runs::ranks::run::Member;
use crate::runs::ranks::step_table::{Cell, StepTable, known};

/// Adds the sums of the ranks.
pub(super) fn push_ranks(findings: &Findings<'_>, filter: Filter, rows: &mut RowsOfKinds) {
    for (member, sum) in findings.run.members.iter().zip(&findings.ranks) {
        if filter.has_rank(member.rank) {
            rows.push(RowKind::Rank.as_str(), rank(member, sum));
        }
    }
}

/// Adds the steps, each with its ranks.
pub(super) fn push_steps(findings: &Findings<'_>, filter: Filter, rows: &mut RowsOfKinds) {
    let table = &findings.table;
    for (cells, &number) in table.cells.iter().zip(&table.numbers).filter(|(_, step)| filter.has_step(**step))
    {
        rows.push(RowKind::Step.as_str(), step(findings, cells, number));
        for (at, cell) in known(cells) {
            let rank = findings.run.members[at].rank;
            if filter.has_rank(rank) {
                rows.push(RowKind::RankStep.as_str(), rank_step(rank, number, cell));
            }
        }
    }
}

columns! {
    pub(super) const RANK: fn rank(member: &Member, sum: &RankSum) {
        let devices = || member.windows.iter().flat_map(|window| &window.devices);
        let has_device = devices().next().is_some();
        let of_devices = |ns: i64| has_device.then_some(ns);
        let memory = member.windows.iter().flat_map(|window| &window.memory);
        let phases = &sum.phases;
    } [
        RANK_NUMBER => member.rank,
        HOST.nullable() => stated(member.host()),
        Column::text("trace", "", "The first trace of the rank.") =>
            member.windows.first().map(|window| window.source.as_str()),
        Column::int("windows", "", "The number of recordings of the rank.") => member.windows.len(),
        Column::int("class", "", "The number of the class of ranks that behave alike.") => sum.class,
        WALL => sum.wall_ns,
        DATA_LOADING => phases[Phase::DataLoading as usize],
        FORWARD => phases[Phase::Forward as usize],
        BACKWARD => phases[Phase::Backward as usize],
        OPTIMIZER => phases[Phase::Optimizer as usize],
        COMMUNICATION => phases[Phase::Communication as usize],
        OTHER => phases[Phase::Other as usize],
        OWN => own_work(phases),
        WAITED => sum.wait_ns,
        LATE => sum.late_ns,
        Column::int("last", "", "The number of collectives in which the rank arrived last.") => sum.last,
        MATCHED => sum.matched,
        Column::share("bubble", "", "Of a stage of a pipeline: the share of its steps in which it only communicated: it waited for other stages, or sent and received.")
            .nullable() => sum.bubble(),
        Column::ns("exposed_communication_ns", "", "The time in which its devices only communicated; null without devices.")
            .nullable() => of_devices(devices().map(|device| device.exposed_communication_ns).sum()),
        Column::ns("idle_ns", "", "The idle time of its devices; null without devices.").nullable() =>
            of_devices(devices().map(|device| device.idle_ns).sum()),
        Column::bytes("peak_bytes", "", "The largest peak of allocated memory of its devices; null if it was not recorded.")
            .nullable() => memory.map(|memory| memory.peak_bytes).max(),
        Column::ns("start_skew_ns", "", "How much later than the first rank it began to record.") =>
            sum.start_skew_ns,
    ]
}

columns! {
    pub(super) const STEP: fn step(findings: &Findings<'_>, cells: &[Option<Cell>], number: i64) {
        let imbalance = StepTable::imbalance(cells);
        let longest = known(cells).map(|(_, cell)| cell.time.1 - cell.time.0).max();
    } [
        STEP_NUMBER => number,
        WALL => longest.unwrap_or(0),
        WAITED => known(cells).map(|(_, cell)| cell.wait_ns).sum::<i64>(),
        RANK_NUMBER.nullable() => imbalance.map(|imbalance| findings.run.members[imbalance.member].rank),
        PHASE.nullable() => imbalance.map(|imbalance| imbalance.phase.as_str()),
        Column::share("imbalance", "", "The largest own work of a rank beyond the median of all ranks, as a share of the median.")
            .nullable() => imbalance.map(|imbalance| imbalance.share),
    ]
}

columns! {
    pub(super) const RANK_STEP: fn rank_step(rank: i64, step: i64, cell: Cell) {
        let phases = &cell.phases;
    } [
        RANK_NUMBER => rank,
        STEP_NUMBER => step,
        WALL => cell.time.1 - cell.time.0,
        DATA_LOADING => phases[Phase::DataLoading as usize],
        FORWARD => phases[Phase::Forward as usize],
        BACKWARD => phases[Phase::Backward as usize],
        OPTIMIZER => phases[Phase::Optimizer as usize],
        COMMUNICATION => phases[Phase::Communication as usize],
        OTHER => phases[Phase::Other as usize],
        OWN => own_work(phases),
        LATE => cell.late_ns,
        WAITED => cell.wait_ns,
    ]
}
