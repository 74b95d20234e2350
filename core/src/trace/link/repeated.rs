//! Ids that several calls or operators have: which of them started a piece of device work.
//!
//! Correlation and external ids repeat in merged traces, after a counter wrapped, and after a context was created again. Among the
//! events with the id of the work, those that remain after each rule are taken:
//!
//! 1. Events of the processes that start the work of its device ([`Processes`]).
//! 2. Events with the external id of the work, if there are any; if only other processes have some, theirs.
//! 3. The latest that began before the work, else the earliest.
//!
//! An event within another one of the same track is left out: a call of the runtime contains that of the driver. Calls that start
//! no work, such as waits, are left out if there are others.
//!
//! The choice is undecided if the process was guessed, or if another event has no work and one of these holds:
//!
//! - It remains before the third rule and began before the work, and the chosen one has several pieces or belongs to another process.
//! - It remains before the third rule, and the chosen one began after the work.
//! - It can start work and began before the work, and the chosen one has several pieces.

use super::processes::Processes;
use super::{ById, is_launch_name};
use crate::base::names::NameId;
use crate::base::order::{descending, sort_by_key};
use crate::base::time;
use crate::trace::table::category::Category;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::Key;
use alloc::vec;
use alloc::vec::Vec;

/// Device work whose id several events have.
#[derive(Default)]
pub(super) struct Repeated {
    /// The work with the event that started it, sorted by the work.
    pub(super) chosen: Vec<(Row, Row)>,
    /// Work for which another event is as likely.
    pub(super) undecided: Vec<Row>,
}

/// Chooses for the work, which comes with its ids, among the events that have the same id.
pub(super) fn resolve(table: &Table, sources: &ById, mut work: Vec<(i64, Row)>) -> Repeated {
    let mut repeated = Repeated::default();
    if work.is_empty() || !sources.has_repeats() {
        return repeated;
    }
    sort_by_key(&mut work, |&(id, row)| (id, i64::from(row)));
    let processes = Processes::new(table, sources, &work);
    let launches = table.names.that(is_launch_name);
    let can_start = |row: Row| table.category(row) == Category::CpuOp || launches.has(table.name_id(row));
    for work in work.chunk_by(|a, b| a.0 == b.0) {
        let events = &sources.0[sources.range(work[0].0)];
        if events.len() > 1 {
            Group::new(table, events, can_start).resolve(&processes, work, &mut repeated);
        }
    }
    sort_by_key(&mut repeated.chosen, |&(row, _)| (i64::from(row), 0));
    sort_by_key(&mut repeated.undecided, |&row| (i64::from(row), 0));
    repeated
}

/// An event that may have started work.
#[derive(Clone, Copy)]
struct Source {
    pid: NameId,
    external: i64,
    begin: i64,
    row: Row,
}

impl Source {
    fn by_external(&self) -> (i64, i64, i64) {
        (i64::from(self.pid.0), self.external, self.begin)
    }

    fn by_process(&self) -> (i64, i64) {
        (i64::from(self.pid.0), self.begin)
    }

    fn by_time(&self) -> (i64, Row) {
        (self.begin, self.row)
    }
}

/// The events with one id.
struct Group<'a> {
    table: &'a Table,
    /// Whether they can start work; otherwise none of them can.
    can_start_work: bool,
    /// Sorted by process, external id and time.
    by_external: Vec<Source>,
    /// Sorted by process and time.
    by_process: Vec<Source>,
    pids: Vec<NameId>,
}

/// What was chosen for a piece of work.
struct Choice {
    work: Row,
    source: Row,
    guessed: bool,
    /// The sources that the first two rules left: a process with an external id if it counted.
    from: Vec<(NameId, Option<i64>)>,
}

impl<'a> Group<'a> {
    /// `can_start` is whether an event can start device work: a launch, or an operator.
    fn new(table: &'a Table, events: &[(i64, Row)], can_start: impl Fn(Row) -> bool) -> Self {
        let source = |row: Row| Source {
            pid: table.track(row).pid,
            external: external(table, row).unwrap_or(i64::MIN),
            begin: table.ts(row),
            row,
        };
        let mut rows = outermost(table, events);
        // Other calls than launches are among them only if there are no launches.
        let can_start_work = rows.iter().any(|&row| can_start(row));
        if can_start_work {
            rows.retain(|&row| can_start(row));
        }
        let mut by_process: Vec<Source> = rows.into_iter().map(source).collect();
        // The sort is stable, so that later keys are sorted first.
        sort_by_key(&mut by_process, |source| (i64::from(source.row), 0));
        sort_by_key(&mut by_process, Source::by_process);
        let mut by_external = by_process.clone();
        sort_by_key(&mut by_external, |source| (i64::from(source.pid.0), source.external));
        let mut pids: Vec<NameId> = by_process.iter().map(|source| source.pid).collect();
        pids.dedup();
        Group { table, can_start_work, by_external, by_process, pids }
    }

