//! A fake `libcupti`: it delivers the records that a test puts in, in buffers that it requests, as CUPTI does.
//!
//! | variable | meaning |
//! |---|---|
//! | `CUPTI_FAKE_VERSION` | the version from `cuptiGetVersion` |
//! | `CUPTI_FAKE_FAIL` | `function:code`: the result of a function |
//! | `CUPTI_FAKE_LATE` | delivers a buffer at the last flush, from another thread, and another one after that |

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// `CUPTI_ERROR_MAX_LIMIT_REACHED`.
const END: u32 = 12;
/// `CUPTI_ERROR_QUEUE_EMPTY`.
const EMPTY: u32 = 37;
/// `CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED`.
const SUBSCRIBED: u32 = 39;
/// How far the fake's clock is ahead of the system's, in ns.
const AHEAD: u64 = 1_000_000_000_000;

type Requested = extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
type Completed = extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);

#[derive(Default)]
struct State {
    callbacks: Option<(Requested, Completed)>,
    /// The buffer that is being written: address, size, and number of bytes in use.
    current: Option<(usize, usize, usize)>,
    /// The offsets of records, by the address of their buffer.
    records: HashMap<usize, Vec<usize>>,
    kinds: Vec<u32>,
    /// The disabled calls: whether it is a driver call, and its id.
    off: HashSet<(bool, u32)>,
    subscribers: u32,
    dropped: usize,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

thread_local! {
    static SPANS: RefCell<HashMap<u32, Vec<u64>>> = RefCell::default();
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the result that a function must return.
fn result_of(function: &str) -> u32 {
    let wish = std::env::var("CUPTI_FAKE_FAIL").unwrap_or_default();
    let code = wish.split_once(':').filter(|(name, _)| *name == function);
    code.and_then(|(_, code)| code.parse().ok()).unwrap_or(0)
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetVersion(version: *mut u32) -> u32 {
    let said = std::env::var("CUPTI_FAKE_VERSION").ok().and_then(|text| text.parse().ok());
    // SAFETY: guaranteed by the caller.
    unsafe { version.write(said.unwrap_or(130_000)) };
    result_of("cuptiGetVersion")
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiSubscribe(handle: *mut *mut c_void, _: *const c_void, _: *mut c_void) -> u32 {
    let mut state = state();
    if state.subscribers > 0 {
        return SUBSCRIBED;
    }
    state.subscribers += 1;
    // SAFETY: guaranteed by the caller.
    unsafe { handle.write(16 as *mut c_void) };
    result_of("cuptiSubscribe")
}

/// Ends a subscription.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiUnsubscribe(_: *mut c_void) -> u32 {
    state().subscribers -= 1;
    0
}

/// Enables a kind of records.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityEnable(kind: u32) -> u32 {
    state().kinds.push(kind);
    result_of("cuptiActivityEnable")
}

/// Disables a kind of records.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityDisable(kind: u32) -> u32 {
    state().kinds.retain(|on| *on != kind);
    0
}

/// Enables or disables a driver call.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityEnableDriverApi(cbid: u32, is_on: u8) -> u32 {
    assert_eq!(is_on, 0);
    state().off.insert((true, cbid));
    0
}

/// Enables or disables a runtime call.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityEnableRuntimeApi(cbid: u32, is_on: u8) -> u32 {
    assert_eq!(is_on, 0);
    state().off.insert((false, cbid));
    0
}

/// Stores the callbacks.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityRegisterCallbacks(requested: Requested, completed: Completed) -> u32 {
    state().callbacks = Some((requested, completed));
    result_of("cuptiActivityRegisterCallbacks")
}

/// Delivers the current buffer.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityFlushAll(_: u32) -> u32 {
    let (current, callbacks) = {
        let mut state = state();
        (state.current.take(), state.callbacks)
    };
    if let (Some((address, size, used)), Some((_, completed))) = (current, callbacks) {
        if std::env::var_os("CUPTI_FAKE_LATE").is_some() {
            let late = move || completed(null_mut(), 0, address as *mut u8, size, used);
            std::thread::spawn(late).join().expect("the thread should not panic");
            // A buffer that arrives after the recorder stopped waiting.
            std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(20));
                let (mut address, mut size, mut most) = (null_mut(), 0, 0);
                callbacks.expect("the function should exist").0(
                    &raw mut address,
                    &raw mut size,
                    &raw mut most,
                );
                completed(null_mut(), 0, address, size, 0);
            });
        } else {
            completed(null_mut(), 0, address as *mut u8, size, used);
        }
    }
    0
}

