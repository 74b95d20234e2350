//! A fake `libnvToolsExt`: it appends each call to the file that `NVTX_FAKE_LOG` names.

use std::ffi::{CStr, c_char, c_int};
use std::fs::OpenOptions;
use std::io::Write;

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
    0
}

/// Ends a range.
#[unsafe(no_mangle)]
pub extern "C" fn nvtxRangePop() -> c_int {
    log("pop");
    0
}

/// # Safety
/// The string must end in a null byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvtxMarkA(text: *const c_char) {
    // SAFETY: guaranteed by the caller.
    log(&format!("mark {}", unsafe { CStr::from_ptr(text) }.to_string_lossy()));
}
