//! Removes the files that are being written when a signal ends the process.

use crate::replace::remove_unfinished;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::mem::zeroed;
use std::ptr::null;
use std::{io, thread};

/// Starts a thread that waits for `SIGHUP`, `SIGINT`, `SIGQUIT`, `SIGTERM` and `SIGXCPU`: it removes the files that [`Output`](super::Output)
/// has not finished, and ends the process as the signal would. A signal that is ignored stays ignored, as under `nohup`.
///
/// A write beyond the largest size of a file becomes an error in place of `SIGXFSZ`.
///
/// # Errors
/// Returns an error if there is no thread.
pub fn remove_unfinished_on_signals() -> io::Result<()> {
    // SAFETY: no handler is installed; the signal is ignored.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let signals =
        [SIGHUP, SIGINT, SIGQUIT, SIGTERM, libc::SIGXCPU].into_iter().filter(|signal| !is_ignored(*signal));
    let mut signals = Signals::new(signals)?;
    let wait = move || {
        for signal in signals.forever() {
            let _removed = remove_unfinished();
            let _ = emulate_default_handler(signal);
        }
    };
    thread::Builder::new().name("kinetoscope-sig".into()).spawn(wait).map(drop)
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: `before` is a local variable of which zeros are a valid value; nothing is installed.
    unsafe {
        let mut before: libc::sigaction = zeroed();
        libc::sigaction(signal, null(), &raw mut before) == 0 && before.sa_sigaction == libc::SIG_IGN
    }
}
