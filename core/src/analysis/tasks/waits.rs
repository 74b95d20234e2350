//! What tasks waited for between their polls.
//!
//! A task that polls another one waits for it from then on: of several, for the one that ends first. It waits for what
//! that one waits for, and so on. If it has polled none that is still alive, it waited for the one that it polls first when
//! it runs again, if that is older than the wait; or for the last one that was created in it and ended meanwhile. Otherwise
//! what it waited for was not recorded.

use super::Tasks;
use crate::analysis::intervals::Interval;
use crate::base::index::{Index, Keyed};
use crate::base::order::sort_by_key;
use crate::trace::tree::Position;
use alloc::vec::Vec;

/// A time between two polls of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Wait {
    /// The index of the task.
    pub task: usize,
    /// The time, in ns after the table's base.
    pub time: Interval,
    /// The index of the task that it waited for, if that is known.
    pub on: Option<usize>,
}

/// A poll inside of another one: the index of its task, and its position.
type Inner = (usize, Position);

/// Returns the waits of all tasks, task by task, in the order of time.
pub(crate) fn waits(tasks: &Tasks<'_>) -> Vec<Wait> {
    let (inner, spawned) = (inner_polls(tasks), spawned(tasks));
    let mut waits = Vec::new();
    for (index, task) in tasks.all.iter().enumerate() {
        for pair in task.polls.windows(2) {
            let time = (tasks.time(pair[0]).1, tasks.time(pair[1]).0);
            if time.0 >= time.1 {
                continue;
            }
            let polled = innermost(tasks, &inner, pair[0], time.1);
            let on = polled.or_else(|| {
                let next = polls_inside(&inner, pair[1]).first().map(|poll| poll.0);
                next.filter(|&at| tasks.all[at].life.0 < time.0)
            });
            waits.push(Wait { task: index, time, on: on.or_else(|| ended_in(tasks, &spawned[index], time)) });
        }
    }
    waits
}

fn polls_inside(inner: &Keyed<Vec<Inner>>, poll: Position) -> &[Inner] {
    inner.get((i64::from(poll), 0)).map_or(&[], |polls| polls)
}

/// The polls of other tasks right inside of each poll, in the order of time.
fn inner_polls(tasks: &Tasks<'_>) -> Keyed<Vec<Inner>> {
    let mut owner = Index::default();
    for (index, task) in tasks.all.iter().enumerate() {
        for &poll in &task.polls {
            owner.set((i64::from(poll), 0), index as u32);
        }
    }
    let mut inner: Keyed<Vec<Inner>> = Keyed::default();
    for (index, task) in tasks.all.iter().enumerate() {
        for &poll in &task.polls {
            let mut ancestors = tasks.trace.tree.ancestors(poll);
            let outer =
                ancestors.find(|&at| owner.get((i64::from(at), 0)).is_some_and(|of| of as usize != index));
            if let Some(outer) = outer {
                inner.entry((i64::from(outer), 0)).push((index, poll));
            }
        }
    }
    let mut sorted = Keyed::default();
    for (key, mut polls) in inner.into_entries() {
        sort_by_key(&mut polls, |poll| (tasks.time(poll.1).0, i64::from(poll.1)));
        *sorted.entry(key) = polls;
    }
    sorted
}

/// The task that a poll left waiting until this time, followed through the tasks inside of it.
fn innermost(tasks: &Tasks<'_>, inner: &Keyed<Vec<Inner>>, poll: Position, until: i64) -> Option<usize> {
    let (mut found, mut poll) = (None, poll);
    loop {
        let waiting = polls_inside(inner, poll).iter().filter(|(task, _)| tasks.all[*task].life.1 >= until);
        let Some(&(task, at)) = waiting.min_by_key(|(task, _)| tasks.all[*task].life.1) else { return found };
        (found, poll) = (Some(task), at);
    }
}

/// The tasks that were created in each task, in the order of their ends.
fn spawned(tasks: &Tasks<'_>) -> Vec<Vec<usize>> {
    let mut spawned = alloc::vec![Vec::new(); tasks.all.len()];
    for (at, task) in tasks.all.iter().enumerate() {
        if let Some(parent) = task.parent {
            spawned[parent as usize].push(at);
        }
    }
    for list in &mut spawned {
        sort_by_key(list, |&at| (tasks.all[at].life.1, at as i64));
    }
    spawned
}

fn ended_in(tasks: &Tasks<'_>, spawned: &[usize], (start, end): Interval) -> Option<usize> {
    let ended = spawned.partition_point(|&at| tasks.all[at].life.1 <= end);
    spawned[..ended].last().copied().filter(|&at| tasks.all[at].life.1 > start)
}
