//! The step count of the program, from the steps that several components count: PyTorch's `KinetoStepTracker`.

use crate::hot::lock::hold;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// Counts the steps of several components (*components*). The step of the program is the highest count, so that a step
/// that two components mark counts once.
#[derive(Clone, Debug, Default)]
pub struct StepTracker {
    steps: BTreeMap<String, u64>,
    current: u64,
}

impl StepTracker {
    /// Returns a tracker without components, at step 0.
    pub const fn new() -> StepTracker {
        StepTracker { steps: BTreeMap::new(), current: 0 }
    }

    /// Adds a component. Its count starts at the program's current step.
    pub fn init(&mut self, component: &str) {
        self.steps.insert(component.to_owned(), self.current);
    }

    /// Removes a component. Returns whether it was registered.
    pub fn erase(&mut self, component: &str) -> bool {
        self.steps.remove(component).is_some()
    }

    /// Counts a step of a component and returns the program's step.
    pub fn increment(&mut self, component: &str) -> u64 {
        let current = self.current;
        let step = self.steps.entry(component.to_owned()).or_insert(current);
        *step += 1;
        self.current = self.current.max(*step);
        self.current
    }

    /// Returns the program's step.
    pub fn current(&self) -> u64 {
        self.current
    }
}

static STEPS: Mutex<StepTracker> = Mutex::new(StepTracker::new());

/// Locks the step counts, also for the time of a `fork`.
pub(crate) fn lock() -> MutexGuard<'static, StepTracker> {
    hold(&STEPS)
}

/// Adds a component to this program's tracker. Its count starts at the program's current step.
pub fn init_steps(component: &str) {
    lock().init(component);
}

/// Removes a component from this program's tracker. Returns whether it was registered.
pub fn erase_steps(component: &str) -> bool {
    lock().erase(component)
}

/// Counts a step of a component, such as `Optimizer`, and returns the program's step. [`Profiler::step`] counts as the
/// component `ProfilerStep`.
///
/// [`Profiler::step`]: crate::Profiler::step
pub fn mark_step(component: &str) -> u64 {
    lock().increment(component)
}

/// Returns the step of this program.
pub fn current_step() -> u64 {
    lock().current()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_step_is_the_highest_count() {
        let mut steps = StepTracker::default();
        steps.init("profiler");
        steps.init("yellow");
        assert_eq!(steps.increment("profiler"), 1);
        assert_eq!(steps.increment("yellow"), 1);
        assert_eq!(steps.increment("yellow"), 2);
        assert_eq!(steps.increment("profiler"), 2);
        // A component that is added late starts at the program's step.
        assert_eq!(steps.increment("blue"), 3);
        assert!(steps.erase("blue") && !steps.erase("blue"));
        assert_eq!(steps.increment("profiler"), 3);
        assert_eq!(steps.current(), 3);
    }
}
