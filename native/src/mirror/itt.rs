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

/// Begins a task on the calling thread. Returns its depth, from 0; `None` if there is no collector.
pub fn range_push(name: &str) -> Option<u32> {
    #[cfg(feature = "itt")]
    if is_available() {
        let task = DOMAIN.try_with(|domain| Task::begin(domain, name)).ok()?;
        return TASKS.try_with(|tasks| push(&mut tasks.borrow_mut(), task)).ok();
    }
    let _ = name;
    None
}

#[cfg(feature = "itt")]
fn push<T>(open: &mut Vec<T>, item: T) -> u32 {
    open.push(item);
    open.len() as u32 - 1
}

/// Ends the innermost task of the calling thread. Returns the depth of that task, from 0; `None` if none is open.
pub fn range_pop() -> Option<u32> {
    #[cfg(feature = "itt")]
    return TASKS.try_with(|tasks| pop(&mut tasks.borrow_mut(), Task::end)).ok().flatten();
    #[cfg(not(feature = "itt"))]
    None
}

#[cfg(feature = "itt")]
fn pop<T>(open: &mut Vec<T>, end: impl FnOnce(T)) -> Option<u32> {
    open.pop().map(end)?;
    Some(open.len() as u32)
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

#[cfg(all(test, feature = "itt"))]
mod tests {
    use super::*;

    #[test]
    fn depths_count_from_0() {
        let mut open = Vec::new();
        assert_eq!([push(&mut open, 'a'), push(&mut open, 'b')], [0, 1]);
        assert_eq!([(); 3].map(|()| pop(&mut open, drop)), [Some(1), Some(0), None]);
        assert_eq!(range_pop(), None);
    }
}
