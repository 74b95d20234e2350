//! The order in which the tables of a trace are written: two at the same time, if what both take fits into the memory that the
//! largest of them takes alone. If the findings are among them, all tables that are parts of the summary have one turn: it is computed
//! once.

use kinetoscope_core::queries::schema::Schema;
use std::cmp::Reverse;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What preparing and writing a table takes, in bytes per event of a trace, as measured with 2,000,000 generated events.
fn memory_of(schema: &Schema) -> u32 {
    match schema.name {
        "findings" => 64,
        "diagnostics" => 44,
        "gaps" => 36,
        "ops" => 26,
        "steps" => 22,
        "events" => 17,
        "counters" => 15,
        _ => 4,
    }
}

/// The most that tables take which are written at the same time: nothing is written next to the summary.
const MOST: u32 = 64;

/// The table that needs the summary, and those that are parts of it.
const SUMMARY: [&str; 4] = ["findings", "diagnostics", "gaps", "steps"];

/// A table, or those that are parts of the summary, and what it takes to write them one after the other.
struct Group {
    tables: Vec<&'static Schema>,
    memory: u32,
}

impl Group {
    fn new(tables: Vec<&'static Schema>) -> Group {
        Group { memory: tables.iter().map(|schema| memory_of(schema)).max().unwrap_or(0), tables }
    }
}

struct State {
    waiting: Vec<Group>,
    in_use: u32,
}

impl State {
    /// Returns the position of the largest group that fits next to those that are being written.
    fn fitting(&self) -> Option<usize> {
        self.waiting.iter().position(|group| self.in_use == 0 || self.in_use + group.memory <= MOST)
    }
}

/// The tables that are to be written.
pub(super) struct Order {
    state: Mutex<State>,
    ended: Condvar,
}

/// Tables that are being written.
pub(super) struct Turn<'o> {
    order: &'o Order,
    memory: u32,
    pub(super) tables: Vec<&'static Schema>,
}

impl Order {
    pub(super) fn new(tables: &[&'static Schema]) -> Order {
        let has_summary = tables.iter().any(|schema| schema.name == SUMMARY[0]);
        let (mut of_summary, others): (Vec<_>, Vec<_>) =
            tables.iter().copied().partition(|schema| has_summary && SUMMARY.contains(&schema.name));
        // The summary computes its parts at the same time; alone, each takes longer.
        of_summary.sort_by_key(|schema| schema.name != SUMMARY[0]);
        let mut waiting: Vec<Group> = others.into_iter().map(|schema| Group::new(vec![schema])).collect();
        waiting.extend(has_summary.then(|| Group::new(of_summary)));
        waiting.sort_by_key(|group| Reverse(group.memory));
        Order { state: Mutex::new(State { waiting, in_use: 0 }), ended: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the largest group that fits next to those that are being written; waits until one does.
    pub(super) fn next(&self) -> Option<Turn<'_>> {
        let mut state = self.state();
        loop {
            if state.waiting.is_empty() {
                return None;
            }
            if let Some(at) = state.fitting() {
                let Group { tables, memory } = state.waiting.remove(at);
                state.in_use += memory;
                return Some(Turn { order: self, memory, tables });
            }
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.order.state().in_use -= self.memory;
        self.order.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinetoscope_core::queries::schema::TABLES;
    use std::thread;

    fn names(turn: &Turn<'_>) -> Vec<&'static str> {
        turn.tables.iter().map(|schema| schema.name).collect()
    }

    #[test]
    fn tables_that_do_not_fit_together_wait() {
        let tables = ["traces", "gaps", "events", "ops", "findings"];
        let order = Order::new(&tables.map(|name| Schema::named(name).expect("a table")));
        let next = || order.next().expect("a table");
        let first = next();
        assert_eq!(names(&first), ["findings", "gaps"]);
        assert_eq!(order.state().fitting(), None);
        drop(first);
        let (second, third) = (next(), next());
        assert_eq!((names(&second), names(&third)), (vec!["ops"], vec!["events"]));
        assert_eq!(names(&next()), ["traces"]);
        assert!(order.next().is_none());
    }

    #[test]
    fn tables_without_the_findings_have_a_turn_each() {
        let order = Order::new(&["steps", "gaps"].map(|name| Schema::named(name).expect("a table")));
        let turns: Vec<_> = std::iter::from_fn(|| order.next()).collect();
        assert_eq!(turns.iter().map(names).collect::<Vec<_>>(), [["gaps"], ["steps"]]);
    }

    #[test]
    fn every_table_has_its_turn() {
        let order = Order::new(&TABLES);
        let work =
            || std::iter::from_fn(|| order.next().map(|turn| names(&turn))).flatten().collect::<Vec<_>>();
        let mut names = thread::scope(|scope| {
            let other = scope.spawn(work);
            let local = work();
            [local, other.join().expect("a thread")].concat()
        });
        names.sort_unstable();
        let mut expected = TABLES.map(|schema| schema.name);
        expected.sort_unstable();
        assert_eq!(names, expected);
    }
}
