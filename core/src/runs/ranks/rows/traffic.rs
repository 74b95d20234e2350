//! Rows about process groups and their collectives.

use super::late::stated;
use super::shared_columns::{
    BYTES, COST, COUNT, DESCRIPTION, GROUP_NAME, MATCHED, RANKS, STEP_NUMBER, USUAL_TRANSFER, WAITED,
};
use super::{RowKind, mostly, numbers};
use crate::analysis::device::operation::Operation;
use crate::base::rows::{Column, RowsOfKinds, Shape, columns};
use crate::runs::ranks::bandwidth::{SlowLink, Traffic};
use crate::runs::ranks::calls::Group;
use crate::runs::ranks::findings::{Filter, Findings};
use crate::runs::ranks::matching::{Matched, MatchedBy, call};
use crate::runs::ranks::phases::Phase;
use crate::runs::ranks::structure::{GroupUse, Parallelism};
use crate::runs::ranks::waits::Waits;

/// The column of the kind of collective.
const OPERATION: Column = Column::word("name", "Name", &Operation::VOCABULARY, "The collective.");

/// Adds the groups whose transfers are slow.
pub(super) fn push_slow_links(findings: &Findings<'_>, filter: Filter, rows: &mut RowsOfKinds) {
    for link in &findings.slow_links {
        if findings.traffic[link.traffic].ranks.iter().any(|&rank| filter.has_rank(rank)) {
            rows.push(RowKind::SlowLink.as_str(), slow_link(findings, link));
        }
    }
}

/// Adds the process groups, then what they transferred.
pub(super) fn push_groups(findings: &Findings<'_>, rows: &mut RowsOfKinds) {
    let groups = findings.process_groups.iter().zip(&findings.groups);
    for (process_group, used) in groups.filter(|(_, used)| used.matched > 0) {
        rows.push(RowKind::Group.as_str(), group(process_group, used));
    }
    for traffic in &findings.traffic {
        rows.push(RowKind::Bandwidth.as_str(), bandwidth(findings, traffic));
    }
}

/// Adds the collectives.
pub(super) fn push_collectives(findings: &Findings<'_>, filter: Filter, rows: &mut RowsOfKinds) {
    let run = findings.run;
    for (matched, waits) in findings.matched.iter().zip(&findings.waits) {
        let has_rank =
            matched.calls.iter().any(|place| filter.has_rank(run.members[place.member as usize].rank));
        let step = findings.table.step_of(run, matched);
        if has_rank && (filter.step.is_none() || (findings.table.has_steps && step == filter.step)) {
            rows.push(RowKind::Collective.as_str(), collective(findings, matched, waits, step));
        }
    }
}

columns! {
    pub(super) const SLOW_LINK: fn slow_link(findings: &Findings<'_>, link: &SlowLink) {
        let traffic = &findings.traffic[link.traffic];
        let group = &findings.process_groups[traffic.group as usize];
    } [
        RANKS => numbers(traffic.ranks.iter().copied()),
        GROUP_NAME => group.name.as_str(),
        DESCRIPTION => stated(&group.description),
        OPERATION => traffic.operation.as_str(),
        BYTES => traffic.bytes,
        COUNT => traffic.count,
        COST => link.cost_ns,
        USUAL_TRANSFER => traffic.usual_ns,
        Column::ns("others_transfer_ns", "", "The median transfer of the same kind and size in other groups.") =>
            link.others_ns,
    ]
}

columns! {
    pub(super) const GROUP: fn group(group: &Group, used: &GroupUse) [
        RANKS => numbers(used.ranks.iter().copied()),
        GROUP_NAME => group.name.as_str(),
        DESCRIPTION => stated(&group.description),
        Column::word("parallelism", "", &Parallelism::VOCABULARY, "What the process group is for.") =>
            used.parallelism.as_str(),
        Column::bool("stated", "", "Whether the description of the group states its parallelism; otherwise it is inferred from its traffic.") =>
            used.is_stated,
        MATCHED => used.matched,
        BYTES => used.bytes,
    ]
}

columns! {
    pub(super) const BANDWIDTH: fn bandwidth(findings: &Findings<'_>, traffic: &Traffic) {
        let group = &findings.process_groups[traffic.group as usize];
    } [
        RANKS => numbers(traffic.ranks.iter().copied()),
        GROUP_NAME => group.name.as_str(),
        DESCRIPTION => stated(&group.description),
        OPERATION => traffic.operation.as_str(),
        BYTES => traffic.bytes,
        COUNT => traffic.count,
        Column::int("nodes", "", "The number of machines of the ranks.") => traffic.nodes(findings.run),
        WAITED => traffic.wait_ns,
        USUAL_TRANSFER => traffic.usual_ns,
        Column::rate("bytes_per_second", "B/s", "The algorithm bandwidth: the size divided by the median transfer.")
            .nullable() => traffic.rate(),
        Column::rate("bus_bytes_per_second", "", "The bus bandwidth, by the factors of nccl-tests.").nullable() =>
            traffic.bus_rate(),
    ]
}

columns! {
    pub(super) const COLLECTIVE:
    fn collective(findings: &Findings<'_>, matched: &Matched, waits: &Waits, step: Option<i64>) {
        let run = findings.run;
        let (first, last) = (matched.first(run), matched.calls[waits.last]);
        let group = &findings.process_groups[matched.group as usize];
        let starts = matched.calls.iter().map(|&place| {
            findings.clocks.aligned(place.member as usize, call(run, place).time.0)
        });
        let mut counted = waits.parts.iter().zip(&waits.counted_ns);
    } [
        RANKS => numbers(matched.calls.iter().map(|place| run.members[place.member as usize].rank)),
        GROUP_NAME => group.name.as_str(),
        DESCRIPTION => stated(&group.description),
        Column::int("seq", "Seq", "The number of the collective in its group; null if the traces have none.")
            .nullable() => first.seq.filter(|_| matched.by == MatchedBy::Sequence),
        OPERATION => matched.operation(run).as_str(),
        BYTES.nullable() => first.bytes,
        STEP_NUMBER.nullable() => step,
        Column::unix_ns("start_ns", "", "When the first rank arrived, on the reference clock.") => starts.min(),
        Column::json("wait_ns", "", Shape::Numbers, "The wait of each of the `ranks`, in ns.") =>
            numbers(waits.parts.iter().map(|part| part.0)),
        Column::json("transfer_ns", "", Shape::Numbers, "The transfer of each of the `ranks`, in ns.") =>
            numbers(waits.parts.iter().map(|part| part.1)),
        Column::int("last_rank", "", "The rank that arrived last.") => run.members[last.member as usize].rank,
        Column::word("last_phase", "", &Phase::VOCABULARY, "What that rank mostly did since its previous collective.") =>
            mostly(&call(run, last).doing).as_str(),
        Column::bool("counted", "", "Whether all ranks recorded when the first one arrived; otherwise the waits show when the recordings began.") =>
            counted.all(|(part, &counted)| part.0 == counted),
        Column::word("matched_by", "", &MatchedBy::VOCABULARY, "How the calls of the ranks were matched.") =>
            matched.by.as_str(),
        Column::share("confidence", "", "The share of calls that could be matched; 1 for a sequence number or an id.") =>
            matched.confidence,
    ]
}
