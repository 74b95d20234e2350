//! Parts of a computation, in sequence or at the same time.

use alloc::vec::Vec;
use core::ops::Range;

/// A part of a computation.
pub type Task<'a> = &'a mut (dyn FnMut() + Send);

/// How the parts of a computation run: in sequence, or on the threads of the caller. Answers do not depend on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Join(Option<fn(&mut [Task<'_>])>);

/// The number of events from which on threads are worth their start.
const FEWEST_EVENTS: usize = 20_000;

/// The number of parts into which items are divided: as many as the threads that are of use.
const PARTS: usize = 8;

impl Join {
    /// One part after the other.
    pub const SEQUENTIAL: Join = Join(None);

    /// At the same time: `run` runs every task once and returns when all have ended.
    pub const fn parallel(run: fn(&mut [Task<'_>])) -> Join {
        Join(Some(run))
    }

    /// The same, or one part after the other if starting threads would take longer than what they do.
    pub(crate) fn for_events(self, events: usize) -> Join {
        if events < FEWEST_EVENTS { Join::SEQUENTIAL } else { self }
    }

    /// Runs all tasks.
    pub fn run(self, tasks: &mut [Task<'_>]) {
        match self.0 {
            Some(run) => run(tasks),
            None => tasks.iter_mut().for_each(|task| task()),
        }
    }

    /// Divides items into parts and computes each from the range of its indexes. Returns the parts in the order of the items.
    pub(crate) fn parts<T: Send>(self, items: usize, part: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
        let size = if self.0.is_some() { items.div_ceil(PARTS).max(1) } else { items.max(1) };
        let ranges = (0..items).step_by(size).map(|start| start..items.min(start + size));
        let mut parts: Vec<(Range<usize>, Option<T>)> = ranges.map(|range| (range, None)).collect();
        let part = &part;
        let tasks = parts.iter_mut().map(|(range, done)| move || *done = Some(part(range.clone())));
        let mut tasks: Vec<_> = tasks.collect();
        self.run(&mut tasks.iter_mut().map(|task| task as Task<'_>).collect::<Vec<_>>());
        parts.into_iter().filter_map(|part| part.1).collect()
    }
}
