//! The order in which the tables of a trace are written: two at the same time, if what both take fits into the memory that the
//! largest of them takes alone.

use kinetoscope_core::schema::Schema;
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

/// The most that tables take which are written at the same time.
const MOST: u32 = 68;

struct State<'t> {
    waiting: Vec<&'t Schema>,
    in_use: u32,
}

/// The tables that are to be written.
pub(super) struct Order<'t> {
    state: Mutex<State<'t>>,
    ended: Condvar,
}

/// A table that is being written.
pub(super) struct Turn<'o, 't> {
    order: &'o Order<'t>,
    pub(super) schema: &'t Schema,
}

impl<'t> Order<'t> {
    pub(super) fn new(tables: &[&'t Schema]) -> Order<'t> {
        let mut waiting = tables.to_vec();
        waiting.sort_by_key(|schema| Reverse(memory_of(schema)));
        Order { state: Mutex::new(State { waiting, in_use: 0 }), ended: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State<'t>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the largest table that fits next to those that are being written; waits until one does.
    pub(super) fn next(&self) -> Option<Turn<'_, 't>> {
        let mut state = self.state();
        loop {
            if state.waiting.is_empty() {
                return None;
            }
            let in_use = state.in_use;
            let fits = |schema: &&Schema| in_use == 0 || in_use + memory_of(schema) <= MOST;
            if let Some(at) = state.waiting.iter().position(fits) {
                let schema = state.waiting.remove(at);
                state.in_use += memory_of(schema);
                return Some(Turn { order: self, schema });
            }
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Turn<'_, '_> {
    fn drop(&mut self) {
        self.order.state().in_use -= memory_of(self.schema);
        self.order.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinetoscope_core::schema::TABLES;
    use std::thread;

    #[test]
    fn tables_that_do_not_fit_together_wait() {
        let [events, gaps, findings, traces] =
            ["events", "gaps", "findings", "traces"].map(|name| Schema::named(name).expect("a table"));
        let order = Order::new(&[traces, gaps, events, findings]);
        let next = || order.next().expect("a table");
        let (first, second) = (next(), next());
        assert_eq!([first.schema.name, second.schema.name], ["findings", "traces"]);
        drop(first);
        let (third, fourth) = (next(), next());
        assert_eq!([third.schema.name, fourth.schema.name], ["gaps", "events"]);
        assert!(order.next().is_none());
    }

    #[test]
    fn every_table_has_its_turn() {
        let order = Order::new(&TABLES);
        let work = || std::iter::from_fn(|| order.next().map(|turn| turn.schema.name)).collect::<Vec<_>>();
        let mut names = thread::scope(|scope| {
            let other = scope.spawn(work);
            let own = work();
            [own, other.join().expect("a thread")].concat()
        });
        names.sort_unstable();
        let mut expected = TABLES.map(|schema| schema.name);
        expected.sort_unstable();
        assert_eq!(names, expected);
    }
}
