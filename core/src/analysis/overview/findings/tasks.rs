//! The finding about polls that block.

use super::{Finding, FindingCode};
use crate::analysis::tasks::Tasks;
use crate::base::units::{counted, time_ns};
use crate::trace::Trace;
use crate::trace::table::events::Row;
use alloc::format;
use alloc::vec::Vec;

/// The maximum number of events of the finding.
const EVENTS: usize = 10;

pub(super) fn blocking(out: &mut Vec<Finding>, trace: &Trace) {
    if trace.pairs.asyncs.is_empty() {
        return;
    }
    let tasks = Tasks::new(trace);
    let polls = tasks.blocking();
    let Some(&longest) = polls.first() else { return };
    let length = |time: (i64, i64)| time.1 - time.0;
    let sum = polls.iter().fold(0i64, |sum, &poll| sum.saturating_add(length(tasks.time(poll))));
    let message = format!(
        "{} of asynchronous tasks took more than 1 ms, the longest {} in `{}`",
        counted(polls.len(), "poll"),
        time_ns(length(tasks.time(longest)), None),
        trace.table.name(trace.tree.row(longest)),
    );
    let advice =
        "other tasks of the thread wait meanwhile: move the work to `spawn_blocking`, or yield in between";
    let events: Vec<Row> = polls.iter().take(EVENTS).map(|&poll| trace.tree.row(poll)).collect();
    out.push(Finding::new(FindingCode::BlockingPolls, sum, message, advice).shown_by("tasks", events));
}
