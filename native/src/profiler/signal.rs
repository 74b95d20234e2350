//! The handlers of signals while a flight recorder uses them. A handler sets a flag, which the writer thread reads, and
//! calls the previous handler.
//!
//! - `SIGUSR1` requests a dump.
//! - `SIGTERM` requests a dump before the process ends: the writer thread writes it and, unless the program has a handler
//!   of its own, restores the default action and raises the signal again.
//! - `SIGABRT`: the handler waits until the writer thread has written the dump, and `abort` ends the process afterwards.

use crate::hot::local;
use crate::hot::lock::hold;
use std::io;
use std::mem::zeroed;
use std::ptr::null;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

const SIGNALS: [libc::c_int; 3] = [libc::SIGUSR1, libc::SIGTERM, libc::SIGABRT];

/// A signal that is handled: whether it was received, and what handled it before.
struct Handled {
    received: AtomicBool,
    /// The previous handler, or one of the constants `SIG_DFL` and `SIG_IGN`.
    before: AtomicUsize,
    /// The previous action, while our handler is installed.
    installed: Mutex<Option<libc::sigaction>>,
}

static HANDLED: [Handled; SIGNALS.len()] = [const {
    Handled { received: AtomicBool::new(false), before: AtomicUsize::new(0), installed: Mutex::new(None) }
}; SIGNALS.len()];

/// Counts the dumps for `SIGABRT`, for which the handler waits.
static ABORT_DUMPS: AtomicU32 = AtomicU32::new(0);

/// The longest time that the handler of `SIGABRT` waits for the dump, in ms.
const ABORT_WAIT_MS: u32 = 5000;

/// Handles signals until this is dropped, which restores the previous handlers.
#[derive(Debug)]
pub(crate) struct Signals {
    handles: [bool; SIGNALS.len()],
}

impl Signals {
    /// Installs the handlers: for `SIGUSR1`, and for `SIGTERM` and `SIGABRT`. One flight recorder runs at a time, so that
    /// one flag for each suffices.
    pub(crate) fn watch(on_request: bool, on_end: bool) -> io::Result<Signals> {
        let mut signals = Signals { handles: [false; SIGNALS.len()] };
        for (number, wanted) in [on_request, on_end, on_end].into_iter().enumerate() {
            if wanted {
                install(number)?;
                signals.handles[number] = true;
            }
        }
        Ok(signals)
    }

    /// Returns whether a dump was requested since the last call.
    pub(crate) fn take_dump(&self) -> bool {
        self.take(0)
    }

    /// Writes a dump and lets the process end, if a signal requested that.
    pub(crate) fn end_process_if_requested(&self, mut dump: impl FnMut()) {
        if self.take(1) {
            dump();
            // A handler of the program was called already.
            if HANDLED[1].before.load(Ordering::Relaxed) == libc::SIG_DFL {
                restore(1);
                // SAFETY: sends the signal to this process, whose action is the default again: it ends.
                unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
            }
        }
        if self.take(2) {
            dump();
            ABORT_DUMPS.fetch_add(1, Ordering::Release);
        }
    }

    fn take(&self, number: usize) -> bool {
        self.handles[number] && HANDLED[number].received.swap(false, Ordering::Relaxed)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        (0..SIGNALS.len()).filter(|&number| self.handles[number]).for_each(restore);
    }
}

fn install(number: usize) -> io::Result<()> {
    let handled = &HANDLED[number];
    let mut installed = hold(&handled.installed);
    handled.received.store(false, Ordering::Relaxed);
    if installed.is_none() {
        // SAFETY: zeros are an action without flags and with an empty mask; the handler only uses atomics, sleeps, and
        // calls the previous handler.
        let before = unsafe {
            let mut action: libc::sigaction = zeroed();
            action.sa_sigaction = handle as extern "C" fn(_, _, _) as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            exchange(SIGNALS[number], &raw const action)?
        };
        handled.before.store(before.sa_sigaction, Ordering::Relaxed);
        *installed = Some(before);
    }
    Ok(())
}

/// Restores the previous handler. If another handler was installed meanwhile, it stays, and ours stays behind it.
fn restore(number: usize) {
    let mut installed = hold(&HANDLED[number].installed);
    // SAFETY: the actions are our own or were returned by the system.
    unsafe {
        let is_ours = exchange(SIGNALS[number], null())
            .is_ok_and(|now| now.sa_sigaction == handle as extern "C" fn(_, _, _) as usize);
        if is_ours && let Some(before) = installed.take() {
            let _ = exchange(SIGNALS[number], &raw const before);
        }
    }
}

/// Installs an action, unless it is null. Returns the previous action.
unsafe fn exchange(signal: libc::c_int, action: *const libc::sigaction) -> io::Result<libc::sigaction> {
    // SAFETY: `before` is a local variable; the caller guarantees that the action is valid or null.
    unsafe {
        let mut before = zeroed();
        if libc::sigaction(signal, action, &raw mut before) == 0 {
            Ok(before)
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(number) = SIGNALS.iter().position(|&known| known == signal) else { return };
    let handled = &HANDLED[number];
    let dumps = ABORT_DUMPS.load(Ordering::Acquire);
    handled.received.store(true, Ordering::Relaxed);
    // The writer thread cannot wait for itself.
    if signal == libc::SIGABRT && !local::is_busy() {
        wait_for_dump(dumps);
    }
    let before = handled.before.load(Ordering::Relaxed);
    if before != libc::SIG_DFL && before != libc::SIG_IGN {
        type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: not one of the two constants, hence a handler. A handler that takes only the number ignores the rest.
        unsafe { std::mem::transmute::<usize, Handler>(before)(signal, info, context) };
    }
}

/// Waits until the writer thread has written a dump, which it may not be able to: the thread that aborts may hold a lock of
/// the allocator.
fn wait_for_dump(before: u32) {
    let millisecond = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    for _ in 0..ABORT_WAIT_MS {
        if ABORT_DUMPS.load(Ordering::Acquire) != before {
            return;
        }
        // SAFETY: the pointer is to a local value; the remaining time is not requested.
        unsafe { libc::nanosleep(&raw const millisecond, std::ptr::null_mut()) };
    }
}
