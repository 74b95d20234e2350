//! A process that forks: the child has the memory of the recorder but not its threads, and does not record.
//!
//! Locks are held while the process forks, so that the child finds them in order. It can start a recording of its own.

use super::local::{self, STATE};
use super::registry::{Registry, registry};
use super::session::IS_TAKEN;
use super::writer::{ACTIVE, Active, WRITER, hold, welcome};
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, Once};
use std::thread::Thread;

struct Held {
    active: MutexGuard<'static, Vec<Active>>,
    writer: MutexGuard<'static, Option<Thread>>,
    _registry: MutexGuard<'static, Registry>,
}

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// Has the system tell of forks; once.
pub(super) fn watch() {
    static ONCE: Once = Once::new();
    #[cfg(unix)]
    ONCE.call_once(|| {
        // SAFETY: the three functions live as long as the program.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

extern "C" fn before() {
    let held = Held { active: hold(&ACTIVE), writer: hold(&WRITER), _registry: registry() };
    HELD.with(|cell| cell.replace(Some(held)));
}

extern "C" fn in_parent() {
    HELD.with(|cell| drop(cell.take()));
}

extern "C" fn in_child() {
    STATE.store(0, Ordering::SeqCst);
    IS_TAKEN.store(false, Ordering::Release);
    let Some(mut held) = HELD.with(RefCell::take) else { return };
    welcome(&mut held.active);
    // The other threads are gone: nobody else will say that they are done.
    held.active.iter().filter(|active| !local::owns(active.chunk)).for_each(|active| active.chunk.seal());
    *held.writer = None;
}
