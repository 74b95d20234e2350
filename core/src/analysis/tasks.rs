//! Asynchronous tasks: asynchronous spans, the spans in which each of them ran, and what they waited for.
//!
//! A flow of the category [`POLLS`] with the id of an asynchronous span marks the spans in which it ran: its polls. On the
//! track and at the time of each event of the flow, the poll is the innermost span with the event's name.

pub mod task_rows;
pub(crate) mod waits;

use super::intervals::{Interval, Intervals};
use crate::base::index::{Index, Keyed};
use crate::base::order::sort_by_key;
use crate::base::time;
use crate::trace::Trace;
use crate::trace::table::events::{Row, Table};
use crate::trace::table::layout::{FieldPlace, Key};
use crate::trace::tree::Position;
use alloc::vec::Vec;

/// The category of flows between polls.
pub const POLLS: &str = "async_poll";

/// The argument of an asynchronous span with the id of the one in which it was created.
const PARENT: &str = "parent async id";

/// A poll that lasts longer keeps other tasks of its thread waiting, in ns.
pub const BLOCKING_NS: i64 = 1_000_000;

/// An asynchronous span.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Task {
    /// The event that begins it.
    pub begin: Row,
    /// Its start and end, in ns after the table's base. A span without an end lasts to the end of the trace.
    pub life: Interval,
    /// The spans in which it ran, in the order of time.
    pub polls: Vec<Position>,
    /// The task in which it was created, if that was recorded.
    pub parent: Option<u32>,
}

/// Every task of a trace.
#[derive(Debug)]
pub struct Tasks<'a> {
    pub(crate) trace: &'a Trace,
    /// The tasks in the order of their starts.
    pub all: Vec<Task>,
}

/// The process and the id of an asynchronous span.
fn key(table: &Table, row: Row) -> Option<(i64, i64)> {
    let layout = table.layout(row);
    let field = layout.find(Key::Id).or_else(|| layout.find(Key::Id2))?;
    let raw = table.fields.raw(row.index(), field) as i64;
    Some((i64::from(table.track(row).pid.0) << 8 | i64::from(field.field_type as u8), raw))
}

/// The tasks of each process and id, in the order of time.
type ById = Keyed<Vec<u32>>;

impl<'a> Tasks<'a> {
    /// Finds the tasks of a trace.
    pub fn new(trace: &'a Trace) -> Tasks<'a> {
        let table = &trace.table;
        let mut all: Vec<Task> = Vec::new();
        let mut push = |begin, end: i64| {
            // A span without a start has no place in time.
            if table.ts(begin) == time::NONE {
                return;
            }
            let life = (table.ts(begin), end.max(table.ts(begin)));
            all.push(Task { begin, life, polls: Vec::new(), parent: None });
        };
        for &(begin, end) in &trace.pairs.asyncs {
            push(begin, table.ts(end));
        }
        for (begin, end) in trace.pairs.open_asyncs(table) {
            push(begin, end);
        }
        sort_by_key(&mut all, |task| (task.life.0, i64::from(task.begin)));
        let mut tasks = Tasks { trace, all };
        let mut known = ById::default();
        for (at, task) in tasks.all.iter().enumerate() {
            if let Some(key) = key(table, task.begin) {
                known.entry(key).push(at as u32);
            }
        }
        tasks.find_polls(&known);
        tasks.find_parents(&known);
        tasks
    }

    /// The last task with the id of an event that began before this time.
    fn named(&self, known: &ById, key: Option<(i64, i64)>, instant: i64) -> Option<usize> {
        let same = known.get(key?)?;
        let begun = same.partition_point(|&at| self.all[at as usize].life.0 <= instant);
        same[..begun].last().map(|&at| at as usize)
    }

    fn find_polls(&mut self, known: &ById) {
        let (table, tree) = (&self.trace.table, &self.trace.tree);
        let polls = table.names.find(POLLS);
        let layouts: Vec<bool> =
            table.layouts.all().iter().map(|l| polls.is_some() && l.cat == polls).collect();
        let is_poll = |row: &Row| layouts[table.layout_id(*row).0 as usize];
        for row in table.rows().filter(|row| polls.is_some() && is_poll(row)) {
            let instant = table.ts(row);
            let on_lane = |lane| {
                let mut open = tree.open_in(lane, table, instant);
                open.find(|&at| table.name_id(tree.row(at)) == table.name_id(row))
            };
            let lanes = tree.lanes_of(table.track_id(row)).iter();
            let poll = lanes.filter_map(on_lane).max_by_key(|&at| table.ts(tree.row(at)));
            if let (Some(poll), Some(task)) = (poll, self.named(known, key(table, row), instant)) {
                self.all[task].polls.push(poll);
            }
        }
        for task in &mut self.all {
            sort_by_key(&mut task.polls, |&at| (table.ts(tree.row(at)), i64::from(at)));
            task.polls.dedup();
        }
    }

    fn find_parents(&mut self, known: &ById) {
        let table = &self.trace.table;
        let Some(name) = table.names.find(PARENT) else { return };
        for at in 0..self.all.len() {
            let row = self.all[at].begin;
            let parent = table.field_with(row, FieldPlace::Args, name);
            let parent = parent.and_then(|id| id.as_str()).and_then(|id| table.names.find(id));
            let key = key(table, row).zip(parent).map(|((kind, _), id)| (kind, i64::from(id.0)));
            self.all[at].parent = self.named(known, key, table.ts(row)).map(|parent| parent as u32);
        }
    }

    /// The time of a poll.
    pub fn time(&self, poll: Position) -> Interval {
        let row = self.trace.tree.row(poll);
        (self.trace.table.ts(row), self.trace.table.end(row))
    }

    /// The times in which a task ran, without those outside of its life.
    pub fn busy(&self, task: &Task) -> Intervals {
        Intervals::union_of(task.polls.iter().map(|&poll| self.time(poll)).collect()).clipped(task.life)
    }

    /// The polls that block: those that last longer than [`BLOCKING_NS`] and are in no other poll, the longest first.
    pub fn blocking(&self) -> Vec<Position> {
        let mut is_poll = Index::default();
        for &poll in self.all.iter().flat_map(|task| &task.polls) {
            is_poll.insert((i64::from(poll), 0));
        }
        let length = |poll: Position| self.time(poll).1 - self.time(poll).0;
        let is_inside =
            |poll| self.trace.tree.ancestors(poll).any(|at| is_poll.get((i64::from(at), 0)).is_some());
        let polls = self.all.iter().flat_map(|task| task.polls.iter().copied());
        let mut long: Vec<Position> =
            polls.filter(|&poll| length(poll) > BLOCKING_NS && !is_inside(poll)).collect();
        sort_by_key(&mut long, |&poll| (-length(poll), i64::from(poll)));
        long
    }
}
