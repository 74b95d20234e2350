//! What several analyses of one trace have in common. It is computed once.

use crate::base::join::Join;
use crate::trace::Trace;
use alloc::boxed::Box;
use core::any::Any;
use once_cell::race::OnceBox;

/// A trace with what was computed of it. A value is computed when it is first requested, and released with the context.
///
/// An analysis adds a method next to it, such as [`devices`](Analysis::devices), so that this file depends on none of them.
#[derive(Debug)]
pub struct Analysis<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// The function that runs the parts of a computation.
    pub(crate) join: Join,
    known: OnceBox<Known>,
}

/// A value, and those that were computed later.
#[derive(Debug)]
struct Known {
    value: Box<dyn Any + Send + Sync>,
    next: OnceBox<Known>,
}

impl<'t> Analysis<'t> {
    /// Returns the context of a trace, for which nothing was computed yet. The parts of computations run in sequence.
    pub fn new(trace: &'t Trace) -> Analysis<'t> {
        Analysis { trace, join: Join::SEQUENTIAL, known: OnceBox::new() }
    }

    /// Returns the same context with the parts of computations run by `join`.
    #[must_use]
    pub fn run_by(self, join: Join) -> Analysis<'t> {
        Analysis { join, ..self }
    }

    /// Returns the value of the type `T`, which the first call computes. If several threads compute it at the same time, the
    /// first value is kept.
    pub(crate) fn once<T: Any + Send + Sync>(&self, compute: impl Fn() -> T) -> &T {
        let (mut slot, mut computed) = (&self.known, None);
        loop {
            let Some(known) = slot.get() else {
                let new = computed.take();
                let new = new
                    .unwrap_or_else(|| Box::new(Known { value: Box::new(compute()), next: OnceBox::new() }));
                // What was computed can have stored other values first.
                computed = slot.set(new).err();
                continue;
            };
            if let Some(value) = known.value.downcast_ref() {
                return value;
            }
            slot = &known.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    #[test]
    fn values_are_computed_once() {
        let trace = Trace::read(b"[]").expect("a trace");
        let (analysis, computed) = (Analysis::new(&trace), Cell::new(0));
        let count = || computed.replace(computed.get() + 1);
        let inner = || *analysis.once(|| count() as u8);
        let outer = || *analysis.once(|| [inner() as i64, count()]);
        assert_eq!((outer(), inner(), outer()), ([0, 1], 0, [0, 1]));
        assert_eq!(computed.get(), 2);
    }
}
