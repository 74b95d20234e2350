//! Parts of a computation, in sequence or at the same time.

/// A part of a computation.
pub type Task<'a> = &'a mut (dyn FnMut() + Send);

/// How the parts of a computation run: in sequence, or on the threads of the caller. Answers do not depend on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Join(Option<fn(&mut [Task<'_>])>);

/// The number of events from which on threads are worth their start.
const FEWEST_EVENTS: usize = 20_000;

impl Join {
    /// One part after the other.
    pub const SEQUENTIAL: Join = Join(None);

    /// At the same time: `run` runs every task once and returns when all have ended.
    pub const fn parallel(run: fn(&mut [Task<'_>])) -> Join {
        Join(Some(run))
    }

    /// The same, or one part after the other if starting threads would take longer than what they do.
    pub(crate) fn of_events(self, events: usize) -> Join {
        if events < FEWEST_EVENTS { Join::SEQUENTIAL } else { self }
    }

    /// Runs all tasks.
    pub(crate) fn run(self, tasks: &mut [Task<'_>]) {
        match self.0 {
            Some(run) => run(tasks),
            None => tasks.iter_mut().for_each(|task| task()),
        }
    }
}
