//! A fake `libcuda`: a driver with two devices, which environment variables change.
//!
//! | variable | meaning |
//! |---|---|
//! | `CUDA_FAKE_INIT` | the result of `cuInit` |
//! | `CUDA_FAKE_DEVICES` | the number of devices |
//! | `CUDA_FAKE_VERSION` | the version from `cuDriverGetVersion` |

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

/// `CUDA_ERROR_NOT_INITIALIZED`.
const NOT_INITIALIZED: c_int = 3;
/// `CUDA_ERROR_INVALID_DEVICE`.
const INVALID_DEVICE: c_int = 101;

static IS_STARTED: AtomicU32 = AtomicU32::new(0);
static SYNCHRONIZED: AtomicU32 = AtomicU32::new(0);
static PUSHED: AtomicU32 = AtomicU32::new(0);

fn variable(name: &str, default: c_int) -> c_int {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn devices() -> c_int {
    variable("CUDA_FAKE_DEVICES", 2)
}

/// Writes a value if the driver is initialized.
unsafe fn put<T>(place: *mut T, value: T) -> c_int {
    if IS_STARTED.load(Ordering::Relaxed) == 0 {
        return NOT_INITIALIZED;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { place.write(value) };
    0
}

/// Initializes the driver.
#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_: c_uint) -> c_int {
    IS_STARTED.store(1, Ordering::Relaxed);
    variable("CUDA_FAKE_INIT", 0)
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { put(version, variable("CUDA_FAKE_VERSION", 13_000)) }
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { put(count, devices()) }
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int {
    if ordinal < devices() {
        // SAFETY: guaranteed by the caller.
        unsafe { put(device, ordinal) }
    } else {
        INVALID_DEVICE
    }
}

/// # Safety
/// The pointer must be valid for writes of `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(place: *mut c_char, length: c_int, device: c_int) -> c_int {
    let name = format!("Fake {device}\0");
    let bytes = name.len().min(length as usize);
    // SAFETY: guaranteed by the caller.
    unsafe { std::ptr::copy_nonoverlapping(name.as_ptr().cast(), place, bytes) };
    0
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, _: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { put(bytes, 16 << 30) }
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _: c_int) -> c_int {
    let known = match attribute {
        1 | 111 => 1024,
        8 => 49152,
        10 | 106 => 32,
        12 | 82 => 65536,
        16 => 80,
        39 => 2048,
        75 => 8,
        76 => 0,
        81 => 167_936,
        97 => 166_912,
        _ => return 1,
    };
    // SAFETY: guaranteed by the caller.
    unsafe { put(value, known) }
}

/// The first device has a primary context, the second none.
///
/// # Safety
/// The pointers must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxGetState(
    device: c_int,
    flags: *mut c_uint,
    is_active: *mut c_int,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        put(flags, 0);
        put(is_active, c_int::from(device == 0))
    }
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { put(context, (device + 1) as usize as *mut c_void) }
}

/// Releases a context.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(_: c_int) -> c_int {
    0
}

/// Makes a context current.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxPushCurrent_v2(_: *mut c_void) -> c_int {
    PUSHED.fetch_add(1, Ordering::Relaxed);
    0
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPopCurrent_v2(context: *mut *mut c_void) -> c_int {
    PUSHED.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: guaranteed by the caller.
    unsafe { put(context, std::ptr::null_mut()) }
}

/// Returns at once and counts the call.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize() -> c_int {
    SYNCHRONIZED.fetch_add(1, Ordering::Relaxed);
    0
}

/// Returns the number of synchronizations, or `u32::MAX` if a pushed context was not popped.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_fake_synchronized() -> u32 {
    if PUSHED.load(Ordering::Relaxed) == 0 { SYNCHRONIZED.load(Ordering::Relaxed) } else { u32::MAX }
}
