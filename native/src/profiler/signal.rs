//! The handler of `SIGUSR1` while a flight recorder uses it: sets a flag and calls the previous handler.

use crate::hot::lock::hold;
use std::io;
use std::mem::zeroed;
use std::ptr::null;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static RECEIVED: AtomicBool = AtomicBool::new(false);
/// The previous handler of the signal, or one of the constants `SIG_DFL` and `SIG_IGN`.
static BEFORE: AtomicUsize = AtomicUsize::new(0);
/// The previous action of the signal, while our handler is installed.
static INSTALLED: Mutex<Option<libc::sigaction>> = Mutex::new(None);

/// Handles the signal until this guard is dropped, which restores the previous handler.
#[derive(Debug)]
pub(crate) struct Signal(());

impl Signal {
    /// Installs the handler. One flight recorder runs at a time, so that one flag suffices.
    pub(crate) fn watch() -> io::Result<Signal> {
        let mut installed = hold(&INSTALLED);
        RECEIVED.store(false, Ordering::Relaxed);
        if installed.is_none() {
            // SAFETY: zeros are an action without flags and with an empty mask; the handler only uses atomics and calls
            // the previous handler.
            let before = unsafe {
                let mut action: libc::sigaction = zeroed();
                action.sa_sigaction = handle as extern "C" fn(_, _, _) as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                exchange(&raw const action)?
            };
            BEFORE.store(before.sa_sigaction, Ordering::Relaxed);
            *installed = Some(before);
        }
        Ok(Signal(()))
    }

    /// Returns whether the signal was received since the last call.
    pub(crate) fn take_received() -> bool {
        RECEIVED.swap(false, Ordering::Relaxed)
    }
}

impl Drop for Signal {
    /// Restores the previous handler. If another handler was installed meanwhile, it stays, and ours stays behind it.
    fn drop(&mut self) {
        let mut installed = hold(&INSTALLED);
        // SAFETY: the actions are our own or were returned by the system.
        unsafe {
            let is_ours = exchange(null())
                .is_ok_and(|now| now.sa_sigaction == handle as extern "C" fn(_, _, _) as usize);
            if is_ours && let Some(before) = installed.take() {
                let _ = exchange(&raw const before);
            }
        }
    }
}

/// Installs an action, unless it is null. Returns the previous action.
unsafe fn exchange(action: *const libc::sigaction) -> io::Result<libc::sigaction> {
    // SAFETY: `before` is a local variable; the caller guarantees that the action is valid or null.
    unsafe {
        let mut before = zeroed();
        if libc::sigaction(libc::SIGUSR1, action, &raw mut before) == 0 {
            Ok(before)
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    RECEIVED.store(true, Ordering::Relaxed);
    let before = BEFORE.load(Ordering::Relaxed);
    if before != libc::SIG_DFL && before != libc::SIG_IGN {
        type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: not one of the two constants, hence a handler. A handler that takes only the number ignores the rest.
        unsafe { std::mem::transmute::<usize, Handler>(before)(signal, info, context) };
    }
}
