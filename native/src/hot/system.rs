//! The names and ids that the operating system has for the machine, the process and its threads.

/// A thread of the present recording.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) id: u64,
    pub(crate) name: String,
}

/// Returns the calling thread. Queried from the system, because Rust's own handle is gone while a thread ends.
pub(crate) fn this_thread() -> Thread {
    Thread { id: system_id(), name: system_name() }
}

#[cfg(target_os = "linux")]
fn system_id() -> u64 {
    // SAFETY: the function has no preconditions.
    unsafe { libc::gettid() as u64 }
}

#[cfg(not(target_os = "linux"))]
fn system_id() -> u64 {
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
fn system_name() -> String {
    let mut name = [0u8; 32];
    // SAFETY: the buffer is larger than the 16 bytes that Linux writes at most.
    let failed =
        unsafe { libc::pthread_getname_np(libc::pthread_self(), name.as_mut_ptr().cast(), name.len()) };
    let length = name.iter().position(|&b| b == 0).unwrap_or(name.len());
    if failed == 0 { String::from_utf8_lossy(&name[..length]).into_owned() } else { String::new() }
}

#[cfg(not(target_os = "linux"))]
fn system_name() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
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
