//! Tasks as rows.

use super::waits::waits;
use super::{BLOCKING_NS, Tasks};
use crate::analysis::query::Query;
use crate::analysis::query::options::{Opt, ROW_LIMIT, options};
use crate::base::index::Keyed;
use crate::base::names::NameId;
use crate::base::order::{descending, sort_by_key};
use crate::base::rows::{Column, Rows, columns};
use crate::base::words::words;
use crate::trace::Trace;
use crate::trace::table::events::Row;
use crate::trace::tree::Position;
use alloc::vec::Vec;

words! {
    "TasksBy"
    /// What the rows of `tasks` are about.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum TasksBy {
        /// Names of tasks.
        #[default]
        Name = "name",
        /// Single tasks.
        Task = "task",
        /// Names of tasks, and of those that they waited for.
        Wait = "wait",
    }
}

options! {
    /// Options of `tasks`.
    pub struct TasksOptions {
        /// What the rows are about.
        pub by: TasksBy = Opt::word::<TasksBy>("by", "WHAT", "Rows of each `name`, `task`, or `wait`"),
        /// The maximum number of rows; `None` for all.
        pub row_limit: Option<usize> = ROW_LIMIT,
    }
}

/// The query `tasks`.
pub const TASKS: Query = Query::new(
    "tasks",
    "Asynchronous tasks: time in polls, waits and what they waited for",
    COLUMNS,
    |trace, request| Ok(tasks(trace, &request.typed()).into()),
)
.examples(&["run.ktrace", "run.ktrace --by wait --row-limit 20"])
.options::<TasksOptions>()
.hint("no asynchronous spans in this trace; record with the layer for `tracing`");

/// Returns asynchronous tasks, or what they waited for, those with the longest time first.
pub fn tasks(trace: &Trace, options: &TasksOptions) -> Rows {
    task_rows(trace, options.by).first(options.row_limit)
}

columns! {
    /// The columns of the answer.
    pub(crate) const COLUMNS: fn row(trace: &Trace, by: TasksBy, group: &Group) {
        let event = group.longest.map_or(Row::new(0), |(_, row)| row);
        let is_wait = by == TasksBy::Wait;
        let polled = |ns: i64| (group.polls > 0).then_some(ns);
        let waiting = if is_wait { Some(group.waited()) } else { polled(group.polled_ns - group.busy_ns) };
        let on = group.waits.iter().filter(|(name, _)| *name >= 0).max_by_key(|(_, time)| *time);
    } [
        Column::text("name", "Name", "The name of the asynchronous spans.") => trace.table.name(event),
        Column::text("waited_for", "Waited for", "The name of the task that they waited for, the longest in sum; null if that was not recorded.")
            .nullable() => on.map(|&(name, _)| trace.table.names.get(NameId(name as u32))),
        Column::int("count", "Count", "The number of tasks; by `wait`, of waits between two polls.") =>
            group.count,
        Column::ns("life_ns", "Life", "Sum of the times from begin to end; null by `wait`.").nullable() =>
            (!is_wait).then_some(group.life_ns),
        Column::ns("busy_ns", "Busy", "The time in which they ran: their polls; null without polls.")
            .nullable() => polled(group.busy_ns),
        Column::ns("waiting_ns", "Waiting", "The rest of their lives; by `wait`, the waits between two polls; null without polls.")
            .nullable() => waiting,
        Column::ns("wait_max_ns", "Wait max", "The longest wait between two polls; null if there is none.")
            .nullable() => group.wait_max_ns,
        Column::int("polls", "Polls", "The number of polls; null by `wait`.").nullable() =>
            (!is_wait).then_some(group.polls),
        Column::ns("poll_max_ns", "Poll max", "The longest poll; null without polls.").nullable() =>
            group.longest_poll.map(|(length, _)| length),
        Column::int("blocking", "> 1 ms", "The number of polls of more than 1 ms; null by `wait`.")
            .nullable() => (!is_wait).then_some(group.blocking),
        Column::int("event", "", "The index of the begin of the longest task, or of the one with the longest wait.") =>
            event.index(),
        Column::int("poll_event", "", "The index of the longest poll.").nullable() =>
            group.longest_poll.map(|(_, at)| trace.tree.row(at).index()),
    ]
}

/// Tasks, or waits, of one row.
#[derive(Default)]
struct Group {
    count: usize,
    life_ns: i64,
    busy_ns: i64,
    /// The life of tasks with polls.
    polled_ns: i64,
    polls: usize,
    blocking: usize,
    longest: Option<(i64, Row)>,
    longest_poll: Option<(i64, Position)>,
    waits: Vec<(i64, i64)>,
    wait_max_ns: Option<i64>,
}

/// Returns the tasks as rows: those with the longest lives first, or the longest waits.
pub(crate) fn task_rows(trace: &Trace, by: TasksBy) -> Rows {
    let tasks = Tasks::new(trace);
    let mut groups: Keyed<Group> = Keyed::default();
    let name = |task: usize| i64::from(trace.table.name_id(tasks.all[task].begin).0);
    let key = |task: usize, on: i64| match by {
        TasksBy::Name => (name(task), 0),
        TasksBy::Task => (name(task), task as i64),
        TasksBy::Wait => (name(task), on),
    };
    if by != TasksBy::Wait {
        for at in 0..tasks.all.len() {
            groups.entry(key(at, 0)).add(&tasks, at);
        }
    }
    for wait in waits(&tasks) {
        let on = wait.on.map_or(-1, name);
        groups.entry(key(wait.task, on)).add_wait(
            (on, wait.time.1 - wait.time.0),
            by,
            tasks.all[wait.task].begin,
        );
    }
    let mut groups = groups.into_entries();
    sort_by_key(&mut groups, |(_, group)| {
        let time = if by == TasksBy::Wait { group.waited() } else { group.life_ns };
        (descending(time), group.longest.map_or(0, |(_, row)| i64::from(row)))
    });
    Rows::from_cells(COLUMNS, groups.iter().map(|(_, group)| row(trace, by, group)))
}

impl Group {
    fn add(&mut self, tasks: &Tasks<'_>, at: usize) {
        let task = &tasks.all[at];
        let life = task.life.1 - task.life.0;
        self.count += 1;
        self.life_ns = self.life_ns.saturating_add(life);
        if self.longest.is_none_or(|(longest, _)| life > longest) {
            self.longest = Some((life, task.begin));
        }
        if !task.polls.is_empty() {
            self.polled_ns = self.polled_ns.saturating_add(life);
            self.busy_ns = self.busy_ns.saturating_add(tasks.busy(task).length());
        }
        for &poll in &task.polls {
            let (start, end) = tasks.time(poll);
            self.polls += 1;
            self.blocking += usize::from(end - start > BLOCKING_NS);
            if self.longest_poll.is_none_or(|(longest, _)| end - start > longest) {
                self.longest_poll = Some((end - start, poll));
            }
        }
    }

    fn add_wait(&mut self, (on, time): (i64, i64), by: TasksBy, task: Row) {
        match self.waits.iter_mut().find(|(name, _)| *name == on) {
            Some((_, sum)) => *sum = sum.saturating_add(time),
            None => self.waits.push((on, time)),
        }
        if by == TasksBy::Wait {
            self.count += 1;
            if self.wait_max_ns.is_none_or(|longest| time > longest) {
                self.longest = Some((time, task));
            }
        }
        self.wait_max_ns = self.wait_max_ns.max(Some(time));
    }

    fn waited(&self) -> i64 {
        self.waits.iter().fold(0, |sum, (_, time)| sum.saturating_add(*time))
    }
}
