//! `SIGUSR1` while a flight recorder wants it: a flag, and what handled the signal before.

use crate::hot::lock::hold;
use std::io;
use std::mem::zeroed;
use std::ptr::null;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static HAS_COME: AtomicBool = AtomicBool::new(false);
/// The function that handled the signal before, where there was one.
static BEFORE: AtomicUsize = AtomicUsize::new(0);
/// What was installed before, and how many want the signal.
static INSTALLED: Mutex<Option<libc::sigaction>> = Mutex::new(None);

/// Handles the signal until it is dropped; then what handled it before does again.
#[derive(Debug)]
pub(crate) struct Signal(());

impl Signal {
    /// Installs the handler. One flight recorder runs at a time, so one `Signal` does.
    pub(crate) fn watch() -> io::Result<Signal> {
        let mut installed = hold(&INSTALLED);
        HAS_COME.store(false, Ordering::Relaxed);
        if installed.is_none() {
            // SAFETY: zeros are an action without flags and with an empty mask; the handler only uses atomics and what was
            // installed before.
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

    /// Whether the signal came since this was last called.
    pub(crate) fn has_come() -> bool {
        HAS_COME.swap(false, Ordering::Relaxed)
    }
}

impl Drop for Signal {
    /// Another handler that was installed meanwhile stays, and ours behind it.
    fn drop(&mut self) {
        let mut installed = hold(&INSTALLED);
        // SAFETY: the actions are ours or were the system's.
        unsafe {
            let is_ours = exchange(null())
                .is_ok_and(|now| now.sa_sigaction == handle as extern "C" fn(_, _, _) as usize);
            if is_ours && let Some(before) = installed.take() {
                let _ = exchange(&raw const before);
            }
        }
    }
}

/// Installs an action, unless it is null; the one that was installed.
unsafe fn exchange(action: *const libc::sigaction) -> io::Result<libc::sigaction> {
    // SAFETY: the place is ours; the caller answers for the action.
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
    HAS_COME.store(true, Ordering::Relaxed);
    let before = BEFORE.load(Ordering::Relaxed);
    if before != libc::SIG_DFL && before != libc::SIG_IGN {
        type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: neither of the two constants, hence a handler. One that takes only the number ignores the rest.
        unsafe { std::mem::transmute::<usize, Handler>(before)(signal, info, context) };
    }
}
