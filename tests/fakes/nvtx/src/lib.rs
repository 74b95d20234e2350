//! A fake `libnvToolsExt`: it appends what it is told to the file that `NVTX_FAKE_LOG` names.

use std::ffi::{CStr, c_char, c_int};
use std::fs::OpenOptions;
use std::io::Write;

fn log(line: &str) {
    let path = std::env::var_os("NVTX_FAKE_LOG").expect("NVTX_FAKE_LOG names a file");
    let mut file = OpenOptions::new().append(true).create(true).open(path).expect("a file");
    writeln!(file, "{line}").expect("a write");
}

/// # Safety
/// The text ends in a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvtxRangePushA(text: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    log(&format!("push {}", unsafe { CStr::from_ptr(text) }.to_string_lossy()));
    0
}

/// Ends a range.
#[unsafe(no_mangle)]
pub extern "C" fn nvtxRangePop() -> c_int {
    log("pop");
    0
}

/// # Safety
/// The text ends in a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvtxMarkA(text: *const c_char) {
    // SAFETY: the caller's promise.
    log(&format!("mark {}", unsafe { CStr::from_ptr(text) }.to_string_lossy()));
}