/// # Safety
/// The buffer must be one that was delivered, and the pointer must hold null or a record of that buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiActivityGetNextRecord(buffer: *mut u8, _: usize, record: *mut *mut u8) -> u32 {
    let state = state();
    let Some(starts) = state.records.get(&(buffer as usize)) else { return END };
    // SAFETY: guaranteed by the caller.
    let last = unsafe { *record } as usize;
    let next = if last == 0 { 0 } else { starts.partition_point(|start| buffer as usize + start <= last) };
    match starts.get(next) {
        // SAFETY: guaranteed by the caller.
        Some(start) => unsafe { record.write(buffer.add(*start)) },
        None => return END,
    }
    result_of("cuptiActivityGetNextRecord")
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiActivityGetNumDroppedRecords(
    _: *mut c_void,
    _: u32,
    dropped: *mut usize,
) -> u32 {
    // SAFETY: guaranteed by the caller.
    unsafe { dropped.write(std::mem::take(&mut state().dropped)) };
    0
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetTimestamp(time: *mut u64) -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as u64;
    // SAFETY: guaranteed by the caller.
    unsafe { time.write(now + AHEAD) };
    0
}

/// Pushes a span on this thread's stack.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityPushExternalCorrelationId(kind: u32, id: u64) -> u32 {
    SPANS.with(|spans| spans.borrow_mut().entry(kind).or_default().push(id));
    0
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiActivityPopExternalCorrelationId(kind: u32, id: *mut u64) -> u32 {
    match SPANS.with(|spans| spans.borrow_mut().get_mut(&kind).and_then(Vec::pop)) {
        Some(last) => {
            // SAFETY: guaranteed by the caller.
            unsafe { id.write(last) };
            0
        }
        None => EMPTY,
    }
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetCallbackName(domain: u32, cbid: u32, name: *mut *const c_char) -> u32 {
    let known = match (domain, cbid) {
        (2, 211) => "cudaLaunchKernel_v7000",
        (2, 17) => "cudaGetDevice_v3020",
        (2, 135) => "cudaEventRecord_v3020",
        (2, 165) => "cudaDeviceSynchronize_v3020",
        (2, 311) => "cudaGraphLaunch_v10000",
        (1, 307) => "cuLaunchKernel",
        (1, 277) => "cuMemcpyHtoDAsync_v2",
        (1, 4) => "cuDeviceGetCount",
        _ => return 1,
    };
    // SAFETY: guaranteed by the caller; the string is never freed.
    unsafe { name.write(CString::new(known).expect("no null byte").into_raw()) };
    0
}

/// # Safety
/// The pointer must be valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetResultString(code: u32, text: *mut *const c_char) -> u32 {
    let words = CString::new(format!("CUPTI_FAKE_ERROR_{code}")).expect("no null byte");
    // SAFETY: guaranteed by the caller; the string is never freed.
    unsafe { text.write(words.into_raw()) };
    0
}

/// Accepts the system's thread ids only.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiSetThreadIdType(kind: c_int) -> u32 {
    assert_eq!(kind, 1);
    0
}

/// Puts a record into the current buffer or the next one, if any kind is enabled. Returns false if the program provides no buffer.
///
/// # Safety
/// `bytes` must be valid for reads of `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cupti_fake_put(bytes: *const u8, length: usize) -> bool {
    let mut state = state();
    let Some((requested, completed)) = state.callbacks else { return false };
    if state.kinds.is_empty() {
        return true;
    }
    if let Some((address, size, used)) = state.current
        && used + length > size
    {
        completed(null_mut(), 0, address as *mut u8, size, used);
        state.current = None;
    }
    if state.current.is_none() {
        let (mut address, mut size, mut most) = (null_mut(), 0, 0);
        requested(&raw mut address, &raw mut size, &raw mut most);
        if address.is_null() {
            state.dropped += 1;
            return false;
        }
        state.records.insert(address as usize, Vec::new());
        state.current = Some((address as usize, size, 0));
    }
    let Some((address, _, used)) = &mut state.current else { return false };
    let (address, at) = (*address, *used);
    *used += length;
    // SAFETY: the buffer has room for the record after the bytes in use.
    unsafe { std::ptr::copy_nonoverlapping(bytes, (address + at) as *mut u8, length) };
    state.records.entry(address).or_default().push(at);
    true
}

/// Returns the current span of this thread for a kind, or 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cupti_fake_span(kind: u32) -> u64 {
    SPANS.with(|spans| spans.borrow().get(&kind).and_then(|ids| ids.last().copied()).unwrap_or(0))
}

/// Returns the number of enabled kinds.
#[unsafe(no_mangle)]
pub extern "C" fn cupti_fake_kinds() -> usize {
    state().kinds.len()
}

/// Whether a call is disabled.
#[unsafe(no_mangle)]
pub extern "C" fn cupti_fake_is_off(is_driver: bool, cbid: u32) -> bool {
    state().off.contains(&(is_driver, cbid))
}
