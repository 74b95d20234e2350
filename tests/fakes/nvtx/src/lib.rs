//! A fake `libnvToolsExt`: it appends each call to the file that `NVTX_FAKE_LOG` names. It counts the open ranges of each
//! thread as a tool does, unless `NVTX_FAKE_NO_TOOL` is set.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};
use std::fs::OpenOptions;
use std::io::Write;

/// `NVTX_NO_PUSH_POP_TRACKING`.
const NOT_TRACKED: c_int = -2;

thread_local! { static DEPTH: Cell<c_int> = const { Cell::new(0) } }

fn depth_if_tracked(depth: c_int) -> c_int {
    if std::env::var_os("NVTX_FAKE_NO_TOOL").is_some() { NOT_TRACKED } else { depth }
}

fn log(line: &str) {
    let path = std::env::var_os("NVTX_FAKE_LOG").expect("NVTX_FAKE_LOG names a file");
    let mut file = OpenOptions::new().append(true).create(true).open(path).expect("a file");
    writeln!(file, "{line}").expect("the write should succeed");
}

/// # Safety
/// The string must end in a null byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvtxRangePushA(text: *const c_char) -> c_int {
    // SAFETY: guaranteed by the caller.
    log(&format!("push {}", unsafe { CStr::from_ptr(text) }.to_string_lossy()));
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    depth_if_tracked(depth)
}

/// Ends a range.
#[unsafe(no_mangle)]
pub extern "C" fn nvtxRangePop() -> c_int {
    log("pop");
    let depth = DEPTH.get() - 1;
    DEPTH.set(depth.max(0));
    // A negative number is an error.
    depth_if_tracked(depth)
}

/// # Safety
/// The string must end in a null byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvtxMarkA(text: *const c_char) {
    // SAFETY: guaranteed by the caller.
    log(&format!("mark {}", unsafe { CStr::from_ptr(text) }.to_string_lossy()));
}
