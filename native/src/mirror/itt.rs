//! ITT tasks, which `VTune` shows. Intel's library loads the collector that an environment variable names when it is
//! first called. Without a collector, or without the feature `itt`, these functions do nothing.

#[cfg(feature = "itt")]
use ittapi::{Domain, Event, Task};
#[cfg(feature = "itt")]
use std::cell::RefCell;

/// The environment variables that name a collector.
const COLLECTORS: [&str; 2] = ["INTEL_LIBITTNOTIFY64", "INTEL_LIBITTNOTIFY32"];

#[cfg(feature = "itt")]
thread_local! {
    static DOMAIN: &'static Domain = Box::leak(Box::new(Domain::new("kinetoscope")));
    static TASKS: RefCell<Vec<Task<'static>>> = const { RefCell::new(Vec::new()) };
}

/// Returns whether a collector is configured.
pub fn is_available() -> bool {
    cfg!(feature = "itt") && COLLECTORS.iter().any(|name| std::env::var_os(name).is_some())
}

/// Begins a task on the calling thread.
pub fn range_push(name: &str) {
    #[cfg(feature = "itt")]
    if is_available() {
        let task = DOMAIN.try_with(|domain| Task::begin(domain, name));
        let _ = TASKS.try_with(|tasks| tasks.borrow_mut().extend(task));
    }
    #[cfg(not(feature = "itt"))]
    let _ = name;
}

/// Ends the innermost task of the calling thread.
pub fn range_pop() {
    #[cfg(feature = "itt")]
    let _ = TASKS.try_with(|tasks| tasks.borrow_mut().pop().map(Task::end));
}

/// Emits an instant event.
pub fn mark(name: &str) {
    #[cfg(feature = "itt")]
    if is_available() {
        Event::new(name).start().end();
    }
    #[cfg(not(feature = "itt"))]
    let _ = name;
}