    fn resolve(&self, processes: &Processes, work: &[(i64, Row)], repeated: &mut Repeated) {
        let choices: Vec<Choice> = work.iter().filter_map(|&(_, row)| self.choose(processes, row)).collect();
        let mut used: Vec<Row> = choices.iter().map(|choice| choice.source).collect();
        sort_by_key(&mut used, |&row| (i64::from(row), 0));
        let unused = self.without(&used);
        let first_launch = unused.first_launch();
        for choice in choices {
            repeated.chosen.push((choice.work, choice.source));
            if choice.guessed || unused.has_alternative(&choice, &used, first_launch) {
                repeated.undecided.push(choice.work);
            }
        }
    }

    /// The events that are not among these.
    fn without(&self, used: &[Row]) -> Group<'a> {
        let left = |sources: &[Source]| -> Vec<Source> {
            sources.iter().filter(|source| used.binary_search(&source.row).is_err()).copied().collect()
        };
        let (by_external, by_process) = (left(&self.by_external), left(&self.by_process));
        Group { table: self.table, by_external, by_process, pids: Vec::new(), ..*self }
    }

    fn choose(&self, processes: &Processes, work: Row) -> Option<Choice> {
        let owners = processes.get(self.table, work);
        let has = |pid: &&NameId| owners.is_some_and(|of| of.pids.contains(pid));
        let mut pids: Vec<NameId> = self.pids.iter().filter(has).copied().collect();
        if pids.is_empty() {
            pids.clone_from(&self.pids);
        }
        let external = external(self.table, work);
        let named = |&pid: &NameId| external.filter(|&id| !self.with(pid, Some(id)).is_empty());
        // A process that shares the device has the external id, if those that were found have not.
        if !pids.iter().any(|pid| named(pid).is_some()) && self.pids.iter().any(|pid| named(pid).is_some()) {
            pids.clone_from(&self.pids);
        }
        let are_named = pids.iter().any(|pid| named(pid).is_some());
        let from: Vec<(NameId, Option<i64>)> =
            pids.iter().map(|pid| (*pid, named(pid))).filter(|of| of.1.is_some() == are_named).collect();
        let begin = self.table.ts(work);
        let latest = from.iter().filter_map(|&(pid, external)| {
            let sources = self.with(pid, external);
            sources[..sources.partition_point(|source| source.begin <= begin)].last()
        });
        let earliest = from.iter().filter_map(|&(pid, external)| self.with(pid, external).first());
        let source = latest.max_by_key(|source| source.by_time());
        let source = source.or_else(|| earliest.min_by_key(|source| source.by_time()))?;
        let is_of_several = owners.is_some_and(|of| of.guessed) && self.pids.len() > 1;
        Some(Choice { work, source: source.row, guessed: is_of_several, from })
    }

    /// The events of a process with an external id, or all of them, by time.
    fn with(&self, pid: NameId, external: Option<i64>) -> &[Source] {
        let pid = i64::from(pid.0);
        if let Some(id) = external {
            let start = self.by_external.partition_point(|s| s.by_external() < (pid, id, i64::MIN));
            let end = self.by_external.partition_point(|s| s.by_external() <= (pid, id, i64::MAX));
            return &self.by_external[start..end];
        }
        let start = self.by_process.partition_point(|s| s.by_process() < (pid, i64::MIN));
        let end = self.by_process.partition_point(|s| s.by_process() <= (pid, i64::MAX));
        &self.by_process[start..end]
    }

    /// The begin of the first event that can start work.
    fn first_launch(&self) -> i64 {
        let begins = self.by_process.iter().map(|source| source.begin);
        begins.min().filter(|_| self.can_start_work).unwrap_or(i64::MAX)
    }

    /// Whether one of these events, which have no work, is as likely as the chosen one.
    fn has_alternative(&self, choice: &Choice, used: &[Row], first_launch: i64) -> bool {
        let times = used.partition_point(|&row| row <= choice.source)
            - used.partition_point(|&row| row < choice.source);
        let source_pid = self.table.track(choice.source).pid;
        let begin = self.table.ts(choice.work);
        let is_early = self.table.ts(choice.source) > begin;
        let mut others = (choice.from.iter().filter(|of| is_early || times > 1 || of.0 != source_pid))
            .filter_map(|&(pid, external)| self.with(pid, external).first());
        (times > 1 && first_launch <= begin) || others.any(|source| is_early || source.begin <= begin)
    }
}

fn external(table: &Table, row: Row) -> Option<i64> {
    table.int(row, Key::ExternalId).filter(|&id| id > 0)
}

/// The events with a start that are not within another one of the same track.
fn outermost(table: &Table, events: &[(i64, Row)]) -> Vec<Row> {
    let mut rows: Vec<Row> =
        events.iter().map(|&(_, row)| row).filter(|&row| table.ts(row) != time::NONE).collect();
    sort_by_key(&mut rows, |&row| (i64::from(row), 0));
    sort_by_key(&mut rows, |&row| (table.ts(row), descending(table.end(row))));
    sort_by_key(&mut rows, |&row| (i64::from(table.track_id(row).0), 0));
    let mut kept: Vec<Row> = vec![];
    for row in rows {
        let within =
            |last: Row| table.track_id(last) == table.track_id(row) && table.end(row) <= table.end(last);
        if !kept.last().is_some_and(|&last| within(last)) {
            kept.push(row);
        }
    }
    kept
}
