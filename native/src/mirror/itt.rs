//! ITT: what `VTune` shows as tasks. Intel's library looks for a collector when it is first called; without one, or
//! without the feature `itt`, these do nothing.

#[cfg(feature = "itt")]
use ittapi::{Domain, Event, Task};
#[cfg(feature = "itt")]
use std::cell::RefCell;

/// The variables that name a collector.
const COLLECTORS: [&str; 2] = ["INTEL_LIBITTNOTIFY64", "INTEL_LIBITTNOTIFY32"];

#[cfg(feature = "itt")]
thread_local! {
    static DOMAIN: &'static Domain = Box::leak(Box::new(Domain::new("kinetoscope")));
    static TASKS: RefCell<Vec<Task<'static>>> = const { RefCell::new(Vec::new()) };
}

/// Whether a collector listens.
pub fn is_available() -> bool {
    cfg!(feature = "itt") && COLLECTORS.iter().any(|name| std::env::var_os(name).is_some())
}

/// Begins a task on this thread.
pub fn range_push(name: &str) {
    #[cfg(feature = "itt")]
    if is_available() {
        let task = DOMAIN.try_with(|domain| Task::begin(domain, name));
        let _ = TASKS.try_with(|tasks| tasks.borrow_mut().extend(task));
    }
    #[cfg(not(feature = "itt"))]
    let _ = name;
}

/// Ends the innermost task of this thread.
pub fn range_pop() {
    #[cfg(feature = "itt")]
    let _ = TASKS.try_with(|tasks| tasks.borrow_mut().pop().map(Task::end));
}

/// A moment.
pub fn mark(name: &str) {
    #[cfg(feature = "itt")]
    if is_available() {
        Event::new(name).start().end();
    }
    #[cfg(not(feature = "itt"))]
    let _ = name;
}
