//! A durable file is synchronized with the disk after each write; an ordinary file is not.
#![cfg(target_os = "linux")]

use kinetoscope::files::open;
use kinetoscope::{Profiler, scope};
use std::ffi::{c_int, c_long};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

static SYNCED: AtomicU32 = AtomicU32::new(0);

/// Overrides the system's function of this name, which the standard library calls, and counts the calls.
#[unsafe(no_mangle)]
extern "C" fn fdatasync(descriptor: c_int) -> c_int {
    SYNCED.fetch_add(1, Ordering::SeqCst);
    // SAFETY: the call takes a descriptor and accesses no memory of this process.
    unsafe { libc::syscall(libc::SYS_fdatasync, c_long::from(descriptor)) as c_int }
}

/// Returns the number of syncs until a span was written, and until the end.
fn syncs(path: &Path, is_durable: bool) -> (u32, u32) {
    let before = SYNCED.load(Ordering::SeqCst);
    let since = || SYNCED.load(Ordering::SeqCst) - before;
    let builder = Profiler::builder().flush_interval(Duration::from_millis(1));
    let builder = if is_durable { builder.durable_file(path) } else { builder.file(path) };
    let mut profiler = builder.start().expect("recording should start");
    drop(scope!("kept"));
    // A timeout that is much longer than a flush; the loop usually ends earlier.
    let deadline = Instant::now() + Duration::from_secs(if is_durable { 30 } else { 1 });
    while since() == 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    let running = since();
    let recording = profiler.stop().expect("a recording").expect("a recording");
    assert_eq!(recording.trace().expect("a trace").diagnostics.findings(), []);
    let trace = open(path).expect("a trace");
    assert!(trace.table.rows().any(|row| trace.table.name(row) == "kept"));
    (running, since())
}

#[test]
fn only_a_durable_file_is_synced() {
    let folder = tempfile::tempdir().expect("a folder");
    let (running, total) = syncs(&folder.path().join("durable.ktrace"), true);
    assert!(running > 0, "a durable file should be synced while recording");
    assert!(total > running, "a durable file should be synced at the end");
    assert_eq!(syncs(&folder.path().join("other.ktrace"), false), (0, 0));
}
