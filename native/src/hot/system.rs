//! The names and ids that the operating system has for the machine, the process and its threads.

use crate::hot::text::up_to;
use std::cell::RefCell;

/// A thread of the present recording.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) id: u64,
    pub(crate) name: String,
}

/// The number of bytes of a thread's name that Linux keeps.
const SYSTEM_NAME_BYTES: usize = 15;

/// The maximum length of a name that the program gives a thread, in bytes.
const GIVEN_NAME_BYTES: usize = 4096;

thread_local! {
    /// The name that the program gave this thread for recordings.
    static GIVEN: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Sets the name of the calling thread for recordings. An empty one removes it.
pub(crate) fn give_name(mut name: String) {
    name.truncate(up_to(&name, GIVEN_NAME_BYTES).len());
    let name = if name.is_empty() { None } else { Some(name) };
    // While a thread ends, its name may be gone.
    let _ = GIVEN.try_with(|cell| cell.replace(name));
}

/// Returns the calling thread.
pub(crate) fn this_thread(is_ending: bool) -> Thread {
    let name = GIVEN.try_with(|cell| cell.borrow().clone()).ok().flatten();
    Thread { id: system_id(), name: name.unwrap_or_else(|| known_name(is_ending)) }
}

/// Returns the name of Rust's handle, which is gone while a thread ends, unless the program has given the thread another
/// one since.
fn known_name(is_ending: bool) -> String {
    let system = system_name();
    let current = if is_ending { None } else { Some(std::thread::current()) };
    let is_same = |name: &&str| {
        let kept = &name.as_bytes()[..name.len().min(SYSTEM_NAME_BYTES)];
        cfg!(not(target_os = "linux")) || kept == system
    };
    let known = current.as_ref().and_then(|thread| thread.name()).filter(is_same);
    known.map_or_else(|| String::from_utf8_lossy(&system).into_owned(), str::to_owned)
}

/// Returns the system's id of the calling thread.
#[cfg(target_os = "linux")]
pub(crate) fn system_id() -> u64 {
    // SAFETY: the function has no preconditions.
    unsafe { libc::gettid() as u64 }
}

/// Returns the number of the calling thread, counted from 1.
#[cfg(not(target_os = "linux"))]
pub(crate) fn system_id() -> u64 {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! { static ID: Cell<u64> = const { Cell::new(0) } }
    if ID.get() == 0 {
        ID.set(NEXT.fetch_add(1, Ordering::Relaxed));
    }
    ID.get()
}

#[cfg(target_os = "linux")]
fn system_name() -> Vec<u8> {
    let mut name = [0u8; 32];
    // SAFETY: the buffer is larger than the 16 bytes that Linux writes at most.
    let failed =
        unsafe { libc::pthread_getname_np(libc::pthread_self(), name.as_mut_ptr().cast(), name.len()) };
    let length = name.iter().position(|&b| b == 0).unwrap_or(name.len());
    if failed == 0 { name[..length].to_vec() } else { Vec::new() }
}

#[cfg(not(target_os = "linux"))]
fn system_name() -> Vec<u8> {
    Vec::new()
}

/// Returns the file name of the program.
pub(crate) fn process_name() -> String {
    let program = std::env::current_exe().ok();
    program.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())).unwrap_or_default()
}

/// Returns the host name; empty if the system does not provide it.
#[cfg(unix)]
pub(crate) fn host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the length is that of the buffer.
    let failed = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) };
    let length = name.iter().position(|&b| b == 0).unwrap_or(name.len());
    if failed == 0 { String::from_utf8_lossy(&name[..length]).into_owned() } else { String::new() }
}

#[cfg(not(unix))]
pub(crate) fn host_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}
