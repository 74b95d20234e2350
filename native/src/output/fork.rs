//! Handlers of `fork`. The child process has a copy of the recorder's memory but not its threads, and does not record.
//!
//! All locks of the recorder are held during `fork`, so that none stays locked in the child, which can start a
//! recording of its own. [`Held`] lists them in the order in which they are locked.

use crate::hot::chunk::Chunk;
use crate::hot::local;
use crate::hot::lock::hold;
use crate::hot::pool;
use crate::hot::registry::{Registry, registry};
#[cfg(feature = "stacks")]
use crate::hot::stack::{self, Stacks};
use crate::hot::state::{IS_TAKEN, PAUSED, set_state};
use crate::hot::wake::WRITER;
use crate::output::stream::{ACTIVE, Active};
use crate::spans::module::{self, Counts};
use crate::steps::{self, StepTracker};
use std::any::Any;
use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, Once, OnceLock};
use std::thread::Thread;

/// Locks a lock and returns the guard.
type Lock = fn() -> Box<dyn Any>;

/// The lock of the layer for `tracing`, which this module does not depend on.
static EXTRA_LOCK: OnceLock<Lock> = OnceLock::new();

struct Held {
    _extra: Option<Box<dyn Any>>,
    _modules: MutexGuard<'static, Counts>,
    _steps: MutexGuard<'static, StepTracker>,
    #[cfg(feature = "stacks")]
    _stacks: MutexGuard<'static, Option<Stacks>>,
    active: MutexGuard<'static, Vec<Active>>,
    writer: MutexGuard<'static, Option<Thread>>,
    _registry: MutexGuard<'static, Registry>,
}

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// Registers the handlers of this module with `pthread_atfork`, once.
pub(crate) fn install_handlers() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the three functions exist as long as the program.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

/// Also holds this lock during `fork`. It is locked before all others.
#[cfg(feature = "tracing")]
pub(crate) fn register_lock(lock: Lock) {
    let _ = EXTRA_LOCK.set(lock);
}

extern "C" fn before() {
    // These allocations must not be recorded, because the locks are held.
    let held = local::unrecorded(|| Held {
        _extra: EXTRA_LOCK.get().map(|lock| lock()),
        _modules: module::lock(),
        _steps: steps::lock(),
        #[cfg(feature = "stacks")]
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
    set_state(0);
    PAUSED.store(0, Ordering::SeqCst);
    IS_TAKEN.store(false, Ordering::Release);
    let Some(mut held) = HELD.with(RefCell::take) else { return };
    pool::forget();
    // The other threads do not exist in the child and cannot seal their chunks.
    let others = held.active.iter().map(|active| active.chunk).filter(|chunk| !local::owns(chunk));
    others.for_each(Chunk::seal);
    *held.writer = None;
}
