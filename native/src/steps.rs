//! Steps of several parts of a program as one count: torch's `KinetoStepTracker`.

use crate::hot::lock::hold;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// Counts the steps of everybody who marks them; the step of the program is the highest count, so that a step which two
/// parts mark counts once.
#[derive(Clone, Debug, Default)]
pub struct StepTracker {
    steps: BTreeMap<String, u64>,
    current: u64,
}

impl StepTracker {
    /// None marked yet.
    pub const fn new() -> StepTracker {
        StepTracker { steps: BTreeMap::new(), current: 0 }
    }

    /// Begins to count the steps of a part, from the program's present one.
    pub fn init(&mut self, requester: &str) {
        self.steps.insert(requester.to_owned(), self.current);
    }

    /// Forgets a part; whether it was known.
    pub fn erase(&mut self, requester: &str) -> bool {
        self.steps.remove(requester).is_some()
    }

    /// Counts a step of a part, and gives the program's.
    pub fn increment(&mut self, requester: &str) -> u64 {
        let current = self.current;
        let step = self.steps.entry(requester.to_owned()).or_insert(current);
        *step += 1;
        self.current = self.current.max(*step);
        self.current
    }

    /// The program's step.
    pub fn current(&self) -> u64 {
        self.current
    }
}

static STEPS: Mutex<StepTracker> = Mutex::new(StepTracker::new());

/// Keeps others from counting.
pub(crate) fn lock() -> MutexGuard<'static, StepTracker> {
    hold(&STEPS)
}

/// Begins to count the steps of a part of this program, from the program's present one.
pub fn init_steps(requester: &str) {
    lock().init(requester);
}

/// Forgets a part of this program; whether it was known.
pub fn erase_steps(requester: &str) -> bool {
    lock().erase(requester)
}

/// Counts a step of a part of this program, such as `Optimizer`, and gives the program's. [`Profiler::step`] counts as
/// the part `ProfilerStep`.
///
/// [`Profiler::step`]: crate::Profiler::step
pub fn mark_step(requester: &str) -> u64 {
    lock().increment(requester)
}

/// The step of this program.
pub fn current_step() -> u64 {
    lock().current()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_count_is_the_step() {
        let mut steps = StepTracker::default();
        steps.init("profiler");
        steps.init("yellow");
        assert_eq!(steps.increment("profiler"), 1);
        assert_eq!(steps.increment("yellow"), 1);
        assert_eq!(steps.increment("yellow"), 2);
        assert_eq!(steps.increment("profiler"), 2);
        // Who comes late counts from where the program is.
        assert_eq!(steps.increment("blue"), 3);
        assert!(steps.erase("blue") && !steps.erase("blue"));
        assert_eq!(steps.increment("profiler"), 3);
        assert_eq!(steps.current(), 3);
    }
}
