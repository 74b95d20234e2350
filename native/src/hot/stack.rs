//! Call stacks. Each address is symbolized once, and each distinct stack is formatted once and then recorded as the
//! number of its string.

use crate::hot::local::unrecorded;
use crate::hot::lock::hold;
use crate::hot::registry::registry;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard};

/// The maximum number of frames of a recorded stack.
const MAX_FRAMES: usize = 64;

/// The source folder of this crate, whose frames are left out.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");

struct Frame {
    text: String,
    is_own: bool,
}

/// The symbolized frames by address, and the numbers of stacks by their addresses.
#[derive(Default)]
pub(crate) struct Stacks {
    frames: HashMap<usize, &'static [Frame]>,
    stacks: HashMap<Vec<usize>, u32>,
}

static STACKS: Mutex<Option<Stacks>> = Mutex::new(None);

/// Locks the cache of stacks, also for the time of a `fork`. Must not be called while the registry is locked.
pub(crate) fn lock() -> MutexGuard<'static, Option<Stacks>> {
    hold(&STACKS)
}

/// Captures the call stack and returns the number of its string: frames as `file(line): function`, innermost first,
/// each followed by `;`, as in Kineto's `Call stack`. Frames of the recorder itself are left out.
#[cold]
pub(crate) fn capture() -> u32 {
    unrecorded(|| {
        // Locked first: `fork` holds this lock, so that no other thread is inside `backtrace`, which has a lock of its
        // own.
        let mut stacks = lock();
        let mut addresses = Vec::with_capacity(MAX_FRAMES);
        backtrace::trace(|frame| {
            addresses.push(frame.ip() as usize);
            addresses.len() < MAX_FRAMES
        });
        let stacks = stacks.get_or_insert_default();
        if let Some(known) = stacks.stacks.get(&addresses) {
            return *known;
        }
        let look_up = |&address: &usize| *stacks.frames.entry(address).or_insert_with(|| look_up(address));
        let frames: Vec<&Frame> = addresses.iter().flat_map(look_up).collect();
        // The innermost frames are those of `backtrace`, followed by those of the recorder.
        let own = frames.iter().position(|frame| frame.is_own).unwrap_or(0);
        let theirs = frames[own..].iter().skip_while(|frame| frame.is_own);
        let text: String = theirs.map(|frame| frame.text.as_str()).collect();
        let id = registry().add_name(&text);
        stacks.stacks.insert(addresses, id);
        id
    })
}

/// Symbolizes an address. It can have several frames, because of inlined functions.
fn look_up(address: usize) -> &'static [Frame] {
    let mut frames = Vec::new();
    backtrace::resolve(address as *mut c_void, |symbol| {
        let name = symbol.name().map(|name| format!("{name:#}")).unwrap_or_default();
        let file = symbol.filename().map(|file| file.display().to_string()).unwrap_or_default();
        let line = symbol.lineno().unwrap_or(0);
        if line > 0 && !file.starts_with("/rustc/") {
            let text = format!("{}({line}): {};", file.replace(';', ":"), name.replace(';', ":"));
            frames.push(Frame { text, is_own: file.starts_with(OWN) });
        }
    });
    Vec::leak(frames)
}
