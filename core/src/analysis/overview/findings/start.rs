//! Findings about the beginning of a run: first uses, and captures of CUDA graphs.

use super::{Facts, Finding, FindingCode, SHOWN, percent, place, share, threshold};
use crate::analysis::device::idle::{Capture, Cause};
use crate::analysis::intervals::Intervals;
use crate::base::names::{ByName, NameId};
use crate::base::order::{descending, sort_by_key};
use crate::base::units::{counted, time_ns};
use crate::trace::link::graphs_of;
use crate::trace::table::category::Category;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What helps against a cold start.
const WARM_UP: &str = "warm up before the recording, or skip the first steps with torch.profiler.schedule(wait=1, warmup=1, active=3)";

/// Adds the findings.
pub(super) fn start(out: &mut Vec<Finding>, facts: &Facts<'_>) {
    out.extend(cold_start(facts).or_else(|| cold_iteration(facts)));
    out.extend(capture(facts));
}

/// Calls that create contexts or load code.
fn cold_start(facts: &Facts<'_>) -> Option<Finding> {
    let table = facts.table();
    let mut calls = facts.first_uses.to_vec();
    let times = calls.iter().map(|&row| (table.ts(row), table.end(row))).collect();
    let ns = Intervals::union_of(times).length();
    sort_by_key(&mut calls, |&row| (descending(table.dur(row)), i64::from(row)));
    let &longest = calls.first()?;
    if share(ns, facts.wall_ns) < threshold::EFFECT {
        return None;
    }
    let message = format!(
        "{} of a first use took {} ({} of wall), the longest {} in `{}`: a context is created, or the code of kernels is loaded",
        counted(calls.len(), "call"),
        time_ns(ns, None),
        percent(ns, facts.wall_ns),
        time_ns(table.dur(longest), None),
        table.name(longest)
    );
    let finding = Finding::new(FindingCode::ColdStart, ns, message, WARM_UP).caused_by(Cause::ColdStart);
    calls.truncate(SHOWN);
    Some(finding.shown_by(&place(facts.analysis.trace, longest), calls))
}

/// The number of iterations from which on the first can be compared, how many times as long as the median it takes, and the share
/// of the wall time that it takes longer.
const ITERATIONS: usize = 3;
const COLD_RATIO: i64 = 3;
const COLD_SHARE: f64 = 0.1;

/// In a trace without steps, the first of several annotated ranges with the same name took much longer than the others.
fn cold_iteration(facts: &Facts<'_>) -> Option<Finding> {
    let table = facts.table();
    if !facts.analysis.steps().is_empty() {
        return None;
    }
    let is_range = |row: &Row| {
        table.category(*row) == Category::UserAnnotation
            && table.is_span(*row)
            && !table.name(*row).starts_with("Optimizer.")
    };
    let is_long = |row: &Row| share(table.dur(*row), facts.wall_ns) >= COLD_SHARE;
    let mut names: Vec<NameId> = table
        .rows_of(Category::UserAnnotation)
        .filter(|row| is_range(row) && is_long(row))
        .map(|row| table.name_id(row))
        .collect();
    sort_by_key(&mut names, |name| (i64::from(name.0), 0));
    names.dedup();
    let mut ranges: ByName<Vec<Row>> = ByName::default();
    for row in table
        .rows_of(Category::UserAnnotation)
        .filter(|row| is_range(row) && names.binary_search(&table.name_id(*row)).is_ok())
    {
        ranges.entry(table.name_id(row)).push(row);
    }
    let excess = |(_, mut rows): (NameId, Vec<Row>)| {
        let &first = rows.iter().min_by_key(|&&row| table.ts(row))?;
        rows.retain(|&row| row != first);
        let mut others: Vec<i64> = rows.iter().map(|&row| table.dur(row)).collect();
        let middle = others.len() / 2;
        let median = *others
            .get_mut(..)
            .filter(|others| others.len() + 1 >= ITERATIONS)?
            .select_nth_unstable(middle)
            .1;
        let is_cold = table.dur(first) >= median.saturating_mul(COLD_RATIO);
        is_cold.then_some((table.dur(first) - median, median, first))
    };
    let (ns, median, first) =
        ranges.into_entries().into_iter().filter_map(excess).max_by_key(|cold| cold.0)?;
    if share(ns, facts.wall_ns) < COLD_SHARE {
        return None;
    }
    let message = format!(
        "the first range `{}` took {}, half of the others at most {}",
        table.name(first),
        time_ns(table.dur(first), None),
        time_ns(median, None)
    );
    let finding = Finding::new(FindingCode::ColdStart, ns, message, WARM_UP);
    Some(finding.shown_by(&place(facts.analysis.trace, first), [first].into()))
}

/// Captures of CUDA graphs, in which nothing runs.
fn capture(facts: &Facts<'_>) -> Option<Finding> {
    let captures: Vec<Capture> = facts.host.captures().copied().collect();
    let ns = Intervals::union_of(captures.iter().map(|capture| capture.time).collect()).length();
    if share(ns, facts.wall_ns) < threshold::EFFECT {
        return None;
    }
    let own_ns = captures.iter().fold(0i64, |sum, capture| sum.saturating_add(capture.own_ns));
    let around = if own_ns >= ns {
        String::new()
    } else {
        format!(", {} with the operators around them", time_ns(ns, None))
    };
    let message = format!(
        "{} of {} took {}{around} ({} of wall): what is launched in a capture does not run",
        counted(captures.iter().map(|capture| capture.count).sum(), "capture"),
        graphs_of(&facts.analysis.trace.table.names),
        time_ns(own_ns, None),
        percent(ns, facts.wall_ns)
    );
    let advice = "record launches of the graph to see its work: capture before the recording";
    let finding = Finding::new(FindingCode::GraphCapture, ns, message, advice);
    let rows = captures.iter().take(SHOWN).map(|capture| capture.begin).collect();
    Some(finding.shown_by("launches", rows))
}
