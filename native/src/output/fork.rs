//! A process that forks: the child has the memory of the recorder but not its threads, and does not record.
//!
//! Every lock of the recorder is held while the process forks, so that none is locked for good in the child, which can
//! start a recording of its own. [`Held`] lists them in the order in which they are locked.

use crate::hot::chunk::Chunk;
use crate::hot::local;
use crate::hot::lock::hold;
use crate::hot::registry::{Registry, registry};
use crate::hot::stack::{self, Stacks};
use crate::hot::state::{IS_TAKEN, STATE};
use crate::hot::wake::WRITER;
use crate::output::stream::{ACTIVE, Active, adopt};
use crate::spans::module::{self, Counts};
use crate::steps::{self, StepTracker};
use std::any::Any;
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, Once, OnceLock};
use std::thread::Thread;

/// Locks something, and gives the guard.
type Lock = fn() -> Box<dyn Any>;

/// The lock of a part of the recorder that this one does not know.
static ALSO: OnceLock<Lock> = OnceLock::new();

struct Held {
    _also: Option<Box<dyn Any>>,
    _modules: MutexGuard<'static, Counts>,
    _steps: MutexGuard<'static, StepTracker>,
    _stacks: MutexGuard<'static, Option<Stacks>>,
    active: MutexGuard<'static, Vec<Active>>,
    writer: MutexGuard<'static, Option<Thread>>,
    _registry: MutexGuard<'static, Registry>,
}

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// Has the system call these functions at every fork.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the three functions live as long as the program.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

/// Also holds this lock while the process forks, before all others.
#[cfg(feature = "tracing")]
pub(crate) fn hold_also(lock: Lock) {
    let _ = ALSO.set(lock);
}

extern "C" fn before() {
    // What this allocates must not be recorded, with all locks held.
    let held = local::unrecorded(|| Held {
        _also: ALSO.get().map(|lock| lock()),
        _modules: module::lock(),
        _steps: steps::lock(),
        _stacks: stack::lock(),
        active: hold(&ACTIVE),
        writer: hold(&WRITER),
        _registry: registry(),
    });
    HELD.with(|cell| cell.replace(Some(held)));
}

extern "C" fn in_parent() {
    HELD.with(|cell| local::unrecorded(|| drop(cell.take())));
}

extern "C" fn in_child() {
    STATE.store(0, Ordering::SeqCst);
    IS_TAKEN.store(false, Ordering::Release);
    let Some(mut held) = HELD.with(RefCell::take) else { return };
    adopt(&mut held.active);
    // The other threads are gone: none of them will seal its chunk.
    let others = held.active.iter().map(|active| active.chunk).filter(|chunk| !local::owns(chunk));
    others.for_each(Chunk::seal);
    *held.writer = None;
}
